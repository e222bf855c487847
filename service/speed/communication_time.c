/* Collectives of each kind of parallelism, and the share of them that shows. */
#include "service/speed/communication_time.h"

#include "service/base/quantity.h"
#include "service/memory/gathered.h"
#include "service/memory/optimizer.h"
#include "service/parallel/collective.h"
#include "service/speed/layer_time.h"

static struct exposed
exposed_of(struct link_seconds seconds, double times)
{
    double all = link_seconds_longer(seconds) * times;

    return (struct exposed){ all, seconds.across > seconds.inside, all, seconds.across * times };
}

/* A Megatron plan that is chosen here, not stated, cuts tensor sums into pieces and runs them behind the products
 * beside them (Megatron-LM, tp-comm-overlap); what people state in full is mostly run without. */
static double
exposed_tensor_share(const struct training_setup *setup)
{
    if (setup->plan_assumed && setup->job->framework == FRAMEWORK_MEGATRON)
        return setup->rates->training_exposed_tensor_overlapped;
    return setup->rates->training_exposed_tensor;
}

void
layer_exchange_of(const struct training_setup *setup, const struct machine *machine, const struct layer_work *work,
                  struct layer_exchange *ret_exchange)
{
    const struct rates *rates = setup->rates;
    const struct parallelism *plan = &setup->plan;
    double start = rates->link_latency_seconds;

    /* an all-reduce is a reduce-scatter and an all-gather */
    ret_exchange->tensor = exposed_of(collective_link_seconds(machine, rates, work->tensor_bytes, plan->tensor, 1), 2);
    ret_exchange->tensor.all_seconds += 2 * start * work->tensor_count;
    ret_exchange->tensor.seconds = exposed_tensor_share(setup) * ret_exchange->tensor.all_seconds;
    /* tokens go out and come back */
    ret_exchange->expert = exposed_of(
        all_to_all_link_seconds(machine, rates, work->expert_sent_bytes, plan->expert, work->expert_copies), 2);
    ret_exchange->expert.seconds =
        rates->training_exposed_expert * ret_exchange->expert.seconds + start * work->expert_count;
    ret_exchange->context = exposed_of(
        neighbour_link_seconds(machine, rates, work->context_bytes, (uint64_t)plan->tensor * plan->context), 1);
    ret_exchange->context.seconds *= rates->training_exposed_context;
}

void
local_parameters_of(const struct training_setup *setup, struct local_parameters *ret_local)
{
    const struct parallelism *plan = &setup->plan;
    const struct model_params *params = setup->params;
    double dense = 0, experts = 0, tensor = plan->tensor, stages = plan->pipeline;
    double ways = plan->expert > 1 ? plan->expert : tensor;
    double gpus = tensor * plan->data * plan->context;

    for (uint32_t i = 0; i < setup->arch->kind_count; i++) {
        const struct layer_params *layer = &params->layers[i];
        double count = setup->arch->kinds[i].count;

        dense += count * ((double)layer->attention + (double)layer->mlp + (double)layer->router);
        experts += count * setup->arch->kinds[i].expert_count * (double)layer->expert;
    }
    /* embedding and head lie on different stages */
    dense = dense / stages + ((double)params->embedding + (double)params->head) / (stages > 1 ? 2 : 1);
    dense += (double)params->extra / stages;
    ret_local->dense = dense / tensor;
    ret_local->experts = experts / stages / ways;
    ret_local->expert_ranks = gpus > ways ? gpus / ways : 1;
}

void
trained_parameters_of(const struct training_setup *setup, struct local_parameters *ret_local)
{
    const struct training_job *job = setup->job;
    uint32_t layers = setup->arch->layer_count;

    local_parameters_of(setup, ret_local);
    if (method_is_adapter(job->method)) {
        ret_local->dense = (double)lora_params_count(setup->arch, job->lora_targets, job->lora_rank) /
                           setup->plan.tensor / setup->plan.pipeline;
        ret_local->experts = 0;
    } else if (job->method == METHOD_FREEZE && job->trainable_layers < layers) {
        ret_local->dense *= (double)job->trainable_layers / layers;
        ret_local->experts *= (double)job->trainable_layers / layers;
    }
}

/* GPUs that hold the same parameters, as many as a group may have. */
static uint32_t
data_ranks(const struct parallelism *plan)
{
    return (uint32_t)u64_min((uint64_t)plan->data * plan->context, UINT32_MAX);
}

static struct link_seconds
sum_link_seconds(struct link_seconds a, struct link_seconds b)
{
    return (struct link_seconds){ a.inside + b.inside, a.across + b.across };
}

/* One gather or scatter of `bytes` a parameter over the data ranks, experts over their own. */
static struct link_seconds
sweep(const struct training_setup *setup, const struct machine *machine, const struct local_parameters *local,
      double bytes)
{
    const struct parallelism *plan = &setup->plan;
    uint32_t ranks = data_ranks(plan);
    uint32_t expert_ranks = local->expert_ranks < 4e9 ? (uint32_t)local->expert_ranks : UINT32_MAX;
    uint32_t expert_stride = plan->expert > plan->tensor ? plan->expert : plan->tensor;
    struct link_seconds dense =
        collective_link_seconds(machine, setup->rates, bytes * local->dense, ranks, plan->tensor);

    if (local->experts <= 0)
        return dense;
    return sum_link_seconds(
        dense, collective_link_seconds(machine, setup->rates, bytes * local->experts, expert_ranks, expert_stride));
}

