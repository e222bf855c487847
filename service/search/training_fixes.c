/* The rungs of the ladder, cheapest first. */
#include "service/base/quantity.h"
#include "service/memory/gathered.h"
#include "service/search/training_ladder.h"

/* The largest smaller micro-batch after which it fits, with the same global batch (where a request can say so); else
 * the smallest. */
static void
try_smaller_micro_batch(const struct training_ladder *ladder)
{
    const struct training_setup *setup = &ladder->before->estimate.setup;
    uint64_t global = u64_mul_sat(u64_mul_sat(setup->micro_batch_size, setup->plan.data), setup->accumulation_steps);

    for (uint32_t micro = setup->micro_batch_size / 2; micro >= 1; micro /= 2) {
        struct fix fix = { .code = FIX_SMALLER_MICRO_BATCH, .number = micro };
        struct training_choice after;

        fix_set(&fix, SET_MICRO_BATCH, micro);
        if (global <= MAX_GLOBAL_BATCH)
            fix_set(&fix, SET_GLOBAL_BATCH, (double)global);
        if (!ladder_estimate(ladder, &fix, &after) ||
            (micro > 1 && after.estimate.memory.verdict == VERDICT_DOES_NOT_FIT))
            continue;
        ladder_add(ladder, &fix, &after);
        return;
    }
}

static void
try_setting(const struct training_ladder *ladder, enum fix_code code, enum setting_id id, int value)
{
    struct fix fix = { .code = code };

    fix_set(&fix, id, value);
    ladder_try(ladder, &fix);
}

static void
try_kernels(const struct training_ladder *ladder)
{
    const struct training_job *job = &ladder->before->job;
    bool generic = ladder->asked->arch->generic;

    try_smaller_micro_batch(ladder);
    if (generic)
        return;
    if (ladder->before->estimate.setup.recompute != RECOMPUTE_FULL)
        try_setting(ladder, FIX_RECOMPUTE, SET_RECOMPUTE, RECOMPUTE_FULL);
    if (job->attention == ATTENTION_KERNEL_EAGER)
        try_setting(ladder, FIX_FLASH_ATTENTION, SET_ATTENTION, ATTENTION_KERNEL_FLASH);
    if (job->loss == LOSS_UNFUSED)
        try_setting(ladder, FIX_FUSED_LOSS, SET_LOSS, LOSS_FUSED);
}

/* A stated framework that has no such stage is left to the service. */
static void
try_sharding(const struct training_ladder *ladder)
{
    static const struct {
        enum fix_code code;
        enum sharding stage;
    } stages[] = { { FIX_ZERO1, SHARDING_ZERO1 }, { FIX_ZERO2, SHARDING_ZERO2 }, { FIX_ZERO3, SHARDING_ZERO3 } };
    const struct parallelism *plan = &ladder->before->estimate.setup.plan;

    if (plan->data * plan->context <= 1)
        return;
    for (size_t i = 0; i < COUNT_OF(stages); i++) {
        struct fix fix = { .code = stages[i].code, .number = (double)(i + 1) };

        if (plan->sharding == stages[i].stage)
            continue;
        if (plan->sharding > stages[i].stage && !ladder->traffic)
            continue;
        fix_set(&fix, SET_SHARDING, (double)stages[i].stage);
        if (ladder->asked->training.framework == FRAMEWORK_MEGATRON && stages[i].stage > SHARDING_ZERO1)
            fix_set(&fix, SET_FRAMEWORK_OPEN, 0);
        ladder_try(ladder, &fix);
    }
}

/* Lets the service split the model where the caller's split only shares the data. */
static void
try_model_split(const struct training_ladder *ladder)
{
    const struct training_setup *setup = &ladder->before->estimate.setup;
    struct fix fix = { .code = FIX_TENSOR_PARALLEL };
    struct training_choice after;

    if (!ladder->asked->training.has_parallelism || ladder->asked->arch->generic)
        return;
    fix_set(&fix, SET_TRAINING_SPLIT_OPEN, 0);
    if (!ladder_estimate(ladder, &fix, &after))
        return;

    const struct parallelism *plan = &after.estimate.setup.plan;

    if (plan->tensor > setup->plan.tensor)
        fix.number = plan->tensor;
    else if (plan->pipeline > setup->plan.pipeline) {
        fix.code = FIX_PIPELINE_PARALLEL;
        fix.number = plan->pipeline;
    } else if (plan->context > setup->plan.context) {
        fix.code = FIX_CONTEXT_PARALLEL;
        fix.number = plan->context;
    } else {
        return;
    }
    ladder_add(ladder, &fix, &after);
}

