/* The tower of MiniMax-M3 and what merges its patches. Source: models/minimax_m3_vl of huggingface/transformers 5.15.
 */
#include "service/base/quantity.h"
#include "service/model/families/config.h"
#include "service/model/families/vision.h"

/* Keys of the tower and around it that name a kind, not a size. */
static void
find_kinds(struct reader *reader)
{
    static const char *const no_size[] = { "num_attention_heads",
                                           "image_size",
                                           "projection_dim",
                                           "vocab_size",
                                           "rope_mode",
                                           "vision_segment_max_frames",
                                           "rope_theta",
                                           "img_token_compression_config",
                                           "image_grid_pinpoints",
                                           "image_token_compression_method",
                                           "process_image_mode" };

    reader_fixed(reader, "position_embedding_type", "rope");
    config_pass_over(reader, no_size, COUNT_OF(no_size));
}

/* Blocks with layer norms and biases behind one norm, no positions to learn; two matrices to the text model, two more
 * that merge squares of its vectors. */
uint64_t
vision_minimax_m3(struct reader *reader, uint32_t text_hidden_size)
{
    uint32_t frames = reader_count_or(reader, "temporal_patch_size", 1, 64, 2);
    uint32_t merge = reader_count_or(reader, "spatial_merge_size", 1, 64, 2);
    uint64_t text = text_hidden_size, projected;

    projected = reader_count_or(reader, "projector_hidden_size", 1, LIMIT_HIDDEN, text_hidden_size);
    if (projected != text)
        reader_contradiction(reader, "projector_hidden_size", projected, "hidden_size of text_config =", text);
    reader_fixed(reader, "multimodal_projector_bias", "true");
    find_kinds(reader);
    if (!config_enter(reader, "vision_config"))
        return 0;
    uint64_t hidden = reader_count_or(reader, "hidden_size", 1, LIMIT_HIDDEN, 1280);
    uint64_t layers = reader_count_or(reader, "num_hidden_layers", 1, LIMIT_LAYERS, 32);
    uint64_t intermediate = reader_count_or(reader, "intermediate_size", 1, LIMIT_WIDTH, 5120);
    uint64_t patch = reader_count_or(reader, "patch_size", 1, 256, 14);
    uint64_t channels = reader_count_or(reader, "num_channels", 1, 256, 3);
    frames = reader_count_or(reader, "temporal_patch_size", 1, 64, frames);
    merge = reader_count_or(reader, "spatial_merge_size", 1, 64, merge);
    find_kinds(reader);
    reader_leave(reader);
    return channels * frames * patch * patch * hidden + 2 * hidden + layers * vision_block(hidden, intermediate) +
           vision_linear(hidden, text) + vision_linear(text, text) +
           vision_linear((uint64_t)merge * merge * text, text) + vision_linear(text, text);
}
