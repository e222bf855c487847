/* Activation peaks, runtimes and pools of serving engines. */
#include "service/memory/engine_budget.h"

#include <math.h>
#include <string.h>

#include "service/base/quantity.h"
#include "service/job/engine.h"
#include "service/memory/serving_cache.h"
#include "service/memory/serving_split.h"

static const char *const profile_source = "vLLM gpu_worker.py determine_available_memory; vllm-project/vllm#10511";
static const char *const runtime_source = "vllm-project/vllm#10511, #10517, #14447: non-torch memory, CUDA graphs";
static const char *const transformers_source = "Qwen2.5 speed benchmark page, memory of transformers";
static const char *const llama_cpp_source =
    "github.com/XiongjieDai/GPU-Benchmarks-on-LLM-Inference; premAI-io/benchmarks";
static const char *const communication_source = "NVIDIA/nccl#964; non-torch memory in vllm-project/vllm#13061, #14447";

static struct engine_traits
traits_of(const struct serving_setup *setup)
{
    return engine_traits_of(setup->job->engine, setup->job->engine_version);
}

static bool
takes_pool(enum engine_pool pool)
{
    return pool == ENGINE_POOL_OF_TOTAL || pool == ENGINE_POOL_OF_FREE;
}

/* Width of the widest MLP that one token passes. */
static double
widest_mlp(const struct model_arch *arch)
{
    double widest = 0;

    for (uint32_t i = 0; i < arch->kind_count; i++) {
        const struct layer_kind *kind = &arch->kinds[i];
        double width = kind->mlp == MLP_EXPERTS
                           ? (double)kind->experts_per_token * kind->expert_size + kind->shared_size
                           : (kind->mlp == MLP_DENSE ? kind->intermediate_size : 0);

        if (width > widest)
            widest = width;
    }
    return widest;
}

/* Largest matrix of a layer, elements: kernels that unpack do so one at a time. */
static double
largest_matrix(const struct model_arch *arch)
{
    double widest = 0;

    for (uint32_t i = 0; i < arch->kind_count; i++) {
        const struct layer_kind *kind = &arch->kinds[i];
        double width = kind->mlp == MLP_EXPERTS ? kind->expert_size : kind->intermediate_size;
        double heads = (double)kind->head_count * kind->head_size;

        width = width > heads ? width : heads;
        widest = width > widest ? width : widest;
    }
    return widest * arch->hidden_size;
}

/* Tokens of the profile run. Small cards start with a smaller token budget, but not below what is asked for. */
static double
profile_tokens(const struct serving_setup *setup)
{
    const struct rates *rates = setup->rates;
    const struct gpu *gpu = setup->machine->gpu;
    double asked = setup->job->context_length;

    if (gpu == NULL || (double)gpu->usable_bytes > rates->serving_profile_large_card_bytes ||
        asked >= rates->serving_profile_tokens)
        return rates->serving_profile_tokens;
    return asked > rates->serving_profile_least_tokens ? asked : rates->serving_profile_least_tokens;
}

static void
add_profile_activations(const struct serving_setup *setup, struct footprint *footprint)
{
    const struct rates *rates = setup->rates;
    const struct model_arch *arch = setup->arch;
    double sequences = model_arch_generates(arch) ? rates->serving_profile_sequences : 0; /* that logits are made of */
    double tokens = profile_tokens(setup), tensor = serving_ways(setup->plan.tensor), width = widest_mlp(arch);
    double bytes = tokens * (rates->serving_mlp_activation_bytes * width / tensor +
                             rates->serving_hidden_activation_bytes * arch->hidden_size) +
                   sequences * rates->serving_logit_bytes * arch->vocabulary_size / tensor;
    struct part *part = footprint_add(footprint, PART_ACTIVATIONS, bytes);

    part->formula = "{0} tokens x ({1} bytes x {2} wide / {3} tensor ranks + {4} bytes x {5} hidden) + "
                    "{6} sequences x {7} bytes x {8} vocabulary entries / {3} tensor ranks";
    part->source = profile_source;
    part->values[0] = tokens;
    part->values[1] = rates->serving_mlp_activation_bytes;
    part->values[2] = width;
    part->values[3] = tensor;
    part->values[4] = rates->serving_hidden_activation_bytes;
    part->values[5] = arch->hidden_size;
    part->values[6] = sequences;
    part->values[7] = rates->serving_logit_bytes;
    part->values[8] = arch->vocabulary_size;
}

