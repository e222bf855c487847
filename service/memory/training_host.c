/* What training puts outside the GPU: host memory of an offload, bytes of a checkpoint. */
#include "service/memory/gathered.h"
#include "service/memory/model_states.h"
#include "service/memory/optimizer.h"
#include "service/memory/training_memory.h"

/* States of offload on the host, a parameter: FP32 master, moments and gradient, 16 in all; the 16-bit weights follow
 * with "all" (arXiv:2101.06840 section 3). */
double
training_offload_host_bytes(const struct training_setup *setup)
{
    const struct rates *rates = setup->rates;
    double each = setup->job->offload == OFFLOAD_ALL ? 18 : 16, nodes = setup->machine->nodes;

    if (setup->job->offload != OFFLOAD_OPTIMIZER && setup->job->offload != OFFLOAD_ALL)
        return 0;
    return each * (double)setup->params->total * rates->training_offload_pinned_share / nodes +
           rates->training_offload_rank_bytes * setup->machine->gpus_per_node;
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
    const struct training_job *job = setup->job;
    double each = checkpoint_bytes_each(setup), all = (double)setup->params->total;
    double layers = setup->arch->layer_count, trained;

    if (method_is_adapter(job->method))
        return each * (double)lora_params_count(setup->arch, job->lora_targets, job->lora_rank);
    if (job->method != METHOD_FREEZE || layers <= job->trainable_layers)
        return each * all;
    trained = (all - (double)setup->params->embedding - (double)setup->params->head) * job->trainable_layers / layers;
    return each * trained + 2 * (all - trained);
}
