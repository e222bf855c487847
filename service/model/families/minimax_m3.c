/* MiniMax-M3: in most layers an index chooses the blocks of keys that a token reads, and experts stand beside a shared
 * one; a tower with rotary positions. Source: models/minimax_m3_vl of huggingface/transformers 5.15. */
#include <stddef.h>
#include <string.h>

#include "service/base/quantity.h"
#include "service/model/families/config.h"
#include "service/model/families/layers.h"
#include "service/model/families/tables.h"
#include "service/model/families/text_model.h"
#include "service/model/families/vision.h"

struct sizes {
    uint32_t hidden, layers, heads, kv_heads, head_size;
    uint32_t index_heads, index_size, index_read;
    bool qk_norm;
};

/* Keys of the index, as published and as transformers writes them. */
static void
read_index(struct reader *reader, struct sizes *sizes)
{
    uint32_t blocks =
        reader_count_or(reader, "sparse_attention_config/sparse_topk_blocks|index_topk_blocks", 1, LIMIT_SMALL, 16);
    uint32_t block =
        reader_count_or(reader, "sparse_attention_config/sparse_block_size|index_block_size", 1, LIMIT_SMALL, 128);

    sizes->index_heads = reader_count_or(reader, "sparse_attention_config/sparse_num_index_heads|index_n_heads", 1,
                                         LIMIT_HEADS, sizes->kv_heads);
    sizes->index_size =
        reader_count_or(reader, "sparse_attention_config/sparse_index_dim|index_head_dim", 1, LIMIT_HEAD_SIZE, 128);
    sizes->index_read = blocks * block;
    (void)reader_find(reader, "sparse_attention_config");
    (void)reader_find(reader, "index_local_blocks");
}

static struct sizes
read_sizes(struct reader *reader)
{
    static const char *const no_size[] = { "num_mtp_modules", "num_nextn_predict_layers",
                                           "rotary_dim",      "moe_intermediate_size",
                                           "swiglu_alpha",    "swiglu_beta",
                                           "use_gemma_norm" };
    struct sizes sizes = { 0 };

    sizes.hidden = reader_count_class(reader, "hidden_size", 1, LIMIT_HIDDEN, 6144);
    sizes.layers = reader_count_class(reader, "num_hidden_layers", 1, LIMIT_LAYERS, 60);
    sizes.heads = reader_count_class(reader, "num_attention_heads", 1, LIMIT_HEADS, 64);
    sizes.kv_heads = reader_count_class(reader, "num_key_value_heads", 1, LIMIT_HEADS, 4);
    sizes.head_size = reader_count_or(reader, "head_dim", 1, LIMIT_HEAD_SIZE, 128);
    sizes.qk_norm = reader_flag_or(reader, "use_qk_norm", true);
    config_divides_heads(reader, "num_key_value_heads", sizes.kv_heads, sizes.heads);
    read_index(reader, &sizes);
    reader_fixed(reader, "qk_norm_type", "per_head");
    reader_fixed(reader, "attention_output_gate", "false");
    config_pass_over(reader, no_size, COUNT_OF(no_size));
    return sizes;
}

static void
set_experts(struct reader *reader, struct layer_kind *kind)
{
    static const struct expert_keys keys = { .count = "num_local_experts|num_experts",
                                             .per_token = "num_experts_per_tok",
                                             .width = "intermediate_size",
                                             .most = "at most num_local_experts," };
    uint32_t shared = reader_count_or(reader, "n_shared_experts", 0, 64, 1);

    text_model_read_experts(reader, &keys, kind);
    kind->shared_size = shared * reader_count_or(reader, "shared_intermediate_size", 0, LIMIT_WIDTH, kind->expert_size);
    kind->router_bias = reader_flag_or(reader, "use_routing_bias", true);
    text_model_check_experts(reader, &keys, kind);
}

