#include "api/json/training_json.h"

#include "api/i18n/message.h"
#include "api/json/formula.h"
#include "api/json/remarks_json.h"
#include "service/base/text.h"
#include "service/speed/step_parts.h"

enum { SENTENCE_SIZE = 256, ID_SIZE = 48 };

/* Why this plan: a code and its sentence. */
static void
rule_encode(struct json_writer *writer, enum plan_rule rule, enum language language)
{
    const char *name = plan_rule_name(rule);
    const struct message_values none = { 0 };
    char id[ID_SIZE], text[SENTENCE_SIZE];

    text_format(id, sizeof id, "plan.%s", name);
    message_write(text, sizeof text, id, language, &none);
    writer_text(writer, "rule", name);
    writer_text(writer, "text", text);
}

void
training_plan_encode(struct json_writer *writer, const struct training_choice *choice, enum language language)
{
    const struct training_setup *setup = &choice->estimate.setup;
    const struct parallelism *plan = &setup->plan;

    writer_object(writer, "plan");
    writer_u64(writer, "tensor", plan->tensor);
    writer_u64(writer, "pipeline", plan->pipeline);
    writer_u64(writer, "virtual_stages", plan->virtual_stages);
    writer_u64(writer, "data", plan->data);
    writer_u64(writer, "context", plan->context);
    writer_u64(writer, "expert", plan->expert);
    writer_text(writer, "sharding", sharding_names[plan->sharding]);
    writer_bool(writer, "sequence_parallel", plan->sequence_parallel == FLAG_YES);
    writer_u64(writer, "micro_batch_size", setup->micro_batch_size);
    writer_u64(writer, "accumulation_steps", setup->accumulation_steps);
    writer_text(writer, "recompute", recompute_names[setup->recompute]);
    if (setup->recompute_share > 0)
        writer_real(writer, "recompute_layer_ratio", setup->recompute_share);
    writer_text(writer, "framework", framework_names[choice->job.framework]);
    writer_u64(writer, "gpus", (uint64_t)plan->tensor * plan->pipeline * plan->data * plan->context);
    rule_encode(writer, choice->rule, language);
    writer_end_object(writer);
}

static void
parts_encode(struct json_writer *writer, const struct footprint *footprint)
{
    char formula[FORMULA_SIZE];

    writer_array(writer, "parts");
    for (uint32_t i = 0; i < footprint->part_count; i++) {
        const struct part *part = &footprint->parts[i];

        writer_object(writer, NULL);
        writer_text(writer, "code", part_code_name(part->code));
        writer_bytes(writer, "bytes", part->bytes);
        formula_write(formula, sizeof formula, part->formula, part->values, PART_VALUES);
        writer_text(writer, "formula", formula);
        writer_text(writer, "source", part->source);
        writer_end_object(writer);
    }
    writer_end_array(writer);
}

void
footprint_encode(struct json_writer *writer, const struct footprint *footprint)
{
    double low = footprint->band_low, high = footprint->band_high;

    writer_object(writer, "memory_per_gpu");
    parts_encode(writer, footprint);
    writer_bytes(writer, "allocated_bytes", footprint->allocated_bytes);
    writer_bytes(writer, "required_bytes", footprint->required_bytes);
    writer_bytes(writer, "reserved_bytes", footprint->reserved_bytes);
    if (footprint->usable_bytes > 0)
        writer_bytes(writer, "usable_bytes", footprint->usable_bytes);
    writer_bytes(writer, "allocated_low_bytes", footprint->allocated_bytes * low);
    writer_bytes(writer, "allocated_high_bytes", footprint->allocated_bytes * high);
    writer_bytes(writer, "low_bytes", footprint->reserved_bytes * low);
    writer_bytes(writer, "high_bytes", footprint->reserved_bytes * high);
    writer_end_object(writer);
}

/* A rate and its band: truth / expected is between low and high. */
static struct range
banded(double expected, const struct training_speed *speed)
{
    return (struct range){ expected * speed->band_low, expected, expected * speed->band_high };
}

void
training_throughput_encode(struct json_writer *writer, const struct training_estimate *estimate)
{
    const struct training_speed *speed = &estimate->speed;
    double gpus = estimate->setup.plan.tensor * (double)estimate->setup.plan.pipeline * estimate->setup.plan.data *
                  estimate->setup.plan.context;
    double tokens = training_tokens_per_second(estimate), samples = training_samples_per_second(estimate);
    double flop_per_second = speed->step_seconds > 0 ? speed->flop_per_step / speed->step_seconds / gpus : 0;

    writer_object(writer, "throughput");
    writer_range(writer, "step_seconds",
                 (struct range){ speed->step_seconds / speed->band_high, speed->step_seconds,
                                 speed->step_seconds / speed->band_low });
    if (tokens > 0) {
        writer_range(writer, "tokens_per_second", banded(tokens, speed));
        writer_range(writer, "tokens_per_second_per_gpu", banded(tokens / gpus, speed));
    }
    writer_range(writer, "samples_per_second", banded(samples, speed));
    writer_range(writer, "tflops_per_gpu", banded(flop_per_second / 1e12, speed));
    if (speed->peak_flop_per_second > 0)
        writer_range(writer, "model_flops_utilization_ratio",
                     banded(flop_per_second / speed->peak_flop_per_second, speed));
    /* what the rates above are made of */
    if (tokens > 0)
        writer_real(writer, "tokens_per_step", speed->tokens_per_step);
    writer_real(writer, "samples_per_step", speed->samples_per_step);
    writer_real(writer, "model_flop_per_step", speed->flop_per_step);
    if (speed->peak_flop_per_second > 0)
        writer_real(writer, "peak_flop_per_second_per_gpu", speed->peak_flop_per_second);
    writer_end_object(writer);
}

static void
times_encode(struct json_writer *writer, const struct training_setup *setup)
{
    struct step_parts parts;
    char formula[FORMULA_SIZE];

    step_parts_of(setup, &parts);
    writer_array(writer, "step_parts");
    for (uint32_t i = 0; i < parts.count; i++) {
        const struct step_part *part = &parts.items[i];

        writer_object(writer, NULL);
        writer_text(writer, "code", part->code);
        writer_real(writer, "seconds", part->seconds);
        formula_write(formula, sizeof formula, part->formula, part->values, PART_VALUES);
        writer_text(writer, "formula", formula);
        writer_text(writer, "source", part->source);
        writer_end_object(writer);
    }
    writer_end_array(writer);
}

void
training_encode(struct json_writer *writer, const struct answer *answer, enum language language)
{
    const struct training_estimate *estimate = &answer->training.estimate;

    writer_object(writer, "training");
    writer_text(writer, "verdict", verdict_name(estimate->memory.verdict));
    training_plan_encode(writer, &answer->training, language);
    footprint_encode(writer, &estimate->memory);
    if (estimate->timed) {
        training_throughput_encode(writer, estimate);
        times_encode(writer, &estimate->setup);
        if (answer->has_duration)
            writer_range(writer, "duration_hours", answer->duration_hours);
        writer_text(writer, "bottleneck", bottleneck_name(estimate->speed.bottleneck));
    }
    if (answer->training_minimum_gpus)
        writer_u64(writer, "minimum_gpus", answer->training_minimum_gpus);
    if (answer->checkpoint_bytes > 0)
        writer_bytes(writer, "checkpoint_bytes", answer->checkpoint_bytes);
    fixes_encode(writer, &answer->training_fixes, language);
    writer_end_object(writer);
}
