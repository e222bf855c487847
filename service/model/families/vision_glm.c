/* The tower of GLM-4.1V, 4.5V and 4.6V and what merges its patches. Source: models/glm4v and models/glm4v_moe of
 * huggingface/transformers. */
#include "service/base/quantity.h"
#include "service/model/families/config.h"
#include "service/model/families/vision.h"

/* Blocks with RMS norms, no biases and a gated MLP as wide as the text model; a convolution merges squares of patches,
 * then a matrix, a norm and a gated MLP of intermediate_size. */
uint64_t
vision_glm4(struct reader *reader, uint32_t text_hidden_size)
{
    static const char *const no_size[] = { "num_heads", "initializer_range" };

    if (!config_enter(reader, "vision_config"))
        return 0;
    uint64_t hidden = reader_count_or(reader, "hidden_size", 1, LIMIT_HIDDEN, 1536);
    uint64_t depth = reader_count_or(reader, "depth", 1, LIMIT_LAYERS, 24);
    uint64_t intermediate = reader_count_or(reader, "intermediate_size", 1, LIMIT_WIDTH, 13696);
    uint64_t out = reader_count_or(reader, "out_hidden_size", 1, LIMIT_HIDDEN, text_hidden_size);
    uint64_t patch = reader_count_or(reader, "patch_size", 1, 256, 14);
    uint64_t frames = reader_count_or(reader, "temporal_patch_size", 1, 256, 2);
    uint64_t channels = reader_count_or(reader, "in_channels", 1, 256, 3);
    uint64_t side = reader_count_or(reader, "image_size", 1, LIMIT_SMALL, 336) / patch;
    uint64_t merge = reader_count_or(reader, "spatial_merge_size", 1, 64, 2);
    uint64_t block = 4 * hidden * hidden + 3 * hidden * out + 2 * hidden;

    reader_fixed(reader, "attention_bias", "false");
    config_pass_over(reader, no_size, COUNT_OF(no_size));
    reader_leave(reader);
    return vision_linear(channels * frames * patch * patch, hidden) + side * side * hidden + depth * block +
           2 * hidden + vision_linear(merge * merge * hidden, out) + out * out + 2 * out + 3 * out * intermediate;
}

/* The tower of GLM-5.3-Flash: no learned positions, biases in the blocks, norms of query and key, and widths of their
 * own for the MLPs of blocks and of the merger. Source: models/glm_ocr of huggingface/transformers. */
uint64_t
vision_glm5_next(struct reader *reader, uint32_t text_hidden_size)
{
    static const char *const no_size[] = { "initializer_range", "image_size" };

    if (!config_enter(reader, "vision_config"))
        return 0;
    uint64_t hidden = reader_count(reader, "hidden_size", 1, LIMIT_HIDDEN);
    uint64_t depth = reader_count(reader, "depth", 1, LIMIT_LAYERS);
    uint64_t heads = reader_count(reader, "num_heads", 1, LIMIT_HEADS);
    uint64_t intermediate = reader_count(reader, "intermediate_size", 1, LIMIT_WIDTH);
    uint64_t projection = reader_count(reader, "projection_intermediate_size", 1, LIMIT_WIDTH);
    uint64_t out = reader_count_or(reader, "out_hidden_size", 1, LIMIT_HIDDEN, text_hidden_size);
    uint64_t patch = reader_count_or(reader, "patch_size", 1, 256, 14);
    uint64_t frames = reader_count_or(reader, "temporal_patch_size", 1, 256, 2);
    uint64_t channels = reader_count_or(reader, "in_channels", 1, 256, 3);
    uint64_t merge = reader_count_or(reader, "spatial_merge_size", 1, 64, 2);
    uint64_t block = 4 * vision_linear(hidden, hidden) + 2 * vision_linear(hidden, intermediate) +
                     vision_linear(intermediate, hidden) + 2 * hidden + 2 * (hidden / heads);

    reader_fixed(reader, "attention_bias", "true");
    config_pass_over(reader, no_size, COUNT_OF(no_size));
    reader_leave(reader);
    return vision_linear(channels * frames * patch * patch, hidden) + depth * block + hidden +
           vision_linear(merge * merge * hidden, out) + out * out + 2 * out + 3 * out * projection;
}
