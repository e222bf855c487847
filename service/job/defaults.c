#include "service/job/defaults.h"

#include <stdlib.h>

#include "service/base/quantity.h"
#include "service/base/text.h"

static struct assumption *
assumption_at(struct assumptions *assumptions, const char *code, const char *pointer)
{
    for (size_t i = 0; i < assumptions->count; i++)
        if (text_equal(assumptions->items[i].pointer, pointer))
            return &assumptions->items[i];
    if (assumptions->count == MAX_ASSUMPTIONS)
        return NULL;

    struct assumption *added = &assumptions->items[assumptions->count++];
    *added = (struct assumption){ .code = code, .pointer = pointer };
    return added;
}

void
assume_number(struct assumptions *assumptions, const char *code, const char *pointer, double value)
{
    struct assumption *assumption = assumptions ? assumption_at(assumptions, code, pointer) : NULL;

    if (!assumption)
        return;
    assumption->kind = ASSUMED_NUMBER;
    assumption->number = value;
}

void
assume_text(struct assumptions *assumptions, const char *code, const char *pointer, const char *value)
{
    struct assumption *assumption = assumptions ? assumption_at(assumptions, code, pointer) : NULL;

    if (!assumption)
        return;
    assumption->kind = ASSUMED_TEXT;
    text_copy(assumption->text, sizeof assumption->text, value);
}

static uint32_t
at_most_model_maximum(uint32_t tokens, const struct model_arch *arch)
{
    return arch->max_context_tokens && arch->max_context_tokens < tokens ? arch->max_context_tokens : tokens;
}

/* A fused attention kernel exists from Volta on (memory-efficient attention), not before compute capability 7.0. */
static bool
has_fused_attention(const struct gpu *gpu)
{
    if (!gpu || !gpu->compute_capability || !gpu->compute_capability[0])
        return true;
    return strtod(gpu->compute_capability, NULL) >= 7.0;
}

static void
complete_precision(struct training_job *job, const struct machine *machine, struct assumptions *assumptions)
{
    bool bf16 = !machine->gpu || machine->gpu->bf16_flop_per_second > 0;

    if (job->precision)
        return;
    job->precision = bf16 ? PRECISION_BF16_MIXED : PRECISION_FP16_MIXED;
    assume_text(assumptions, "precision", "/training/precision", training_precision_names[job->precision]);
}

static void
complete_adapter(struct training_job *job, struct assumptions *assumptions)
{
    if (job->method != METHOD_LORA && job->method != METHOD_QLORA)
        return;
    if (!job->lora_rank) {
        job->lora_rank = LORA_RANK;
        assume_number(assumptions, "lora_rank", "/training/lora/rank", LORA_RANK);
    }
    if (!job->lora_targets) {
        job->lora_targets = LORA_ALL_LINEAR;
        assume_text(assumptions, "lora_targets", "/training/lora/targets", lora_targets_names[LORA_ALL_LINEAR]);
    }
}

void
training_job_complete(struct training_job *job, const struct model_arch *arch, const struct machine *machine,
                      struct assumptions *assumptions)
{
    complete_precision(job, machine, assumptions);
    if (!job->optimizer) {
        job->optimizer = OPTIMIZER_ADAMW;
        assume_text(assumptions, "optimizer", "/training/optimizer", optimizer_names[OPTIMIZER_ADAMW]);
    }
    complete_adapter(job, assumptions);
    if (job->method == METHOD_FREEZE && !job->trainable_layers) {
        job->trainable_layers = 2;
        assume_number(assumptions, "trainable_layers", "/training/trainable_layers", 2);
    }
    if (!job->sequence_length && !arch->generic) {
        uint32_t usual = job->method == METHOD_PRETRAIN ? PRE_TRAINING_TOKENS : FINE_TUNING_TOKENS;

        job->sequence_length = at_most_model_maximum(usual, arch);
        assume_number(assumptions, "sequence_length", "/training/sequence_length", job->sequence_length);
    }
    if (!job->attention) {
        job->attention = has_fused_attention(machine->gpu) ? ATTENTION_KERNEL_FLASH : ATTENTION_KERNEL_EAGER;
        if (!arch->generic)
            assume_text(assumptions, "attention", "/training/attention", attention_kernel_names[job->attention]);
    }
    if (!job->offload) {
        job->offload = OFFLOAD_NONE;
        assume_text(assumptions, "offload", "/training/offload", offload_names[OFFLOAD_NONE]);
    }
}

