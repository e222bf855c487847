/* The split of a serving deployment: the smallest that does the job, and replicas with what is left. */
#ifndef SERVICE_SEARCH_SERVING_PLANS_H
#define SERVICE_SEARCH_SERVING_PLANS_H

#include "service/base/note.h"
#include "service/estimate/estimate.h"
#include "service/job/defaults.h"

/* A serving job with what is open in it. All lent. */
struct serving_ask {
    const struct model_arch *arch;
    const struct model_params *params;
    const struct machine *machine;
    const struct rates *rates;
    const struct serving_job *job; /* as asked */
};

/* `estimate.setup.job` points at `job`: not to be copied by value, see serving_choice_copy. */
struct serving_choice {
    struct serving_job job; /* complete */
    struct serving_estimate estimate;
    uint32_t gpus_per_replica;
    uint64_t searched;
};

/* Completes the job and takes the stated split, or of serving_splits() the first that
 *   1. fits, and keeps the latency targets and the rate of arrivals
 *   2. fits, and comes nearest to them
 *   3. is tight; an unstated share of the card is raised before a no
 *   4. needs least of a GPU
 * those that leave no GPU idle before the others, with the load spread over the replicas that the GPUs then make. A
 * closed loop that is stated by its rate gets the clients that make it; random arrivals need the cache of the requests
 * under way. A format that nothing runs on this GPU is a fault at /serving/precision with what to use instead; a stated
 * split that is not legal is a fault. */
enum status serving_plan_choose(const struct serving_ask *ask, struct serving_choice *ret_choice,
                                struct assumptions *assumptions, struct notices *notices, struct fault *ret_fault);

void serving_choice_copy(struct serving_choice *to, const struct serving_choice *from);

/* How far the worst of the latency targets and of the rate of arrivals is missed, as a factor; 1 when none is. */
double serving_worst_miss(const struct serving_job *job, const struct serving_speed *speed);

/* The smallest number of the same GPUs on which the deployment is not does_not_fit; whole nodes above one node.
 * 0 when none up to 512 is. */
uint32_t serving_minimum_gpus(const struct serving_ask *ask);

/* The best format this GPU runs at 16 bits. */
enum weight_format serving_native_format(const struct gpu *gpu);

#endif