static const struct fix *
found(const struct fixes *fixes, enum fix_code code)
{
    for (uint32_t i = 0; i < fixes->count; i++)
        if (fixes->items[i].code == code)
            return &fixes->items[i];
    return NULL;
}

/* Fewer bytes a parameter: 8-bit states of AdamW, no FP32 copies. */
static void
try_states(const struct training_ladder *ladder)
{
    const struct training_job *job = &ladder->before->job;
    const struct gpu *gpu = hardware_machine(&ladder->asked->hardware).gpu;

    if (method_is_adapter(job->method))
        return;
    if (job->optimizer == OPTIMIZER_ADAMW)
        try_setting(ladder, FIX_OPTIMIZER_8BIT, SET_OPTIMIZER, OPTIMIZER_ADAMW_8BIT);
    if (gpu->bf16_flop_per_second > 0 && job->precision != PRECISION_BF16_PURE)
        try_setting(ladder, FIX_PURE_BF16, SET_PRECISION, PRECISION_BF16_PURE);
}

static void
try_offload(const struct training_ladder *ladder)
{
    const struct training_job *job = &ladder->before->job;
    struct fix all = { .code = FIX_OFFLOAD_ALL };
    struct training_choice after;
    const struct fix *optimizer;

    if (method_is_adapter(job->method) || job->offload == OFFLOAD_ALL)
        return;
    if (job->offload == OFFLOAD_NONE)
        try_setting(ladder, FIX_OFFLOAD_OPTIMIZER, SET_OFFLOAD, OFFLOAD_OPTIMIZER);
    optimizer = found(ladder->fixes, FIX_OFFLOAD_OPTIMIZER);
    if (optimizer != NULL && optimizer->verdict != VERDICT_DOES_NOT_FIT)
        return; /* the costlier form need not be shown */
    fix_set(&all, SET_OFFLOAD, OFFLOAD_ALL);
    if (ladder_estimate(ladder, &all, &after) &&
        (optimizer == NULL || after.estimate.memory.allocated_bytes < 0.99 * optimizer->allocated_bytes))
        ladder_add(ladder, &all, &after);
}

/* Adapters: fewer bytes to keep, and fewer to send. */
static void
try_methods(const struct training_ladder *ladder)
{
    enum training_method method = ladder->before->job.method;

    if (ladder->asked->arch->generic)
        return;
    if (method == METHOD_FULL || method == METHOD_FREEZE)
        try_setting(ladder, FIX_LORA, SET_METHOD, METHOD_LORA);
    if (method == METHOD_FULL || method == METHOD_FREEZE || method == METHOD_LORA)
        try_setting(ladder, FIX_QLORA, SET_METHOD, METHOD_QLORA);
}

/* What other than memory and arithmetic sets the pace. */
static bool
held_back(const struct training_estimate *estimate)
{
    switch (estimate->speed.bottleneck) {
    case BOTTLENECK_INTERCONNECT:
    case BOTTLENECK_NETWORK:
    case BOTTLENECK_STORAGE:
    case BOTTLENECK_CPU:
        return estimate->timed;
    case BOTTLENECK_COMPUTE:
    case BOTTLENECK_MEMORY_BANDWIDTH:
    case BOTTLENECK_COUNT:
        break;
    }
    return false;
}

void
training_fixes(const struct estimate_request *request, const struct catalog *catalog,
               const struct training_choice *before, struct fixes *ret_fixes)
{
    struct training_ladder ladder = { request,
                                      catalog,
                                      before,
                                      ret_fixes,
                                      before->estimate.memory.verdict != VERDICT_FITS,
                                      held_back(&before->estimate) };

    ret_fixes->count = 0;
    if (!hardware_machine(&request->hardware).gpu || (!ladder.memory && !ladder.traffic))
        return;
    if (ladder.memory)
        try_kernels(&ladder);
    try_sharding(&ladder);
    if (ladder.memory)
        try_states(&ladder);
    try_model_split(&ladder);
    if (ladder.memory)
        try_offload(&ladder);
    try_methods(&ladder);
    if (ladder.memory) {
        ladder_more_gpus(&ladder);
        ladder_larger_gpu(&ladder);
    }
    if (ladder.traffic)
        ladder_faster_network(&ladder);
}
