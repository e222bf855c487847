#include "api/json/serving_json.h"

#include <math.h>

#include "api/json/remarks_json.h"
#include "api/json/training_json.h"

void
serving_plan_encode(struct json_writer *writer, const struct serving_choice *choice)
{
    const struct serving_setup *setup = &choice->estimate.setup;

    writer_object(writer, "plan");
    writer_u64(writer, "tensor", setup->plan.tensor);
    writer_u64(writer, "pipeline", setup->plan.pipeline);
    writer_u64(writer, "data", setup->plan.data);
    writer_u64(writer, "expert", setup->plan.expert);
    writer_u64(writer, "gpus_per_replica", choice->gpus_per_replica);
    writer_u64(writer, "replicas", setup->replicas);
    writer_text(writer, "engine", engine_names[choice->job.engine]);
    writer_text(writer, "precision", weight_format_name(choice->job.precision));
    writer_text(writer, "kv_cache_precision", kv_format_name(choice->job.kv_cache_precision));
    writer_end_object(writer);
}

void
serving_cache_encode(struct json_writer *writer, const struct serving_estimate *estimate)
{
    const struct serving_memory *memory = &estimate->memory;

    writer_object(writer, "kv_cache");
    writer_bytes(writer, "bytes_per_token", memory->kv_bytes_per_token);
    writer_bytes(writer, "bytes_per_token_per_gpu", memory->kv_bytes_per_token_per_gpu);
    if (estimate->timed && model_arch_generates(estimate->setup.arch)) {
        writer_bytes(writer, "capacity_tokens", floor(memory->capacity_tokens));
        writer_bytes(writer, "max_concurrency", floor(memory->max_concurrency));
        writer_bytes(writer, "max_context_length", floor(memory->max_context_length));
    }
    writer_end_object(writer);
}

static struct range
scaled(struct range range, double by)
{
    return (struct range){ range.low * by, range.expected * by, range.high * by };
}

void
serving_speed_encode(struct json_writer *writer, const struct serving_estimate *estimate)
{
    const struct serving_speed *speed = &estimate->speed;
    double gpus = estimate->setup.machine->gpu_count;
    bool generates = model_arch_generates(estimate->setup.arch);

    writer_object(writer, "latency");
    if (!speed->overloaded) { /* a queue that grows without bound has no first-token time */
        writer_range(writer, "ttft_ms", speed->ttft_ms);
        writer_range(writer, "ttft_p95_ms", speed->ttft_p95_ms);
    }
    if (generates) {
        writer_range(writer, "tpot_ms", speed->tpot_ms);
        writer_range(writer, "tpot_p95_ms", speed->tpot_p95_ms);
    }
    writer_end_object(writer);
    writer_object(writer, "throughput");
    if (generates) {
        writer_range(writer, "output_tokens_per_second", speed->output_tokens_per_second);
        writer_range(writer, "output_tokens_per_second_per_gpu", scaled(speed->output_tokens_per_second, 1 / gpus));
    } else if (!estimate->setup.arch->generic) {
        writer_range(writer, "input_tokens_per_second",
                     scaled(speed->requests_per_second, estimate->setup.job->input_tokens));
    }
    writer_range(writer, "requests_per_second", speed->requests_per_second);
    writer_real(writer, "saturation_requests_per_second",
                speed->saturation_requests_per_second * estimate->setup.replicas);
    writer_end_object(writer);
}

static void
target_encode(struct json_writer *writer, const char *name, double asked, const struct range *expected, bool overloaded)
{
    if (!(asked > 0))
        return;
    writer_object(writer, name);
    writer_real(writer, "asked", asked);
    if (!overloaded) {
        writer_real(writer, "expected", expected->expected);
        writer_real(writer, "high", expected->high);
    }
    writer_bool(writer, "met", !overloaded && expected->expected <= asked);
    writer_bool(writer, "met_by_whole_band", !overloaded && expected->high <= asked);
    writer_end_object(writer);
}

static void
targets_encode(struct json_writer *writer, const struct serving_choice *choice)
{
    const struct serving_job *job = &choice->job;
    const struct serving_speed *speed = &choice->estimate.speed;

    if (!(job->slo_ttft_p95_ms > 0) && !(job->slo_tpot_p95_ms > 0))
        return;
    writer_object(writer, "slo");
    target_encode(writer, "ttft_p95_ms", job->slo_ttft_p95_ms, &speed->ttft_p95_ms, speed->overloaded);
    target_encode(writer, "tpot_p95_ms", job->slo_tpot_p95_ms, &speed->tpot_p95_ms, speed->overloaded);
    writer_end_object(writer);
}

