/* Low-rank adapters: r (d_in + d_out) for every adapted matrix (arXiv:2106.09685 section 4.1). */
#include <string.h>

#include "service/base/quantity.h"
#include "service/model/params.h"

/* Of heads whose projections are others: what makes queries of their latent, and keys, stand for the two of
 * query_value. */
static uint64_t
listed_widths(const struct layer_kind *kind, enum lora_targets targets)
{
    uint64_t widths = 0;

    for (uint32_t i = 0; i < kind->mixer_matrix_count; i++) {
        const struct mixer_matrix *matrix = &kind->mixer_matrices[i];
        bool named = strstr(matrix->name, "self_attn.q_b") != NULL || strstr(matrix->name, "self_attn.kv") != NULL;

        if (!matrix->plain && (targets != LORA_QUERY_VALUE || named))
            widths += matrix->inputs + matrix->outputs;
    }
    return widths;
}

/* Input plus output width of the adapted matrices of an attention of heads. */
static uint64_t
heads_widths(const struct layer_kind *kind, uint64_t hidden, enum lora_targets targets)
{
    uint64_t query = (uint64_t)kind->head_count * kind->head_size;
    uint64_t key = (uint64_t)kind->kv_head_count * kind->head_size;
    uint64_t value = kind->value_is_key ? 0 : hidden + (uint64_t)kind->kv_head_count * layer_value_size(kind);
    uint64_t out = (uint64_t)kind->head_count * layer_value_size(kind) + hidden;
    uint64_t query_value = hidden + (kind->query_gate ? 2 * query : query) + value;

    if (kind->mixer_elements > 0)
        return listed_widths(kind, targets);
    return targets == LORA_QUERY_VALUE ? query_value : query_value + hidden + key + out;
}

/* Of a latent attention; what carries query and value out of their latents stands for the two of query_value. */
static uint64_t
latent_widths(const struct layer_kind *kind, uint64_t hidden, enum lora_targets targets)
{
    uint64_t query = (uint64_t)kind->head_count * ((uint64_t)kind->nope_size + kind->rope_size);
    uint64_t latent_out = (uint64_t)kind->head_count * ((uint64_t)kind->nope_size + kind->value_size);
    uint64_t value = (uint64_t)kind->head_count * kind->value_size;
    uint64_t widths = (kind->query_rank > 0 ? kind->query_rank : hidden) + query + kind->latent_size + latent_out;

    if (targets == LORA_QUERY_VALUE)
        return widths;
    if (kind->query_rank > 0)
        widths += hidden + kind->query_rank;
    if (kind->query_gate)
        widths += hidden + value;
    return widths + hidden + kind->latent_size + kind->rope_size + value + hidden;
}

static uint64_t
attention_widths(const struct layer_kind *kind, uint64_t hidden, enum lora_targets targets)
{
    uint64_t widths = 0;

    switch (kind->attention) {
    case ATTENTION_NONE:
        break;
    case ATTENTION_HEADS:
        widths = heads_widths(kind, hidden, targets);
        break;
    case ATTENTION_LATENT:
        widths = latent_widths(kind, hidden, targets);
        break;
    case ATTENTION_RECURRENT:
        /* one matrix into the mixer and one out of it, all as wide as hidden on their other side */
        if (targets == LORA_ALL_LINEAR && kind->mixer_elements > 0)
            widths = kind->mixer_elements / hidden + 2 * hidden;
        break;
    }
    return kind->cross_attention ? 2 * widths : widths;
}

static uint64_t
mlp_widths(const struct layer_kind *kind, uint64_t hidden)
{
    uint64_t matrices = kind->gated ? 3 : 2;
    uint64_t widths = 0;

    switch (kind->mlp) {
    case MLP_NONE:
        break;
    case MLP_DENSE:
        widths = matrices * (hidden + kind->intermediate_size);
        break;
    case MLP_EXPERTS:
        widths = matrices * ((layer_expert_hidden_size(kind, (uint32_t)hidden) + (uint64_t)kind->expert_size) *
                                 kind->expert_count +
                             (kind->shared_size > 0 ? hidden + kind->shared_size : 0));
        break;
    }
    return widths + kind->side_count * (hidden + kind->side_size);
}

/* Of a network known by its work alone the matrices are not: as many of this width as hold its parameters (SDXL's are
 * 640 to 1280 wide, FLUX.1's 3072), all of them adapted. */
enum { UNKNOWN_MATRIX_WIDTH = 2048 };

uint64_t
lora_params_count(const struct model_arch *arch, enum lora_targets targets, uint32_t rank)
{
    uint64_t widths = 0;

    if (arch->generic)
        return u64_mul_sat(2 * (arch->generic_parameters / UNKNOWN_MATRIX_WIDTH + 1), rank);
    for (uint32_t i = 0; i < arch->kind_count; i++) {
        const struct layer_kind *kind = &arch->kinds[i];
        uint64_t layer = attention_widths(kind, arch->hidden_size, targets);

        if (targets == LORA_ALL_LINEAR)
            layer = u64_add_sat(layer, mlp_widths(kind, arch->hidden_size));
        widths = u64_add_sat(widths, u64_mul_sat(kind->count, layer));
    }
    return u64_mul_sat(widths, rank);
}
