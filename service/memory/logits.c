/* Which loss keeps how many copies of the logits. */
#include "service/memory/logits.h"

#include <string.h>

bool
network_has_scores(const struct model_arch *arch, enum training_method method)
{
    return arch->vocabulary_size > 0 && (arch->causal || method == METHOD_PRETRAIN);
}

/* Llama-like code casts the scores to FP32 itself; Qwen-1's leaves it to autocast, which neither DeepSpeed's own 16-bit
 * engine nor a quantised base brings along. */
static bool
scores_stay_16_bit(const struct training_setup *setup)
{
    return strcmp(setup->arch->model_type, "qwen") == 0 &&
           (setup->job->framework == FRAMEWORK_DEEPSPEED || setup->job->method == METHOD_QLORA);
}

double
logit_bytes_per_entry(const struct training_setup *setup)
{
    const struct rates *rates = setup->rates;

    if (setup->job->loss == LOSS_FUSED)
        return rates->training_memory_logit_bytes_fused;
    if (setup->job->loss == LOSS_CHUNKED)
        return rates->training_memory_logit_bytes_unfused / rates->training_memory_loss_chunks;
    if (setup->job->framework == FRAMEWORK_MEGATRON || scores_stay_16_bit(setup))
        return rates->training_memory_logit_bytes_uncast;
    if (setup->job->framework == FRAMEWORK_FSDP && setup->plan.tensor > 1)
        return rates->training_memory_logit_bytes_loss_parallel;
    return rates->training_memory_logit_bytes_unfused;
}
