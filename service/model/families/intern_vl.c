/* InternVL: InternViT, two matrices over merged patches, and a text model of another family. Sources:
 * modeling_intern_vit.py and modeling_internvl_chat.py of OpenGVLab/InternVL3-8B, modeling_internvl.py of
 * huggingface/transformers 4.57 (arXiv:2404.16821 section 3). */
#include <stddef.h>
#include <string.h>

#include "service/base/quantity.h"
#include "service/model/families/config.h"
#include "service/model/families/tables.h"
#include "service/model/families/vision.h"

/* Of experts that no published tower has, of training, of other configs: with use_moe false nothing of a size. */
static const char *const tower_no_size[] = {
    "capacity_factor",       "eval_capacity_factor",
    "laux_allreduce",        "moe_coeff_ratio",
    "moe_intermediate_size", "moe_output_scale",
    "noisy_gate_policy",     "num_experts",
    "num_routed_experts",    "num_shared_experts",
    "use_residual",          "use_rts",
    "use_weighted_residual", "shared_expert_intermediate_size",
    "drop_path_rate",        "layer_scale_init_value",
    "projection_dropout",    "hidden_dropout_prob",
    "use_mean_pooling",      "num_attention_heads",
};

/* A class token, patches, positions; in each layer two norms, two scales of its blocks, norms of query and key where
 * they are. No norm at the end. */
static uint64_t
read_tower(struct reader *reader, uint64_t *ret_hidden)
{
    uint64_t hidden = reader_count(reader, "hidden_size", 1, LIMIT_HIDDEN);
    uint64_t layers = reader_count(reader, "num_hidden_layers", 1, LIMIT_LAYERS);
    uint64_t intermediate = reader_count(reader, "intermediate_size", 1, LIMIT_WIDTH);
    uint64_t image = reader_count_or(reader, "image_size", 1, LIMIT_SMALL, 448);
    uint64_t patch = reader_count_or(reader, "patch_size", 1, LIMIT_SMALL, 14);
    uint64_t channels = reader_count_or(reader, "num_channels", 1, LIMIT_SMALL, 3);
    bool layer_norm = strcmp(reader_word_or(reader, "norm_type", "layer_norm"), "layer_norm") == 0;
    bool qkv_bias = reader_flag_or(reader, "qkv_bias|attention_bias", true);
    bool normed = reader_flag_or(reader, "qk_normalization|use_qk_norm", false);
    uint64_t patches = (image / patch) * (image / patch);
    uint64_t norm = layer_norm ? 2 * hidden : hidden;
    uint64_t block = vision_block(hidden, intermediate) - 4 * hidden - (qkv_bias ? 0 : 3 * hidden) + 2 * norm +
                     2 * hidden + (normed ? 2 * hidden : 0);

    if (patch > image)
        reader_contradiction(reader, "patch_size", patch, "at most image_size", image);
    reader_fixed(reader, "use_moe", "false");
    reader_fixed(reader, "use_mask_token", "false");
    reader_fixed(reader, "use_absolute_position_embeddings", "true");
    config_pass_over(reader, tower_no_size, COUNT_OF(tower_no_size));
    *ret_hidden = hidden;
    return hidden + vision_linear(channels * patch * patch, hidden) + (patches + 1) * hidden + layers * block;
}

/* Squares of so many patches are merged into one before the text model: the side's inverse is stated. */
static uint64_t
read_merged(struct reader *reader)
{
    double ratio = reader_factor(reader, "downsample_ratio");

    if (reader_find(reader, "downsample_ratio") == NULL || ratio == 0.5)
        return 4;
    if (ratio == 1)
        return 1;
    reader_fault(reader, FAULT_MODEL_FIELD_UNSUPPORTED, "downsample_ratio", NULL, "0.5");
    return 4;
}

static uint64_t
tower_internvl(struct reader *reader, uint32_t text_hidden_size)
{
    uint64_t merged = read_merged(reader);
    uint64_t hidden = 1;

    if (!config_enter(reader, "vision_config"))
        return 0;
    uint64_t elements = read_tower(reader, &hidden);
    reader_leave(reader);
    uint64_t wide = merged * hidden;
    return elements + 2 * wide + vision_linear(wide, text_hidden_size) +
           vision_linear(text_hidden_size, text_hidden_size);
}

/* The text model is what its own config says; `object` is where that stands. */
static void
read_with_text(struct reader *reader, const char *object, const char *type_path)
{
    const char *type = reader_word_or(reader, type_path, "");
    const struct family_class *row = family_of_model_type(type);

    if (row == NULL || row->read != decoder_read) {
        reader_fault(reader, FAULT_MODEL_CLASS_UNSUPPORTED, type_path, type, NULL);
        return;
    }
    struct decoder decoder = *row->decoder;
    decoder.sizes = NULL;
    decoder.text_object = object;
    decoder.tower = tower_internvl;
    decoder_read(reader, &decoder);
}

static void
read_internvl_chat(struct reader *reader, const struct decoder *traits)
{
    static const char *const no_size[] = {
        "dynamic_image_size", "force_image_size", "image_fold",    "max_dynamic_patch",
        "min_dynamic_patch",  "pad2square",       "ps_version",    "select_layer",
        "system_message",     "template",         "use_thumbnail", "img_context_token_id",
    };

    (void)traits;
    reader_fixed(reader, "use_backbone_lora", "0");
    reader_fixed(reader, "use_llm_lora", "0");
    config_pass_over(reader, no_size, COUNT_OF(no_size));
    read_with_text(reader, "llm_config", "llm_config/model_type");
}

static void
read_internvl(struct reader *reader, const struct decoder *traits)
{
    (void)traits;
    (void)reader_find(reader, "image_seq_length");
    read_with_text(reader, "text_config", "text_config/model_type");
}

const struct family_class family_intern_vl[] = {
    { "InternVLChatModel", "internvl_chat", read_internvl_chat, NULL },
    { "InternVLForConditionalGeneration", "internvl", read_internvl, NULL },
    { NULL, NULL, NULL, NULL },
};
