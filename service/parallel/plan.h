/* A split of a job over GPUs: whether it is legal, and what it divides. */
#ifndef SERVICE_PARALLEL_PLAN_H
#define SERVICE_PARALLEL_PLAN_H

#include "service/base/result.h"
#include "service/hardware/machine.h"
#include "service/job/job.h"

/* 0 becomes 1 (sharding NONE when unsaid, sequence_parallel NO). data 0 becomes what the GPUs leave over. */
struct parallelism plan_filled(struct parallelism asked, uint32_t gpu_count);

/* tensor x pipeline x data x context. */
uint64_t plan_gpu_count(const struct parallelism *plan);

/* A stated split must use exactly the GPUs of the machine, split no head, and ask for no more stages than layers;
 * `even`: heads and experts must be shared evenly, as trainers ask (Megatron-LM, arguments.py) and not every engine
 * does. Fault at `pointer`. */
enum status plan_check(const struct parallelism *plan, const struct model_arch *arch, const struct machine *machine,
                       bool even, const char *pointer, struct fault *ret_fault);

/* Routed experts of the layer that has most; 0: the model has none. */
uint32_t plan_most_experts(const struct model_arch *arch);

/* Layers of the fullest stage: ceil(layers / pipeline). */
uint32_t plan_stage_layers(const struct parallelism *plan, const struct model_arch *arch);

#endif
