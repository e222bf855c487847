/* Parameter counts by walking the parts of a layer; the whole is their sum. */
#include "service/model/params.h"

#include <string.h>

#include "service/base/quantity.h"

/* The matrices and vectors of one attention. */
struct attention_params {
    uint64_t matrices, biases, norms, replicated;
};

/* Query, key, value and output of n query and g key heads of d: h d (2n + 2g) (arXiv:2305.13245 section 2); values may
 * be of another size than keys, or the same. */
static struct attention_params
heads_params(const struct layer_kind *kind, uint64_t hidden)
{
    struct attention_params params = { 0 };
    uint64_t query = (uint64_t)kind->head_count * kind->head_size;
    uint64_t key = (uint64_t)kind->kv_head_count * kind->head_size;
    uint64_t query_out = kind->query_gate ? 2 * query : query;
    uint64_t value = kind->value_is_key ? 0 : (uint64_t)kind->kv_head_count * layer_value_size(kind);
    uint64_t out = (uint64_t)kind->head_count * layer_value_size(kind);

    params.norms = kind->qk_norm_elements;
    if (kind->mixer_elements > 0) {
        params.matrices = kind->mixer_elements;
        for (uint32_t i = 0; i < kind->mixer_matrix_count; i++) {
            const struct mixer_matrix *matrix = &kind->mixer_matrices[i];

            if (matrix->whole)
                params.replicated = u64_add_sat(params.replicated, u64_mul_sat(matrix->inputs, matrix->outputs));
        }
        return params;
    }
    params.matrices = u64_mul_sat(hidden, query_out + key + value + out);
    params.biases = (kind->qkv_bias ? query_out + key + value : 0) + (kind->out_bias ? hidden : 0);
    return params;
}

/* Latent attention (arXiv:2405.04434 section 2.1): a query rank and a key-value latent, each with its norm; the parts
 * that make the latents are not split over heads. */
static struct attention_params
latent_params(const struct layer_kind *kind, uint64_t hidden)
{
    struct attention_params params = { 0 };
    uint64_t query = (uint64_t)kind->head_count * ((uint64_t)kind->nope_size + kind->rope_size);
    uint64_t latent_out = (uint64_t)kind->head_count * ((uint64_t)kind->nope_size + kind->value_size);
    uint64_t value = (uint64_t)kind->head_count * kind->value_size;
    uint64_t cached = (uint64_t)kind->latent_size + kind->rope_size;

    params.replicated = u64_mul_sat(hidden, kind->query_rank + cached);
    params.matrices = u64_add_sat(params.replicated, u64_mul_sat(kind->latent_size, latent_out));
    params.matrices =
        u64_add_sat(params.matrices, u64_mul_sat(kind->query_rank > 0 ? kind->query_rank : hidden, query));
    params.matrices = u64_add_sat(params.matrices, u64_mul_sat(kind->query_gate ? 2 * value : value, hidden));
    params.biases = (kind->qkv_bias ? kind->query_rank + cached : 0) + (kind->out_bias ? hidden : 0);
    params.norms = u64_add_sat(kind->qk_norm_elements, (uint64_t)kind->query_rank + kind->latent_size);
    return params;
}

static struct attention_params
attention_params(const struct layer_kind *kind, uint64_t hidden)
{
    struct attention_params params = { 0 };

    switch (kind->attention) {
    case ATTENTION_NONE:
        break;
    case ATTENTION_HEADS:
        params = heads_params(kind, hidden);
        break;
    case ATTENTION_LATENT:
        params = latent_params(kind, hidden);
        break;
    case ATTENTION_RECURRENT:
        params.matrices = kind->mixer_elements;
        break;
    }
    if (kind->cross_attention) {
        params.matrices = u64_mul_sat(2, params.matrices);
        params.biases = u64_mul_sat(2, params.biases);
    }
    return params;
}

/* Two matrices of hidden x width, three with a gate (arXiv:2002.05202 section 2). */
static uint64_t
mlp_matrices(const struct layer_kind *kind, uint64_t hidden, uint64_t width)
{
    return u64_mul_sat(hidden, u64_mul_sat(width, kind->gated ? 3 : 2));
}

static uint64_t
mlp_biases(const struct layer_kind *kind, uint64_t hidden, uint64_t width)
{
    if (!kind->mlp_bias || width == 0)
        return 0;
    return u64_add_sat(u64_mul_sat(width, kind->gated ? 2 : 1), hidden);
}

