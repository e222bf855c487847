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
    if (estimate->timed) {
        writer_bytes(writer, "capacity_tokens", floor(memory->capacity_tokens));
        writer_bytes(writer, "max_concurrency", floor(memory->max_concurrency));
        writer_bytes(writer, "max_context_length", floor(memory->max_context_length));
    }
    writer_end_object(writer);
}

static struct range
divided(struct range range, double by)
{
    return (struct range){ range.low / by, range.expected / by, range.high / by };
}

void
serving_speed_encode(struct json_writer *writer, const struct serving_estimate *estimate)
{
    const struct serving_speed *speed = &estimate->speed;
    double gpus = estimate->setup.machine->gpu_count;

    writer_object(writer, "latency");
    if (!speed->overloaded) { /* a queue that grows without bound has no first-token time */
        writer_range(writer, "ttft_ms", speed->ttft_ms);
        writer_range(writer, "ttft_p95_ms", speed->ttft_p95_ms);
    }
    writer_range(writer, "tpot_ms", speed->tpot_ms);
    writer_end_object(writer);
    writer_object(writer, "throughput");
    writer_range(writer, "output_tokens_per_second", speed->output_tokens_per_second);
    writer_range(writer, "output_tokens_per_second_per_gpu", divided(speed->output_tokens_per_second, gpus));
    writer_range(writer, "requests_per_second", speed->requests_per_second);
    writer_real(writer, "saturation_requests_per_second",
                speed->saturation_requests_per_second * estimate->setup.replicas);
    writer_end_object(writer);
}

void
replicas_encode(struct json_writer *writer, const struct replicas *replicas)
{
    if (!replicas->minimum)
        return;
    writer_object(writer, "replicas");
    writer_u64(writer, "minimum", replicas->minimum);
    writer_u64(writer, "for_peak", replicas->for_peak);
    writer_u64(writer, "maximum", replicas->maximum);
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
    /* where not even one token's cache finds room, a speed would be a figure that nobody can measure */
    if (estimate->timed && estimate->memory.capacity_tokens >= 1) {
        serving_speed_encode(writer, estimate);
        replicas_encode(writer, &answer->replicas);
        writer_text(writer, "bottleneck", bottleneck_name(estimate->speed.bottleneck));
    }
    if (answer->serving_minimum_gpus)
        writer_u64(writer, "minimum_gpus", answer->serving_minimum_gpus);
    fixes_encode(writer, &answer->serving_fixes, language);
    writer_end_object(writer);
}