/* Sine and cosine of every position in 16 bit, once a layer: transformers before 4.45 (modeling_qwen2.py). */
static double
rotary_tables(const struct serving_setup *setup)
{
    const struct model_arch *arch = setup->arch;
    double bytes = 0;

    if (!traits_of(setup).early || arch->position_elements > 0)
        return 0;
    for (uint32_t i = 0; i < arch->kind_count; i++)
        bytes += 2.0 * 2 * arch->max_context_tokens * arch->kinds[i].head_size * arch->kinds[i].count;
    return bytes / serving_ways(setup->plan.pipeline);
}

/* Whether a step's new cache is made while the whole old one is alive: tuples of keys and values, which transformers
 * handed from step to step before 4.45 (cache_utils.py, from_legacy_cache) and modeling files that come with a
 * checkpoint do to this day. */
static bool
copies_whole_cache(const struct serving_setup *setup)
{
    static const char *const with_tuples[] = { "QWenLMHeadModel", "BaichuanForCausalLM", "BaiChuanForCausalLM",
                                               "ChatGLMModel",    "InternLMForCausalLM", "InternLM2ForCausalLM" };

    if (traits_of(setup).early)
        return true;
    for (size_t i = 0; i < COUNT_OF(with_tuples); i++)
        if (strcmp(setup->arch->architecture, with_tuples[i]) == 0)
            return true;
    return false;
}

/* The cache that the next step's takes the place of, a sequence. */
static double
old_cache(const struct serving_setup *setup)
{
    return copies_whole_cache(setup) ? serving_sequence_bytes(setup, setup->job->context_length) : 0;
}

/* What transformers computes a prompt in: one layer's MLP and residual stream, or the logits. */
static double
prompt_activations(const struct serving_setup *setup)
{
    const struct rates *rates = setup->rates;
    double layer = rates->serving_mlp_activation_bytes * widest_mlp(setup->arch) / serving_ways(setup->plan.tensor) +
                   rates->serving_hidden_activation_bytes * setup->arch->hidden_size;
    double logits =
        model_arch_generates(setup->arch) ? rates->serving_transformers_logit_bytes * setup->arch->vocabulary_size : 0;

    return fmax(setup->job->input_tokens * layer, logits);
}

/* What lives beside weights and cache a sequence: while its prompt is read, or later while its cache is copied. */
static double
sequence_activations(const struct serving_setup *setup)
{
    return fmax(prompt_activations(setup), old_cache(setup));
}

/* Sequences of one pass. */
static double
batch_sequences(const struct serving_setup *setup)
{
    double sequences = (double)serving_sequences_per_group(setup);

    return model_arch_generates(setup->arch) ? sequences : fmin(sequences, serving_batch_requests(setup));
}

/* Of a network that is known by its work: the outputs that live at once while no gradient is wanted. */
static void
add_sample_activations(const struct serving_setup *setup, struct footprint *footprint)
{
    double samples = batch_sequences(setup), each = setup->arch->activation_bytes_per_sample;
    double live = setup->rates->serving_live_activation_share;
    struct part *part = footprint_add(footprint, PART_ACTIVATIONS, samples * each * live);

    part->formula = "{0} samples x {1} bytes that training would keep x {2} that live at once";
    part->source = "arXiv:1512.03385 table 1: outputs of two neighbouring layers of all";
    part->values[0] = samples;
    part->values[1] = each;
    part->values[2] = live;
}

/* Rotary tables, and one matrix in 16 bit where a kernel unpacks it: bitsandbytes, and GPTQ's ExLlama, which keeps room
 * for it (auto_gptq/modeling/_utils.py, temp_dq). */
