/* Layers that a GPU has no room for, computed by the host from its own memory. */
#ifndef SERVICE_SPEED_SERVING_HOST_H
#define SERVICE_SPEED_SERVING_HOST_H

#include "service/speed/serving_pass.h"

/* Moves the offloaded share of a pass to the host: a decode step reads it from host memory, or computes, whichever is
 * longer; prompts do the same, or send it to the GPU batch by batch (ggml-org/llama.cpp#6083). Nothing is changed where
 * nothing is offloaded. */
void serving_host_apply(const struct serving_setup *setup, const struct serving_offload *offload,
                        struct serving_pass *model);

/* Bytes a second of the host's memory: as described, by its processors; else by the company the GPU keeps. */
double serving_host_bytes_per_second(const struct serving_setup *setup);

#endif
