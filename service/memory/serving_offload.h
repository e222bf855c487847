/* llama.cpp on GPUs that a file does not fit in: what of it stays in host memory. */
#ifndef SERVICE_MEMORY_SERVING_OFFLOAD_H
#define SERVICE_MEMORY_SERVING_OFFLOAD_H

#include "service/memory/serving_memory.h"

/* Which layers go where, as --n-gpu-layers and --n-cpu-moe of llama.cpp place them: the output and the last layers come
 * to the GPUs first; of networks with experts all layers do and only the experts of the first stay behind, if that is
 * enough (ggml-org/llama.cpp src/llama-model.cpp, common/arg.cpp). Cache and activations of a layer are where it is.
 * The job's own cache for all its sequences is provided for. `used` is false for other engines and for what fits; where
 * one sequence fits, fewer at once are the better answer: it is not asked. */
void serving_offload_plan(const struct serving_setup *setup, const struct footprint *footprint,
                          struct serving_offload *ret_offload);

#endif
