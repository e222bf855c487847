/* Image encoders that came after ViT, alone or beside one of texts: DINOv2 (arXiv:2304.07193, with registers
 * arXiv:2309.16588), DINOv3 (arXiv:2508.10104) and SigLIP (arXiv:2303.15343, arXiv:2502.14786). Sources:
 * modeling_dinov2.py, modeling_dinov2_with_registers.py, modeling_dinov3_vit.py and modeling_siglip.py of
 * huggingface/transformers 4.57. */
#include <stddef.h>

#include "service/base/quantity.h"
#include "service/model/families/config.h"
#include "service/model/families/encoder_parts.h"
#include "service/model/families/tables.h"
#include "service/model/families/vision.h"

/* The usual MLP is so many times as wide as the layers. A gated one takes two thirds of that, rounded up to a multiple
 * of 8 (Dinov2SwiGLUFFN). */
static void
read_dino_mlp(struct reader *reader, uint64_t hidden, struct layer_kind *kind)
{
    uint64_t width = reader_count_or(reader, "mlp_ratio", 1, 64, 4) * hidden;

    kind->gated = reader_flag_or(reader, "use_swiglu_ffn", false);
    if (kind->gated)
        width = u64_ceil_div(2 * width / 3, 8) * 8;
    kind->intermediate_size = (uint32_t)u64_min(width, LIMIT_WIDTH);
}

/* Patches, a class token, one that stands for a masked patch, positions, the layers with two scales each, a norm. */
static uint64_t
read_dino_encoder(struct reader *reader, uint32_t registers)
{
    static const char *const no_size[] = {
        "drop_path_rate",        "layerscale_value",   "apply_layernorm",      "out_features",
        "out_indices",           "stage_names",        "use_mask_token",       "antialias",
        "interpolate_antialias", "interpolate_offset", "reshape_hidden_states"
    };
    struct encoder encoder = { .hidden = reader_count(reader, "hidden_size", 1, LIMIT_HIDDEN),
                               .layers = reader_count(reader, "num_hidden_layers", 1, LIMIT_LAYERS),
                               .heads = reader_count(reader, "num_attention_heads", 1, LIMIT_HEADS) };
    struct model_arch *arch = reader->arch;
    uint64_t image = reader_count_or(reader, "image_size", 1, LIMIT_SMALL, 224);
    uint64_t patch = reader_count_or(reader, "patch_size", 1, LIMIT_SMALL, registers > 0 ? 16 : 14);
    uint64_t channels = reader_count_or(reader, "num_channels", 1, LIMIT_SMALL, 3);
    uint64_t patches = (image / patch) * (image / patch);
    struct layer_kind kind;

    if (patch > image)
        reader_contradiction(reader, "patch_size", patch, "at most image_size", image);
    if (encoder.hidden % encoder.heads != 0)
        reader_contradiction(reader, "num_attention_heads", encoder.heads, "divides hidden_size", encoder.hidden);
    config_pass_over(reader, no_size, COUNT_OF(no_size));
    arch->position_elements = (patches + 1) * encoder.hidden;
    arch->final_norm_elements = 2 * encoder.hidden + vision_linear(channels * patch * patch, encoder.hidden) +
                                registers * encoder.hidden + 2 * encoder.hidden;
    arch->max_context_tokens = (uint32_t)patches + 1 + registers;
    kind = encoder_layer(&encoder, reader_flag_or(reader, "qkv_bias", true));
    kind.other_elements = 2 * encoder.hidden;
    read_dino_mlp(reader, encoder.hidden, &kind);
    encoder_append(reader, &encoder, &kind);
    return encoder.hidden;
}

static uint32_t
read_registers(struct reader *reader, const struct decoder *traits)
{
    return traits == NULL ? 0 : reader_count_or(reader, "num_register_tokens", 1, LIMIT_SMALL, 4);
}

static void
read_dino(struct reader *reader, const struct decoder *traits)
{
    (void)read_dino_encoder(reader, read_registers(reader, traits));
}

/* Labels read the class token and the mean of the patches. */
static void
read_dino_classifier(struct reader *reader, const struct decoder *traits)
{
    uint64_t hidden = read_dino_encoder(reader, read_registers(reader, traits));

    reader->arch->final_norm_elements += vision_linear(2 * hidden, reader_image_labels(reader));
}

