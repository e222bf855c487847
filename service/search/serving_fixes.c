#include "service/search/fixes.h"

#include <math.h>

#include "service/base/quantity.h"
#include "service/base/text.h"

struct ladder {
    const struct estimate_request *asked;
    const struct catalog *catalog;
    const struct serving_choice *before;
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

static bool
try_fix(const struct ladder *ladder, struct fix *fix)
{
    const struct footprint *before = &ladder->before->estimate.memory.footprint;
    struct serving_choice after;

    if (!estimate_changed(ladder, fix, &after))
        return false;

    const struct footprint *memory = &after.estimate.memory.footprint;

    if (memory->required_bytes >= 0.99 * before->required_bytes && memory->verdict >= before->verdict)
        return false;
    fix->verdict = memory->verdict;
    fix->allocated_bytes = memory->allocated_bytes;
    fix->time_factor = serving_time_factor(&after.estimate, &ladder->before->estimate);
    fixes_add(ladder->fixes, fix);
    return true;
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
        if (try_fix(ladder, &fix) && fix.verdict == VERDICT_FITS)
            return;
    }
}

static void
try_cache(const struct ladder *ladder)
{
    const struct serving_job *job = &ladder->before->job;
    struct fix fix = { .code = FIX_QUANTIZE_KV_CACHE, .text = "fp8" };

    if (kv_format_bytes(job->kv_cache_precision) < 2 || job->engine == ENGINE_TRANSFORMERS)
        return;
    if (job->engine == ENGINE_LLAMA_CPP)
        fix.text = "int8";
    set(&fix, SET_KV_PRECISION, job->engine == ENGINE_LLAMA_CPP ? KV_INT8 : KV_FP8);
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
try_load(const struct ladder *ladder)
{
    const struct serving_job *job = &ladder->before->job;
    const struct serving_memory *memory = &ladder->before->estimate.memory;
    uint32_t replicas = ladder->before->estimate.setup.replicas;

    if (memory->max_context_length >= 256) {
        double at_once = job->concurrency > replicas ? ceil((double)job->concurrency / replicas) : 1;
        double most = memory->capacity_tokens / at_once;
        double length = round_length(most < memory->max_context_length ? most : memory->max_context_length);
        struct fix fix = { .code = FIX_SHORTER_CONTEXT, .number = length };

        if (length >= 128 && length < job->context_length) {
            set(&fix, SET_CONTEXT_LENGTH, length);
            if (ladder->asked->serving.input_tokens + ladder->asked->serving.output_tokens > length) {
                double output = fmin(job->output_tokens, floor(length / 2));

                set(&fix, SET_OUTPUT_TOKENS, output);
                set(&fix, SET_INPUT_TOKENS, length - output);
            }
            try_fix(ladder, &fix);
        }
    }
    if (memory->max_concurrency * replicas >= 1 && memory->max_concurrency * replicas < job->concurrency) {
        struct fix fix = { .code = FIX_LOWER_CONCURRENCY, .number = floor(memory->max_concurrency) * replicas };

        set(&fix, SET_CONCURRENCY, fix.number);
        if (fix.number >= 1)
            try_fix(ladder, &fix);
    }
}

static void
try_more_gpus(const struct ladder *ladder)
{
    const struct hardware_ask *hardware = &ladder->asked->hardware;
    struct machine machine = hardware_machine(hardware);
    struct serving_ask ask = { ladder->asked->arch, ladder->asked->params, &machine, &ladder->catalog->rates,
                               &ladder->asked->serving };
    uint32_t gpus = serving_minimum_gpus(&ask);
    struct fix fix = { .code = FIX_MORE_GPUS, .number = gpus };

    if (gpus <= machine.gpu_count)
        return;
    if (hardware->offer) {
        double count = (double)u64_ceil_div(gpus, machine.gpus_per_node);

        set(&fix, SET_OFFER_COUNT, count);
        fix.number = count * machine.gpus_per_node;
    } else {
        set(&fix, SET_GPUS, gpus);
    }
    if (ladder->asked->serving.has_parallelism)
        set(&fix, SET_SERVING_SPLIT_OPEN, 0);
    try_fix(ladder, &fix);
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
              const struct serving_choice *before, struct fixes *ret_fixes)
{
    struct ladder ladder = { request, catalog, before, ret_fixes };
    enum verdict verdict = before->estimate.memory.footprint.verdict;

    ret_fixes->count = 0;
    if (verdict != VERDICT_TIGHT && verdict != VERDICT_DOES_NOT_FIT)
        return;
    try_formats(&ladder);
    try_cache(&ladder);
    try_load(&ladder);
    try_more_gpus(&ladder);
    try_larger_gpu(&ladder);
}
