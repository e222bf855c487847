/* What one node needs beside its GPUs: cores and memory. */
#ifndef SERVICE_FEED_HOST_H
#define SERVICE_FEED_HOST_H

#include <stdint.h>

#include "service/feed/dataset.h"

enum { MAX_HOST_PARTS = 6, HOST_PART_VALUES = 4 };

/* As struct part of a footprint: {0}..{3} of `formula` are the values. */
struct host_part {
    const char *code; /* system, offload, weights_at_loading, checkpoint_staging, loader, page_cache */
    double bytes;
    const char *formula;
    double values[HOST_PART_VALUES];
};

struct host_ask {
    uint32_t gpus, nodes;      /* of one node; of the job */
    double samples_per_second; /* of one node; 0: not known */
    uint32_t micro_batch_size;
    double weight_bytes;                    /* of the whole model, read at loading */
    double offload_bytes, checkpoint_bytes; /* offload of a node; checkpoint of the job; 0: none */
    uint32_t cpu_cores;                     /* that a node has; 0: not said */
};

struct host_need {
    double ram_bytes;
    struct host_part parts[MAX_HOST_PARTS];
    uint32_t part_count;
    double cpu_cores;
    uint32_t workers_per_gpu;
    double cpu_share; /* of the pace that the cores a node has keep up with, at most 1 */
};

/* Pictures: samples a second over what one core unpacks, and a part of a core a GPU for the process that trains. Text
 * and other samples: a few workers a GPU, the process that trains, and some cores for the system. */
void host_need_of(const struct host_ask *ask, const struct dataset_size *size, enum sample_kind kind,
                  const struct rates *rates, struct host_need *ret_need);

#endif
