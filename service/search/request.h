/* An estimate as it was asked for: model, jobs, hardware, and what surrounds them. */
#ifndef SERVICE_SEARCH_REQUEST_H
#define SERVICE_SEARCH_REQUEST_H

#include <stdbool.h>

#include "service/catalog/catalog.h"
#include "service/job/data.h"
#include "service/job/job.h"

/* Named hardware: a GPU and how many, or an offer of the catalog and how many of it. Lent by the catalog. */
struct hardware_ask {
    bool present;
    const struct gpu *gpu;
    const struct offer *offer; /* NULL: named by GPU */
    uint32_t offer_count;      /* instances or servers; 0: not said */
    uint32_t gpus;             /* 0: not said. With an offer: derived */
    uint32_t gpus_per_node;
    double internode_bits_per_second;
    enum intranode intranode;
    const struct storage_tier *storage;
    uint32_t cpu_cores;
    double ram_bytes;
};

struct estimate_request {
    const struct model_arch *arch; /* NULL: no model; lent */
    const struct model_params *params;
    bool has_training, has_serving;
    struct training_job training;
    struct serving_job serving;
    struct hardware_ask hardware;
    struct dataset_ask dataset;
    struct checkpoint_ask checkpoint;
    struct observed_ask observed;
};

/* One card that a marketplace rents by the piece: several are cards of one host, up to MAX_HOST_CARDS. */
enum { MAX_HOST_CARDS = 8 };
bool offer_is_host_card(const struct offer *offer);

/* The machine that hardware names; without hardware a machine of no limit (gpu NULL). */
struct machine hardware_machine(const struct hardware_ask *hardware);

#endif
