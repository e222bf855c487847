/* What an engine needs on a GPU beside weights and cache, and how much it leaves for the cache. */
#ifndef SERVICE_MEMORY_ENGINE_BUDGET_H
#define SERVICE_MEMORY_ENGINE_BUDGET_H

#include "service/memory/serving_memory.h"

/* Adds activations, runtime and communicators to a footprint that already holds weights and cache.
 * Activations of a pool engine are the peak of its profile run, P tokens and S sequences at once:
 *   P (6 f / t + 8 h) + 8 S V / t     two 16-bit copies of gate, up and their product; four of the residual stream;
 *                                     FP32 logits and their copy (vLLM determine_available_memory, profile_run)
 * of transformers those of one prompt, or of the logits: max(b s (6 f / t + 8 h), 12 b V). */
void engine_budget_add(const struct serving_setup *setup, struct footprint *footprint);

/* Bytes of one GPU that the engine fills at a memory utilisation when everything but the cache takes `taken_bytes`:
 * a share of the card, or what it needs and a share of what is then free. 0 without a GPU. */
double engine_limit_bytes(const struct serving_setup *setup, double taken_bytes, double utilization);

/* Bytes for the cache on one GPU once `footprint` (weights, activations, runtime, communicators) is taken. */
double engine_cache_budget(const struct serving_setup *setup, const struct footprint *footprint);

/* What the driver's tool shows on one GPU: the whole pool of engines that take one, else what is needed. */
double engine_reserved_bytes(const struct serving_setup *setup, const struct footprint *footprint);

#endif
