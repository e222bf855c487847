/* Walks the projections of a layer in the order a token meets them. */
#include "service/parallel/matrices.h"

struct matrix_list {
    struct layer_matrix *items;
    uint32_t count;
    double tensor;
};

/* A matrix without inputs or outputs is left out. */
static void
add(struct matrix_list *list, const struct layer_matrix *matrix)
{
    if (matrix->inputs > 0 && matrix->outputs > 0 && list->count < MAX_LAYER_MATRICES)
        list->items[list->count++] = *matrix;
}

static void
add_by_outputs(struct matrix_list *list, enum matrix_role role, double inputs, double outputs)
{
    add(list, &(struct layer_matrix){ role, inputs, outputs / list->tensor, 1, false });
}

static void
add_by_inputs(struct matrix_list *list, enum matrix_role role, double inputs, double outputs)
{
    add(list, &(struct layer_matrix){ role, inputs / list->tensor, outputs, 1, false });
}

static void
add_whole(struct matrix_list *list, enum matrix_role role, double inputs, double outputs)
{
    add(list, &(struct layer_matrix){ role, inputs, outputs, 1, true });
}

/* Those that a kind lists; the last that is divided is cut along its inputs. */
static void
add_listed(const struct layer_kind *kind, struct matrix_list *list)
{
    double whole = 0;
    uint32_t last = 0;

    for (uint32_t i = 0; i < kind->mixer_matrix_count; i++)
        last = kind->mixer_matrices[i].whole ? last : i;
    for (uint32_t i = 0; i < kind->mixer_matrix_count; i++) {
        const struct mixer_matrix *matrix = &kind->mixer_matrices[i];
        double inputs = (double)matrix->inputs, outputs = (double)matrix->outputs;

        if (matrix->plain)
            whole += inputs * outputs;
        else if (matrix->whole)
            add_whole(list, MATRIX_ATTENTION_IN, inputs, outputs);
        else if (i == last)
            add_by_inputs(list, MATRIX_ATTENTION_OUT, inputs, outputs);
        else
            add_by_outputs(list, MATRIX_ATTENTION_IN, inputs, outputs);
    }
    if (whole > 0) /* small ones beside each other */
        add_whole(list, MATRIX_ROUTER, (double)kind->mixer_matrices[0].inputs,
                  whole / (double)kind->mixer_matrices[0].inputs);
}

static void
add_heads(const struct layer_kind *kind, double hidden, double source_tokens, struct matrix_list *list)
{
    double query = (double)kind->head_count * kind->head_size, key = (double)kind->kv_head_count * kind->head_size;
    double value = kind->value_is_key ? 0 : (double)kind->kv_head_count * layer_value_size(kind);
    double made = kind->shares_cache ? 0 : key + value;

    if (kind->mixer_elements > 0) {
        add_listed(kind, list);
        return;
    }
    add_by_outputs(list, MATRIX_ATTENTION_IN, hidden, (kind->query_gate ? 2 * query : query) + made);
    add_by_inputs(list, MATRIX_ATTENTION_OUT, (double)kind->head_count * layer_value_size(kind), hidden);
    if (!kind->cross_attention)
        return;
    add_by_outputs(list, MATRIX_ATTENTION_IN, hidden, query);
    add(list, &(struct layer_matrix){ MATRIX_ATTENTION_IN, hidden, 2 * key / list->tensor, source_tokens, false });
    add_by_inputs(list, MATRIX_ATTENTION_OUT, query, hidden);
}

static void
add_latent(const struct layer_kind *kind, double hidden, struct matrix_list *list)
{
    double heads = kind->head_count, query = heads * ((double)kind->nope_size + kind->rope_size);

    add_whole(list, MATRIX_ATTENTION_IN, hidden, kind->query_rank);
    add_by_outputs(list, MATRIX_ATTENTION_IN, kind->query_rank > 0 ? kind->query_rank : hidden, query);
    add_whole(list, MATRIX_ATTENTION_IN, hidden, (double)kind->latent_size + kind->rope_size);
    add_by_outputs(list, MATRIX_ATTENTION_IN, kind->latent_size, heads * ((double)kind->nope_size + kind->value_size));
    if (kind->query_gate)
        add_by_outputs(list, MATRIX_ATTENTION_IN, hidden, heads * kind->value_size);
    add_by_inputs(list, MATRIX_ATTENTION_OUT, heads * kind->value_size, hidden);
}

static void
add_attention(const struct layer_kind *kind, double hidden, double source_tokens, struct matrix_list *list)
{
    /* a mixer's input matrix makes its gate beside its input, its output matrix takes one of them: 2 to 1 */
    double width = (double)kind->mixer_elements / hidden / 3;

    switch (kind->attention) {
    case ATTENTION_NONE:
        break;
    case ATTENTION_HEADS:
        add_heads(kind, hidden, source_tokens, list);
        break;
    case ATTENTION_LATENT:
        add_latent(kind, hidden, list);
        break;
    case ATTENTION_RECURRENT:
        add_by_outputs(list, MATRIX_ATTENTION_IN, hidden, 2 * width);
        add_by_inputs(list, MATRIX_ATTENTION_OUT, width, hidden);
        break;
    }
}

static void
add_mlp(const struct layer_kind *kind, double hidden, double width, struct matrix_list *list)
{
    add_by_outputs(list, MATRIX_MLP, hidden, (kind->gated ? 2 : 1) * width);
    add_by_inputs(list, MATRIX_MLP, width, hidden);
}

uint32_t
layer_matrices(const struct layer_kind *kind, double hidden, double tensor, double source_tokens,
               struct layer_matrix ret_matrices[MAX_LAYER_MATRICES])
{
    struct matrix_list list = { ret_matrices, 0, tensor };

    add_attention(kind, hidden, source_tokens, &list);
    add_whole(&list, MATRIX_MLP, hidden, (double)kind->side_size * kind->side_count);
    switch (kind->mlp) {
    case MLP_NONE:
        break;
    case MLP_DENSE:
        add_mlp(kind, hidden, kind->intermediate_size, &list);
        break;
    case MLP_EXPERTS:
        add_whole(&list, MATRIX_ROUTER, hidden, kind->expert_count);
        add_mlp(kind, hidden, kind->shared_size, &list);
        break;
    }
    return list.count;
}
