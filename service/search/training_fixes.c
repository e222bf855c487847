#include "service/search/fixes.h"

#include <string.h>

#include "service/base/quantity.h"
#include "service/base/text.h"

/* One ladder under way: every rung changes `asked` a little and asks the same search again. */
struct ladder {
    const struct estimate_request *asked;
    const struct catalog *catalog;
    const struct training_choice *before;
    struct fixes *fixes;
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

static bool
improves(const struct ladder *ladder, const struct training_choice *after)
{
    const struct training_estimate *before = &ladder->before->estimate;
    const struct footprint *memory = &after->estimate.memory;

    if (before->memory.verdict == VERDICT_FITS) /* asked because something else than memory holds it back */
        return memory->verdict == VERDICT_FITS && training_time_factor(&after->estimate, before) < 0.97;
    return memory->allocated_bytes < 0.99 * before->memory.allocated_bytes || memory->verdict < before->memory.verdict;
}

static bool
try_fix(const struct ladder *ladder, struct fix *fix)
{
    struct training_choice after;

    if (!estimate_changed(ladder, fix, &after) || !improves(ladder, &after))
        return false;
    fix->verdict = after.estimate.memory.verdict;
    fix->allocated_bytes = after.estimate.memory.allocated_bytes;
    fix->time_factor = training_time_factor(&after.estimate, &ladder->before->estimate);
    fixes_add(ladder->fixes, fix);
    return true;
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
        if (micro > 1 &&
            (!estimate_changed(ladder, &fix, &after) || after.estimate.memory.verdict == VERDICT_DOES_NOT_FIT))
            continue;
        try_fix(ladder, &fix);
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
        if (plan->sharding > stages[i].stage && ladder->before->estimate.memory.verdict != VERDICT_FITS)
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
    try_fix(ladder, &fix);
}

/* Whether a fix that was tried is enough, so that its costlier form need not be shown. */
static bool
fits_after(const struct fixes *fixes, enum fix_code code)
{
    for (uint32_t i = 0; i < fixes->count; i++)
        if (fixes->items[i].code == code && fixes->items[i].verdict != VERDICT_DOES_NOT_FIT)
            return true;
    return false;
}

static void
try_states(const struct ladder *ladder)
{
    const struct training_job *job = &ladder->before->job;
    bool adapters = job->method == METHOD_LORA || job->method == METHOD_QLORA;
    bool bf16 = ladder->asked->hardware.gpu && ladder->asked->hardware.gpu->bf16_flop_per_second > 0;

    if (adapters)
        return;
    if (job->optimizer == OPTIMIZER_ADAMW)
        try_setting(ladder, FIX_OPTIMIZER_8BIT, SET_OPTIMIZER, OPTIMIZER_ADAMW_8BIT);
    if (bf16 && job->precision != PRECISION_BF16_PURE)
        try_setting(ladder, FIX_PURE_BF16, SET_PRECISION, PRECISION_BF16_PURE);
    if (job->offload == OFFLOAD_NONE)
        try_setting(ladder, FIX_OFFLOAD_OPTIMIZER, SET_OFFLOAD, OFFLOAD_OPTIMIZER);
    if (job->offload != OFFLOAD_ALL && !fits_after(ladder->fixes, FIX_OFFLOAD_OPTIMIZER))
        try_setting(ladder, FIX_OFFLOAD_ALL, SET_OFFLOAD, OFFLOAD_ALL);
}

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
    struct fix best = { .verdict = VERDICT_DOES_NOT_FIT };

    for (uint32_t gpus = minimum; gpus && gpus <= MINIMUM_GPUS_LIMIT && gpus <= 4 * minimum; gpus *= 2) {
        struct fix fix = on_more_gpus(ladder, &machine, gpus);
        struct training_choice after;

        if (gpus <= machine.gpu_count || !estimate_changed(ladder, &fix, &after))
            continue;
        fix.verdict = after.estimate.memory.verdict;
        if (fix.verdict < best.verdict)
            best = fix;
        if (best.verdict == VERDICT_FITS)
            break;
    }
    if (best.verdict != VERDICT_DOES_NOT_FIT)
        try_fix(ladder, &best);
}

/* The GPU with the least memory, the fastest of such, on which the same number is enough, of the same vendor: one that
 * fits with room if there is any, else one that is tight. */
static void
try_larger_gpu(const struct ladder *ladder)
{
    const struct hardware_ask *hardware = &ladder->asked->hardware;
    struct machine machine = hardware_machine(hardware);
    const struct gpu *best_gpu = NULL;
    struct fix best = { .verdict = VERDICT_DOES_NOT_FIT };

    for (size_t i = 0; i < ladder->catalog->gpu_count; i++) {
        const struct gpu *gpu = &ladder->catalog->gpus[i];
        struct fix fix = { .code = FIX_LARGER_GPU, .text = gpu->id, .number = machine.gpu_count };
        struct training_choice after;

        if (gpu->usable_bytes <= machine.gpu->usable_bytes || !text_equal(gpu->vendor, machine.gpu->vendor) ||
            !(gpu->bf16_flop_per_second > 0))
            continue;
        if (best.verdict == VERDICT_FITS && !gpu_is_nearer_step(gpu, best_gpu))
            continue;
        set_gpu(&fix, gpu);
        if (hardware->offer) {
            set(&fix, SET_GPUS, machine.gpu_count);
            set(&fix, hardware->offer->is_server ? SET_SERVER_NONE : SET_INSTANCE_NONE, 0);
            set(&fix, SET_COUNT_NONE, 0);
        }
        if (!estimate_changed(ladder, &fix, &after))
            continue;
        fix.verdict = after.estimate.memory.verdict;
        if (fix.verdict > best.verdict || fix.verdict == VERDICT_DOES_NOT_FIT ||
            (fix.verdict == best.verdict && !gpu_is_nearer_step(gpu, best_gpu)))
            continue;
        best = fix;
        best_gpu = gpu;
    }
    if (best_gpu)
        try_fix(ladder, &best);
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

void
training_fixes(const struct estimate_request *request, const struct catalog *catalog,
               const struct training_choice *before, struct fixes *ret_fixes)
{
    struct ladder ladder = { request, catalog, before, ret_fixes };
    bool memory = before->estimate.memory.verdict != VERDICT_FITS;

    ret_fixes->count = 0;
    if (!hardware_machine(&request->hardware).gpu)
        return;
    if (memory)
        try_kernels(&ladder);
    try_sharding(&ladder);
    if (memory) {
        try_states(&ladder);
        try_methods(&ladder);
    }
    try_model_split(&ladder);
    if (memory) {
        try_more_gpus(&ladder);
        try_larger_gpu(&ladder);
    } else {
        try_faster_network(&ladder);
    }
}
