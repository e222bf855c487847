/* Weights, cache and engine on the fullest GPU of a replica; then what the cache can hold. */
#include "service/memory/serving_memory.h"

#include <math.h>
#include <string.h>

#include "service/base/quantity.h"
#include "service/job/engine.h"
#include "service/memory/engine_budget.h"
#include "service/memory/kv_cache.h"
#include "service/memory/serving_cache.h"
#include "service/memory/serving_offload.h"
#include "service/memory/serving_split.h"
#include "service/memory/serving_weights.h"

/* Contexts that are searched end here: no model is asked for more. */
static const uint64_t longest_context = 1ULL << 31;

uint32_t
serving_gpus_per_replica(const struct parallelism *plan)
{
    uint64_t gpus = u64_mul_sat(u64_max(plan->tensor, 1), u64_max(plan->pipeline, 1));

    if (plan->expert > 1 && plan->data > 1)
        gpus = u64_mul_sat(gpus, plan->data);
    return (uint32_t)u64_min(gpus, UINT32_MAX);
}

static void
add_weights(const struct serving_setup *setup, struct footprint *footprint)
{
    struct weight_elements elements = serving_gpu_elements(setup);
    struct weight_bits bits = serving_weight_bits(setup->arch, setup->job->precision);
    struct part *part = footprint_add(footprint, PART_WEIGHTS, weight_elements_bytes(&elements, &bits));

    part->formula = "({0} weights of linear layers x {1} bits + {2} of latent attention x {3} bits + "
                    "{4} of experts x {5} bits + {6} others x {7} bits) / {8}";
    part->source = "each tensor of the checkpoint, divided as tensor and pipeline parallelism divide it "
                   "(arXiv:1909.08053, arXiv:2104.04473)";
    part->values[0] = round(elements.linear);
    part->values[1] = bits.linear;
    part->values[2] = round(elements.latent);
    part->values[3] = bits.latent;
    part->values[4] = round(elements.experts);
    part->values[5] = bits.experts;
    part->values[6] = round(elements.plain);
    part->values[7] = bits.plain;
    part->values[8] = 8; /* bits a byte */
}

static void
add_cache(const struct serving_setup *setup, struct footprint *footprint)
{
    double sequences = (double)serving_sequences_per_group(setup);
    double each = serving_sequence_bytes(setup, setup->job->context_length);
    struct part *part = footprint_add(footprint, PART_KV_CACHE, sequences * each);

    part->formula = "{0} sequences x {1} bytes of keys and values each";
    part->source = "arXiv:2309.06180 section 3; arXiv:2405.04434 section 2.1";
    part->values[0] = sequences;
    part->values[1] = each;
}

/* The longest single sequence that a budget holds. */
static double
longest_sequence(const struct serving_setup *setup, double budget)
{
    uint64_t most = setup->arch->max_context_tokens > 0 ? setup->arch->max_context_tokens : longest_context;
    uint64_t fits = 0;

    if (serving_sequence_bytes(setup, most) <= budget)
        return (double)most;
    while (fits < most) {
        uint64_t middle = fits + (most - fits + 1) / 2;

        if (serving_sequence_bytes(setup, middle) <= budget)
            fits = middle;
        else
            most = middle - 1;
    }
    return (double)fits;
}

static void
count_capacity(const struct serving_setup *setup, struct serving_memory *memory)
{
    double context = setup->job->context_length > 0 ? setup->job->context_length : 1;
    double each = serving_sequence_bytes(setup, (uint64_t)context), groups = serving_cache_groups(setup);
    double budget = memory->kv_budget_bytes, block = setup->rates->serving_block_tokens;

    if (!(each > 0) || !(budget > 0))
        return;
    memory->max_concurrency = groups * floor(budget / each);
    memory->capacity_tokens = budget / each * context;
    if (block > 1)
        memory->capacity_tokens = floor(memory->capacity_tokens / block) * block;
    memory->capacity_tokens *= groups;
    memory->max_context_length = longest_sequence(setup, budget);
}

/* does_not_fit: more is needed than the engine can be given. fits: it leaves room within what it is given. */
static enum verdict
verdict_of(const struct serving_setup *setup, const struct footprint *footprint)
{
    double needed = footprint->required_bytes, most = footprint->usable_bytes;

    if (setup->machine->gpu == NULL)
        return VERDICT_UNKNOWN;
    if (!(needed <= most)) /* what is no number does not fit */
        return VERDICT_DOES_NOT_FIT;
    return needed <= setup->rates->serving_fitting_share * most ? VERDICT_FITS : VERDICT_TIGHT;
}

/* Whether the software is known whose memory was measured: no table tells what servers take. */
static bool
is_known(const struct serving_job *job)
{
    return job->engine_version[0] != '\0' && (job->engine == ENGINE_TRANSFORMERS || job->engine == ENGINE_LLAMA_CPP);
}

/* truth / expected of what is allocated: low-bit files differ most in what they leave unpacked. */
static void
set_band(const struct serving_setup *setup, struct footprint *footprint)
{
    const struct rates *rates = setup->rates;
    bool packed = serving_format_is_low_bit(setup->job->precision);

    if (is_known(setup->job)) {
        footprint->band_low = packed ? rates->serving_band_memory_low_bit_low : rates->serving_band_memory_low;
        footprint->band_high = packed ? rates->serving_band_memory_low_bit_high : rates->serving_band_memory_high;
        return;
    }
    footprint->band_low =
        packed ? rates->serving_band_memory_low_bit_unstated_low : rates->serving_band_memory_unstated_low;
    footprint->band_high =
        packed ? rates->serving_band_memory_low_bit_unstated_high : rates->serving_band_memory_unstated_high;
}

void
serving_memory(const struct serving_setup *setup, struct serving_memory *ret_memory)
{
    struct footprint *footprint = &ret_memory->footprint;
    const struct serving_job *job = setup->job;
    const struct gpu *gpu = setup->machine->gpu;
    double element = kv_format_bytes(job->kv_cache_precision), taken;
    bool generates = model_arch_generates(setup->arch);

    memset(ret_memory, 0, sizeof(*ret_memory));
    add_weights(setup, footprint);
    if (generates)
        add_cache(setup, footprint);
    engine_budget_add(setup, footprint);
    footprint_sum(footprint);
    set_band(setup, footprint);

    ret_memory->weight_bytes = serving_weight_bytes(setup->arch, setup->params, job->precision);
    if (generates) {
        ret_memory->kv_bytes_per_token = kv_cache_bytes_per_token(setup->arch, element);
        ret_memory->kv_bytes_per_token_per_gpu =
            kv_cache_bytes_per_token_per_gpu(setup->arch, element, setup->plan.tensor, setup->plan.pipeline);
    }
    if (gpu == NULL)
        return;
    taken = footprint->required_bytes - footprint_bytes(footprint, PART_KV_CACHE);
    footprint->usable_bytes = engine_limit_bytes(setup, taken, job->memory_utilization);
    footprint->verdict = verdict_of(setup, footprint);
    footprint->reserved_bytes = engine_reserved_bytes(setup, footprint);
    ret_memory->kv_budget_bytes = engine_cache_budget(setup, footprint);
    count_capacity(setup, ret_memory);
    if (ret_memory->max_concurrency >= 1)
        return;
    serving_offload_plan(setup, footprint, &ret_memory->offload);
    if (ret_memory->offload.used) {
        ret_memory->kv_budget_bytes = footprint_bytes(footprint, PART_KV_CACHE);
        count_capacity(setup, ret_memory);
    }
}
