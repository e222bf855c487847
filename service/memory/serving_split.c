/* Ways of dividing a replica. */
#include "service/memory/serving_split.h"

#include <math.h>

#include "service/base/quantity.h"

static bool
has_experts(const struct model_arch *arch)
{
    for (uint32_t i = 0; i < arch->kind_count; i++)
        if (arch->kinds[i].mlp == MLP_EXPERTS)
            return true;
    return false;
}

bool
serving_attention_is_data_parallel(const struct parallelism *plan, const struct model_arch *arch)
{
    return plan->data > 1 && plan->expert > 1 && has_experts(arch);
}

uint32_t
serving_expert_ways(const struct parallelism *plan, const struct model_arch *arch)
{
    uint32_t ways = serving_attention_is_data_parallel(plan, arch) ? plan->expert : plan->tensor;

    return ways > 0 ? ways : 1;
}

uint32_t
serving_cache_groups(const struct serving_setup *setup)
{
    return serving_attention_is_data_parallel(&setup->plan, setup->arch) ? setup->plan.data : 1;
}

uint64_t
serving_sequences_per_group(const struct serving_setup *setup)
{
    uint64_t groups = u64_mul_sat(u64_max(setup->replicas, 1), serving_cache_groups(setup));

    return u64_ceil_div(u64_max(setup->job->concurrency, 1), groups);
}

double
serving_batch_requests(const struct serving_setup *setup)
{
    bool samples = setup->arch->generic || setup->arch->vocabulary_size == 0; /* not texts: each is as long as any */
    double tokens = setup->job->input_tokens > 0 ? setup->job->input_tokens : 1;
    double most = samples ? setup->rates->serving_batch_samples : setup->rates->serving_pass_tokens / tokens;

    return most > 1 ? floor(most) : 1;
}

double
serving_ways(uint32_t ways)
{
    return ways > 0 ? ways : 1;
}
