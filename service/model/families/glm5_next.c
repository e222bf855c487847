/* GLM-5.3-Flash: layers of Kimi delta attention between layers of latent attention without rotary positions, whose
 * index chooses pools of keys; experts beside a shared one; every block reads and writes some residual streams. Source:
 * models/glm5_next of huggingface/transformers 5.16. */
#include <stddef.h>
#include <string.h>

#include "service/base/quantity.h"
#include "service/model/families/config.h"
#include "service/model/families/layers.h"
#include "service/model/families/recurrent.h"
#include "service/model/families/tables.h"
#include "service/model/families/text_model.h"
#include "service/model/families/vision.h"

static const char types_key[] = "layer_types", blocks_key[] = "mlp_layer_types", indexes_key[] = "indexer_types";

/* Queries of some heads from the query latent, one key with a layer norm, a weight a head; a gate and positions pool
 * the keys, and what is kept of them is one a pool. */
static void
set_index(struct reader *reader, struct layer_kind *kind)
{
    uint64_t hidden = reader->arch->hidden_size;
    uint32_t heads = reader_count(reader, "index_n_heads", 1, LIMIT_HEADS);
    uint32_t size = reader_count(reader, "index_head_dim", 1, LIMIT_HEAD_SIZE);
    uint32_t pool = reader_count(reader, "index_kpool", 1, LIMIT_SMALL);

    kind->other_elements += (uint64_t)kind->query_rank * heads * size + 2 * hidden * size + 2 * (uint64_t)size +
                            hidden * heads + (uint64_t)pool * size;
    kind->index_size = size / pool;
    kind->index_read = reader_count(reader, "index_topk", 1, LIMIT_CONTEXT);
    if (size % pool != 0)
        reader_contradiction(reader, "index_kpool", pool, "divides index_head_dim", size);
    reader_fixed(reader, "index_kpool_compress", "true");
}

static void
set_latent(struct reader *reader, struct layer_kind *kind)
{
    kind->attention = ATTENTION_LATENT;
    kind->head_count = reader_count(reader, "num_attention_heads", 1, LIMIT_HEADS);
    kind->kv_head_count = kind->head_count;
    kind->query_rank = reader_count(reader, "q_lora_rank", 1, LIMIT_WIDTH);
    kind->latent_size = reader_count(reader, "kv_lora_rank", 1, LIMIT_WIDTH);
    kind->nope_size = reader_count(reader, "qk_nope_head_dim", 1, LIMIT_HEAD_SIZE);
    kind->rope_size = reader_count(reader, "qk_rope_head_dim", 0, LIMIT_HEAD_SIZE);
    kind->value_size = reader_count(reader, "v_head_dim", 1, LIMIT_HEAD_SIZE);
}

static const struct expert_keys expert_keys = { .count = "n_routed_experts|num_local_experts",
                                                .per_token = "num_experts_per_tok",
                                                .width = "moe_intermediate_size",
                                                .shared_count = "n_shared_experts",
                                                .most = "at most n_routed_experts," };

/* What tells one layer from another. */
struct layer {
    bool sparse, shared, experts; /* latent attention; reads another layer's index; has experts */
};

static struct layer_kind
kind_of(struct reader *reader, const struct layer *layer)
{
    uint64_t hidden = reader->arch->hidden_size;
    uint64_t streams = reader_count(reader, "hc_mult", 1, 64), mixes = (2 + streams) * streams;
    struct layer_kind kind;

    memset(&kind, 0, sizeof(kind));
    kind.norm_elements = 2 * hidden;
    kind.other_elements = 2 * (mixes * streams * hidden + mixes + 3);
    if (layer->sparse) {
        set_latent(reader, &kind);
        if (!layer->shared)
            set_index(reader, &kind);
    } else {
        recurrent_kimi_delta(reader, reader->arch->hidden_size, &kind);
    }
    text_model_read_mlp(reader, &expert_keys, layer->experts, &kind);
    return kind;
}

static void
read_layers(struct reader *reader, uint32_t layers)
{
    struct layers list = { .reader = reader };

    if (!config_list_needed(reader, types_key, layers) || !config_list_needed(reader, blocks_key, layers) ||
        !config_list_needed(reader, indexes_key, layers))
        return;
    for (uint32_t i = 0; i < layers; i++) {
        const char *type = reader_list_word(reader, types_key, i);
        bool full = strcmp(type, "full_attention") == 0; /* as older files call it */
        struct layer layer = { .sparse = full || config_is_word(reader, types_key, i, "deepseek_sparse_attention",
                                                                "linear_attention", "deepseek_sparse_attention"),
                               .experts = config_is_word(reader, blocks_key, i, "sparse", "dense", "sparse") };
        struct layer_kind kind = { 0 };

        layer.shared = layer.sparse && config_is_word(reader, indexes_key, i, "shared", "full", "shared");
        uint32_t sort = (layer.sparse ? 4U : 0U) + (layer.shared ? 2U : 0U) + (layer.experts ? 1U : 0U);
        if (!layers_know(&list, sort))
            kind = kind_of(reader, &layer);
        layers_append(&list, sort, &kind);
    }
}

static void
read_text(struct reader *reader, const struct decoder *traits)
{
    static const char *const no_size[] = { "linear_attn_config",
                                           "linear_attn_config/gate_lower_bound",
                                           "linear_attn_config/kda_layers",
                                           "linear_attn_config/full_attn_layers",
                                           "index_kpool_always_select_tail",
                                           "index_share_for_mtp_iteration",
                                           "index_topk_freq",
                                           "index_skip_topk_offset",
                                           "index_topk_pattern",
                                           "num_key_value_heads",
                                           "first_k_dense_replace",
                                           "moe_layer_freq",
                                           "qk_head_dim",
                                           "head_dim",
                                           "mla_use_nope",
                                           "hc_eps",
                                           "hc_sinkhorn_iters" };
    struct model_arch *arch = reader->arch;
    uint32_t layers = reader_count(reader, "num_hidden_layers", 1, LIMIT_LAYERS);

    (void)traits;
    text_model_read_ends(reader, reader_count(reader, "hidden_size", 1, LIMIT_HIDDEN), 0, "max_position_embeddings");
    arch->mtp_layer_count = reader_count_or(reader, "num_nextn_predict_layers", 0, LIMIT_SMALL, 0);
    reader_fixed(reader, "attention_bias", "false");
    reader_fixed(reader, "mhc", "true");
    config_pass_over(reader, no_size, COUNT_OF(no_size));
    read_layers(reader, layers);
}

static void
read_glm5_next(struct reader *reader, const struct decoder *traits)
{
    (void)traits;
    text_model_read_with_tower(reader, read_text, vision_glm5_next);
}

const struct family_class family_glm5_next[] = {
    { "Glm5NextForConditionalGeneration", "glm5_next", read_glm5_next, NULL },
    { NULL, NULL, NULL, NULL },
};
