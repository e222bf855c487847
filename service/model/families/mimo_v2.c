/* MiMo-V2: layers that see a window have heads of their own and a sink a head; values are shorter than keys.
 * Source: models/mimo_v2_flash of huggingface/transformers 5.15; three prediction layers beside them, which the config
 * leaves out (llama.cpp, conversion/mimo.py). */
#include <stddef.h>
#include <string.h>

#include "service/base/quantity.h"
#include "service/model/families/config.h"
#include "service/model/families/layers.h"
#include "service/model/families/tables.h"
#include "service/model/families/text_model.h"

enum { MTP_LAYERS = 3 };

/* Heads of one of the two kinds of attention. */
struct heads {
    uint32_t count, kv_count, size, value_size, window;
    bool sinks;
};

static struct heads
read_heads(struct reader *reader)
{
    struct heads heads = { 0 };

    heads.count = reader_count_class(reader, "num_attention_heads", 1, LIMIT_HEADS, 64);
    heads.kv_count = reader_count_class(reader, "num_key_value_heads", 1, LIMIT_HEADS, 4);
    heads.size = reader_count_class(reader, "head_dim", 1, LIMIT_HEAD_SIZE, 192);
    heads.value_size = reader_count_or(reader, "v_head_dim", 1, LIMIT_HEAD_SIZE, heads.size);
    heads.sinks = reader_flag_or(reader, "add_full_attention_sink_bias", false);
    config_divides_heads(reader, "num_key_value_heads", heads.kv_count, heads.count);
    return heads;
}

static struct heads
read_window_heads(struct reader *reader, const struct heads *full)
{
    struct heads heads = { 0 };

    heads.count = reader_count_or(reader, "swa_num_attention_heads", 1, LIMIT_HEADS, full->count);
    heads.kv_count = reader_count_or(reader, "swa_num_key_value_heads", 1, LIMIT_HEADS, full->kv_count);
    heads.size = reader_count_or(reader, "swa_head_dim", 1, LIMIT_HEAD_SIZE, full->size);
    heads.value_size = reader_count_or(reader, "swa_v_head_dim", 1, LIMIT_HEAD_SIZE, full->value_size);
    heads.window = reader_count_or(reader, "sliding_window|sliding_window_size", 1, LIMIT_CONTEXT, 128);
    heads.sinks = reader_flag_or(reader, "add_swa_attention_sink_bias", false);
    if (heads.count % heads.kv_count != 0)
        reader_contradiction(reader, "swa_num_key_value_heads", heads.kv_count, "divides swa_num_attention_heads",
                             heads.count);
    return heads;
}

static const struct expert_keys expert_keys = { .count = "n_routed_experts|num_local_experts",
                                                .per_token = "num_experts_per_tok",
                                                .width = "moe_intermediate_size",
                                                .most = "at most n_routed_experts," };

static struct layer_kind
kind_of(struct reader *reader, const struct heads *heads, bool experts)
{
    struct layer_kind kind;

    memset(&kind, 0, sizeof(kind));
    kind.attention = ATTENTION_HEADS;
    kind.head_count = heads->count;
    kind.kv_head_count = heads->kv_count;
    kind.head_size = heads->size;
    kind.value_size = heads->value_size;
    kind.window_tokens = heads->window;
    kind.norm_elements = 2 * (uint64_t)reader->arch->hidden_size;
    kind.other_elements = heads->sinks ? heads->count : 0;
    text_model_read_mlp(reader, &expert_keys, experts, &kind);
    return kind;
}

static void
read_layers(struct reader *reader, uint32_t layers)
{
    static const char pattern[] = "hybrid_layer_pattern", blocks[] = "moe_layer_freq";
    struct heads full = read_heads(reader), near = read_window_heads(reader, &full);
    struct layers list = { .reader = reader };

    if (!config_list_needed(reader, pattern, layers) || !config_list_needed(reader, blocks, layers))
        return;
    for (uint32_t i = 0; i < layers; i++) {
        bool windowed = reader_list_count(reader, pattern, i, 0, 1) == 1;
        bool experts = reader_list_count(reader, blocks, i, 0, 1) == 1;
        uint32_t sort = (windowed ? 2U : 0U) + (experts ? 1U : 0U);
        struct layer_kind kind = { 0 };

        if (!layers_know(&list, sort))
            kind = kind_of(reader, windowed ? &near : &full, experts);
        layers_append(&list, sort, &kind);
    }
}

/* What would add tensors: shared experts, biases, and towers of images and sound, whose shapes are not established. */
static void
refuse_others(struct reader *reader)
{
    static const char *const absent[] = { "n_shared_experts", "vision_config", "audio_config" };
    static const char *const no_size[] = { "attention_chunk_size", "sliding_window_size", "attention_value_scale",
                                           "attention_projection_layout", "swa_rope_theta" };

    for (size_t i = 0; i < COUNT_OF(absent); i++) {
        const struct fact *fact = reader_get(reader, absent[i]);

        if (fact != NULL && !(fact->kind == FACT_INTEGER && fact->integer == 0))
            reader_fault_at(reader, FAULT_MODEL_FIELD_UNSUPPORTED, fact, "null");
    }
    reader_fixed(reader, "attention_bias", "false");
    config_pass_over(reader, no_size, COUNT_OF(no_size));
}

static void
read_mimo_v2(struct reader *reader, const struct decoder *traits)
{
    struct model_arch *arch = reader->arch;
    uint32_t layers = reader_count(reader, "num_hidden_layers", 1, LIMIT_LAYERS);

    (void)traits;
    text_model_read_ends(reader, reader_count(reader, "hidden_size", 1, LIMIT_HIDDEN), 0, "max_position_embeddings");
    arch->mtp_layer_count = reader_count_or(reader, "num_nextn_predict_layers", 0, LIMIT_SMALL, MTP_LAYERS);
    refuse_others(reader);
    read_layers(reader, layers);
}

const struct family_class family_mimo_v2[] = {
    { "MiMoV2FlashForCausalLM", "mimo_v2_flash", read_mimo_v2, NULL },
    { "MiMoV2ForCausalLM", "mimo_v2", read_mimo_v2, NULL },
    { NULL, NULL, NULL, NULL },
};
