/* Vision towers, tensor by tensor. Sources: the modelling files of huggingface/transformers 4.57 (clip, siglip,
 * pixtral, gemma3, llama4, qwen2_vl, qwen2_5_vl, qwen3_vl, llava, mistral3); totals in tests/data/models. */
#include "service/model/families/vision.h"

#include <string.h>

#include "service/base/quantity.h"
#include "service/model/families/config.h"

/* Sizes below keep sums of a few products inside 64 bits: 2^22 x 2^20 x 2^12. */
struct tower {
    uint64_t hidden, layers, intermediate, patches, patch_elements;
};

uint64_t
vision_linear(uint64_t in, uint64_t out)
{
    return in * out + out;
}

uint64_t
vision_block(uint64_t hidden, uint64_t intermediate)
{
    return 4 * vision_linear(hidden, hidden) + vision_linear(hidden, intermediate) +
           vision_linear(intermediate, hidden) + 4 * hidden;
}

/* The usual keys; a tower's config may hold only what differs from its class. */
static struct tower
read_tower(struct reader *reader, const struct tower *class_sizes, uint32_t image, uint32_t patch)
{
    struct tower tower;
    uint64_t image_size = reader_count_or(reader, "image_size", 1, LIMIT_SMALL, image);
    uint64_t patch_size = reader_count_or(reader, "patch_size", 1, LIMIT_SMALL, patch);
    uint64_t channels = reader_count_or(reader, "num_channels|in_channels|in_chans", 1, LIMIT_SMALL, 3);

    if (patch_size > image_size)
        reader_contradiction(reader, "patch_size", patch_size, "at most image_size", image_size);
    tower.hidden = reader_count_or(reader, "hidden_size", 1, LIMIT_HIDDEN, (uint32_t)class_sizes->hidden);
    tower.layers = reader_count_or(reader, "num_hidden_layers|depth", 1, LIMIT_LAYERS, (uint32_t)class_sizes->layers);
    tower.intermediate =
        reader_count_or(reader, "intermediate_size", 1, LIMIT_WIDTH, (uint32_t)class_sizes->intermediate);
    tower.patches = (image_size / patch_size) * (image_size / patch_size);
    tower.patch_elements = channels * patch_size * patch_size;
    (void)reader_find(reader, "num_attention_heads|num_heads");
    (void)reader_find(reader, "head_dim");
    (void)reader_find(reader, "projection_dim");
    (void)reader_find(reader, "vocab_size");
    (void)reader_find(reader, "attention_bias");
    return tower;
}

static uint64_t
clip(struct reader *reader, uint64_t *ret_hidden)
{
    static const struct tower class_sizes = { .hidden = 768, .layers = 12, .intermediate = 3072 };
    struct tower tower = read_tower(reader, &class_sizes, 224, 32);
    uint64_t hidden = tower.hidden;

    *ret_hidden = hidden;
    return hidden + tower.patch_elements * hidden + (tower.patches + 1) * hidden + 4 * hidden +
           tower.layers * vision_block(hidden, tower.intermediate);
}

static uint64_t
siglip(struct reader *reader, uint64_t *ret_hidden)
{
    static const struct tower class_sizes = { .hidden = 768, .layers = 12, .intermediate = 3072 };
    struct tower tower = read_tower(reader, &class_sizes, 224, 16);
    uint64_t hidden = tower.hidden;
    uint64_t elements = vision_linear(tower.patch_elements, hidden) + tower.patches * hidden + 2 * hidden +
                        tower.layers * vision_block(hidden, tower.intermediate);

    *ret_hidden = hidden;
    if (reader_flag_or(reader, "vision_use_head", true)) /* a probe that attends to all patches, and its MLP */
        elements += hidden + vision_block(hidden, tower.intermediate) - 2 * hidden;
    return elements;
}

/* Rotary positions, RMS norms, a gated MLP, no biases */
static uint64_t
pixtral(struct reader *reader, uint64_t *ret_hidden)
{
    static const struct tower class_sizes = { .hidden = 1024, .layers = 24, .intermediate = 4096 };
    struct tower tower = read_tower(reader, &class_sizes, 1024, 16);
    uint64_t hidden = tower.hidden;

    *ret_hidden = hidden;
    return tower.patch_elements * hidden + hidden +
           tower.layers * (4 * hidden * hidden + 3 * hidden * tower.intermediate + 2 * hidden);
}

/* The tower that /vision_config names; 0 after a fault. */
static uint64_t
tower_by_type(struct reader *reader, const char *absent, uint64_t *ret_hidden)
{
    uint64_t elements = 0;

    *ret_hidden = 1;
    if (!config_enter(reader, "vision_config"))
        return 0;
    const char *type = reader_word_or(reader, "model_type", absent);
    if (strcmp(type, "clip_vision_model") == 0)
        elements = clip(reader, ret_hidden);
    else if (strcmp(type, "siglip_vision_model") == 0)
        elements = siglip(reader, ret_hidden);
    else if (strcmp(type, "pixtral") == 0)
        elements = pixtral(reader, ret_hidden);
    else
        reader_fault(reader, FAULT_MODEL_FIELD_UNSUPPORTED, "model_type", type,
                     "clip_vision_model|siglip_vision_model|pixtral");
    reader_leave(reader);
    return elements;
}

