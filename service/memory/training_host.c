/* What training puts outside the GPU: host memory of an offload, bytes of a checkpoint. */
#include "service/memory/gathered.h"
#include "service/memory/model_states.h"
#include "service/memory/optimizer.h"
#include "service/memory/training_memory.h"

/* Parameters that get gradients and optimizer states: adapters alone, the last layers alone, or all. */
static double
trained_parameters(const struct training_setup *setup)
{
    const struct training_job *job = setup->job;
    double all = (double)setup->params->total, layers = setup->arch->layer_count;

    if (method_is_adapter(job->method))
        return (double)lora_params_count(setup->arch, job->lora_targets, job->lora_rank);
    if (job->method != METHOD_FREEZE || layers <= job->trainable_layers)
        return all;
    return (all - (double)setup->params->embedding - (double)setup->params->head) * job->trainable_layers / layers;
}

/* States of offload on the host, a trained parameter: FP32 master, moments and gradient, 16 in all; the 16-bit weights
 * of the whole model follow with "all" (arXiv:2101.06840 section 3). */
double
training_offload_host_bytes(const struct training_setup *setup)
{
    const struct rates *rates = setup->rates;
    double bytes = 16 * trained_parameters(setup);

    if (setup->job->offload != OFFLOAD_OPTIMIZER && setup->job->offload != OFFLOAD_ALL)
        return 0;
    if (setup->job->offload == OFFLOAD_ALL)
        bytes += 2 * (double)setup->params->total;
    return bytes * rates->training_offload_pinned_share / setup->machine->nodes +
           rates->training_offload_rank_bytes * setup->machine->gpus_per_node;
}

bool
training_exceeds_host(const struct training_setup *setup)
{
    return setup->machine->host_bytes > 0 && training_offload_host_bytes(setup) > setup->machine->host_bytes;
}

/* Bytes that one trained parameter takes in a checkpoint that training resumes from. */
static double
checkpoint_bytes_each(const struct training_setup *setup)
{
    const struct training_job *job = setup->job;
    double states = state_bytes_of(setup->rates, job->precision, job->optimizer, job->framework).states;

    if (job->optimizer == OPTIMIZER_ADAMW_8BIT_PAGED) /* not on the GPU, but saved all the same */
        states = state_bytes_of(setup->rates, job->precision, OPTIMIZER_ADAMW_8BIT, job->framework).states;
    if (job->precision == PRECISION_BF16_PURE)
        return 2 + states;
    if (!precision_is_mixed(job->precision) || job->framework == FRAMEWORK_MEGATRON)
        return 4 + states;
    return 2 + 4 + states;
}

double
training_checkpoint_bytes(const struct training_setup *setup)
{
    double trained = trained_parameters(setup), each = checkpoint_bytes_each(setup);

    if (method_is_adapter(setup->job->method))
        return each * trained;
    return each * trained + 2 * ((double)setup->params->total - trained);
}
