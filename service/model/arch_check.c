/* Bounds on every size of an architecture: after it all formulas are total. */
#include <math.h>

#include "service/base/quantity.h"
#include "service/base/text.h"
#include "service/model/arch.h"
#include "service/model/params.h"
#include "service/model/reader.h"

/* One bound: a fault when `value` is outside. */
struct bound {
    const char *name;
    uint64_t value, min, max;
};

static void
check_bounds(const struct bound *bounds, size_t count, const char *pointer, struct fault *fault)
{
    for (size_t i = 0; i < count; i++) {
        const struct bound *bound = &bounds[i];
        char at[FAULT_POINTER_SIZE];
        char value[FAULT_TEXT_SIZE];
        char expected[FAULT_TEXT_SIZE];

        if (bound->value >= bound->min && bound->value <= bound->max)
            continue;
        text_format(at, sizeof(at), "%s/%s", pointer, bound->name);
        text_format(value, sizeof(value), "%llu", (unsigned long long)bound->value);
        text_format(expected, sizeof(expected), "integer %llu..%llu", (unsigned long long)bound->min,
                    (unsigned long long)bound->max);
        fault_add(fault, FAULT_OUT_OF_RANGE, at, value, expected, NULL);
    }
}

static void
check_attention(const struct layer_kind *kind, const char *pointer, struct fault *fault)
{
    const struct bound heads[] = {
        { "num_attention_heads", kind->head_count, 1, LIMIT_HEADS },
        { "num_key_value_heads", kind->kv_head_count, 1, LIMIT_HEADS },
        { "head_dim", kind->head_size, 1, LIMIT_HEAD_SIZE },
    };
    const struct bound latent[] = {
        { "num_attention_heads", kind->head_count, 1, LIMIT_HEADS },
        { "q_lora_rank", kind->query_rank, 0, LIMIT_WIDTH },
        { "kv_lora_rank", kind->latent_size, 1, LIMIT_WIDTH },
        { "qk_nope_head_dim", kind->nope_size, 1, LIMIT_HEAD_SIZE },
        { "qk_rope_head_dim", kind->rope_size, 0, LIMIT_HEAD_SIZE },
        { "v_head_dim", kind->value_size, 1, LIMIT_HEAD_SIZE },
    };

    if (kind->attention == ATTENTION_HEADS)
        check_bounds(heads, COUNT_OF(heads), pointer, fault);
    if (kind->attention == ATTENTION_LATENT)
        check_bounds(latent, COUNT_OF(latent), pointer, fault);
}

static void
check_mlp(const struct layer_kind *kind, const char *pointer, struct fault *fault)
{
    const struct bound dense[] = { { "intermediate_size", kind->intermediate_size, 1, LIMIT_WIDTH } };
    const struct bound experts[] = {
        { "num_experts", kind->expert_count, 1, LIMIT_EXPERTS },
        { "num_experts_per_tok", kind->experts_per_token, 1, kind->expert_count },
        { "moe_intermediate_size", kind->expert_size, 1, LIMIT_WIDTH },
        { "shared_expert_intermediate_size", kind->shared_size, 0, LIMIT_WIDTH },
    };

    if (kind->mlp == MLP_DENSE)
        check_bounds(dense, COUNT_OF(dense), pointer, fault);
    if (kind->mlp == MLP_EXPERTS)
        check_bounds(experts, COUNT_OF(experts), pointer, fault);
}

static void
check_generic(const struct model_arch *arch, const char *pointer, struct fault *fault)
{
    const struct bound bounds[] = {
        { "parameter_count", arch->generic_parameters, 1, LIMIT_PARAMETERS },
        { "flop_per_sample", u64_from_double(arch->flop_per_sample), 1, UINT64_MAX },
    };

    check_bounds(bounds, COUNT_OF(bounds), pointer, fault);
}

/* A stated total may be rounded or leave the embedding out; of not even a tenth of the parts it is another model's. */
static void
check_stated_total(const struct model_arch *arch, const struct model_params *params, const char *pointer,
                   struct fault *fault)
{
    static const double least_share = 0.1;
    char at[FAULT_POINTER_SIZE], value[FAULT_TEXT_SIZE], expected[FAULT_TEXT_SIZE];
    double counted = (double)params->total - (double)arch->extra_parameters;

    if (model_stated_share(arch, params) >= least_share)
        return;
    text_format(at, sizeof(at), "%s/parameter_count", pointer);
    text_format(value, sizeof(value), "%llu", (unsigned long long)params->total);
    text_format(expected, sizeof(expected), "integer %.0f..%llu", ceil(least_share * counted),
                (unsigned long long)LIMIT_PARAMETERS);
    fault_add(fault, FAULT_MODEL_CONTRADICTION, at, value, expected, NULL);
}

enum status
model_arch_check(const struct model_arch *arch, const char *pointer, struct fault *ret_fault)
{
    size_t faults_before = ret_fault->item_count + ret_fault->more_count;
    const struct bound bounds[] = {
        { "num_hidden_layers", arch->layer_count, 1, MAX_LAYERS },
        { "hidden_size", arch->hidden_size, 1, LIMIT_HIDDEN },
        { "vocab_size", arch->vocabulary_size, 0, LIMIT_VOCABULARY },
        { "max_position_embeddings", arch->max_context_tokens, 0, LIMIT_CONTEXT },
    };

    if (arch->generic) {
        check_generic(arch, pointer, ret_fault);
    } else if (arch->kind_count == 0 || arch->kind_count > MAX_LAYER_KINDS) {
        const struct bound kinds = { "layer_types", arch->kind_count, 1, MAX_LAYER_KINDS };

        check_bounds(&kinds, 1, pointer, ret_fault);
    } else {
        struct model_params params = model_params_count(arch);
        const struct bound total = { "parameter_count", params.total, 0, LIMIT_PARAMETERS };

        check_bounds(&total, 1, pointer, ret_fault);
        check_stated_total(arch, &params, pointer, ret_fault);
        check_bounds(bounds, COUNT_OF(bounds), pointer, ret_fault);
        for (uint32_t i = 0; i < arch->kind_count; i++) {
            check_attention(&arch->kinds[i], pointer, ret_fault);
            check_mlp(&arch->kinds[i], pointer, ret_fault);
        }
    }
    return ret_fault->item_count + ret_fault->more_count > faults_before ? STATUS_FAULT : STATUS_OK;
}
