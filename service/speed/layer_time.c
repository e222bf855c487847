/* Work over pace, forward and backward. */
#include "service/speed/layer_time.h"

#include <stdlib.h>

#include "service/memory/gathered.h"
#include "service/memory/optimizer.h"

double
pass_seconds(const struct pass_time *pass)
{
    return pass->linear + pass->memory_traffic + pass->experts + pass->attention + pass->elementwise;
}

bool
runs_hf_modules(const struct training_job *job)
{
    return job->framework == FRAMEWORK_HF_TRAINER ||
           (job->framework == FRAMEWORK_DEEPSPEED && job->method != METHOD_PRETRAIN);
}

/* Of a mean stage. */
static double
stage_experts(const struct training_setup *setup)
{
    double experts = 0;

    for (uint32_t i = 0; i < setup->arch->kind_count; i++)
        if (setup->arch->kinds[i].mlp == MLP_EXPERTS)
            experts += (double)setup->arch->kinds[i].count * setup->arch->kinds[i].expert_count;
    return experts / setup->plan.pipeline;
}

double
host_floor_seconds(const struct training_setup *setup, double layers)
{
    const struct rates *rates = setup->rates;
    bool gathers = setup->plan.sharding == SHARDING_ZERO3 && setup->plan.data > 1;
    double expert = rates->training_host_expert_seconds + (gathers ? rates->training_host_expert_gather_seconds : 0);
    double layer = rates->training_host_layer_seconds + (gathers ? rates->training_host_layer_gather_seconds : 0);
    double seconds = layer * layers + expert * stage_experts(setup);

    if (!runs_hf_modules(setup->job))
        return 0;
    if (!method_is_adapter(setup->job->method)) /* adapters triple the modules of a projection */
        seconds *= rates->training_host_share_plain;
    if (setup->recompute != RECOMPUTE_FULL)
        seconds *= rates->training_host_share_once;
    return seconds;
}

static bool
has_large_cache(const struct gpu *gpu)
{
    return gpu->family == GPU_FAMILY_GDDR && gpu->compute_capability && strtod(gpu->compute_capability, NULL) >= 8.9;
}

double
cached_traffic_share(const struct training_setup *setup)
{
    const struct rates *rates = setup->rates;
    double tokens = (double)setup->micro_batch_size * setup->job->sequence_length / setup->plan.context;
    double bytes = tokens * setup->arch->hidden_size * precision_element_bytes(setup->job->precision);
    double cached = bytes > rates->training_cache_bytes ? rates->training_cache_bytes / bytes : 1;

    if (!has_large_cache(setup->machine->gpu))
        return 1;
    return cached / rates->training_cache_gain + 1 - cached;
}

/* Everything but matrix products: in encoders by whole kernels, whatever the framework; and the scores that eager
 * attention writes out. */
static double
between_products(const struct training_setup *setup, const struct layer_work *work, const struct pace *pace)
{
    const struct rates *rates = setup->rates;
    bool fused = setup->job->framework == FRAMEWORK_MEGATRON;
    double scores = fused ? rates->training_score_passes_fused : rates->training_score_passes_eager;
    double plain = setup->arch->causal
                       ? work->elementwise_bytes / pace->elementwise
                       : work->elementwise_bytes * rates->training_elementwise_passes_encoder / pace->memory;

    return plain * cached_traffic_share(setup) + scores * work->score_bytes / pace->memory;
}

static void
forward_time(const struct training_setup *setup, const struct layer_work *work, const struct pace *pace,
             struct pass_time *forward)
{
    double unpacking = setup->job->method == METHOD_QLORA ? setup->rates->training_unpack_bytes * work->weights : 0;

    forward->linear = work->linear_flop / pace->linear;
    forward->memory_traffic = (work->linear_bytes + work->expert_bytes + unpacking) / pace->memory;
    forward->experts = work->expert_flop / pace->experts;
    forward->attention = work->attention_flop / pace->attention;
    forward->elementwise = between_products(setup, work, pace);
    if (work->adapter_flop > 0) { /* thin products: half the rate */
        forward->linear += 2 * work->adapter_flop / pace->scores;
        forward->elementwise += cached_traffic_share(setup) * work->adapter_bytes / pace->elementwise;
    }
}

static void
backward_time(const struct training_setup *setup, const struct layer_work *work, const struct pace *pace,
              struct pass_time *backward)
{
    bool adapter = method_is_adapter(setup->job->method), eager = setup->job->attention == ATTENTION_KERNEL_EAGER;
    double gradients = adapter ? 1 : 2; /* of the input, of the weight */
    double unpacking = setup->job->method == METHOD_QLORA ? setup->rates->training_unpack_bytes * work->weights : 0;
    double bytes = work->linear_bytes_backward + work->expert_bytes_backward + unpacking;

    if (!adapter)
        bytes += work->gradient_bytes + work->expert_gradient_bytes;
    backward->linear = (work->linear_flop_backward + (adapter ? 0 : work->gradient_flop)) / pace->linear;
    backward->memory_traffic = bytes / pace->memory;
    backward->experts = gradients * work->expert_flop / pace->experts;
    backward->attention = (eager ? 2 : 2.5) * work->attention_flop / pace->attention;
    backward->elementwise = 2 * between_products(setup, work, pace);
    if (work->adapter_flop > 0) {
        backward->linear += 2 * 2 * work->adapter_flop / pace->scores;
        backward->elementwise += 2 * cached_traffic_share(setup) * work->adapter_bytes / pace->elementwise;
    }
}

/* Megatron's selective form repeats the attention core, which flash does anyway (arXiv:2205.05198 section 5); PyTorch's
 * operator policy repeats every other matrix product (torchtitan). */
static void
recompute_time(const struct training_setup *setup, struct layer_time *time)
{
    const struct pass_time *forward = &time->forward;

    bool some = setup->recompute_share > 0 && setup->recompute_share < 1;

    time->recomputed_share = setup->recompute != RECOMPUTE_FULL ? 0 : (some ? setup->recompute_share : 1);
    time->recomputed = 0;
    if (setup->recompute != RECOMPUTE_SELECTIVE)
        return;
    if (setup->job->framework != FRAMEWORK_MEGATRON)
        time->recomputed =
            setup->rates->training_selective_share * (forward->linear + forward->memory_traffic + forward->experts);
    else if (setup->job->attention == ATTENTION_KERNEL_EAGER)
        time->recomputed = forward->attention + forward->elementwise;
}

double
backward_share(const struct model_arch *arch, const struct training_job *job)
{
    bool some = job->method == METHOD_FREEZE && job->trainable_layers < arch->layer_count;

    return some ? (double)job->trainable_layers / arch->layer_count : 1;
}

void
layer_time_of(const struct training_setup *setup, const struct layer_work *work, const struct pace *pace,
              struct layer_time *ret_time)
{
    double passes = method_is_adapter(setup->job->method) || setup->job->method == METHOD_FREEZE ? 2 : 3;

    forward_time(setup, work, pace, &ret_time->forward);
    backward_time(setup, work, pace, &ret_time->backward);
    recompute_time(setup, ret_time);
    ret_time->head = passes * work->head_flop / pace->scores + work->head_bytes / pace->memory;
    ret_time->backward_share = backward_share(setup->arch, setup->job);
}