uint64_t
vision_clip(struct reader *reader, uint64_t *ret_hidden_size)
{
    return tower_by_type(reader, "clip_vision_model", ret_hidden_size);
}

uint64_t
vision_siglip(struct reader *reader, uint64_t *ret_hidden_size)
{
    return tower_by_type(reader, "siglip_vision_model", ret_hidden_size);
}

uint64_t
vision_llava(struct reader *reader, uint32_t text_hidden_size)
{
    uint64_t hidden;
    uint64_t elements = tower_by_type(reader, "clip_vision_model", &hidden);
    bool bias = reader_flag_or(reader, "multimodal_projector_bias", true);

    return elements + (hidden + text_hidden_size + (bias ? 2 : 0)) * text_hidden_size;
}

/* One more row marks the end of a line of patches (llava-hf/llava-v1.6-mistral-7b-hf). */
uint64_t
vision_llava_next(struct reader *reader, uint32_t text_hidden_size)
{
    (void)reader_find(reader, "image_grid_pinpoints");
    (void)reader_find(reader, "use_image_newline_parameter");
    return vision_llava(reader, text_hidden_size) + text_hidden_size;
}

/* A SigLIP tower without a head, and one matrix over scale^2 patches (HuggingFaceTB/SmolVLM-256M). */
uint64_t
vision_idefics3(struct reader *reader, uint32_t text_hidden_size)
{
    static const struct tower class_sizes = { .hidden = 1152, .layers = 12, .intermediate = 3072 };
    uint64_t scale = reader_count_or(reader, "scale_factor", 1, 64, 2);

    if (!config_enter(reader, "vision_config"))
        return 0;
    struct tower tower = read_tower(reader, &class_sizes, 224, 32);
    uint64_t hidden = tower.hidden;
    (void)reader_find(reader, "max_image_size");
    (void)reader_find(reader, "size");
    (void)reader_find(reader, "tie_word_embeddings");
    reader_leave(reader);
    return vision_linear(tower.patch_elements, hidden) + tower.patches * hidden + 2 * hidden +
           tower.layers * vision_block(hidden, tower.intermediate) + scale * scale * hidden * text_hidden_size;
}

uint64_t
vision_mistral3(struct reader *reader, uint32_t text_hidden_size)
{
    uint64_t hidden;
    uint64_t elements = tower_by_type(reader, "pixtral", &hidden);
    uint64_t merge = reader_count_or(reader, "spatial_merge_size", 1, 64, 2);
    bool bias = reader_flag_or(reader, "multimodal_projector_bias", false);

    /* a norm, a merger of merge^2 patches, two matrices */
    return elements + hidden + merge * merge * hidden * hidden +
           (hidden + text_hidden_size + (bias ? 2 : 0)) * text_hidden_size;
}

uint64_t
vision_gemma3(struct reader *reader, uint32_t text_hidden_size)
{
    uint64_t hidden;
    uint64_t elements = tower_by_type(reader, "siglip_vision_model", &hidden);

    return elements + hidden * text_hidden_size + hidden;
}

uint64_t
vision_llama4(struct reader *reader, uint32_t text_hidden_size)
{
    static const struct tower class_sizes = { .hidden = 768, .layers = 34, .intermediate = 5632 };

    if (!config_enter(reader, "vision_config"))
        return 0;
    struct tower tower = read_tower(reader, &class_sizes, 448, 14);
    uint64_t adapter_in = reader_count_or(reader, "projector_input_dim", 1, LIMIT_WIDTH, 4096);
    uint64_t adapter_out = reader_count_or(reader, "projector_output_dim", 1, LIMIT_WIDTH, 4096);
    uint64_t out = reader_count_or(reader, "vision_output_dim", 1, LIMIT_WIDTH, 7680);
    uint64_t hidden = tower.hidden;
    (void)reader_find(reader, "pixel_shuffle_ratio");
    (void)reader_find(reader, "multi_modal_projector_bias");
    reader_leave(reader);
    return tower.patch_elements * hidden + hidden + (tower.patches + 1) * hidden + 4 * hidden +
           tower.layers * vision_block(hidden, tower.intermediate) + tower.intermediate * adapter_in +
           adapter_out * adapter_out + out * text_hidden_size;
}

void
vision_add(struct reader *reader, vision_tower *tower, uint32_t text_hidden_size)
{
    uint64_t elements = tower(reader, text_hidden_size);

    reader->arch->tower_elements = elements;
    reader->arch->extra_parameters = (int64_t)u64_min(elements, INT64_MAX);
}
