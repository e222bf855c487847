/* Experts of a decoder: how many, how wide, in which layers. */
#include "service/model/families/decoder_parts.h"

#include <string.h>

/* mlp_layer_types: "sparse" or "dense" for each layer; false when the config has no such list. */
static bool
read_layer_types(struct reader *reader, uint32_t layers, uint8_t *sparse)
{
    uint32_t length = reader_list_length(reader, "mlp_layer_types", MAX_LAYERS);

    if (length == 0)
        return false;
    if (length != layers)
        reader_contradiction(reader, "mlp_layer_types", length, "num_hidden_layers =", layers);
    for (uint32_t i = 0; i < length && i < layers; i++)
        sparse[i] = strcmp(reader_list_word(reader, "mlp_layer_types", i), "sparse") == 0;
    return true;
}

/* first_k_dense_replace dense ones, then every moe_layer_freq-th layer, which may also be a list of 0 and 1. */
static void
fill_after_dense(struct reader *reader, const struct experts *experts, uint32_t layers, uint8_t *sparse)
{
    const struct fact *frequency = reader_get(reader, "moe_layer_freq");
    uint32_t first =
        reader_count_or(reader, "first_k_dense_replace|num_dense_layers", 0, MAX_LAYERS, experts->first_dense);

    if (frequency != NULL && frequency->kind == FACT_LIST) {
        uint32_t length = reader_list_length(reader, "moe_layer_freq", MAX_LAYERS);

        if (length != layers)
            reader_contradiction(reader, "moe_layer_freq", length, "num_hidden_layers =", layers);
        for (uint32_t i = 0; i < length && i < layers; i++)
            sparse[i] = reader_list_count(reader, "moe_layer_freq", i, 0, 1) == 1;
        return;
    }
    uint32_t step = reader_count_or(reader, "moe_layer_freq", 1, MAX_LAYERS, 1);
    for (uint32_t i = 0; i < layers; i++)
        sparse[i] = i >= first && i % step == 0;
}

static void
fill_sparse_step(struct reader *reader, uint32_t layers, uint8_t *sparse)
{
    uint32_t step = reader_count_or(reader, "decoder_sparse_step", 1, MAX_LAYERS, 1);
    uint32_t length = reader_list_length(reader, "mlp_only_layers", MAX_LAYERS);

    for (uint32_t i = 0; i < layers; i++)
        sparse[i] = (i + 1) % step == 0;
    for (uint32_t i = 0; i < length; i++) {
        uint32_t dense = reader_list_count(reader, "mlp_only_layers", i, 0, MAX_LAYERS);

        if (dense < layers)
            sparse[dense] = false;
    }
}

static void
fill_interleaved(struct reader *reader, const struct experts *experts, uint32_t layers, uint8_t *sparse)
{
    uint32_t step = reader_count_or(reader, "interleave_moe_layer_step", 1, MAX_LAYERS, experts->step);
    uint32_t length = reader_list_length(reader, "moe_layers", MAX_LAYERS);
    bool listed = reader_get(reader, "moe_layers") != NULL; /* maybe as none */

    for (uint32_t i = 0; i < layers; i++)
        sparse[i] = !listed && (i + 1) % step == 0;
    for (uint32_t i = 0; i < length; i++) {
        uint32_t layer = reader_list_count(reader, "moe_layers", i, 0, MAX_LAYERS);

        if (layer < layers)
            sparse[layer] = true;
    }
}

/* A negative end stands for the last layer. */
static void
fill_between(struct reader *reader, const struct experts *experts, uint32_t layers, uint8_t *sparse)
{
    const struct fact *end = reader_get(reader, "moe_layer_end_index");
    bool to_the_end = end == NULL || (end->kind == FACT_INTEGER && end->integer < 0);
    uint32_t first = reader_count_or(reader, "moe_layer_start_index", 0, MAX_LAYERS, experts->first_dense);
    uint32_t last = to_the_end ? layers - 1 : reader_count(reader, "moe_layer_end_index", 0, MAX_LAYERS);
    uint32_t step = reader_count_or(reader, "moe_layer_interval", 1, MAX_LAYERS, 1);

    for (uint32_t i = 0; i < layers; i++)
        sparse[i] = i >= first && i <= last && (i + 1) % step == 0;
}