enum framework
framework_usual(const struct training_job *job, const struct parallelism *plan, uint32_t gpu_count)
{
    if (plan->tensor > 1 || plan->pipeline > 1 || plan->expert > 1 ||
        (job->method == METHOD_PRETRAIN && gpu_count >= 64))
        return FRAMEWORK_MEGATRON;
    if (job->method == METHOD_PRETRAIN || job->precision == PRECISION_BF16_PURE)
        return FRAMEWORK_FSDP;
    return plan->sharding >= SHARDING_ZERO1 ? FRAMEWORK_DEEPSPEED : FRAMEWORK_HF_TRAINER;
}

enum loss_kernel
loss_usual(enum framework framework)
{
    return framework == FRAMEWORK_MEGATRON ? LOSS_FUSED : LOSS_UNFUSED;
}

unsigned
engine_version_number(const char *version, unsigned newest)
{
    char *end;
    unsigned long major, minor = 0;

    while (*version && (*version < '0' || *version > '9'))
        version++;
    if (!*version)
        return newest;
    major = strtoul(version, &end, 10);
    if (*end == '.')
        minor = strtoul(end + 1, NULL, 10);
    if (major > 1000 || minor > 999)
        return newest;
    return (unsigned)(major * 1000 + minor);
}

/* gpu_memory_utilization of vLLM rose from 0.90 to 0.92 in 0.22; others say 0.9 or leave all of it. */
static double
utilization_usual(const struct serving_job *job)
{
    if (job->engine == ENGINE_VLLM && engine_version_number(job->engine_version, 0) >= 22)
        return 0.92;
    return 0.9;
}

static void
complete_engine(struct serving_job *job, const struct model_arch *arch, struct assumptions *assumptions)
{
    if (!job->engine) {
        bool text =
            model_arch_generates(arch) || arch->vocabulary_size > 0; /* what reads images runs in its framework */

        job->engine = weight_format_is_gguf(job->precision) ? ENGINE_LLAMA_CPP
                      : text                                ? ENGINE_VLLM
                                                            : ENGINE_TRANSFORMERS;
        assume_text(assumptions, "engine", "/serving/engine", engine_names[job->engine]);
    }
    if (!job->engine_version[0])
        assume_text(assumptions, "engine_version", "/serving/engine_version", "current");
    if (!job->precision) {
        bool known = arch->stored_format != WEIGHT_UNSAID && arch->stored_format != WEIGHT_FP32;

        job->precision = known ? arch->stored_format : WEIGHT_BF16; /* engines cast FP32 checkpoints down */
        assume_text(assumptions, "serving_precision", "/serving/precision", weight_format_name(job->precision));
    }
    if (!job->kv_cache_precision) {
        enum weight_format native = arch->native_format ? arch->native_format : WEIGHT_BF16;

        /* a checkpoint that asks for a format brings the scales for it */
        bool scheme = arch->stored.packed && arch->stored.cache != KV_UNSAID && job->precision == arch->stored_format;

        job->kv_cache_precision = scheme                          ? arch->stored.cache
                                  : job->precision == WEIGHT_FP32 ? KV_FP32
                                  : native == WEIGHT_FP16         ? KV_FP16
                                                                  : KV_BF16;
        if (model_arch_generates(arch))
            assume_text(assumptions, scheme ? "kv_cache_scheme" : "kv_cache_precision", "/serving/kv_cache_precision",
                        kv_format_name(job->kv_cache_precision));
    }
}

