/* Remarks about a finished serving estimate: corrections, limits, and what to read with care. */
#include <math.h>

#include "service/base/quantity.h"
#include "service/base/text.h"
#include "service/job/engine.h"
#include "service/memory/serving_cache.h"
#include "service/memory/serving_split.h"
#include "service/search/answer.h"

/* An engine's own law of the cache is told when it takes this much more than the layers need. */
static const double notable = 1.05;

static void
model_notices(const struct estimate_request *request, const struct serving_job *job, struct notices *notices)
{
    const struct model_arch *arch = request->arch;

    if (arch->stored_format != WEIGHT_UNSAID && request->serving.precision &&
        request->serving.precision != arch->stored_format && weight_format_bits(arch->stored_format) < 15) {
        struct notice *notice = notice_text(notices, NOTICE_QUANTIZATION_CONFIG_OVERRIDDEN, "/serving/precision",
                                            weight_format_name(arch->stored_format));

        text_copy(notice->text[1], NOTE_TEXT_SIZE, weight_format_name(job->precision));
    }
    if (model_arch_generates(arch) && job->context_length < (uint64_t)job->input_tokens + job->output_tokens)
        notice_numbers(notices, NOTICE_CONTEXT_TOO_SHORT, "/serving/context_length",
                       (double)job->input_tokens + job->output_tokens, job->context_length);
    if (arch->max_context_tokens && job->context_length > arch->max_context_tokens)
        notice_numbers(notices, NOTICE_SEQUENCE_ABOVE_MODEL_MAXIMUM, "/serving/context_length", job->context_length,
                       arch->max_context_tokens);
}

/* What of the cache a tensor split does not divide. */
static void
split_notices(const struct serving_setup *setup, struct notices *notices)
{
    static const char *const pointer = "/serving/parallelism/tensor";
    uint32_t tensor = setup->plan.tensor;

    for (uint32_t i = 0; i < setup->arch->kind_count && tensor > 1; i++) {
        const struct layer_kind *kind = &setup->arch->kinds[i];
        uint32_t heads = kind->kv_head_count;

        if (kind->attention != ATTENTION_NONE && kind->head_count % tensor != 0)
            notice_numbers(notices, NOTICE_HEADS_DO_NOT_DIVIDE, pointer, kind->head_count, tensor);
        if (!model_arch_generates(setup->arch))
            continue;
        if (kind->attention == ATTENTION_LATENT)
            notice_numbers(notices, NOTICE_MLA_CACHE_REPLICATED, pointer, tensor, 0);
        if (kind->attention != ATTENTION_HEADS || heads == 0 || kind->encoder)
            continue;
        if (heads % tensor != 0 && tensor % heads != 0)
            notice_numbers(notices, NOTICE_KV_HEADS_DO_NOT_DIVIDE, pointer, heads, tensor);
        else if (heads < tensor)
            notice_numbers(notices, NOTICE_KV_HEADS_REPLICATED, pointer, heads, tensor);
    }
}

static void
engine_notices(const struct answer *answer, struct notices *notices)
{
    const struct serving_choice *choice = &answer->serving;
    const struct serving_job *job = &choice->job;
    const struct serving_setup *setup = &choice->estimate.setup;
    const struct footprint *footprint = &choice->estimate.memory.footprint;
    struct engine_traits traits = engine_traits_of(job->engine, job->engine_version);
    const char *engine = engine_names[job->engine];
    double block = fmax(1, setup->rates->serving_block_tokens); /* which is no law of windows or states */
    double more = serving_sequence_bytes(setup, job->context_length),
           least = serving_sequence_least_bytes(setup, (uint64_t)(ceil(job->context_length / block) * block));

    if (!traits.measured)
        notice_text(notices, NOTICE_ENGINE_NOT_MEASURED, "/serving/engine", engine);
    if (least > 0 && more > notable * least)
        notice_text(notices, NOTICE_ENGINE_KEEPS_MORE, "/serving/engine", engine)->number[0] = more / least;
    if (model_arch_generates(setup->arch) && !serving_launch_has_cache(job->engine, job->kv_cache_precision)) {
        struct notice *notice =
            notice_text(notices, NOTICE_CACHE_FORMAT_NOT_IN_ENGINE, "/serving/kv_cache_precision", engine);

        text_copy(notice->text[1], NOTE_TEXT_SIZE, kv_format_name(job->kv_cache_precision));
    }
    if (!serving_launch_has_weights(job->engine, job->precision))
        text_copy(notice_text(notices, NOTICE_WEIGHT_FORMAT_NOT_IN_ENGINE, "/serving/precision", engine)->text[1],
                  NOTE_TEXT_SIZE, weight_format_name(job->precision));
    if (!serving_launch_has_gpu(job->engine, setup->machine->gpu))
        text_copy(notice_text(notices, NOTICE_ENGINE_NOT_ON_GPU, "/serving/engine", engine)->text[1], NOTE_TEXT_SIZE,
                  setup->machine->gpu->id);
    if (footprint->reserved_bytes > footprint->required_bytes * notable)
        notice_numbers(notices, NOTICE_LIBRARY_RESERVES_POOL, "/serving/memory_utilization", footprint->reserved_bytes,
                       footprint->required_bytes);
    if (choice->gpus_per_replica * setup->replicas < setup->machine->gpu_count)
        notice_numbers(notices, NOTICE_MORE_GPUS_THAN_PLAN, "/hardware/gpus", setup->machine->gpu_count,
                       (double)choice->gpus_per_replica * setup->replicas);
}

