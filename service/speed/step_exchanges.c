/* Bytes over the rate that a link reached for them, and what of it showed. */
#include "service/speed/step_exchanges.h"

static const char link_source[] = "rings (arXiv:2104.04473 section 2.3, 3.2); rates link.*, training.exposed.*";

static double
over(double a, double b)
{
    return b > 0 ? a / b : 0;
}

/* Sums over tensor ranks: an all-reduce sends 2 (t - 1) / t of its bytes. */
static void
add_tensor(const struct training_setup *setup, const struct layer_work *work, const struct micro_batch *micro,
           double seconds, struct step_parts *parts)
{
    const struct exposed *exchange = &micro->exchange.tensor;
    double start = setup->rates->link_latency_seconds, starts = 2 * work->tensor_count;
    double ranks = setup->plan.tensor, bytes = 2 * work->tensor_bytes * (ranks - 1) / ranks;
    struct step_part *part = step_parts_add(parts, "tensor_communication", seconds);

    part->formula =
        "{0} micro batches x {1} passes x {2} in view x ({3} bytes / {4} a second + {5} starts x {6} seconds)";
    part->source = link_source;
    part->values[0] = setup->accumulation_steps;
    part->values[1] = micro->sums;
    part->values[2] = over(exchange->seconds, exchange->all_seconds);
    part->values[3] = bytes;
    part->values[4] = over(bytes, exchange->all_seconds - starts * start);
    part->values[5] = starts;
    part->values[6] = start;
}

/* Tokens go to their experts and come back. */
static void
add_expert(const struct training_setup *setup, const struct layer_work *work, const struct micro_batch *micro,
           double seconds, struct step_parts *parts)
{
    const struct exposed *exchange = &micro->exchange.expert;
    double bytes = 2 * work->expert_sent_bytes;
    struct step_part *part = step_parts_add(parts, "expert_communication", seconds);

    part->formula =
        "{0} micro batches x {1} passes x ({2} in view x {3} bytes / {4} a second + {5} starts x {6} seconds)";
    part->source = link_source;
    part->values[0] = setup->accumulation_steps;
    part->values[1] = micro->sums;
    part->values[2] = setup->rates->training_exposed_expert;
    part->values[3] = bytes;
    part->values[4] = exchange->all_seconds > 0 ? bytes / exchange->all_seconds : 1;
    part->values[5] = work->expert_count;
    part->values[6] = setup->rates->link_latency_seconds;
}

static void
add_context(const struct training_setup *setup, const struct layer_work *work, const struct micro_batch *micro,
            double seconds, struct step_parts *parts)
{
    const struct exposed *exchange = &micro->exchange.context;
    struct step_part *part = step_parts_add(parts, "context_communication", seconds);

    part->formula = "{0} micro batches x (1 + 2 x {1} backward) x {2} in view x {3} bytes / {4} a second";
    part->source = link_source;
    part->values[0] = setup->accumulation_steps;
    part->values[1] = micro->layers.backward_share;
    part->values[2] = setup->rates->training_exposed_context;
    part->values[3] = work->context_bytes;
    part->values[4] = exchange->all_seconds > 0 ? work->context_bytes / exchange->all_seconds : 1;
}

static void
add_pipeline(const struct training_setup *setup, const struct micro_batch *micro, double seconds,
             struct step_parts *parts)
{
    struct step_part *part = step_parts_add(parts, "pipeline_communication", seconds);

    part->formula = "{0} micro batches x {1} in view x 2 x {2} chunks x ({3} seconds on the link + 2 x {4} seconds)";
    part->source = link_source;
    part->values[0] = setup->accumulation_steps;
    part->values[1] = setup->rates->training_exposed_pipeline;
    part->values[2] = setup->plan.virtual_stages;
    part->values[3] = micro->pipeline.all_seconds;
    part->values[4] = setup->rates->link_latency_seconds;
}

static void
add_data(const struct training_setup *setup, const struct micro_batch *micro, double seconds, struct step_parts *parts)
{
    const struct exposed *each = &micro->data.micro_batch, *once = &micro->data.step;
    struct step_part *part = step_parts_add(parts, "data_communication", seconds);

    part->formula = each->all_seconds <= 0   ? "{3} seconds on the links once a step - {4} behind compute"
                    : once->all_seconds <= 0 ? "{0} micro batches x ({1} seconds on the links - {2} behind compute)"
                                             : "{0} micro batches x ({1} seconds on the links - {2} behind compute) + "
                                               "{3} seconds once a step - {4} behind compute";
    part->source = link_source;
    part->values[0] = setup->accumulation_steps;
    part->values[1] = each->all_seconds;
    part->values[2] = each->all_seconds - each->seconds;
    part->values[3] = once->all_seconds;
    part->values[4] = once->all_seconds - once->seconds;
}

void
step_exchanges_add(const struct training_setup *setup, const struct layer_work *work, const struct micro_batch *micro,
                   const struct training_time *time, struct step_parts *parts)
{
    add_tensor(setup, work, micro, time->tensor_communication, parts);
    add_expert(setup, work, micro, time->expert_communication, parts);
    add_context(setup, work, micro, time->context_communication, parts);
    add_pipeline(setup, micro, time->pipeline_communication, parts);
    add_data(setup, micro, time->data_communication, parts);
}
