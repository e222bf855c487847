#include "service/search/fixes.h"

#include <math.h>

#include "service/base/quantity.h"
#include "service/base/text.h"
#include "service/memory/serving_split.h"
#include "service/search/serving_launch.h"

/* A change must better something by this much to be told. */
static const double notable = 0.95;
static const double most_gpus = 512; /* that a fix asks for */

struct ladder {
    const struct estimate_request *asked;
    const struct catalog *catalog;
    const struct serving_choice *before;
    const struct serving_sizing *sizing; /* of before */
    uint32_t minimum_gpus;
    double missed; /* serving_worst_miss() of before */
    bool linked;   /* before is held back by the links between GPUs */
    struct fixes *fixes;
};

static void
set(struct fix *fix, enum setting_id id, double value)
{
    fix->settings[fix->setting_count++] = (struct setting){ .id = id, .value = value };
}

static bool
estimate_changed(const struct ladder *ladder, const struct fix *fix, struct serving_choice *ret_choice)
{
    struct estimate_request changed = *ladder->asked;
    struct notices notices = { 0 };
    struct fault fault;

    for (uint32_t i = 0; i < fix->setting_count; i++)
        setting_apply(&fix->settings[i], &changed);

    struct machine machine = hardware_machine(&changed.hardware);
    struct serving_ask ask = { changed.arch, changed.params, &machine, &ladder->catalog->rates, &changed.serving };

    fault_clear(&fault);
    if (serving_plan_choose(&ask, ret_choice, NULL, &notices, &fault) != STATUS_OK)
        return false;
    ret_choice->estimate.setup.machine = NULL; /* it ends with this call */
    return true;
}

static double
missed_after(const struct serving_choice *after)
{
    return after->estimate.timed ? serving_worst_miss(&after->job, &after->estimate.speed) : 1;
}

/* Whether a change is worth telling: less memory where that is short, targets kept or nearer, less waiting for links.
 */
static bool
is_better(const struct ladder *ladder, const struct serving_choice *after, double time_factor)
{
    const struct footprint *before = &ladder->before->estimate.memory.footprint;
    const struct footprint *memory = &after->estimate.memory.footprint;

    if (before->verdict == VERDICT_TIGHT || before->verdict == VERDICT_DOES_NOT_FIT)
        return memory->required_bytes < 0.99 * before->required_bytes || memory->verdict < before->verdict;
    if (memory->verdict == VERDICT_DOES_NOT_FIT)
        return false;
    if (ladder->missed > 1)
        return missed_after(after) <= fmax(1, notable * ladder->missed);
    return ladder->linked && time_factor > 0 && time_factor < notable;
}

static bool
try_fix(const struct ladder *ladder, struct fix *fix)
{
    const struct serving_job *job = &ladder->before->job;
    struct serving_choice after;

    if (!estimate_changed(ladder, fix, &after))
        return false;
    fix->time_factor = serving_time_factor(&after.estimate, &ladder->before->estimate);
    if (!is_better(ladder, &after, fix->time_factor))
        return false;
    fix->verdict = after.estimate.memory.footprint.verdict;
    fix->allocated_bytes = after.estimate.memory.footprint.allocated_bytes;
    fix->has_targets = job->slo_ttft_p95_ms > 0 || job->slo_tpot_p95_ms > 0;
    fix->meets_targets = fix->verdict != VERDICT_DOES_NOT_FIT && missed_after(&after) <= 1;
    fixes_add(ladder->fixes, fix);
    return fix->verdict == VERDICT_FITS && missed_after(&after) <= 1;
}

static void
try_formats(const struct ladder *ladder)
{
    static const enum weight_format formats[] = { WEIGHT_FP8, WEIGHT_INT8, WEIGHT_INT4_AWQ };
    static const enum weight_format llama_cpp_formats[] = { WEIGHT_Q8_0, WEIGHT_Q6_K, WEIGHT_Q4_K_M };
    const struct serving_job *job = &ladder->before->job;
    bool gguf = job->engine == ENGINE_LLAMA_CPP;
    double bits = weight_format_bits(job->precision);

    for (size_t i = 0; i < COUNT_OF(formats); i++) {
        enum weight_format format = gguf ? llama_cpp_formats[i] : formats[i];
        struct fix fix = { .code = FIX_QUANTIZE_WEIGHTS, .text = weight_format_name(format) };

        if (weight_format_bits(format) > 0.95 * bits)
            continue;
        set(&fix, SET_SERVING_PRECISION, (double)format);
        if (try_fix(ladder, &fix))
            return;
    }
}