/* One layer, and what of it is matrices that quantisation packs. */
static struct layer_params
layer_params_count(const struct layer_kind *kind, uint64_t hidden, uint64_t *ret_linear)
{
    struct layer_params layer = { 0 };
    struct attention_params attention = attention_params(kind, hidden);
    uint64_t width = kind->mlp == MLP_DENSE     ? kind->intermediate_size
                     : kind->mlp == MLP_EXPERTS ? kind->shared_size
                                                : 0;
    uint64_t matrices = mlp_matrices(kind, hidden, width);

    layer.attention = u64_add_sat(attention.matrices, attention.biases);
    layer.attention_replicated = attention.replicated;
    layer.mlp_replicated = u64_mul_sat(hidden, (uint64_t)kind->side_size * kind->side_count);
    matrices = u64_add_sat(matrices, layer.mlp_replicated);
    layer.mlp = u64_add_sat(matrices, mlp_biases(kind, hidden, width));
    layer.norms = u64_add_sat(u64_add_sat(kind->norm_elements, attention.norms), kind->other_elements);
    *ret_linear = u64_add_sat(attention.matrices, matrices);
    if (kind->mlp == MLP_EXPERTS) {
        uint64_t expert_hidden = layer_expert_hidden_size(kind, (uint32_t)hidden);
        uint64_t expert = mlp_matrices(kind, expert_hidden, kind->expert_size);

        layer.mlp = u64_add_sat(layer.mlp, kind->shared_gate ? hidden : 0);
        layer.expert = u64_add_sat(expert, mlp_biases(kind, expert_hidden, kind->expert_size));
        layer.router = u64_mul_sat(kind->expert_count, hidden + (kind->router_bias ? 1 : 0));
        *ret_linear = u64_add_sat(*ret_linear, u64_mul_sat(kind->expert_count, expert));
    }
    return layer;
}

/* Adds a signed difference without wrapping either way. */
static uint64_t
add_signed_sat(uint64_t total, int64_t difference)
{
    if (difference >= 0)
        return u64_add_sat(total, (uint64_t)difference);
    uint64_t taken = (uint64_t)(-(difference + 1)) + 1;
    return total > taken ? total - taken : 0;
}

static uint64_t
layer_total(const struct layer_params *layer, uint64_t experts)
{
    uint64_t total = u64_add_sat(layer->attention, layer->mlp);

    total = u64_add_sat(total, u64_add_sat(layer->router, layer->norms));
    return u64_add_sat(total, u64_mul_sat(experts, layer->expert));
}

static struct model_params
generic_params(const struct model_arch *arch)
{
    struct model_params params;

    memset(&params, 0, sizeof(params));
    params.extra = arch->generic_parameters;
    params.total = arch->generic_parameters;
    params.active = arch->generic_parameters;
    return params;
}

struct model_params
model_params_count(const struct model_arch *arch)
{
    struct model_params params;

    if (arch->generic)
        return generic_params(arch);
    memset(&params, 0, sizeof(params));
    params.embedding =
        u64_mul_sat(arch->vocabulary_size, arch->embedding_size > 0 ? arch->embedding_size : arch->hidden_size);
    params.head = arch->tied_head ? 0 : params.embedding;
    params.position = u64_add_sat(arch->position_elements, model_layer_embedding_elements(arch));
    params.final_norm = arch->final_norm_elements;
    params.extra = arch->extra_parameters > 0 ? (uint64_t)arch->extra_parameters : 0;
    params.total =
        u64_add_sat(u64_add_sat(params.embedding, params.head), u64_add_sat(params.position, params.final_norm));
    params.active = params.total;
    for (uint32_t i = 0; i < arch->kind_count; i++) {
        const struct layer_kind *kind = &arch->kinds[i];
        struct layer_params *layer = &params.layers[i];
        uint64_t linear = 0;

        *layer = layer_params_count(kind, arch->hidden_size, &linear);
        params.linear = u64_add_sat(params.linear, u64_mul_sat(kind->count, linear));
        params.total = u64_add_sat(params.total, u64_mul_sat(kind->count, layer_total(layer, kind->expert_count)));
        params.active =
            u64_add_sat(params.active, u64_mul_sat(kind->count, layer_total(layer, kind->experts_per_token)));
    }
    params.total = add_signed_sat(params.total, arch->extra_parameters);
    params.active = arch->extra_parameters < 0
                        ? u64_from_double((double)params.active * model_stated_share(arch, &params))
                        : u64_add_sat(params.active, params.extra);
    return params;
}

double
model_stated_share(const struct model_arch *arch, const struct model_params *params)
{
    double total = (double)params->total;

    return arch->extra_parameters < 0 ? total / (total - (double)arch->extra_parameters) : 1;
}