/* The asked load in both units; a queue that grows without bound has no number of requests in it. */
static void
load_encode(struct json_writer *writer, const struct serving_speed *speed)
{
    writer_object(writer, "load");
    if (!speed->overloaded)
        writer_real(writer, "concurrency", speed->concurrency);
    writer_real(writer, "requests_per_second", speed->requests_per_second.expected);
    writer_end_object(writer);
}

static void
sizing_encode(struct json_writer *writer, const struct serving_sizing *sizing)
{
    const struct serving_capacity *capacity = &sizing->capacity;
    const struct replicas *replicas = &sizing->replicas;

    if (!sizing->known)
        return;
    writer_object(writer, "largest_load");
    writer_real(writer, "requests_per_second", capacity->requests_per_second);
    writer_real(writer, "concurrency", capacity->concurrency);
    writer_text(writer, "limited_by", serving_limit_name(capacity->limit));
    if (capacity->requests_per_second > 0)
        writer_text(writer, "resource", capacity->memory_binds ? "memory" : bottleneck_name(capacity->bottleneck));
    writer_end_object(writer);
    if (!replicas->minimum)
        return;
    writer_object(writer, "replicas");
    writer_u64(writer, "minimum", replicas->minimum);
    writer_u64(writer, "minimum_with_spare", replicas->with_spare);
    writer_u64(writer, "for_peak", replicas->for_peak);
    writer_u64(writer, "maximum", replicas->maximum);
    writer_object(writer, "autoscaling");
    writer_u64(writer, "from", replicas->with_spare);
    writer_u64(writer, "to", replicas->maximum);
    writer_end_object(writer);
    writer_end_object(writer);
}

/* What llama.cpp leaves in host memory. */
static void
offload_encode(struct json_writer *writer, const struct serving_estimate *estimate)
{
    const struct serving_offload *offload = &estimate->memory.offload;

    if (!offload->used)
        return;
    writer_object(writer, "offload");
    writer_u64(writer, "gpu_layers", offload->gpu_layers);
    writer_u64(writer, "host_layers", offload->host_layers);
    writer_u64(writer, "host_expert_layers", offload->host_expert_layers);
    writer_bytes(writer, "host_bytes", offload->host_bytes);
    writer_end_object(writer);
}

static void
crossover_encode(struct json_writer *writer, const struct serving_crossover *crossover)
{
    if (!crossover->known)
        return;
    writer_object(writer, "quantized_crossover");
    writer_text(writer, "against", weight_format_name(crossover->against));
    if (crossover->sequences > 0)
        writer_real(writer, "concurrency", crossover->sequences);
    writer_real(writer, "decode_time_ratio", crossover->time_ratio);
    writer_end_object(writer);
}

static void
launch_encode(struct json_writer *writer, const struct answer *answer)
{
    const struct serving_job *job = &answer->serving.job;

    if (!answer->launch[0])
        return;
    writer_object(writer, "launch");
    writer_text(writer, "engine", engine_names[job->engine]);
    writer_text(writer, "command", answer->launch);
    writer_text(writer, "checkpoint_precision", weight_format_name(serving_launch_checkpoint(&answer->serving)));
    writer_end_object(writer);
}

void
serving_encode(struct json_writer *writer, const struct answer *answer, enum language language)
{
    const struct serving_estimate *estimate = &answer->serving.estimate;

    writer_object(writer, "serving");
    writer_text(writer, "verdict", verdict_name(estimate->memory.footprint.verdict));
    serving_plan_encode(writer, &answer->serving);
    footprint_encode(writer, &estimate->memory.footprint);
    writer_bytes(writer, "weight_bytes", estimate->memory.weight_bytes);
    serving_cache_encode(writer, estimate);
    offload_encode(writer, estimate);
    if (serving_is_timed(estimate)) {
        serving_speed_encode(writer, estimate);
        load_encode(writer, &estimate->speed);
        targets_encode(writer, &answer->serving);
        sizing_encode(writer, &answer->sizing);
        writer_text(writer, "bottleneck", bottleneck_name(estimate->speed.bottleneck));
        crossover_encode(writer, &answer->crossover);
    }
    if (answer->serving_minimum_gpus)
        writer_u64(writer, "minimum_gpus", answer->serving_minimum_gpus);
    launch_encode(writer, answer);
    fixes_encode(writer, &answer->serving_fixes, language);
    writer_end_object(writer);
}