/* What stays in host memory, and whether there is so much of it. */
static void
offload_notices(const struct answer *answer, struct notices *notices)
{
    const struct serving_offload *offload = &answer->serving.estimate.memory.offload;
    const struct serving_setup *setup = &answer->serving.estimate.setup;
    double host = setup->machine->host_bytes;

    if (!offload->used)
        return;
    notice_numbers(notices, NOTICE_LAYERS_IN_HOST_MEMORY, "/hardware",
                   offload->host_layers + offload->host_expert_layers, setup->arch->layer_count)
        ->number[2] = offload->host_bytes;
    if (host > 0 && offload->host_bytes > host)
        notice_numbers(notices, NOTICE_HOST_MEMORY_TOO_SMALL, "/hardware/ram_bytes", offload->host_bytes, host);
}

/* A format that this GPU only stores so, and kernels that lose at the batch that runs. */
static void
format_notices(const struct answer *answer, struct notices *notices)
{
    const struct serving_job *job = &answer->serving.job;
    const struct serving_crossover *crossover = &answer->crossover;
    double running = answer->serving.estimate.speed.running_sequences;
    bool weight_only = false;

    (void)serving_format_runs(answer->machine.gpu, job->precision, &weight_only);
    if (weight_only && (job->precision == WEIGHT_NVFP4 || job->precision == WEIGHT_MXFP4)) {
        struct notice *notice =
            notice_text(notices, NOTICE_FP4_IS_WEIGHT_ONLY, "/serving/precision", answer->machine.gpu->id);

        text_copy(notice->text[1], NOTE_TEXT_SIZE, weight_format_name(job->precision));
    }
    if (crossover->known && crossover->sequences > 0 && running >= crossover->sequences)
        notice_numbers(notices, NOTICE_QUANTIZED_IS_SLOWER, "/serving/precision", crossover->sequences,
                       crossover->time_ratio);
}

static void
target_notice(const struct answer *answer, enum serving_limit limit, double asked, double expected,
              struct notices *notices)
{
    const char *pointer = limit == SERVING_LIMIT_FIRST_TOKEN ? "/serving/slo/ttft_p95_ms" : "/serving/slo/tpot_p95_ms";
    const struct serving_capacity *capacity = &answer->sizing.capacity;

    if (!(asked > 0) || (expected <= asked && !answer->serving.estimate.speed.overloaded))
        return;
    if (answer->sizing.known && !(capacity->requests_per_second > 0) && capacity->limit == limit)
        notice_numbers(notices, NOTICE_SLO_OUT_OF_REACH, pointer, asked, 0);
    else if (!answer->serving.estimate.speed.overloaded) /* else another remark says that the queue has no end */
        notice_numbers(notices, NOTICE_SLO_MISSED, pointer, asked, expected);
}

static void
load_notices(const struct answer *answer, struct notices *notices)
{
    const struct serving_job *job = &answer->serving.job;
    const struct serving_estimate *estimate = &answer->serving.estimate;
    const struct serving_memory *memory = &estimate->memory;
    double at_once = memory->max_concurrency * estimate->setup.replicas;

    bool generates = model_arch_generates(estimate->setup.arch);

    if (generates && memory->max_concurrency < 1)
        notice_numbers(notices, NOTICE_CONTEXT_DOES_NOT_FIT, "/serving/context_length", job->context_length,
                       memory->max_context_length);
    else if (generates && job->concurrency > at_once)
        notice_numbers(notices, NOTICE_CONCURRENCY_DOES_NOT_FIT, "/serving/concurrency", job->concurrency, at_once);
    if (estimate->speed.overloaded)
        notice_numbers(notices, NOTICE_OVERLOADED_ARRIVALS, "/serving/requests_per_second", job->requests_per_second,
                       estimate->speed.saturation_requests_per_second * estimate->setup.replicas);
    if (job->concurrency > 1 && estimate->speed.burst_ttft_ms > 0 && memory->footprint.verdict != VERDICT_DOES_NOT_FIT)
        notice_numbers(notices, NOTICE_BURST_TTFT, "/serving/concurrency", job->concurrency,
                       estimate->speed.burst_ttft_ms);
    if (!serving_is_timed(estimate))
        return;
    if (job->arrival == ARRIVAL_CLOSED_LOOP && job->concurrency > estimate->setup.replicas)
        notice_add(notices, NOTICE_PREFILL_NOT_TUNED, "/serving/arrival");
    target_notice(answer, SERVING_LIMIT_FIRST_TOKEN, job->slo_ttft_p95_ms, estimate->speed.ttft_p95_ms.expected,
                  notices);
    target_notice(answer, SERVING_LIMIT_TOKEN, job->slo_tpot_p95_ms, estimate->speed.tpot_p95_ms.expected, notices);
}

void
serving_notices(const struct estimate_request *request, const struct answer *answer, struct notices *notices)
{
    const struct serving_setup *setup = &answer->serving.estimate.setup;

    if (!model_arch_generates(request->arch))
        notice_add(notices, NOTICE_ANSWERS_IN_ONE_PASS, "/serving");
    if (!model_arch_generates(request->arch) && request->serving.slo_tpot_p95_ms > 0)
        notice_text(notices, NOTICE_SECTION_NOT_ANSWERED, "/serving/slo/tpot_p95_ms", "tpot_p95_ms");
    model_notices(request, &answer->serving.job, notices);
    split_notices(setup, notices);
    if (!answer->machine.gpu)
        return;
    machine_notices(request, &answer->machine, setup->plan.tensor, "/serving/parallelism/tensor", notices);
    engine_notices(answer, notices);
    offload_notices(answer, notices);
    format_notices(answer, notices);
    load_notices(answer, notices);
}