static struct layer_kind
kind_of(struct reader *reader, const struct sizes *sizes, bool indexed, bool experts)
{
    struct layer_kind kind;

    memset(&kind, 0, sizeof(kind));
    kind.attention = ATTENTION_HEADS;
    kind.head_count = sizes->heads;
    kind.kv_head_count = sizes->kv_heads;
    kind.head_size = sizes->head_size;
    kind.qk_norm_elements = sizes->qk_norm ? 2 * (uint64_t)sizes->head_size : 0;
    kind.norm_elements = 2 * (uint64_t)sizes->hidden;
    kind.gated = true;
    if (indexed) { /* queries of some heads and one key, both normed */
        kind.side_size = (sizes->index_heads + 1) * sizes->index_size;
        kind.side_count = 1;
        kind.qk_norm_elements += 2 * (uint64_t)sizes->index_size;
        kind.index_size = sizes->index_size;
        kind.index_read = sizes->index_read;
    }
    if (experts) {
        set_experts(reader, &kind);
    } else {
        kind.mlp = MLP_DENSE;
        kind.intermediate_size = reader_count(reader, "dense_intermediate_size", 1, LIMIT_WIDTH);
    }
    return kind;
}

/* A list of 0 and 1, one a layer; without it every layer has what it speaks of, or none. */
static bool
is_set(struct reader *reader, const char *key, uint32_t length, uint32_t index, bool absent)
{
    return length > 0 ? reader_list_count(reader, key, index, 0, 1) == 1 : absent;
}

/* Whether layer i has an index; the index of published models chooses and has no values of its own. */
static bool
is_indexed(struct reader *reader, uint32_t index, uint32_t words, uint32_t flags)
{
    static const char unused[] = "sparse_attention_config/sparse_disable_index_value";
    bool indexed = words > 0 ? strcmp(reader_list_word(reader, "layer_types", index), "minimax_m3_sparse") == 0
                             : is_set(reader, "sparse_attention_config/sparse_attention_freq", flags, index, false);
    uint32_t length = reader_list_length(reader, unused, MAX_LAYERS);

    if (indexed && index < length && !is_set(reader, unused, length, index, true))
        reader_fault(reader, FAULT_MODEL_FIELD_UNSUPPORTED, unused, "0", "1");
    return indexed;
}

static void
read_layers(struct reader *reader, const struct sizes *sizes)
{
    static const char freq[] = "sparse_attention_config/sparse_attention_freq";
    struct layers layers = { .reader = reader };
    uint32_t words = reader_list_length(reader, "layer_types", MAX_LAYERS);
    uint32_t flags = reader_list_length(reader, freq, MAX_LAYERS);
    uint32_t blocks = reader_list_length(reader, "moe_layer_freq", MAX_LAYERS);
    uint32_t dense = reader_count_or(reader, "first_k_dense_replace", 0, LIMIT_LAYERS, 0);

    if (!config_list_fits(reader, "layer_types", words, sizes->layers) ||
        !config_list_fits(reader, freq, flags, sizes->layers) ||
        !config_list_fits(reader, "moe_layer_freq", blocks, sizes->layers))
        return;
    for (uint32_t i = 0; i < sizes->layers; i++) {
        bool indexed = is_indexed(reader, i, words, flags);
        bool experts = is_set(reader, "moe_layer_freq", blocks, i, i >= dense);
        uint32_t sort = (indexed ? 2U : 0U) + (experts ? 1U : 0U);
        struct layer_kind kind = { 0 };

        if (!layers_know(&layers, sort))
            kind = kind_of(reader, sizes, indexed, experts);
        layers_append(&layers, sort, &kind);
    }
}

static void
read_text(struct reader *reader, const struct decoder *traits)
{
    struct sizes sizes = read_sizes(reader);

    (void)traits;
    text_model_read_ends(reader, sizes.hidden, 200064, "max_position_embeddings");
    read_layers(reader, &sizes);
}

static void
read_minimax_m3(struct reader *reader, const struct decoder *traits)
{
    (void)traits;
    text_model_read_with_tower(reader, read_text, vision_minimax_m3);
}

const struct family_class family_minimax_m3[] = {
    { "MiniMaxM3SparseForConditionalGeneration", "minimax_m3_vl", read_minimax_m3, NULL },
    { "MiniMaxM3SparseForCausalLM", "minimax_m3", read_text, NULL },
    { "MiniMaxM3ForCausalLM", "", read_text, NULL },
    { NULL, NULL, NULL, NULL },
};
