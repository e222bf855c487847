/* Step-3.5 and 3.7: a gate a head, more heads in layers that see a window, experts beside a shared one in the layers
 * that a list names. Source: models/step3p5.py of vllm-project/vllm; models/step3p7 of huggingface/transformers 5.15.
 */
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "service/base/quantity.h"
#include "service/model/families/config.h"
#include "service/model/families/layers.h"
#include "service/model/families/tables.h"
#include "service/model/families/text_model.h"
#include "service/model/families/vision.h"

struct heads {
    uint32_t count, kv_count, size, window;
};

static const char sparse_key[] = "moe_layers_enum", types_key[] = "layer_types";

static struct heads
read_heads(struct reader *reader)
{
    struct heads heads = { 0 };

    heads.count = reader_count(reader, "num_attention_heads", 1, LIMIT_HEADS);
    heads.kv_count = reader_count(reader, "num_attention_groups", 1, LIMIT_HEADS);
    heads.size = reader_count(reader, "head_dim", 1, LIMIT_HEAD_SIZE);
    config_divides_heads(reader, "num_attention_groups", heads.kv_count, heads.count);
    return heads;
}

static struct heads
read_window_heads(struct reader *reader, const struct heads *full)
{
    static const char groups[] = "attention_other_setting/num_attention_groups";
    struct heads heads = *full;

    reader_fixed(reader, "attention_other_setting/attention_type", "sliding_attention");
    heads.count = reader_count_or(reader, "attention_other_setting/num_attention_heads", 1, LIMIT_HEADS, full->count);
    heads.kv_count = reader_count_or(reader, groups, 1, LIMIT_HEADS, full->kv_count);
    heads.size = reader_count_or(reader, "attention_other_setting/head_dim", 1, LIMIT_HEAD_SIZE, full->size);
    heads.window = reader_count(reader, "sliding_window", 1, LIMIT_CONTEXT);
    (void)reader_find(reader, "attention_other_setting");
    (void)reader_find(reader, "attention_other_setting/true_head_dim");
    config_divides_heads(reader, groups, heads.kv_count, heads.count);
    return heads;
}

/* Marks the layers of "3,4,5" or [3, 4, 5]; without the key all but the first have experts. */
static void
read_sparse(struct reader *reader, uint32_t layers, bool *sparse)
{
    const struct fact *fact = reader_get(reader, sparse_key);
    uint32_t length = fact != NULL && fact->kind == FACT_LIST ? reader_list_length(reader, sparse_key, MAX_LAYERS) : 0;

    memset(sparse, 0, MAX_LAYERS * sizeof(*sparse));
    if (fact == NULL) {
        for (uint32_t i = 1; i < layers; i++)
            sparse[i] = true;
        return;
    }
    for (uint32_t i = 0; i < length; i++)
        sparse[reader_list_count(reader, sparse_key, i, 0, MAX_LAYERS - 1)] = true;
    if (fact->kind == FACT_LIST)
        return;
    const char *rest = fact->kind == FACT_TEXT ? fact->text : "";
    do {
        char *end = NULL;
        unsigned long layer = strtoul(rest, &end, 10);

        if (end == rest || (*end != ',' && *end != '\0') || layer >= MAX_LAYERS) {
            reader_fault_at(reader, FAULT_MODEL_FIELD_UNSUPPORTED, fact, "\"1,2,3\"");
            return;
        }
        sparse[layer] = true;
        rest = *end == ',' ? end + 1 : end;
    } while (*rest != '\0');
}

static const struct expert_keys expert_keys = { .count = "moe_num_experts",
                                                .per_token = "moe_top_k",
                                                .width = "moe_intermediate_size",
                                                .shared_width = "share_expert_dim",
                                                .router_bias = "use_moe_router_bias",
                                                .most = "at most moe_num_experts," };