/* One pass answers: an image is as long as its patches, a text 512 tokens at most, any other sample is one. */
static void
complete_single_pass(struct serving_job *job, const struct model_arch *arch, struct assumptions *assumptions)
{
    uint32_t most = arch->max_context_tokens;

    if (!job->input_tokens && !arch->generic) {
        job->input_tokens = arch->vocabulary_size == 0 && most > 0 ? most : most > 0 && most < 512 ? most : 512;
        assume_number(assumptions, "input_tokens", "/serving/input_tokens", job->input_tokens);
    }
    if (arch->generic)
        job->input_tokens = 1;
    job->output_tokens = 1;
    job->slo_tpot_p95_ms = 0; /* there is no second token */
    if (!job->context_length)
        job->context_length = job->input_tokens;
}

/* What is left of `most` tokens beside `taken`, at most `usual`; most 0: no limit. */
static uint32_t
usual_tokens(uint32_t usual, uint32_t most, uint32_t taken)
{
    if (most == 0)
        return usual;
    return most <= taken ? 1 : (most - taken < usual ? most - taken : usual);
}

/* A length that one of prompt and answer leaves open is what both take; both open, that of the usual chat. */
static void
complete_load(struct serving_job *job, const struct model_arch *arch, struct assumptions *assumptions)
{
    bool sized = job->input_tokens || job->output_tokens, open = !job->context_length;
    uint32_t most;

    if (!model_arch_generates(arch)) {
        complete_single_pass(job, arch, assumptions);
        return;
    }
    if (open && !sized)
        job->context_length = at_most_model_maximum(SERVING_CONTEXT_TOKENS, arch);
    most = job->context_length ? job->context_length : arch->max_context_tokens;
    if (open && sized && u64_max(job->input_tokens, job->output_tokens) >= most)
        most = 0; /* more than the model was made for, which a remark tells */
    if (!job->output_tokens) {
        uint32_t usual = most > 0 && most <= 512 && !job->input_tokens ? (most + 1) / 2 : 256;

        job->output_tokens = usual_tokens(usual, most, job->input_tokens);
        assume_number(assumptions, "output_tokens", "/serving/output_tokens", job->output_tokens);
    }
    if (!job->input_tokens) {
        job->input_tokens = usual_tokens(512, most, job->output_tokens);
        assume_number(assumptions, "input_tokens", "/serving/input_tokens", job->input_tokens);
    }
    if (open && sized)
        job->context_length = job->input_tokens + job->output_tokens;
    if (open)
        assume_number(assumptions, "context_length", "/serving/context_length", job->context_length);
}

static void
complete_arrival(struct serving_job *job, struct assumptions *assumptions)
{
    if (!job->arrival) {
        job->arrival = job->requests_per_second > 0 && !job->concurrency ? ARRIVAL_POISSON : ARRIVAL_CLOSED_LOOP;
        assume_text(assumptions, "arrival", "/serving/arrival", arrival_names[job->arrival]);
    }
    if (!job->concurrency && !(job->requests_per_second > 0)) {
        job->concurrency = 1;
        assume_number(assumptions, "concurrency", "/serving/concurrency", 1);
    }
}

void
serving_job_complete(struct serving_job *job, const struct model_arch *arch, const struct machine *machine,
                     struct assumptions *assumptions)
{
    (void)machine;
    complete_engine(job, arch, assumptions);
    complete_load(job, arch, assumptions);
    complete_arrival(job, assumptions);
    if (!(job->peak_factor > 0)) {
        job->peak_factor = 1.5;
        assume_number(assumptions, "peak_factor", "/serving/peak_factor", 1.5);
    }
    if (!(job->memory_utilization > 0)) {
        job->memory_utilization = utilization_usual(job);
        assume_number(assumptions, "memory_utilization", "/serving/memory_utilization", job->memory_utilization);
    }
}
