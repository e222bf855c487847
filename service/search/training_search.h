/* The search for the plan of a training job: a split at a time comes in, the best of all stays. */
#ifndef SERVICE_SEARCH_TRAINING_SEARCH_H
#define SERVICE_SEARCH_TRAINING_SEARCH_H

#include "service/search/training_plans.h"

/* `trial` is estimated again and again, `best` keeps the winner. Not to be copied: `trial` points into it. */
struct training_search {
    const struct training_ask *ask;
    struct training_choice *best;
    struct training_job trial_job;
    struct training_estimate trial;
    bool any;         /* best holds something */
    bool memory_only; /* whether anything runs is all that is asked */
    double
        least_share; /* of the layers of a stage, that must be run again under the split at hand; 0: none, or unknown */
};

/* `best->job` is the job as far as it does not depend on a split (training_job_complete). Lends both. */
void training_search_begin(struct training_search *search, const struct training_ask *ask, struct training_choice *best,
                           bool memory_only);

/* A plan_visitor: tries the micro-batches, interleavings and forms of recompute that are open under one split, as far
 * as they may still win. Fits beats tight beats does_not_fit; then the faster goes first, then the simpler; of what
 * does not fit what needs least. The time of the winner is not complete: training_speed() has to follow. */
void training_search_visit(void *search, enum framework framework, const struct parallelism *plan);

#endif
