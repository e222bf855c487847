#include "service/search/serving_sizing.h"

#include <math.h>

static const double most_replicas = 1e6;

static uint32_t
copies(double load)
{
    return (uint32_t)fmin(most_replicas, fmax(1, ceil(load - 1e-9)));
}

static struct replicas
replicas_for(const struct serving_job *job, const struct serving_capacity *capacity)
{
    bool random = job->arrival == ARRIVAL_POISSON && job->requests_per_second > 0;
    double load = random ? job->requests_per_second : job->concurrency;
    double one = random ? capacity->requests_per_second : capacity->concurrency;
    struct replicas replicas = { 0 };

    if (!(one > 0) || !(load > 0))
        return replicas;
    replicas.minimum = copies(load / one);
    replicas.for_peak = copies(load * job->peak_factor / one);
    replicas.with_spare = replicas.minimum + 1;
    replicas.maximum = replicas.for_peak + 1;
    return replicas;
}

void
serving_sizing(const struct serving_choice *choice, struct serving_sizing *ret_sizing)
{
    const struct serving_estimate *estimate = &choice->estimate;

    *ret_sizing = (struct serving_sizing){ .known = serving_is_timed(estimate) };
    if (!ret_sizing->known)
        return;
    serving_capacity(&estimate->setup, &estimate->memory, &ret_sizing->capacity);
    ret_sizing->replicas = replicas_for(&choice->job, &ret_sizing->capacity);
}
