/* Laguna: a list says how many heads each layer has, and a gate scales what they give; experts beside a shared one.
 * Source: models/laguna of huggingface/transformers 5.15. */
#include <stddef.h>
#include <string.h>

#include "service/base/quantity.h"
#include "service/model/families/layers.h"
#include "service/model/families/tables.h"

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

static void
set_mlp(struct reader *reader, struct layer_kind *kind, bool experts)
{
    kind->gated = true;
    if (!experts) {
        kind->mlp = MLP_DENSE;
        kind->intermediate_size = reader_count(reader, "intermediate_size", 1, LIMIT_WIDTH);
        return;
    }
    kind->mlp = MLP_EXPERTS;
    kind->expert_count = reader_count(reader, "num_experts", 1, LIMIT_EXPERTS);
    kind->experts_per_token = reader_count(reader, "num_experts_per_tok", 1, LIMIT_EXPERTS);
    kind->expert_size = reader_count(reader, "moe_intermediate_size", 1, LIMIT_WIDTH);
    kind->shared_size = reader_count(reader, "shared_expert_intermediate_size", 1, LIMIT_WIDTH);
    kind->router_bias = true;
    if (kind->experts_per_token > kind->expert_count)
        reader_contradiction(reader, "num_experts_per_tok", kind->experts_per_token, "at most num_experts,",
                             kind->expert_count);
}

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
    if (kind.head_count % kind.kv_head_count != 0)
        reader_contradiction(reader, "num_key_value_heads", kind.kv_head_count, "divides num_attention_heads",
                             kind.head_count);
    set_mlp(reader, &kind, layer->experts);
    return kind;
}

/* A word of a list that can only be one of two; whether it is the second. */
static bool
is_second(struct reader *reader, const char *key, uint32_t index, const char *first, const char *second)
{
    const char *word = reader_list_word(reader, key, index);

    if (strcmp(word, first) != 0 && strcmp(word, second) != 0)
        reader_fault(reader, FAULT_MODEL_FIELD_UNSUPPORTED, key, word, first);
    return strcmp(word, second) == 0;
}

static bool
check_length(struct reader *reader, const char *key, uint32_t layers)
{
    uint32_t length = reader_list_length(reader, key, MAX_LAYERS);

    if (length != 0 && length != layers)
        reader_contradiction(reader, key, length, "num_hidden_layers =", layers);
    return length == layers;
}

/* The number of a layer among the different ones before it, LAYER_SORTS when there are too many. */
static uint32_t
sort_of(const struct layer *layer, struct layer *sorts, uint32_t *count)
{
    uint32_t sort = 0;

    while (sort < *count && (sorts[sort].heads != layer->heads || sorts[sort].windowed != layer->windowed ||
                             sorts[sort].experts != layer->experts))
        sort++;
    if (sort == *count && *count < LAYER_SORTS)
        sorts[(*count)++] = *layer;
    return sort;
}

/* Without its list every layer has num_attention_heads, sees the whole context, or has experts but for the first. */
static void
read_layers(struct reader *reader, uint32_t layers)
{
    uint32_t heads = reader_count(reader, "num_attention_heads", 1, LIMIT_HEADS), count = 0;
    bool own_heads = check_length(reader, heads_key, layers), types = check_length(reader, types_key, layers);
    bool blocks = check_length(reader, blocks_key, layers);
    struct layers list = { .reader = reader };
    struct layer sorts[LAYER_SORTS];

    for (uint32_t i = 0; i < layers; i++) {
        struct layer layer = { .heads = heads, .experts = i > 0 };
        struct layer_kind kind = { 0 };

        if (own_heads)
            layer.heads = reader_list_count(reader, heads_key, i, 1, LIMIT_HEADS);
        if (types)
            layer.windowed = is_second(reader, types_key, i, "full_attention", "sliding_attention");
        if (blocks)
            layer.experts = is_second(reader, blocks_key, i, "dense", "sparse");
        uint32_t sort = sort_of(&layer, sorts, &count);
        if (sort >= LAYER_SORTS || sort >= MAX_LAYER_KINDS) {
            reader_fault(reader, FAULT_MODEL_FIELD_UNSUPPORTED, heads_key, NULL, NULL);
            return;
        }
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
    struct model_arch *arch = reader->arch;
    uint32_t layers = reader_count(reader, "num_hidden_layers", 1, LIMIT_LAYERS);

    (void)traits;
    arch->causal = true;
    arch->hidden_size = reader_count(reader, "hidden_size", 1, LIMIT_HIDDEN);
    arch->vocabulary_size = reader_count(reader, "vocab_size", 1, LIMIT_VOCABULARY);
    arch->max_context_tokens = reader_count_or(reader, "max_position_embeddings", 1, LIMIT_CONTEXT, 0);
    arch->tied_head = reader_flag_or(reader, "tie_word_embeddings", false);
    arch->final_norm_elements = arch->hidden_size;
    reader_fixed(reader, "attention_bias", "false");
    reader_fixed(reader, "swa_attention_sink_enabled", "false");
    if (reader_get(reader, blocks_key) == NULL) { /* keys of the first files could name other layers than the first */
        uint32_t dense = reader_list_length(reader, "mlp_only_layers", MAX_LAYERS);

        reader_fixed(reader, "decoder_sparse_step", "1");
        if (dense > 1 || (dense == 1 && reader_list_count(reader, "mlp_only_layers", 0, 0, LIMIT_LAYERS) != 0))
            reader_fault(reader, FAULT_MODEL_FIELD_UNSUPPORTED, "mlp_only_layers", NULL, "0");
    }
    for (size_t i = 0; i < COUNT_OF(no_size); i++)
        (void)reader_find(reader, no_size[i]);
    read_layers(reader, layers);
}

const struct family_class family_laguna[] = {
    { "LagunaForCausalLM", "laguna", read_laguna, NULL },
    { NULL, NULL, NULL, NULL },
};
