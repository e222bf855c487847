/* One optimizer step: micro-batches one after the other, the bubble around them, and what comes once. */
#include "service/speed/training_speed.h"

#include "service/speed/flop.h"
#include "service/speed/generic_time.h"
#include "service/speed/micro_batch.h"
#include "service/speed/offload_time.h"
#include "service/speed/optimizer_time.h"
#include "service/speed/pace.h"
#include "service/speed/training_band.h"

/* Communication by the kind of link that sets its pace. */
struct link_use {
    double inside, across;
    double network; /* that the network is busy, hidden or not */
};

static void
use_link(struct link_use *use, struct exposed exposed, double times)
{
    *(exposed.across ? &use->across : &use->inside) += exposed.seconds * times;
    use->network += exposed.network_seconds * times;
}

static void
spread(const struct training_setup *setup, const struct micro_batch *micro, struct training_time *time,
       struct link_use *use)
{
    const struct pass_time *forward = &micro->layers.forward, *backward = &micro->layers.backward;
    double m = setup->accumulation_steps, share = micro->layers.backward_share, stages = setup->plan.pipeline;
    double head = micro->layers.head, mean_head = head / stages;
    const struct layer_exchange *exchange = &micro->exchange;

    time->linear = m * (forward->linear + share * backward->linear);
    time->memory_traffic = m * (forward->memory_traffic + share * backward->memory_traffic);
    time->experts = m * (forward->experts + share * backward->experts);
    time->attention = m * (forward->attention + share * backward->attention);
    time->elementwise = m * (forward->elementwise + share * backward->elementwise);
    time->recompute = m * micro->recompute;
    time->launch_gaps = m * micro->gaps;
    time->head = m * (head_is_balanced(setup) ? mean_head : head);
    /* the pipeline fills and drains: (p - 1) / v micro-batches of a mean stage (arXiv:2104.04473 section 2.2) */
    time->bubble = (stages - 1) / setup->plan.virtual_stages *
                   (micro->forward + micro->backward + micro->recompute + micro->gaps +
                    micro->data.micro_batch.seconds + mean_head);
    time->tensor_communication = m * micro->sums * exchange->tensor.seconds;
    time->expert_communication = m * micro->sums * exchange->expert.seconds;
    time->context_communication = m * (1 + 2 * share) * exchange->context.seconds;
    time->data_communication = m * micro->data.micro_batch.seconds + micro->data.step.seconds;
    time->pipeline_communication = m * micro->pipeline.seconds;
    use_link(use, exchange->tensor, m * micro->sums);
    use_link(use, exchange->expert, m * micro->sums);
    use_link(use, exchange->context, m * (1 + 2 * share));
    use_link(use, micro->data.micro_batch, m);
    use_link(use, micro->data.step, 1);
    use_link(use, micro->pipeline, m);
}

static double
sum_of(const struct training_time *time)
{
    return time->linear + time->memory_traffic + time->experts + time->attention + time->elementwise + time->recompute +
           time->launch_gaps + time->head + time->bubble + time->optimizer + time->tensor_communication +
           time->expert_communication + time->context_communication + time->data_communication +
           time->pipeline_communication + time->host_link + time->host_step + time->input;
}

/* The whole step on a machine: the setup's, or the same GPUs joined otherwise. */
static void
step_time(const struct training_setup *setup, const struct machine *machine, struct training_time *ret_time,
          struct link_use *ret_use)
{
    struct pace pace = pace_of(machine->gpu, setup->rates, setup->job);
    struct layer_work work;
    struct layer_time layers;
    struct micro_batch micro;
    struct offload_seconds offload;

