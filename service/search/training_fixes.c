#include "service/search/fixes.h"

#include "service/base/quantity.h"
#include "service/base/text.h"
#include "service/memory/gathered.h"

/* One ladder under way: every rung changes `asked` a little and asks the same search again. */
struct ladder {
    const struct estimate_request *asked;
    const struct catalog *catalog;
    const struct training_choice *before;
    struct fixes *fixes;
    bool memory;  /* it does not fit with room */
    bool traffic; /* links or the host hold it back */
};

static void
set(struct fix *fix, enum setting_id id, double value)
{
    fix->settings[fix->setting_count++] = (struct setting){ .id = id, .value = value };
}

static void
set_gpu(struct fix *fix, const struct gpu *gpu)
{
    fix->settings[fix->setting_count++] = (struct setting){ .id = SET_GPU, .gpu = gpu };
}

/* Estimates the request with a fix merged in, the way the request itself is estimated. false: not legal. */
static bool
estimate_changed(const struct ladder *ladder, const struct fix *fix, struct training_choice *ret_choice)
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
improves(const struct ladder *ladder, const struct training_choice *after)
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

static bool
add_if_better(const struct ladder *ladder, struct fix *fix, const struct training_choice *after)
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

static bool
try_fix(const struct ladder *ladder, struct fix *fix)
{
    struct training_choice after;

    return estimate_changed(ladder, fix, &after) && add_if_better(ladder, fix, &after);
}

/* The largest smaller micro-batch after which it fits, with the same global batch (where a request can say so); else
 * the smallest. */
static void
try_smaller_micro_batch(const struct ladder *ladder)
{
    const struct training_setup *setup = &ladder->before->estimate.setup;
    uint64_t global = u64_mul_sat(u64_mul_sat(setup->micro_batch_size, setup->plan.data), setup->accumulation_steps);

    for (uint32_t micro = setup->micro_batch_size / 2; micro >= 1; micro /= 2) {
        struct fix fix = { .code = FIX_SMALLER_MICRO_BATCH, .number = micro };
        struct training_choice after;

        set(&fix, SET_MICRO_BATCH, micro);
        if (global <= MAX_GLOBAL_BATCH)
            set(&fix, SET_GLOBAL_BATCH, (double)global);
        if (!estimate_changed(ladder, &fix, &after) ||
            (micro > 1 && after.estimate.memory.verdict == VERDICT_DOES_NOT_FIT))
            continue;
        add_if_better(ladder, &fix, &after);
        return;
    }
}

static void
try_setting(const struct ladder *ladder, enum fix_code code, enum setting_id id, int value)
{
    struct fix fix = { .code = code };

    set(&fix, id, value);
    try_fix(ladder, &fix);
}

static void
try_kernels(const struct ladder *ladder)
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
try_sharding(const struct ladder *ladder)
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
        set(&fix, SET_SHARDING, (double)stages[i].stage);
        if (ladder->asked->training.framework == FRAMEWORK_MEGATRON && stages[i].stage > SHARDING_ZERO1)
            set(&fix, SET_FRAMEWORK_OPEN, 0);
        try_fix(ladder, &fix);
    }
}

/* Lets the service split the model where the caller's split only shares the data. */
static void
try_model_split(const struct ladder *ladder)
{
    const struct training_setup *setup = &ladder->before->estimate.setup;
    struct fix fix = { .code = FIX_TENSOR_PARALLEL };
    struct training_choice after;

    if (!ladder->asked->training.has_parallelism || ladder->asked->arch->generic)
        return;
    set(&fix, SET_TRAINING_SPLIT_OPEN, 0);
    if (!estimate_changed(ladder, &fix, &after))
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
    add_if_better(ladder, &fix, &after);
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
try_states(const struct ladder *ladder)
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
try_offload(const struct ladder *ladder)
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
    set(&all, SET_OFFLOAD, OFFLOAD_ALL);
    if (estimate_changed(ladder, &all, &after) &&
        (optimizer == NULL || after.estimate.memory.allocated_bytes < 0.99 * optimizer->allocated_bytes))
        add_if_better(ladder, &all, &after);
}

/* Adapters: fewer bytes to keep, and fewer to send. */
static void
try_methods(const struct ladder *ladder)
{
    enum training_method method = ladder->before->job.method;

    if (ladder->asked->arch->generic)
        return;
    if (method == METHOD_FULL || method == METHOD_FREEZE)
        try_setting(ladder, FIX_LORA, SET_METHOD, METHOD_LORA);
    if (method == METHOD_FULL || method == METHOD_FREEZE || method == METHOD_LORA)
        try_setting(ladder, FIX_QLORA, SET_METHOD, METHOD_QLORA);
}