static void
fill_period(struct reader *reader, uint32_t layers, uint8_t *sparse)
{
    uint32_t period = reader_count(reader, "expert_layer_period", 1, MAX_LAYERS);
    uint32_t offset = reader_count(reader, "expert_layer_offset", 0, MAX_LAYERS);

    if (offset >= period)
        reader_contradiction(reader, "expert_layer_offset", offset, "below expert_layer_period", period);
    for (uint32_t i = 0; i < layers; i++)
        sparse[i] = i % period == offset;
}

static void
fill_layers(struct reader *reader, const struct experts *experts, uint32_t layers, uint8_t *sparse)
{
    memset(sparse, true, layers);
    switch (experts->layers) {
    case EXPERTS_EVERY_LAYER:
        break;
    case EXPERTS_AFTER_DENSE:
        fill_after_dense(reader, experts, layers, sparse);
        break;
    case EXPERTS_SPARSE_STEP:
        fill_sparse_step(reader, layers, sparse);
        break;
    case EXPERTS_INTERLEAVED:
        fill_interleaved(reader, experts, layers, sparse);
        break;
    case EXPERTS_BETWEEN:
        fill_between(reader, experts, layers, sparse);
        break;
    case EXPERTS_PERIOD:
        fill_period(reader, layers, sparse);
        break;
    }
    (void)read_layer_types(reader, layers, sparse);
}

static bool
has_router_bias(struct reader *reader, const struct experts *experts)
{
    if (experts->bias_by_method)
        return strcmp(reader_word_or(reader, "topk_method", "noaux_tc"), "noaux_tc") == 0;
    return choice_made(reader, &experts->router_bias);
}

/* Shared experts: their number times the width of one, or their width together. */
static uint32_t
read_shared(struct reader *reader, const struct experts *experts, uint32_t expert_size)
{
    const char *keys = experts->shared_count_keys != NULL ? experts->shared_count_keys : experts->shared_width_keys;

    if (keys == NULL)
        return experts->shared_as_wide ? expert_size : 0;
    uint32_t absent = reader_find(reader, keys) == NULL ? experts->shared_absent : 0;
    if (experts->shared_count_keys != NULL)
        return reader_count_or(reader, keys, 0, LIMIT_SMALL, absent) * expert_size;
    return reader_count_or(reader, keys, 0, LIMIT_WIDTH, absent);
}

bool
experts_read(struct reader *reader, const struct decoder *decoder, const struct decoder_sizes *sizes,
             struct layer_kind *ret_kind, uint8_t *ret_sparse)
{
    const struct experts *experts = decoder->experts;

    memset(ret_sparse, false, sizes->layers);
    if (experts == NULL)
        return false;
    const struct fact *count = reader_get(reader, experts->count_keys);
    if (experts->optional && (count == NULL || (count->kind == FACT_INTEGER && count->integer <= 0)))
        return false;
    ret_kind->mlp = MLP_EXPERTS;
    ret_kind->expert_count = reader_count(reader, experts->count_keys, 1, LIMIT_EXPERTS);
    ret_kind->experts_per_token = reader_count(reader, experts->per_token_keys, 1, LIMIT_EXPERTS);
    ret_kind->expert_size = reader_count(reader, experts->width_keys, 1, LIMIT_WIDTH);
    ret_kind->shared_size = read_shared(reader, experts, ret_kind->expert_size);
    ret_kind->shared_gate = experts->shared_gate && ret_kind->shared_size > 0;
    ret_kind->router_bias = has_router_bias(reader, experts);
    if (ret_kind->experts_per_token > ret_kind->expert_count)
        reader_contradiction(reader, experts->per_token_keys, ret_kind->experts_per_token, "at most the experts,",
                             ret_kind->expert_count);
    fill_layers(reader, experts, sizes->layers, ret_sparse);
    return true;
}