static double
shared_activations(const struct serving_setup *setup)
{
    enum weight_format format = setup->job->precision;
    bool unpacks = format == WEIGHT_NF4 || format == WEIGHT_INT4_GPTQ;

    return rotary_tables(setup) + (unpacks ? 2 * largest_matrix(setup->arch) : 0);
}

static void
add_cache_copy(double sequences, double each, double beside, struct footprint *footprint)
{
    struct part *part = footprint_add(footprint, PART_ACTIVATIONS, sequences * each + beside);

    part->formula = "{0} sequences x {1} bytes of the cache that the next step's takes the place of + {2} bytes of "
                    "rotary tables and one unpacked matrix";
    part->source = "transformers before 4.45 cache_utils.py; modeling_qwen.py of Qwen/Qwen-7B";
    part->values[0] = sequences;
    part->values[1] = each;
    part->values[2] = beside;
}

static void
add_prompt_activations(const struct serving_setup *setup, struct footprint *footprint)
{
    const struct rates *rates = setup->rates;
    const struct model_arch *arch = setup->arch;
    double sequences = batch_sequences(setup), beside = shared_activations(setup), copied = old_cache(setup);
    struct part *part;

    if (copied > prompt_activations(setup)) {
        add_cache_copy(sequences, copied, beside, footprint);
        return;
    }
    part = footprint_add(footprint, PART_ACTIVATIONS, sequences * prompt_activations(setup) + beside);
    part->formula =
        "{0} sequences x max({1} tokens x ({2} bytes x {3} wide / {4} tensor ranks + {5} bytes x {6} hidden), "
        "{7} bytes x {8} vocabulary entries) + {9} bytes of rotary tables and one unpacked matrix";
    part->source = transformers_source;
    part->values[0] = sequences;
    part->values[1] = setup->job->input_tokens;
    part->values[2] = rates->serving_mlp_activation_bytes;
    part->values[3] = widest_mlp(arch);
    part->values[4] = serving_ways(setup->plan.tensor);
    part->values[5] = rates->serving_hidden_activation_bytes;
    part->values[6] = arch->hidden_size;
    part->values[7] = rates->serving_transformers_logit_bytes;
    part->values[8] = model_arch_generates(arch) ? arch->vocabulary_size : 0; /* an encoder makes no logits of it */
    part->values[9] = beside;
}

static void
add_constant(struct footprint *footprint, enum part_code code, double bytes, const char *source)
{
    struct part *part = footprint_add(footprint, code, bytes);

    part->formula = "{0} bytes";
    part->source = source;
    part->values[0] = bytes;
}

/* transformers leaves memory to PyTorch's allocator, whose cache grows with what was allocated. */
static void
add_transformers_runtime(const struct serving_setup *setup, struct footprint *footprint)
{
    const struct rates *rates = setup->rates;
    double allocated = footprint_bytes(footprint, PART_WEIGHTS) + footprint_bytes(footprint, PART_KV_CACHE) +
                       footprint_bytes(footprint, PART_ACTIVATIONS);
    struct part *part =
        footprint_add(footprint, PART_RUNTIME,
                      rates->serving_transformers_runtime_bytes + allocated * rates->serving_allocator_slack);

    part->formula = "{0} bytes of context and libraries + {1} x {2} bytes allocated";
    part->source = "premAI-io/benchmarks: memory that the driver reports";
    part->values[0] = rates->serving_transformers_runtime_bytes;
    part->values[1] = rates->serving_allocator_slack;
    part->values[2] = allocated;
}

/* Communicators keep buffers for each peer and channel; NVLink has many more channels than PCIe. */
static void
add_communicators(const struct serving_setup *setup, struct footprint *footprint)
{
    const struct rates *rates = setup->rates;

    if (serving_gpus_per_replica(&setup->plan) <= 1 || setup->job->engine == ENGINE_LLAMA_CPP ||
        setup->job->engine == ENGINE_TRANSFORMERS)
        return;
    add_constant(footprint, PART_COMMUNICATION,
                 setup->machine->has_nvlink ? rates->serving_communicator_bytes_nvlink
                                            : rates->serving_communicator_bytes_pcie,
                 communication_source);
}