static struct layer_kind
kind_of(struct reader *reader, const struct heads *heads, bool experts)
{
    struct layer_kind kind;

    memset(&kind, 0, sizeof(kind));
    kind.attention = ATTENTION_HEADS;
    kind.head_count = heads->count;
    kind.kv_head_count = heads->kv_count;
    kind.head_size = heads->size;
    kind.window_tokens = heads->window;
    kind.qk_norm_elements = 2 * (uint64_t)heads->size;
    kind.norm_elements = 2 * (uint64_t)reader->arch->hidden_size;
    if (reader_flag_or(reader, "use_head_wise_attn_gate", false)) {
        kind.side_size = heads->count;
        kind.side_count = 1;
    }
    text_model_read_mlp(reader, &expert_keys, experts, &kind);
    return kind;
}

/* layer_types goes on with the prediction layers, which are not counted. */
static void
read_layers(struct reader *reader, uint32_t layers)
{
    struct heads full = read_heads(reader), near = read_window_heads(reader, &full);
    struct layers list = { .reader = reader };
    uint32_t told = reader_list_length(reader, types_key, MAX_LAYERS);
    bool sparse[MAX_LAYERS];

    read_sparse(reader, layers, sparse);
    if (told == 0) {
        reader_fault(reader, FAULT_MODEL_FIELD_MISSING, types_key, NULL, "list");
        return;
    }
    if (told < layers) {
        reader_contradiction(reader, types_key, told, "num_hidden_layers =", layers);
        return;
    }
    for (uint32_t i = 0; i < told; i++) {
        const char *type = reader_list_word(reader, types_key, i);
        bool windowed = strcmp(type, "sliding_attention") == 0;
        uint32_t sort = (windowed ? 2U : 0U) + (i < layers && sparse[i] ? 1U : 0U);
        struct layer_kind kind = { 0 };

        if (!windowed && strcmp(type, "full_attention") != 0) {
            reader_fault(reader, FAULT_MODEL_FIELD_UNSUPPORTED, types_key, type, "full_attention");
            return;
        }
        if (i >= layers)
            continue;
        if (!layers_know(&list, sort))
            kind = kind_of(reader, windowed ? &near : &full, sparse[i]);
        layers_append(&list, sort, &kind);
    }
}

static void
read_text(struct reader *reader, const struct decoder *traits)
{
    static const char *const no_size[] = { "use_moe",         "moe_layer_offset",       "moe_every_n_layer",
                                           "need_fp32_gate",  "moe_router_activation",  "moe_router_scaling_factor",
                                           "use_rope_layers", "partial_rotary_factors", "yarn_only_types",
                                           "swiglu_limits",   "swiglu_limits_shared",   "zero_centered",
                                           "max_seq_len",     "norm_expert_weight" };
    struct model_arch *arch = reader->arch;
    uint32_t layers = reader_count(reader, "num_hidden_layers", 1, LIMIT_LAYERS);

    (void)traits;
    text_model_read_ends(reader, reader_count(reader, "hidden_size", 1, LIMIT_HIDDEN), 0,
                         "max_position_embeddings|max_seq_len");
    arch->mtp_layer_count = reader_count_or(reader, "num_nextn_predict_layers", 0, LIMIT_SMALL, 0);
    reader_fixed(reader, "att_impl_type", "GQA");
    reader_fixed(reader, "attention_bias", "false");
    reader_fixed(reader, "sink", "false");
    reader_fixed(reader, "use_qk_norm", "true");
    config_pass_over(reader, no_size, COUNT_OF(no_size));
    read_layers(reader, layers);
}

/* Step-3.7: the same behind a tower. */
static void
read_step_vision(struct reader *reader, const struct decoder *traits)
{
    (void)traits;
    text_model_read_with_tower(reader, read_text, vision_step);
}

const struct family_class family_step[] = {
    { "Step3p7ForConditionalGeneration", "step3p7", read_step_vision, NULL },
    { "Step3p5ForCausalLM", "step3p5", read_text, NULL },
    { NULL, NULL, NULL, NULL },
};
