/* What the GPUs of a replica say to each other in one pass. */
#ifndef SERVICE_SPEED_SERVING_LINKS_H
#define SERVICE_SPEED_SERVING_LINKS_H

#include "service/memory/serving_memory.h"

/* Seconds of communication: a share for each pass, a share for each of its tokens (of one attention group). */
struct serving_links {
    double wait, seconds;                 /* inside a node */
    double network_wait, network_seconds; /* between nodes */
};

/* Tensor parallelism: two all-reduces a layer of one 16-bit hidden state a token (arXiv:1909.08053 section 3), as a
 * ring inside the node and one between nodes (NVIDIA NCCL). Pipeline: one hidden state a stage border. Attention
 * data-parallel: each token to k experts and back, 8 bit out and 16 bit back (arXiv:2412.19437 section 3.2.2). */
struct serving_links serving_link_cost(const struct serving_setup *setup);

#endif
