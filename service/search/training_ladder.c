/* A fix is a change of the request: made, estimated, and kept when it helps. */
#include "service/search/training_ladder.h"

void
fix_set(struct fix *fix, enum setting_id id, double value)
{
    fix->settings[fix->setting_count++] = (struct setting){ .id = id, .value = value };
}

void
fix_set_gpu(struct fix *fix, const struct gpu *gpu)
{
    fix->settings[fix->setting_count++] = (struct setting){ .id = SET_GPU, .gpu = gpu };
}

bool
ladder_estimate(const struct training_ladder *ladder, const struct fix *fix, struct training_choice *ret_choice)
{
    struct estimate_request changed = *ladder->asked;
    struct fault fault;

    for (uint32_t i = 0; i < fix->setting_count; i++)
        setting_apply(&fix->settings[i], &changed);

    struct machine machine = hardware_machine(&changed.hardware);
    struct training_ask ask = { changed.arch, changed.params, &machine, &ladder->catalog->rates, &changed.training };

    fault_clear(&fault);
    if (training_plan_choose(&ask, ret_choice, NULL, &fault) != STATUS_OK)
        return false;
    ret_choice->estimate.setup.machine = NULL; /* it ends with this call */
    return true;
}

/* Less memory where memory is short; less time, and no more of what is short, where something else holds the job back.
 */
static bool
improves(const struct training_ladder *ladder, const struct training_choice *after)
{
    const struct training_estimate *before = &ladder->before->estimate;
    const struct footprint *memory = &after->estimate.memory;

    if (ladder->memory &&
        (memory->allocated_bytes < 0.99 * before->memory.allocated_bytes || memory->verdict < before->memory.verdict))
        return true;
    return ladder->traffic && memory->verdict <= before->memory.verdict &&
           (!ladder->memory || memory->allocated_bytes <= before->memory.allocated_bytes) &&
           training_time_factor(&after->estimate, before) < 0.97;
}

static uint64_t
global_batch(const struct training_choice *choice)
{
    const struct training_setup *setup = &choice->estimate.setup;

    return (uint64_t)setup->micro_batch_size * setup->accumulation_steps * setup->plan.data;
}

/* What of the training itself is another after it, so that its loss may be. */
static unsigned
changes_of(const struct training_choice *before, const struct training_choice *after)
{
    return (before->job.method != after->job.method ? FIX_CHANGES_METHOD : 0u) |
           (before->job.precision != after->job.precision ? FIX_CHANGES_PRECISION : 0u) |
           (before->job.optimizer != after->job.optimizer ? FIX_CHANGES_OPTIMIZER : 0u) |
           (global_batch(before) != global_batch(after) ? FIX_CHANGES_BATCH : 0u);
}

bool
ladder_add(const struct training_ladder *ladder, struct fix *fix, const struct training_choice *after)
{
    if (!improves(ladder, after))
        return false;
    fix->verdict = after->estimate.memory.verdict;
    fix->allocated_bytes = after->estimate.memory.allocated_bytes;
    fix->time_factor = training_time_factor(&after->estimate, &ladder->before->estimate);
    fix->changes = changes_of(ladder->before, after);
    fixes_add(ladder->fixes, fix);
    return true;
}

bool
ladder_try(const struct training_ladder *ladder, struct fix *fix)
{
    struct training_choice after;

    return ladder_estimate(ladder, fix, &after) && ladder_add(ladder, fix, &after);
}
