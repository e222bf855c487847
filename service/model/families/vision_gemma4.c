/* What Gemma 4 sees and hears with, tensor by tensor. Source: models/gemma4 and models/gemma4_unified of
 * huggingface/transformers 5.15; the bounds of its clipped matrices are single numbers that files do not count. */
#include "service/base/quantity.h"
#include "service/model/families/config.h"
#include "service/model/families/vision.h"

/* A matrix to the text model behind a norm without weights. */
static uint64_t
embedder(uint64_t in, uint64_t text_hidden_size)
{
    return in * text_hidden_size;
}

/* Gated blocks with four norms and normed queries and keys; a table of positions for either axis. */
static uint64_t
eyes(struct reader *reader, uint32_t text_hidden_size)
{
    static const char *const no_size[] = { "global_head_dim", "default_output_length", "pooling_kernel_size",
                                           "use_clipped_linears" };
    uint64_t hidden = reader_count_or(reader, "hidden_size", 1, LIMIT_HIDDEN, 768);
    uint64_t layers = reader_count_or(reader, "num_hidden_layers", 1, LIMIT_LAYERS, 16);
    uint64_t intermediate = reader_count_or(reader, "intermediate_size", 1, LIMIT_WIDTH, 3072);
    uint64_t heads = reader_count_or(reader, "num_attention_heads", 1, LIMIT_HEADS, 12);
    uint64_t kv_heads = reader_count_or(reader, "num_key_value_heads", 1, LIMIT_HEADS, 12);
    uint64_t head_size = reader_count_or(reader, "head_dim", 1, LIMIT_SMALL, 64);
    uint64_t patch = reader_count_or(reader, "patch_size", 1, LIMIT_SMALL, 16);
    uint64_t positions = reader_count_or(reader, "position_embedding_size", 1, 1 << 20, 10240);
    uint64_t block =
        2 * (heads + kv_heads) * head_size * hidden + 3 * hidden * intermediate + 4 * hidden + 2 * head_size;

    reader_fixed(reader, "attention_bias", "false");
    config_pass_over(reader, no_size, COUNT_OF(no_size));
    return layers * block + 3 * patch * patch * hidden + 2 * positions * hidden +
           (reader_flag_or(reader, "standardize", false) ? 2 * hidden : 0) + embedder(hidden, text_hidden_size);
}

/* Two convolutions that take a quarter of the frames and bins, then conformer blocks: two MLPs of four hidden,
 * attention with a matrix for relative positions, a gated convolution. */
static uint64_t
ears(struct reader *reader, uint32_t text_hidden_size)
{
    static const char *const no_size[] = {
        "attention_chunk_size",           "attention_context_left", "attention_context_right", "attention_logit_cap",
        "attention_invalid_logits_value", "residual_weight",        "gradient_clipping",       "use_clipped_linears",
        "subsampling_conv_channels"
    };
    uint64_t hidden = reader_count_or(reader, "hidden_size", 1, LIMIT_HIDDEN, 1024);
    uint64_t layers = reader_count_or(reader, "num_hidden_layers", 1, LIMIT_LAYERS, 12);
    uint64_t heads = reader_count_or(reader, "num_attention_heads", 1, LIMIT_HEADS, 8);
    uint64_t kernel = reader_count_or(reader, "conv_kernel_size", 1, LIMIT_SMALL, 5);
    uint64_t out = reader_count_or(reader, "output_proj_dims", 1, LIMIT_WIDTH, 1536);
    uint64_t first = reader_count_or(reader, "subsampling_conv_channels/0", 1, LIMIT_SMALL, 128);
    uint64_t second = reader_count_or(reader, "subsampling_conv_channels/1", 1, LIMIT_SMALL, 32);
    uint64_t mlp = 8 * hidden * hidden + 2 * hidden;
    uint64_t attention = 5 * hidden * hidden + hidden / heads;
    uint64_t convolution = 3 * hidden * hidden + kernel * hidden + 2 * hidden;
    uint64_t stem = 9 * first + first + 9 * first * second + second + first / 4 * second * hidden;

    config_pass_over(reader, no_size, COUNT_OF(no_size));
    return stem + layers * (2 * mlp + attention + convolution + 3 * hidden) + vision_linear(hidden, out) +
           embedder(out, text_hidden_size);
}

/* A tower that is there when its object is. */
static uint64_t
part(struct reader *reader, const char *object, vision_tower *count, uint32_t text_hidden_size)
{
    uint64_t elements;

    if (!reader_enter(reader, object))
        return 0;
    elements = count(reader, text_hidden_size);
    reader_leave(reader);
    return elements;
}

uint64_t
vision_gemma4(struct reader *reader, uint32_t text_hidden_size)
{
    (void)reader_find(reader, "vision_soft_tokens_per_image");
    return part(reader, "vision_config", eyes, text_hidden_size) + part(reader, "audio_config", ears, text_hidden_size);
}

/* No tower: merged patches through layer norms and one matrix with a bias, a table of positions for either axis. */
static uint64_t
patches(struct reader *reader, uint32_t text_hidden_size)
{
    static const char *const no_size[] = { "model_patch_size", "num_soft_tokens", "output_proj_dims",
                                           "default_output_length" };
    uint64_t side = (uint64_t)reader_count_or(reader, "patch_size", 1, 256, 16) *
                    reader_count_or(reader, "pooling_kernel_size", 1, 64, 3);
    uint64_t width = reader_count_or(reader, "mm_embed_dim", 1, LIMIT_HIDDEN, 3840);
    uint64_t positions = reader_count_or(reader, "mm_posemb_size", 1, 1 << 20, 1120);
    uint64_t pixels = 3 * side * side;

    config_pass_over(reader, no_size, COUNT_OF(no_size));
    return 2 * pixels + vision_linear(pixels, width) + 4 * width + 2 * positions * width +
           embedder(width, text_hidden_size);
}

static uint64_t
frames(struct reader *reader, uint32_t text_hidden_size)
{
    (void)reader_find(reader, "hidden_size");
    (void)reader_find(reader, "output_proj_dims");
    (void)reader_find(reader, "audio_samples_per_token");
    return embedder(reader_count_or(reader, "audio_embed_dim", 1, LIMIT_HIDDEN, 640), text_hidden_size);
}

uint64_t
vision_gemma4_unified(struct reader *reader, uint32_t text_hidden_size)
{
    (void)reader_find(reader, "vision_soft_tokens_per_image");
    return part(reader, "vision_config", patches, text_hidden_size) +
           part(reader, "audio_config", frames, text_hidden_size);
}