void
engine_budget_add(const struct serving_setup *setup, struct footprint *footprint)
{
    const struct rates *rates = setup->rates;

    if (setup->arch->generic) {
        add_sample_activations(setup, footprint);
        add_constant(footprint, PART_RUNTIME, rates->serving_transformers_runtime_bytes, runtime_source);
        return;
    }
    switch (traits_of(setup).pool) {
    case ENGINE_POOL_OF_TOTAL:
    case ENGINE_POOL_OF_FREE:
        add_profile_activations(setup, footprint);
        add_constant(footprint, PART_RUNTIME, rates->serving_runtime_bytes, runtime_source);
        break;
    case ENGINE_POOL_AS_ASKED:
        add_constant(footprint, PART_ACTIVATIONS, rates->serving_llama_cpp_buffer_bytes, llama_cpp_source);
        add_constant(footprint, PART_RUNTIME, rates->serving_llama_cpp_runtime_bytes, llama_cpp_source);
        break;
    case ENGINE_POOL_GROWS:
        add_prompt_activations(setup, footprint);
        add_transformers_runtime(setup, footprint);
        break;
    }
    add_communicators(setup, footprint);
}

/* Everything but the cache. */
static double
taken_bytes(const struct footprint *footprint)
{
    return footprint_bytes(footprint, PART_WEIGHTS) + footprint_bytes(footprint, PART_ACTIVATIONS) +
           footprint_bytes(footprint, PART_RUNTIME) + footprint_bytes(footprint, PART_COMMUNICATION);
}

double
engine_limit_bytes(const struct serving_setup *setup, double taken, double utilization)
{
    const struct gpu *gpu = setup->machine->gpu;
    double card = gpu == NULL ? 0 : (double)gpu->usable_bytes;

    switch (traits_of(setup).pool) {
    case ENGINE_POOL_OF_TOTAL:
        break;
    case ENGINE_POOL_OF_FREE:
        return taken < card ? taken + utilization * (card - taken) : card;
    case ENGINE_POOL_AS_ASKED:
    case ENGINE_POOL_GROWS:
        return setup->utilization_assumed ? card : utilization * card; /* they know no such setting */
    }
    return utilization * card;
}

/* Where each sequence brings activations of its own, the cache gets its share of what a sequence takes. */
static double
growing_cache_budget(const struct serving_setup *setup, const struct footprint *footprint)
{
    const struct rates *rates = setup->rates;
    double sequences = (double)serving_sequences_per_group(setup), each = sequence_activations(setup);
    double cache = footprint_bytes(footprint, PART_KV_CACHE) / sequences;
    double fixed =
        footprint_bytes(footprint, PART_WEIGHTS) + footprint_bytes(footprint, PART_ACTIVATIONS) - sequences * each;
    double limit = engine_limit_bytes(setup, 0, setup->job->memory_utilization);
    double left = (limit - rates->serving_transformers_runtime_bytes) / (1 + rates->serving_allocator_slack) - fixed;

    return left > 0 && cache > 0 ? left * cache / (cache + each) : 0;
}

double
engine_cache_budget(const struct serving_setup *setup, const struct footprint *footprint)
{
    if (traits_of(setup).pool == ENGINE_POOL_GROWS)
        return growing_cache_budget(setup, footprint);
    double taken = taken_bytes(footprint);
    double left = engine_limit_bytes(setup, taken, setup->job->memory_utilization) - taken;

    return left > 0 ? left : 0;
}

double
engine_reserved_bytes(const struct serving_setup *setup, const struct footprint *footprint)
{
    double limit = engine_limit_bytes(setup, taken_bytes(footprint), setup->job->memory_utilization);

    if (!model_arch_generates(setup->arch) || !takes_pool(traits_of(setup).pool) || limit < footprint->required_bytes)
        return footprint->required_bytes;
    return limit;
}
