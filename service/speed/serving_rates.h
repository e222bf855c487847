/* What a GPU reaches while serving: bytes and operations a second by weight format and engine. */
#ifndef SERVICE_SPEED_SERVING_RATES_H
#define SERVICE_SPEED_SERVING_RATES_H

#include "service/job/engine.h"
#include "service/memory/serving_memory.h"

/* Shares of data-sheet peaks that kernels reach; see the rows serving.* of the rates table. */
struct serving_rates {
    double bytes_per_second;        /* plain weights */
    double packed_bytes_per_second; /* weights in the job's format: unpacking may not keep up */
    double cache_bytes_per_second;
    double flop_per_second;       /* matrix products in the job's format */
    double plain_flop_per_second; /* 16-bit products: head, attention */
};

struct serving_rates serving_rates_of(const struct serving_setup *setup, const struct engine_traits *traits);

/* Whether cards of this family read from stacks of HBM. */
bool serving_has_hbm(enum gpu_family family);

/* Whether weights of this format are unpacked to 16 bit before they are multiplied: the card has no units for them. */
bool serving_unpacks(const struct gpu *gpu, enum weight_format format);

#endif
