/* The splits of one replica that an engine can run, fewest GPUs first. */
#ifndef SERVICE_SEARCH_SERVING_SPLITS_H
#define SERVICE_SEARCH_SERVING_SPLITS_H

#include "service/hardware/machine.h"
#include "service/job/job.h"
#include "service/model/arch.h"

enum { MAX_SERVING_SPLITS = 96 };

struct serving_splits {
    uint32_t count; /* 1 at least */
    struct parallelism items[MAX_SERVING_SPLITS];
};

/* Servers: tensor parallelism over 1, 2, 4 or 8 GPUs of a node or all of them, that divides the heads and that the KV
 * heads divide or are divided by (vLLM ModelConfig.verify_with_parallel_config), then, with the widest of these,
 * pipeline stages over more nodes. llama.cpp and transformers: a split of the layers. `data` is how many replicas the
 * GPUs then make. */
void serving_splits(const struct model_arch *arch, const struct machine *machine, enum engine engine,
                    struct serving_splits *ret_splits);

/* The one that takes all GPUs of the machine for one replica, or as many as a split can. */
struct parallelism
serving_widest_split(const struct model_arch *arch, const struct machine *machine, enum engine engine);

#endif
