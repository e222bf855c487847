/* All splits of a job over given GPUs that make sense, one at a time. */
#ifndef SERVICE_SEARCH_LEGAL_PLANS_H
#define SERVICE_SEARCH_LEGAL_PLANS_H

#include "service/hardware/machine.h"
#include "service/job/job.h"

typedef void plan_visitor(void *context, enum framework framework, const struct parallelism *plan);

/* Splits that only share the data: every sharding stage the framework has. */
void legal_plans_data_parallel(const struct training_job *job, uint32_t gpu_count, plan_visitor *visit, void *context);

/* Splits that cut the model too (tensor inside a node and dividing the heads, pipeline of at most as many stages as
 * layers, context for sequences of 32k tokens and more, experts over what they can), as Megatron runs them. */
void legal_plans_model_parallel(const struct training_job *job, const struct model_arch *arch,
                                const struct machine *machine, plan_visitor *visit, void *context);

/* The stated split with what it leaves open: its sharding. */
void legal_plans_stated(const struct training_job *job, uint32_t gpu_count, plan_visitor *visit, void *context);

#endif
