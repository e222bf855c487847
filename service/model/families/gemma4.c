/* Gemma 4: layers of a window and of the whole context differ in their heads; the last ones may read an earlier layer's
 * keys and values; small models look up a second embedding in every layer, others have experts beside the MLP.
 * Source: models/gemma4 and models/gemma4_unified of huggingface/transformers 5.15. */
#include <stddef.h>
#include <string.h>

#include "service/model/families/config.h"
#include "service/model/families/layers.h"
#include "service/model/families/tables.h"
#include "service/model/families/text_model.h"
#include "service/model/families/vision.h"

struct sizes {
    uint32_t hidden, layers, heads, kv_heads, head_size, window;
    uint32_t global_kv_heads, global_head_size; /* of layers that see the whole context */
    uint32_t first_shared;                      /* from here on layers keep no keys and values; none: `layers` */
    uint32_t intermediate, layer_input;
    bool value_is_key, double_wide, bias;
};

static struct sizes
read_sizes(struct reader *reader)
{
    struct sizes sizes = { 0 };

    sizes.hidden = reader_count_class(reader, "hidden_size", 1, LIMIT_HIDDEN, 2304);
    sizes.layers = reader_count_class(reader, "num_hidden_layers", 1, LIMIT_LAYERS, 30);
    sizes.heads = reader_count_class(reader, "num_attention_heads", 1, LIMIT_HEADS, 8);
    sizes.kv_heads = reader_count_or(reader, "num_key_value_heads", 1, LIMIT_HEADS, 4);
    sizes.head_size = reader_count_or(reader, "head_dim", 1, LIMIT_HEAD_SIZE, 256);
    sizes.global_head_size = reader_count_or(reader, "global_head_dim", 1, LIMIT_HEAD_SIZE, 512);
    sizes.global_kv_heads = reader_count_or(reader, "num_global_key_value_heads", 1, LIMIT_HEADS, sizes.kv_heads);
    sizes.window = reader_count_or(reader, "sliding_window", 1, LIMIT_CONTEXT, 512);
    sizes.intermediate = reader_count_class(reader, "intermediate_size", 1, LIMIT_WIDTH, 9216);
    sizes.layer_input = reader_count_or(reader, "hidden_size_per_layer_input", 0, LIMIT_WIDTH, 256);
    sizes.value_is_key = reader_flag_or(reader, "attention_k_eq_v", false);
    sizes.double_wide = reader_flag_or(reader, "use_double_wide_mlp", false);
    sizes.bias = reader_flag_or(reader, "attention_bias", false);
    if (!sizes.value_is_key)
        sizes.global_kv_heads = sizes.kv_heads;
    uint32_t shared = reader_count_or(reader, "num_kv_shared_layers", 0, LIMIT_LAYERS, 0);
    if (shared > sizes.layers)
        reader_contradiction(reader, "num_kv_shared_layers", shared, "at most num_hidden_layers =", sizes.layers);
    sizes.first_shared = shared < sizes.layers ? sizes.layers - shared : sizes.layers;
    if (sizes.heads % sizes.kv_heads != 0 || sizes.heads % sizes.global_kv_heads != 0)
        reader_contradiction(reader, "num_key_value_heads", sizes.kv_heads, "divides num_attention_heads", sizes.heads);
    return sizes;
}

/* Experts run beside the dense MLP, which every token passes like a shared one; each block has a norm of its own. */
static void
read_experts(struct reader *reader, const struct sizes *sizes, struct layer_kind *kind)
{
    static const struct expert_keys keys = { .count = "num_experts",
                                             .per_token = "top_k_experts",
                                             .width = "moe_intermediate_size|expert_intermediate_size",
                                             .most = "at most num_experts," };

    text_model_read_experts(reader, &keys, kind); /* their bias is a factor an expert */
    kind->shared_size = sizes->intermediate;
    kind->intermediate_size = 0;
    kind->norm_elements += 4 * (uint64_t)sizes->hidden; /* three norms, and the factors of the router's input */
    text_model_check_experts(reader, &keys, kind);
}

static struct layer_kind
kind_of(struct reader *reader, const struct sizes *sizes, bool global, bool shared, bool experts)
{
    struct layer_kind kind;

    memset(&kind, 0, sizeof(kind));
    kind.attention = ATTENTION_HEADS;
    kind.head_count = sizes->heads;
    kind.kv_head_count = global ? sizes->global_kv_heads : sizes->kv_heads;
    kind.head_size = global ? sizes->global_head_size : sizes->head_size;
    kind.window_tokens = global ? 0 : sizes->window;
    kind.value_is_key = global && sizes->value_is_key;
    kind.shares_cache = shared;
    kind.qkv_bias = kind.out_bias = sizes->bias;
    kind.qk_norm_elements = 2 * (uint64_t)kind.head_size;
    kind.mlp = MLP_DENSE;
    kind.gated = true;
    kind.intermediate_size = shared && sizes->double_wide ? 2 * sizes->intermediate : sizes->intermediate;
    kind.norm_elements = 4 * (uint64_t)sizes->hidden;
    kind.other_elements = 1; /* what the layer's output is multiplied by */
    if (sizes->layer_input > 0) {
        /* a gate, a projection back, and this layer's rows of the projection that all layers' inputs come from */
        kind.side_size = sizes->layer_input;
        kind.side_count = 3;
        kind.norm_elements += sizes->hidden;
    }
    if (experts)
        read_experts(reader, sizes, &kind);
    return kind;
}

