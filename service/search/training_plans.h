/* The plan of a training job: of all legal splits of the given GPUs the fastest that fits. */
#ifndef SERVICE_SEARCH_TRAINING_PLANS_H
#define SERVICE_SEARCH_TRAINING_PLANS_H

#include "service/estimate/estimate.h"
#include "service/job/defaults.h"

/* How the plan came about: an id of api/i18n ("plan.<name>"). Without a GPU nothing fits or is fast, so what needs
 * least is taken. */
enum plan_rule { PLAN_STATED = 0, PLAN_FASTEST_THAT_FITS, PLAN_NEAREST_TO_FITTING, PLAN_LEAST_MEMORY };

const char *plan_rule_name(enum plan_rule rule);

/* A job with what is open in it. All lent. */
struct training_ask {
    const struct model_arch *arch;
    const struct model_params *params;
    const struct machine *machine;
    const struct rates *rates;
    const struct training_job *job; /* as asked */
};

/* The chosen plan. `estimate.setup.job` points at `job` of the same struct: not to be copied by value, see
 * training_choice_copy. */
struct training_choice {
    struct training_job job; /* complete */
    struct training_estimate estimate;
    enum plan_rule rule;
    uint64_t searched; /* estimates of memory that it took */
};

/* Completes the job and tries every plan that what the caller stated leaves open: framework, sharding, tensor,
 * pipeline, virtual stages, micro-batch, recompute. fits beats tight beats does_not_fit, then the faster, then the
 * simpler plan. A stated split that is not legal is a fault. Assumptions (may be NULL) tell what was filled in and
 * chosen. */
enum status training_plan_choose(const struct training_ask *ask, struct training_choice *ret_choice,
                                 struct assumptions *assumptions, struct fault *ret_fault);

/* Copies a choice and keeps its inner pointer right. */
void training_choice_copy(struct training_choice *to, const struct training_choice *from);

/* The smallest number of the same GPUs that can run the job: same method, precision, micro-batch and sequence, any
 * split and recompute; whole nodes above one node. 0 when none up to MINIMUM_GPUS_LIMIT does. */
enum { MINIMUM_GPUS_LIMIT = 4096 };
uint32_t training_minimum_gpus(const struct training_ask *ask);

#endif