static void
try_cache(const struct ladder *ladder)
{
    const struct serving_job *job = &ladder->before->job;
    enum kv_format format = serving_launch_has_cache(job->engine, KV_FP8) ? KV_FP8 : KV_INT8;
    struct fix fix = { .code = FIX_QUANTIZE_KV_CACHE, .text = kv_format_name(format) };

    if (kv_format_bytes(job->kv_cache_precision) < 2 || job->engine == ENGINE_TRANSFORMERS ||
        !(ladder->before->estimate.memory.kv_bytes_per_token > 0))
        return;
    set(&fix, SET_KV_PRECISION, format);
    try_fix(ladder, &fix);
}

/* Rounds down to two significant binary digits: a length people would set. */
static double
round_length(double tokens)
{
    double step = exp2(floor(log2(tokens)) - 2);

    return floor(tokens / step) * step;
}

static void
try_context(const struct ladder *ladder)
{
    const struct serving_job *job = &ladder->before->job;
    const struct serving_memory *memory = &ladder->before->estimate.memory;
    uint32_t replicas = ladder->before->estimate.setup.replicas;

    if (memory->max_context_length < 256)
        return;

    double at_once = job->concurrency > replicas ? ceil((double)job->concurrency / replicas) : 1;
    double most = memory->capacity_tokens / at_once;
    double length = round_length(most < memory->max_context_length ? most : memory->max_context_length);
    struct fix fix = { .code = FIX_SHORTER_CONTEXT, .number = length };

    if (length < 128 || length >= job->context_length)
        return;
    set(&fix, SET_CONTEXT_LENGTH, length);
    if (ladder->asked->serving.input_tokens + ladder->asked->serving.output_tokens > length) {
        double output = fmin(job->output_tokens, floor(length / 2));

        set(&fix, SET_OUTPUT_TOKENS, output);
        set(&fix, SET_INPUT_TOKENS, length - output);
    }
    try_fix(ladder, &fix);
}

/* As many users as the cache holds and the targets allow; how many requests arrive at random nobody chooses. */
static void
try_concurrency(const struct ladder *ladder)
{
    const struct serving_choice *before = ladder->before;
    double replicas = before->estimate.setup.replicas, most = floor(before->estimate.memory.max_concurrency);
    struct fix fix = { .code = FIX_LOWER_CONCURRENCY };

    if (ladder->missed > 1)
        most = fmin(most, floor(ladder->sizing->capacity.concurrency));
    fix.number = most * replicas;
    if (fix.number < 1 || fix.number >= before->job.concurrency || before->job.arrival != ARRIVAL_CLOSED_LOOP)
        return;
    set(&fix, SET_CONCURRENCY, fix.number);
    try_fix(ladder, &fix);
}

static void
set_split(const struct ladder *ladder, struct fix *fix, uint32_t tensor, uint32_t gpus)
{
    uint32_t replicas = gpus / (tensor * ladder->before->estimate.setup.plan.pipeline);

    fix->number = tensor;
    set(fix, SET_SERVING_TENSOR, tensor);
    set(fix, SET_SERVING_DATA, replicas);
}

/* A stated split, wider over the same GPUs; narrower where the links between them are what all wait for. */
static void
try_tensor(const struct ladder *ladder)
{
    const struct serving_setup *setup = &ladder->before->estimate.setup;
    uint32_t gpus = setup->machine->gpu_count, tensor = setup->plan.tensor;
    bool short_of = ladder->before->estimate.memory.footprint.verdict != VERDICT_FITS || ladder->missed > 1;
    bool spread = serving_attention_is_data_parallel(&setup->plan, setup->arch);

    if (!ladder->asked->serving.has_parallelism || spread)
        return;
    for (uint32_t wider = 2 * tensor; short_of && wider * setup->plan.pipeline <= gpus; wider *= 2) {
        struct fix fix = { .code = FIX_TENSOR_PARALLEL };

        set_split(ladder, &fix, wider, gpus);
        if (try_fix(ladder, &fix))
            return;
    }
    for (uint32_t narrower = tensor / 2; ladder->linked && narrower >= 1; narrower /= 2) {
        struct fix fix = { .code = FIX_TENSOR_PARALLEL };

        set_split(ladder, &fix, narrower, gpus);
        if (try_fix(ladder, &fix))
            return;
    }
}

/* One copy of a latent cache in place of one a tensor rank, where an engine can and experts are there to be spread. */
static void
try_attention_data_parallel(const struct ladder *ladder)
{
    const struct serving_setup *setup = &ladder->before->estimate.setup;
    enum engine engine = ladder->before->job.engine;
    uint32_t ranks = setup->plan.tensor;
    struct fix fix = { .code = FIX_ATTENTION_DATA_PARALLEL, .number = ranks };
    struct parallelism spread = { .data = ranks, .expert = ranks };

    if (ranks <= 1 || setup->plan.pipeline > 1 || setup->replicas > 1 ||
        setup->arch->kinds[0].attention != ATTENTION_LATENT ||
        !serving_attention_is_data_parallel(&spread, setup->arch) ||
        (engine != ENGINE_VLLM && engine != ENGINE_SGLANG && engine != ENGINE_TENSORRT_LLM))
        return;
    set(&fix, SET_SERVING_TENSOR, 1);
    set(&fix, SET_SERVING_PIPELINE, 1);
    set(&fix, SET_SERVING_DATA, ranks);
    set(&fix, SET_SERVING_EXPERT, ranks);
    try_fix(ladder, &fix);
}