/* Whether layer i sees the whole context: one of six, and always the last. */
static bool
is_global(struct reader *reader, uint32_t index, uint32_t listed, uint32_t layers)
{
    if (index + 1 == layers)
        return true;
    if (listed == 0)
        return (index + 1) % 6 == 0;
    return config_is_word(reader, "layer_types", index, "full_attention", "sliding_attention",
                          "full_attention|sliding_attention");
}

static void
read_layers(struct reader *reader, const struct sizes *sizes)
{
    struct layers layers = { .reader = reader };
    bool experts = reader_flag_or(reader, "enable_moe_block", false);
    uint32_t listed = reader_list_length(reader, "layer_types", MAX_LAYERS);

    if (!config_list_fits(reader, "layer_types", listed, sizes->layers))
        return;
    for (uint32_t i = 0; i < sizes->layers; i++) {
        bool global = is_global(reader, i, listed, sizes->layers), shared = i >= sizes->first_shared;
        uint32_t sort = (shared ? 2U : 0U) + (global ? 1U : 0U);
        struct layer_kind kind = { 0 };

        if (!layers_know(&layers, sort))
            kind = kind_of(reader, sizes, global, shared, experts);
        layers_append(&layers, sort, &kind);
    }
    if (experts)
        return;
    (void)reader_find(reader, "num_experts"); /* none */
    (void)reader_find(reader, "top_k_experts");
    (void)reader_find(reader, "moe_intermediate_size|expert_intermediate_size");
}

/* The second embedding: for every token a vector a layer. */
static void
read_layer_embedding(struct reader *reader, const struct sizes *sizes)
{
    struct model_arch *arch = reader->arch;
    uint32_t rows = reader_count_or(reader, "vocab_size_per_layer_input", 1, LIMIT_VOCABULARY, 262144);

    if (sizes->layer_input == 0)
        return;
    if (rows != arch->vocabulary_size)
        reader_contradiction(reader, "vocab_size_per_layer_input", rows, "vocab_size =", arch->vocabulary_size);
    arch->layer_embedding_size = (uint64_t)sizes->layers * sizes->layer_input;
    arch->final_norm_elements += sizes->layer_input;
}

static void
read_around(struct reader *reader, const char *text_object, vision_tower *tower)
{
    struct model_arch *arch = reader->arch;
    bool nested = text_object != NULL && reader_enter(reader, text_object);
    bool tied = reader_flag_or(reader, "tie_word_embeddings", true);
    struct sizes sizes = read_sizes(reader);

    arch->causal = true;
    arch->hidden_size = sizes.hidden;
    arch->vocabulary_size = reader_count_or(reader, "vocab_size", 1, LIMIT_VOCABULARY, 262144);
    arch->max_context_tokens = reader_count_or(reader, "max_position_embeddings", 1, LIMIT_CONTEXT, 0);
    arch->final_norm_elements = sizes.hidden;
    read_layer_embedding(reader, &sizes);
    read_layers(reader, &sizes);
    if (nested)
        reader_leave(reader);
    arch->tied_head = reader_flag_or(reader, "tie_word_embeddings", tied);
    if (tower != NULL)
        vision_add(reader, tower, sizes.hidden);
}

static void
read_gemma4(struct reader *reader, const struct decoder *traits)
{
    (void)traits;
    read_around(reader, "text_config", vision_gemma4);
}

static void
read_gemma4_unified(struct reader *reader, const struct decoder *traits)
{
    (void)traits;
    read_around(reader, "text_config", vision_gemma4_unified);
}

static void
read_gemma4_text(struct reader *reader, const struct decoder *traits)
{
    (void)traits;
    read_around(reader, NULL, NULL);
}

const struct family_class family_gemma4[] = {
    { "Gemma4ForConditionalGeneration", "gemma4", read_gemma4, NULL },
    { "Gemma4UnifiedForConditionalGeneration", "gemma4_unified", read_gemma4_unified, NULL },
    { "Gemma4ForCausalLM", "gemma4_text", read_gemma4_text, NULL },
    { NULL, NULL, NULL, NULL },
};
