/* Decode steps in two formats, compared. */
#include "service/speed/serving_crossover.h"

#include <math.h>

#include "service/job/engine.h"
#include "service/speed/serving_pass.h"
#include "service/speed/serving_rates.h"

/* A format and what a pass takes in it. */
struct side {
    struct serving_job job;
    struct serving_setup setup;
    struct serving_pass pass;
};

static void
make_side(const struct serving_setup *setup, const struct engine_traits *traits, enum weight_format format,
          struct side *side)
{
    side->job = *setup->job;
    side->job.precision = format;
    side->setup = *setup;
    side->setup.job = &side->job;
    serving_pass_make(&side->setup, traits, &side->pass);
}

static double
step_seconds(const struct side *side, double sequences)
{
    struct serving_time time = serving_pass_time(&side->pass, &(struct serving_load){ .sequences = sequences });

    return serving_pass_seconds(&time);
}

static double
step_ratio(const struct side *packed, const struct side *plain, double sequences)
{
    return step_seconds(packed, sequences) / step_seconds(plain, sequences);
}

/* The first whole number of sequences up to `most` at which the packed side is no faster; 0: none. */
static double
first_loss(const struct side *packed, const struct side *plain, double most)
{
    double low = 1, high = most;

    if (step_ratio(packed, plain, low) >= 1)
        return low;
    if (step_ratio(packed, plain, high) < 1)
        return 0;
    while (high - low > 1) {
        double middle = floor((low + high) / 2);

        if (step_ratio(packed, plain, middle) < 1)
            low = middle;
        else
            high = middle;
    }
    return high;
}

void
serving_crossover(const struct serving_setup *setup, double running, struct serving_crossover *ret_crossover)
{
    struct engine_traits traits = engine_traits_of(setup->job->engine, setup->job->engine_version);
    struct serving_rates rates = serving_rates_of(setup, &traits);
    bool has_bf16 = setup->machine->gpu->bf16_flop_per_second > 0;
    struct side packed, plain;

    *ret_crossover = (struct serving_crossover){ .against = has_bf16 ? WEIGHT_BF16 : WEIGHT_FP16 };
    if (weight_format_bits(setup->job->precision) >= weight_format_bits(ret_crossover->against) ||
        rates.flop_per_second >= rates.plain_flop_per_second)
        return;
    ret_crossover->known = true;
    make_side(setup, &traits, setup->job->precision, &packed);
    make_side(setup, &traits, ret_crossover->against, &plain);
    ret_crossover->sequences = first_loss(&packed, &plain, setup->rates->serving_most_sequences);
    ret_crossover->time_ratio = step_ratio(&packed, &plain, fmax(1, running));
}