static bool
try_gpu_count(const struct ladder *ladder, double gpus)
{
    const struct hardware_ask *hardware = &ladder->asked->hardware;
    const struct machine *machine = ladder->before->estimate.setup.machine;
    struct fix fix = { .code = FIX_MORE_GPUS, .number = gpus };

    if (hardware->offer) {
        double count = ceil(gpus / machine->gpus_per_node);

        set(&fix, SET_OFFER_COUNT, count);
        fix.number = count * machine->gpus_per_node;
    } else {
        set(&fix, SET_GPUS, gpus);
    }
    if (ladder->asked->serving.has_parallelism)
        set(&fix, SET_SERVING_SPLIT_OPEN, 0);
    if (ladder->asked->training.has_parallelism) /* of the other job in the request: it no longer uses every GPU */
        set(&fix, SET_TRAINING_SPLIT_OPEN, 0);
    return try_fix(ladder, &fix);
}

/* The fewest that hold the job; for targets as many replicas as the load takes, or wider splits. */
static void
try_more_gpus(const struct ladder *ladder)
{
    const struct machine *machine = ladder->before->estimate.setup.machine;
    double copies = (double)ladder->sizing->replicas.minimum * ladder->before->gpus_per_replica;

    if (ladder->minimum_gpus > machine->gpu_count) {
        try_gpu_count(ladder, ladder->minimum_gpus);
        return;
    }
    if (ladder->missed <= 1)
        return;
    if (copies > machine->gpu_count && copies <= most_gpus && try_gpu_count(ladder, copies))
        return;
    for (uint32_t times = 2; times <= 8 && (double)times * machine->gpu_count <= most_gpus; times *= 2)
        if (try_gpu_count(ladder, (double)times * machine->gpu_count))
            return;
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
        struct serving_choice after;

        if (gpu->usable_bytes <= machine.gpu->usable_bytes || !text_equal(gpu->vendor, machine.gpu->vendor) ||
            (best.verdict == VERDICT_FITS && !gpu_is_nearer_step(gpu, best_gpu)))
            continue;
        fix.settings[fix.setting_count++] = (struct setting){ .id = SET_GPU, .gpu = gpu };
        if (hardware->offer) {
            set(&fix, SET_GPUS, machine.gpu_count);
            set(&fix, hardware->offer->is_server ? SET_SERVER_NONE : SET_INSTANCE_NONE, 0);
            set(&fix, SET_COUNT_NONE, 0);
        }
        if (!estimate_changed(ladder, &fix, &after))
            continue;
        fix.verdict = after.estimate.memory.footprint.verdict;
        if (fix.verdict > best.verdict || fix.verdict == VERDICT_DOES_NOT_FIT ||
            (fix.verdict == best.verdict && !gpu_is_nearer_step(gpu, best_gpu)))
            continue;
        best = fix;
        best_gpu = gpu;
    }
    if (best_gpu)
        try_fix(ladder, &best);
}

void
serving_fixes(const struct estimate_request *request, const struct catalog *catalog,
              const struct serving_choice *before, const struct serving_sizing *sizing, uint32_t minimum_gpus,
              struct fixes *ret_fixes)
{
    const struct serving_estimate *estimate = &before->estimate;
    enum verdict verdict = estimate->memory.footprint.verdict;
    bool is_short = verdict == VERDICT_TIGHT || verdict == VERDICT_DOES_NOT_FIT;
    bool linked = estimate->timed && (estimate->speed.bottleneck == BOTTLENECK_INTERCONNECT ||
                                      estimate->speed.bottleneck == BOTTLENECK_NETWORK);
    struct ladder ladder = { request, catalog, before, sizing, minimum_gpus, 1, linked, ret_fixes };

    ret_fixes->count = 0;
    if (estimate->timed && !is_short)
        ladder.missed = serving_worst_miss(&before->job, &estimate->speed);
    if (!is_short && ladder.missed <= 1 && !linked)
        return;
    try_formats(&ladder);
    try_cache(&ladder);
    try_context(&ladder);
    try_concurrency(&ladder);
    try_tensor(&ladder);
    try_attention_data_parallel(&ladder);
    try_more_gpus(&ladder);
    if (is_short)
        try_larger_gpu(&ladder);
}
