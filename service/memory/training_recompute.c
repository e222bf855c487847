/* How many layers must be run again so that the rest may keep what they made. */
#include "service/memory/training_memory.h"
#include "service/parallel/plan.h"

static enum verdict
verdict_with(const struct training_setup *setup, enum recompute recompute, double share)
{
    struct training_setup trial = *setup;
    struct footprint footprint;

    trial.recompute = recompute;
    trial.recompute_share = share;
    training_memory(&trial, &footprint);
    return footprint.verdict;
}

double
training_recompute_share(const struct training_setup *setup)
{
    uint32_t layers = plan_stage_layers(&setup->plan, setup->arch), low = 0, high = layers;

    if (layers == 0 || setup->machine->gpu == NULL || verdict_with(setup, RECOMPUTE_NONE, 0) == VERDICT_FITS)
        return 0;
    if (verdict_with(setup, RECOMPUTE_FULL, 0) != VERDICT_FITS)
        return 1;
    while (low + 1 < high) { /* more recompute never needs more */
        uint32_t middle = low + (high - low) / 2;

        if (verdict_with(setup, RECOMPUTE_FULL, (double)middle / layers) == VERDICT_FITS)
            high = middle;
        else
            low = middle;
    }
    return (double)high / layers;
}
