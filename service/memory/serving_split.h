/* How a replica divides weights and sequences over its GPUs. */
#ifndef SERVICE_MEMORY_SERVING_SPLIT_H
#define SERVICE_MEMORY_SERVING_SPLIT_H

#include "service/memory/serving_memory.h"

/* Whether the replica runs attention data-parallel: experts over its GPUs, everything else on each of `data` groups
 * (vLLM --data-parallel-size with --enable-expert-parallel, TensorRT-LLM enable_attention_dp). */
bool serving_attention_is_data_parallel(const struct parallelism *plan, const struct model_arch *arch);

/* GPUs that the routed experts are divided over. */
uint32_t serving_expert_ways(const struct parallelism *plan, const struct model_arch *arch);

/* Caches of one replica that share its sequences: `data` when attention is data-parallel, else 1. */
uint32_t serving_cache_groups(const struct serving_setup *setup);

/* The sequences that one cache must hold: the concurrency spread over replicas and groups, rounded up; 1 at least. */
uint64_t serving_sequences_per_group(const struct serving_setup *setup);

/* Requests that one pass answers at once when no tokens are written: as many as fill it. */
double serving_batch_requests(const struct serving_setup *setup);

/* A divisor that is never 0. */
double serving_ways(uint32_t ways);

#endif
