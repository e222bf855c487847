/* The perception encoder of Muse Glimmer and what carries its output to the text model. Source: models/muse_glimmer of
 * huggingface/transformers 5.16. */
#include "service/base/quantity.h"
#include "service/model/families/config.h"
#include "service/model/families/vision.h"

/* Blocks with layer norms and biases between two more norms, learned positions on a grid; squares of patches pass three
 * matrices without biases. */
uint64_t
vision_muse_glimmer(struct reader *reader, uint32_t text_hidden_size)
{
    static const char *const no_size[] = { "interpolation_mode", "interpolation_align_corners", "interpolation_padding",
                                           "num_attention_heads", "layer_types" };
    uint64_t merged = reader_count_or(reader, "out_hidden_size", 1, LIMIT_WIDTH, 6144);
    uint64_t inner = reader_count_or(reader, "projector_hidden_size", 1, LIMIT_WIDTH, 4096);

    if (!config_enter(reader, "vision_config"))
        return 0;
    uint64_t hidden = reader_count_or(reader, "hidden_size", 1, LIMIT_HIDDEN, 1536);
    uint64_t layers = reader_count_or(reader, "num_hidden_layers", 1, LIMIT_LAYERS, 50);
    uint64_t intermediate = reader_count_or(reader, "intermediate_size", 1, LIMIT_WIDTH, 8960);
    uint64_t patch = reader_count_or(reader, "patch_size", 1, 256, 14);
    uint64_t frames = reader_count_or(reader, "patch_temporal", 1, 256, 2);
    uint64_t rows = reader_count_or(reader, "pos_emb_height", 1, LIMIT_SMALL, 32);
    uint64_t columns = reader_count_or(reader, "pos_emb_width", 1, LIMIT_SMALL, 32);
    uint64_t merge = reader_count_or(reader, "merge_size", 1, 64, 2);

    config_pass_over(reader, no_size, COUNT_OF(no_size));
    reader_leave(reader);
    if (merged != merge * merge * hidden)
        reader_contradiction(reader, "out_hidden_size", merged, "merge_size^2 x hidden_size =", merge * merge * hidden);
    return 3 * frames * patch * patch * hidden + rows * columns * hidden + 4 * hidden +
           layers * vision_block(hidden, intermediate) + merged * inner + inner * inner + inner * text_hidden_size;
}
