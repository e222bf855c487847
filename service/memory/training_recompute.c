/* How many layers must be run again so that the rest may keep what they made. */
#include <math.h>

#include "service/memory/training_memory.h"
#include "service/parallel/plan.h"

static enum verdict
weigh(const struct training_setup *setup, enum recompute recompute, double share, struct footprint *ret_footprint)
{
    struct training_setup trial = *setup;

    trial.recompute = recompute;
    trial.recompute_share = share;
    training_memory(&trial, ret_footprint);
    return ret_footprint->verdict;
}

/* What is reserved falls evenly with each layer that is run again, or more slowly where another stage becomes the
 * fullest: the line through both ends is never too low, so its answer is right or a little too many. */
static uint32_t
layers_on_line(const struct footprint *one, const struct footprint *all, uint32_t layers)
{
    double limit = footprint_fitting_bytes(all), saved = one->reserved_bytes - all->reserved_bytes;
    double spare = saved > 0 ? (limit - all->reserved_bytes) / saved : 0;
    double needed = ceil(layers - spare * (layers - 1));

    return needed < 1 ? 1 : (needed < layers ? (uint32_t)needed : layers);
}

double
training_recompute_share(const struct training_setup *setup, struct footprint *ret_footprint)
{
    uint32_t layers = plan_stage_layers(&setup->plan, setup->arch), needed;
    struct footprint one, trial;
    enum verdict all = weigh(setup, RECOMPUTE_FULL, 0, ret_footprint);

    if (layers == 0 || setup->machine->gpu == NULL)
        return 0;
    if (all != VERDICT_FITS)
        return weigh(setup, RECOMPUTE_NONE, 0, &trial) == VERDICT_FITS ? 0 : 1;
    if (weigh(setup, RECOMPUTE_FULL, 1.0 / layers, &one) == VERDICT_FITS) {
        if (weigh(setup, RECOMPUTE_NONE, 0, &trial) == VERDICT_FITS)
            return 0;
        *ret_footprint = one;
        return 1.0 / layers;
    }
    needed = layers_on_line(&one, ret_footprint, layers);
    while (needed < layers && weigh(setup, RECOMPUTE_FULL, (double)needed / layers, ret_footprint) != VERDICT_FITS)
        needed++;
    if (needed == layers)
        (void)weigh(setup, RECOMPUTE_FULL, 0, ret_footprint);
    while (needed > 1 && weigh(setup, RECOMPUTE_FULL, (needed - 1.0) / layers, &trial) == VERDICT_FITS) {
        needed--;
        *ret_footprint = trial;
    }
    return (double)needed / layers;
}