/* The request on that many GPUs of the same kind, split anew; whole instances or servers when they are named. */
static struct fix
on_more_gpus(const struct ladder *ladder, const struct machine *machine, uint32_t gpus)
{
    struct fix fix = { .code = FIX_MORE_GPUS, .number = gpus };

    if (ladder->asked->hardware.offer) {
        uint32_t count = (uint32_t)u64_ceil_div(gpus, machine->gpus_per_node);

        set(&fix, SET_OFFER_COUNT, count);
        fix.number = (double)count * machine->gpus_per_node;
    } else {
        set(&fix, SET_GPUS, gpus);
    }
    if (ladder->asked->training.has_parallelism)
        set(&fix, SET_TRAINING_SPLIT_OPEN, 0);
    if (ladder->asked->serving.has_parallelism) /* of the other job in the request: it no longer uses every GPU */
        set(&fix, SET_SERVING_SPLIT_OPEN, 0);
    return fix;
}

/* The smallest number may be tight: up to four times as many are tried for one that fits with room. */
static void
try_more_gpus(const struct ladder *ladder)
{
    struct machine machine = hardware_machine(&ladder->asked->hardware);
    struct training_ask ask = { ladder->asked->arch, ladder->asked->params, &machine, &ladder->catalog->rates,
                                &ladder->asked->training };
    uint32_t minimum = training_minimum_gpus(&ask);
    enum verdict best_verdict = VERDICT_DOES_NOT_FIT;
    struct fix best;

    for (uint32_t gpus = minimum; gpus && gpus <= MINIMUM_GPUS_LIMIT && gpus <= 4 * minimum; gpus *= 2) {
        struct fix fix = on_more_gpus(ladder, &machine, gpus);
        struct training_choice after;

        if (gpus <= machine.gpu_count || !estimate_changed(ladder, &fix, &after))
            continue;
        if (after.estimate.memory.verdict < best_verdict) {
            best = fix;
            best_verdict = after.estimate.memory.verdict;
        }
        if (best_verdict == VERDICT_FITS)
            break;
    }
    if (best_verdict != VERDICT_DOES_NOT_FIT)
        try_fix(ladder, &best);
}

/* A vendor's GPU with the next more memory than `bytes`, the fastest of those that have as much. NULL after the last.
 */
static const struct gpu *
next_larger(const struct catalog *catalog, const char *vendor, uint64_t bytes)
{
    const struct gpu *next = NULL;

    for (size_t i = 0; i < catalog->gpu_count; i++) {
        const struct gpu *gpu = &catalog->gpus[i];

        if (gpu->usable_bytes > bytes && text_equal(gpu->vendor, vendor) && gpu->bf16_flop_per_second > 0 &&
            (next == NULL || gpu_is_nearer_step(gpu, next)))
            next = gpu;
    }
    return next;
}

static struct fix
on_gpu(const struct ladder *ladder, const struct machine *machine, const struct gpu *gpu)
{
    const struct hardware_ask *hardware = &ladder->asked->hardware;
    struct fix fix = { .code = FIX_LARGER_GPU, .text = gpu->id, .number = machine->gpu_count };

    set_gpu(&fix, gpu);
    if (hardware->offer) {
        set(&fix, SET_GPUS, machine->gpu_count);
        set(&fix, hardware->offer->is_server ? SET_SERVER_NONE : SET_INSTANCE_NONE, 0);
        set(&fix, SET_COUNT_NONE, 0);
    }
    return fix;
}

/* The GPU with the least memory, the fastest of such, on which the same number is enough, of the same vendor: one that
 * fits with room if there is any, else one that is tight. */
static void
try_larger_gpu(const struct ladder *ladder)
{
    const struct catalog *catalog = ladder->catalog;
    struct machine machine = hardware_machine(&ladder->asked->hardware);
    const char *vendor = machine.gpu->vendor;
    struct training_choice after;
    struct fix tight;
    bool is_tight = false;

    for (const struct gpu *gpu = next_larger(catalog, vendor, machine.gpu->usable_bytes); gpu != NULL;
         gpu = next_larger(catalog, vendor, gpu->usable_bytes)) {
        struct fix fix = on_gpu(ladder, &machine, gpu);

        if (!estimate_changed(ladder, &fix, &after))
            continue;
        if (after.estimate.memory.verdict == VERDICT_FITS) {
            add_if_better(ladder, &fix, &after);
            return;
        }
        if (after.estimate.memory.verdict == VERDICT_TIGHT && !is_tight) {
            tight = fix;
            is_tight = true;
        }
    }
    if (is_tight)
        try_fix(ladder, &tight);
}

/* 400 Gb/s a GPU, as 8-GPU machines for training are built (DGX H100: 8 x 400 Gb/s). */
static void
try_faster_network(const struct ladder *ladder)
{
    struct machine machine = hardware_machine(&ladder->asked->hardware);
    struct fix fix = { .code = FIX_FASTER_NETWORK, .number = 400e9 * machine.gpus_per_node };

    if (machine.nodes <= 1 || machine.network_bytes_per_second >= 50e9)
        return;
    set(&fix, SET_INTERNODE, fix.number);
    try_fix(ladder, &fix);
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
    struct ladder ladder = { request,
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
        try_more_gpus(&ladder);
        try_larger_gpu(&ladder);
    }
    if (ladder.traffic)
        try_faster_network(&ladder);
}