    *ret_use = (struct link_use){ 0, 0, 0 };
    if (setup->arch->generic) {
        struct exposed reduction;

        generic_time_of(setup, machine, ret_time, &reduction);
        use_link(ret_use, reduction, 1);
        offload = offload_seconds_of(setup, ret_time->linear + ret_time->elementwise);
        ret_time->host_link = offload.link;
        ret_time->host_step = offload.step;
        return;
    }
    *ret_time = (struct training_time){ 0 };
    layer_work_of(setup, &work);
    layer_time_of(setup, &work, &pace, &layers);
    micro_batch_of(setup, machine, &work, &layers, &micro);
    spread(setup, &micro, ret_time, ret_use);
    ret_time->optimizer = optimizer_seconds(setup, &pace);
    offload = offload_seconds_of(setup, setup->accumulation_steps * (micro.forward + micro.backward + micro.recompute));
    ret_time->host_link = offload.link;
    ret_time->host_step = offload.step;
}

double
training_step_seconds(const struct training_setup *setup, struct training_time *ret_time)
{
    struct link_use use;

    step_time(setup, setup->machine, ret_time, &use);
    return sum_of(ret_time);
}

static enum bottleneck
bottleneck_of(const struct training_time *time, const struct link_use *use)
{
    const double groups[BOTTLENECK_COUNT] = {
        [BOTTLENECK_COMPUTE] = time->linear + time->experts + time->attention + time->head + time->recompute +
                               time->bubble + time->launch_gaps,
        [BOTTLENECK_MEMORY_BANDWIDTH] = time->memory_traffic + time->elementwise + time->optimizer,
        [BOTTLENECK_INTERCONNECT] = use->inside + time->host_link,
        [BOTTLENECK_NETWORK] = use->across,
        [BOTTLENECK_CPU] = time->host_step + time->input,
    };
    enum bottleneck largest = BOTTLENECK_COMPUTE;

    for (unsigned i = 0; i < BOTTLENECK_COUNT; i++)
        if (groups[i] > groups[largest])
            largest = (enum bottleneck)i;
    return largest;
}

/* All GPUs behind one switch of the link that a node has. */
static struct machine
one_ideal_node(const struct machine *machine)
{
    struct machine ideal = *machine;

    ideal.nodes = 1;
    ideal.gpus_per_node = machine->gpu_count;
    ideal.link_domain_gpus = machine->gpu_count;
    return ideal;
}

static void
count_work(const struct training_setup *setup, struct training_speed *speed)
{
    double sequence = setup->job->sequence_length;
    double samples = (double)setup->micro_batch_size * setup->accumulation_steps * setup->plan.data;
    double per_token = flop_training_job_per_token(setup->arch, setup->params, setup->job, sequence);

    speed->samples_per_step = samples;
    speed->tokens_per_step = setup->arch->generic ? 0 : samples * sequence;
    speed->flop_per_step = (setup->arch->generic ? samples : speed->tokens_per_step) * per_token;
}

bool
training_can_be_timed(const struct training_setup *setup)
{
    return setup->machine->gpu && peak_flop_per_second(setup->machine->gpu, setup->job->precision) > 0;
}

void
training_speed(const struct training_setup *setup, struct training_speed *ret_speed)
{
    const struct machine *machine = setup->machine;
    struct throughput_band band = throughput_band_of(setup);
    struct link_use use;

    *ret_speed = (struct training_speed){ .band_low = band.low, .band_high = band.high };
    count_work(setup, ret_speed);
    if (machine->gpu == NULL)
        return;
    ret_speed->peak_flop_per_second = peak_flop_per_second(machine->gpu, setup->job->precision);
    step_time(setup, machine, &ret_speed->time, &use);
    ret_speed->step_seconds = ret_speed->ideal_step_seconds = sum_of(&ret_speed->time);
    ret_speed->network_exposed_seconds = use.across;
    ret_speed->network_busy_seconds = use.network;
    ret_speed->bottleneck = bottleneck_of(&ret_speed->time, &use);
    if (machine->nodes > 1) {
        struct machine ideal = one_ideal_node(machine);
        struct training_time time;

        step_time(setup, &ideal, &time, &use);
        ret_speed->ideal_step_seconds = sum_of(&time);
    }
}
