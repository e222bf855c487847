#include "service/estimate/estimate.h"

void
training_estimate_run(const struct training_setup *setup, struct training_estimate *ret_estimate)
{
    ret_estimate->setup = *setup;
    training_memory(setup, &ret_estimate->memory);
    ret_estimate->timed = training_can_be_timed(setup);
    if (ret_estimate->timed)
        training_speed(setup, &ret_estimate->speed);
}

void
serving_estimate_run(const struct serving_setup *setup, struct serving_estimate *ret_estimate)
{
    ret_estimate->setup = *setup;
    serving_memory(setup, &ret_estimate->memory);
    ret_estimate->timed = setup->machine->gpu != NULL;
    if (ret_estimate->timed)
        serving_speed(setup, &ret_estimate->memory, &ret_estimate->speed);
}

bool
serving_is_timed(const struct serving_estimate *estimate)
{
    if (!estimate->timed)
        return false;
    return model_arch_generates(estimate->setup.arch) ? estimate->memory.capacity_tokens >= 1
                                                      : estimate->memory.footprint.verdict != VERDICT_DOES_NOT_FIT;
}

double
training_samples_per_second(const struct training_estimate *estimate)
{
    if (!estimate->timed || !(estimate->speed.step_seconds > 0))
        return 0;
    return estimate->speed.samples_per_step / estimate->speed.step_seconds;
}

double
training_tokens_per_second(const struct training_estimate *estimate)
{
    if (!estimate->timed || !(estimate->speed.step_seconds > 0))
        return 0;
    return estimate->speed.tokens_per_step / estimate->speed.step_seconds;
}

double
training_time_factor(const struct training_estimate *after, const struct training_estimate *before)
{
    double new_rate = training_samples_per_second(after), old_rate = training_samples_per_second(before);

    if (after->setup.job->sequence_length != before->setup.job->sequence_length) {
        new_rate = training_tokens_per_second(after);
        old_rate = training_tokens_per_second(before);
    }
    return new_rate > 0 && old_rate > 0 ? old_rate / new_rate : 0;
}

double
serving_time_factor(const struct serving_estimate *after, const struct serving_estimate *before)
{
    double new_rate = serving_is_timed(after) ? after->speed.output_tokens_per_second.expected : 0;
    double old_rate = serving_is_timed(before) ? before->speed.output_tokens_per_second.expected : 0;

    return new_rate > 0 && old_rate > 0 ? old_rate / new_rate : 0;
}

bool
training_duration_hours(const struct training_estimate *estimate, double dataset_samples, double dataset_tokens,
                        struct range *ret_hours)
{
    const struct training_job *job = estimate->setup.job;
    double epochs = job->epochs > 0 ? job->epochs : 1;
    double samples_per_second = training_samples_per_second(estimate);
    double tokens_per_second = training_tokens_per_second(estimate);
    double seconds = 0;

    if (!(samples_per_second > 0))
        return false;
    if (job->tokens > 0 && tokens_per_second > 0)
        seconds = job->tokens * epochs / tokens_per_second;
    else if (job->samples > 0)
        seconds = job->samples * epochs / samples_per_second;
    else if (job->epochs > 0 && dataset_tokens > 0 && tokens_per_second > 0)
        seconds = dataset_tokens * epochs / tokens_per_second;
    else if (job->epochs > 0 && dataset_samples > 0)
        seconds = dataset_samples * epochs / samples_per_second;
    if (!(seconds > 0))
        return false;
    ret_hours->expected = seconds / 3600;
    ret_hours->low = ret_hours->expected / estimate->speed.band_high;
    ret_hours->high = ret_hours->expected / estimate->speed.band_low;
    return true;
}
