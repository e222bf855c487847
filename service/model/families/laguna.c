/* Laguna: a list says how many heads each layer has, and a gate scales what they give; experts beside a shared one.
 * Source: models/laguna of huggingface/transformers 5.15. */
#include <stddef.h>
#include <string.h>

#include "service/base/quantity.h"
#include "service/model/families/config.h"
#include "service/model/families/layers.h"
#include "service/model/families/tables.h"
#include "service/model/families/text_model.h"

static const char heads_key[] = "num_attention_heads_per_layer", types_key[] = "layer_types",
                  blocks_key[] = "mlp_layer_types";

enum gate {
    GATE_NONE = 0,
    GATE_HEAD,   /* one row a head */
    GATE_CHANNEL /* one row a channel of every head, as a second query projection */
};

/* What tells one layer from another. */
struct layer {
    uint32_t heads;
    bool windowed, experts;
};

static enum gate
read_gate(struct reader *reader)
{
    const struct fact *fact = reader_get(reader, "gating");

    if (fact == NULL)
        return GATE_HEAD;
    if (fact->kind == FACT_BOOL)
        return fact->integer != 0 ? GATE_HEAD : GATE_NONE;
    if (fact->kind == FACT_TEXT && strcmp(fact->text, "per-head") == 0)
        return GATE_HEAD;
    if (fact->kind != FACT_TEXT || strcmp(fact->text, "per-element") != 0)
        reader_fault_at(reader, FAULT_MODEL_FIELD_UNSUPPORTED, fact, "per-head");
    return GATE_CHANNEL;
}

static const struct expert_keys expert_keys = { .count = "num_experts",
                                                .per_token = "num_experts_per_tok",
                                                .width = "moe_intermediate_size",
                                                .shared_width = "shared_expert_intermediate_size",
                                                .most = "at most num_experts," };

static struct layer_kind
kind_of(struct reader *reader, const struct layer *layer)
{
    enum gate gate = read_gate(reader);
    struct layer_kind kind;

    memset(&kind, 0, sizeof(kind));
    kind.attention = ATTENTION_HEADS;
    kind.head_count = layer->heads;
    kind.kv_head_count = reader_count(reader, "num_key_value_heads", 1, LIMIT_HEADS);
    kind.head_size = reader_count_or(reader, "head_dim", 1, LIMIT_HEAD_SIZE, 128);
    kind.window_tokens = layer->windowed ? reader_count_or(reader, "sliding_window", 1, LIMIT_CONTEXT, 512) : 0;
    kind.qk_norm_elements = 2 * (uint64_t)kind.head_size;
    kind.norm_elements = 2 * (uint64_t)reader->arch->hidden_size;
    kind.query_gate = gate == GATE_CHANNEL;
    if (gate == GATE_HEAD) {
        kind.side_size = layer->heads;
        kind.side_count = 1;
    }
    config_divides_heads(reader, "num_key_value_heads", kind.kv_head_count, kind.head_count);
    text_model_read_mlp(reader, &expert_keys, layer->experts, &kind);
    return kind;
}

static bool
is_listed(struct reader *reader, const char *key, uint32_t layers)
{
    uint32_t length = reader_list_length(reader, key, MAX_LAYERS);

    return config_list_fits(reader, key, length, layers) && length > 0;
}

/* Without its list every layer has num_attention_heads, sees the whole context, or has experts but for the first. */
static void
read_layers(struct reader *reader, uint32_t layers)
{
    uint32_t heads = reader_count(reader, "num_attention_heads", 1, LIMIT_HEADS), sort;
    bool own_heads = is_listed(reader, heads_key, layers), types = is_listed(reader, types_key, layers);
    bool blocks = is_listed(reader, blocks_key, layers);
    struct layers list = { .reader = reader };
    struct layer_sorts sorts = { .count = 0 };

    for (uint32_t i = 0; i < layers; i++) {
        struct layer layer = { .heads = heads, .experts = i > 0 };
        struct layer_kind kind = { 0 };

        if (own_heads)
            layer.heads = reader_list_count(reader, heads_key, i, 1, LIMIT_HEADS);
        if (types)
            layer.windowed =
                config_is_word(reader, types_key, i, "sliding_attention", "full_attention", "full_attention");
        if (blocks)
            layer.experts = config_is_word(reader, blocks_key, i, "sparse", "dense", "dense");
        uint64_t traits = 4 * (uint64_t)layer.heads + (layer.windowed ? 2U : 0U) + (layer.experts ? 1U : 0U);
        if (!layer_sorts_find(&sorts, reader, heads_key, traits, &sort))
            return;
        if (!layers_know(&list, sort))
            kind = kind_of(reader, &layer);
        layers_append(&list, sort, &kind);
    }
}

static void
read_laguna(struct reader *reader, const struct decoder *traits)
{
    static const char *const no_size[] = {
        "moe_apply_router_weight_on_input", "moe_routed_scaling_factor", "moe_router_logit_softcapping",
        "moe_router_use_sigmoid",           "decoder_sparse_step",       "mlp_only_layers"
    };
    uint32_t layers = reader_count(reader, "num_hidden_layers", 1, LIMIT_LAYERS);

    (void)traits;
    text_model_read_ends(reader, reader_count(reader, "hidden_size", 1, LIMIT_HIDDEN), 0, "max_position_embeddings");
    reader_fixed(reader, "attention_bias", "false");
    reader_fixed(reader, "swa_attention_sink_enabled", "false");
    if (reader_get(reader, blocks_key) == NULL) { /* keys of the first files could name other layers than the first */
        uint32_t dense = reader_list_length(reader, "mlp_only_layers", MAX_LAYERS);

        reader_fixed(reader, "decoder_sparse_step", "1");
        if (dense > 1 || (dense == 1 && reader_list_count(reader, "mlp_only_layers", 0, 0, LIMIT_LAYERS) != 0))
            reader_fault(reader, FAULT_MODEL_FIELD_UNSUPPORTED, "mlp_only_layers", NULL, "0");
    }
    config_pass_over(reader, no_size, COUNT_OF(no_size));
    read_layers(reader, layers);
}

const struct family_class family_laguna[] = {
    { "LagunaForCausalLM", "laguna", read_laguna, NULL },
    { NULL, NULL, NULL, NULL },
};