static double
stage_layers(const struct training_setup *setup)
{
    return (double)setup->arch->layer_count / setup->plan.pipeline;
}

/* What shows of `all`: a share that is always waited for, or what compute does not cover. */
static double
shown(double all, double least, double covered)
{
    return all - covered > least ? all - covered : least;
}

/* Weights before forward and backward, gradients after; frozen weights have none, and frozen lower layers no backward
 * pass. */
static struct exposed
sharded_exchange(const struct training_setup *setup, const struct machine *machine,
                 const struct local_parameters *local, double latency, double busy)
{
    const struct rates *rates = setup->rates;
    double sweeps = method_is_adapter(setup->job->method) ? 2 : 1 + 2 * backward_share(setup->arch, setup->job);
    double bytes = setup->job->method == METHOD_QLORA ? QLORA_BITS / 8 : precision_element_bytes(setup->job->precision);
    struct exposed all = exposed_of(sweep(setup, machine, local, bytes), sweeps);
    double share = runs_hf_modules(setup->job) ? rates->training_exposed_zero3_modules : rates->training_exposed_zero3;

    all.all_seconds += sweeps * latency * stage_layers(setup);
    all.seconds = shown(all.all_seconds, share * all.all_seconds, rates->training_zero3_overlap * busy);
    return all;
}

/* Bytes a parameter that a step's reduction moves: FP32 gradients and 16-bit weights in Megatron, 16-bit gradients and
 * weights elsewhere, FP32 both without mixing and for adapters (arXiv:2106.09685: they stay FP32). */
static double
reduced_bytes(const struct training_job *job)
{
    double element = method_is_adapter(job->method) && job->precision != PRECISION_BF16_PURE
                         ? 4
                         : precision_element_bytes(job->precision);

    return (job->framework == FRAMEWORK_MEGATRON ? 4 : element) + element;
}

/* Gradients out and weights in, once; starting each layer's collectives adds up over a large ring (an adapter's fit one
 * bucket). */
static struct exposed
reduced_exchange(const struct training_setup *setup, const struct machine *machine,
                 const struct local_parameters *local, double latency, double busy)
{
    const struct rates *rates = setup->rates;
    struct exposed all = exposed_of(sweep(setup, machine, local, reduced_bytes(setup->job)), 1);
    double buckets = method_is_adapter(setup->job->method) ? 1 : stage_layers(setup);
    double starts = 2 * latency * buckets, overlap = rates->training_data_overlap;

    all.all_seconds += starts;
    all.seconds =
        shown(all.all_seconds, rates->training_exposed_data * all.seconds + (1 - overlap) * starts, overlap * busy);
    return all;
}

void
data_exchange_of(const struct training_setup *setup, const struct machine *machine, double busy,
                 struct data_exchange *ret_exchange)
{
    const struct parallelism *plan = &setup->plan;
    const struct rates *rates = setup->rates;
    uint32_t ranks = data_ranks(plan);
    double latency = collective_latency_seconds(machine, rates, ranks, plan->tensor);
    struct local_parameters local;

    ret_exchange->micro_batch = ret_exchange->step = (struct exposed){ 0 };
    if (ranks <= 1)
        return;
    local_parameters_of(setup, &local);
    if (plan->sharding == SHARDING_ZERO3) {
        ret_exchange->micro_batch = sharded_exchange(setup, machine, &local, latency, busy);
        return;
    }
    trained_parameters_of(setup, &local);
    if (plan->sharding == SHARDING_ZERO2 && setup->accumulation_steps > 1) {
        ret_exchange->micro_batch = exposed_of(
            sweep(setup, machine, &local,
                  setup->job->framework == FRAMEWORK_MEGATRON ? 4 : precision_element_bytes(setup->job->precision)),
            1);
        ret_exchange->micro_batch.seconds *= rates->training_exposed_zero2;
    }
    ret_exchange->step = reduced_exchange(setup, machine, &local, latency, busy);
}

struct exposed
pipeline_exchange(const struct training_setup *setup, const struct machine *machine)
{
    const struct parallelism *plan = &setup->plan;
    const struct rates *rates = setup->rates;
    double tokens = (double)setup->micro_batch_size * setup->job->sequence_length / plan->context;
    double ways = plan->sequence_parallel == FLAG_YES ? plan->tensor : 1;
    struct exposed exchange;

    if (plan->pipeline <= 1)
        return (struct exposed){ 0 };
    exchange = exposed_of(neighbour_link_seconds(machine, rates,
                                                 precision_element_bytes(setup->job->precision) * tokens *
                                                     setup->arch->hidden_size / ways,
                                                 machine->gpu_count),
                          1);
    exchange.network_seconds *= 2.0 * plan->virtual_stages;
    exchange.seconds = rates->training_exposed_pipeline * 2 * plan->virtual_stages *
                       (exchange.seconds + 2 * rates->link_latency_seconds);
    return exchange;
}