/* DINOv3: rotary positions instead of a table, a bias or none on each matrix of attention, an MLP as wide as stated. */
static void
read_dino3(struct reader *reader, const struct decoder *traits)
{
    static const char *const biases[] = { "query_bias", "key_bias", "value_bias" };
    static const char *const no_size[] = { "drop_path_rate",     "layerscale_value",     "apply_layernorm",
                                           "out_features",       "out_indices",          "stage_names",
                                           "pos_embed_jitter",   "pos_embed_shift",      "pos_embed_rescale",
                                           "return_class_token", "reshape_hidden_states" };
    struct encoder encoder = encoder_read(reader, &(struct encoder){ 0 });
    struct model_arch *arch = reader->arch;
    uint64_t image = reader_count_or(reader, "image_size", 1, LIMIT_SMALL, 224);
    uint64_t patch = reader_count_or(reader, "patch_size", 1, LIMIT_SMALL, 16);
    uint64_t channels = reader_count_or(reader, "num_channels", 1, LIMIT_SMALL, 3);
    uint32_t registers = reader_count_or(reader, "num_register_tokens", 0, LIMIT_SMALL, 0);
    struct layer_kind kind = encoder_layer(&encoder, false);

    (void)traits;
    if (patch > image)
        reader_contradiction(reader, "patch_size", patch, "at most image_size", image);
    config_pass_over(reader, no_size, COUNT_OF(no_size));
    kind.other_elements = 2 * encoder.hidden;
    for (size_t i = 0; i < COUNT_OF(biases); i++)
        kind.other_elements += reader_flag_or(reader, biases[i], i != 1) ? encoder.hidden : 0; /* keys have none */
    kind.out_bias = reader_flag_or(reader, "proj_bias", true);
    kind.mlp_bias = reader_flag_or(reader, "mlp_bias", true);
    kind.gated = reader_flag_or(reader, "use_gated_mlp", false);
    arch->final_norm_elements =
        (2 + registers) * encoder.hidden + vision_linear(channels * patch * patch, encoder.hidden) + 2 * encoder.hidden;
    arch->max_context_tokens = (uint32_t)((image / patch) * (image / patch)) + 1 + registers;
    encoder_append(reader, &encoder, &kind);
}

/* Sets no trait: only tells the class with registers from the one without. */
static const struct decoder with_registers = { .tied = true };

/* A text and an image encoder; the text's last token is projected, an image's patches are read by a probe. Scale and
 * bias of the logits are one element each. */
static void
read_siglip(struct reader *reader, const struct decoder *traits)
{
    static const struct encoder text_sizes = { .hidden = 768, .layers = 12, .heads = 12, .intermediate = 3072 };
    struct model_arch *arch = reader->arch;
    uint64_t image_hidden = 1;

    (void)traits;
    if (!config_enter(reader, "text_config"))
        return;
    struct encoder text = encoder_read(reader, &text_sizes);
    struct layer_kind kind = encoder_layer(&text, true);
    uint64_t positions = reader_count_or(reader, "max_position_embeddings", 1, LIMIT_VOCABULARY, 64);
    uint64_t projection = reader_count_or(reader, "projection_size", 1, LIMIT_WIDTH, (uint32_t)text.hidden);
    arch->vocabulary_size = reader_count_or(reader, "vocab_size", 1, LIMIT_VOCABULARY, 32000);
    reader_leave(reader);
    arch->max_context_tokens = (uint32_t)positions;
    arch->position_elements = positions * text.hidden;
    arch->final_norm_elements = 2 * text.hidden + vision_linear(text.hidden, projection) + 2;
    encoder_append(reader, &text, &kind);
    uint64_t tower = vision_siglip(reader, &image_hidden);
    if (image_hidden != projection)
        reader_contradiction(reader, "text_config/projection_size", projection,
                             "vision_config/hidden_size =", image_hidden);
    arch->tower_elements = tower;
    arch->extra_parameters = (int64_t)u64_min(tower, INT64_MAX);
}

const struct family_class family_image_encoders[] = {
    { "Dinov2Model", "dinov2", read_dino, NULL },
    { "Dinov2ForImageClassification", "", read_dino_classifier, NULL },
    { "Dinov2WithRegistersModel", "dinov2_with_registers", read_dino, &with_registers },
    { "Dinov2WithRegistersForImageClassification", "", read_dino_classifier, &with_registers },
    { "DINOv3ViTModel", "dinov3_vit", read_dino3, NULL },
    { "SiglipModel", "siglip", read_siglip, NULL },
    { NULL, NULL, NULL, NULL },
};
