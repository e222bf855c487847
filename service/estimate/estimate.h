/* One job on one machine under one given plan: memory and speed together. */
#ifndef SERVICE_ESTIMATE_ESTIMATE_H
#define SERVICE_ESTIMATE_ESTIMATE_H

#include <stdbool.h>

#include "service/memory/serving_memory.h"
#include "service/memory/training_memory.h"
#include "service/speed/serving_speed.h"
#include "service/speed/training_speed.h"

/* What came out for a setup. Without a GPU there is memory and work but no time. */
struct training_estimate {
    struct training_setup setup;
    struct footprint memory;
    bool timed;
    struct training_speed speed;
};

struct serving_estimate {
    struct serving_setup setup;
    struct serving_memory memory;
    bool timed;
    struct serving_speed speed;
};

void training_estimate_run(const struct training_setup *setup, struct training_estimate *ret_estimate);
void serving_estimate_run(const struct serving_setup *setup, struct serving_estimate *ret_estimate);

/* Whether its speed means something: where not even one token's cache finds room, it would be a figure that nobody can
 * measure. */
bool serving_is_timed(const struct serving_estimate *estimate);

/* Samples or tokens a second of all GPUs; 0 when not timed. */
double training_samples_per_second(const struct training_estimate *estimate);
double training_tokens_per_second(const struct training_estimate *estimate);

/* How much longer the same work takes than under `before`: 1 is equal, 0 when either is not timed. */
double training_time_factor(const struct training_estimate *after, const struct training_estimate *before);
double serving_time_factor(const struct serving_estimate *after, const struct serving_estimate *before);

/* Hours for the length the job states (tokens, samples, epochs of them); false when it states none or nothing was
 * timed. `dataset_samples` and `dataset_tokens` (0: not said) are what an epoch is of when the job gives only epochs.
 */
bool training_duration_hours(const struct training_estimate *estimate, double dataset_samples, double dataset_tokens,
                             struct range *ret_hours);

#endif
