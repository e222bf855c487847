/* Vision towers of the Qwen-VL generations, tensor by tensor. Sources as in vision.c. */
#include "service/base/quantity.h"
#include "service/model/families/config.h"
#include "service/model/families/vision.h"

/* What all generations say of patches: pixels of some frames, merged in squares at the end. */
struct patches {
    uint64_t elements, merged;
};

static struct patches
read_patches(struct reader *reader, uint32_t patch)
{
    uint64_t side = reader_count_or(reader, "patch_size|spatial_patch_size", 1, 256, patch);
    uint64_t frames = reader_count_or(reader, "temporal_patch_size", 1, 256, 2);
    uint64_t channels = reader_count_or(reader, "in_channels|in_chans", 1, 256, 3);
    uint64_t merge = reader_count_or(reader, "spatial_merge_size", 1, 64, 2);
    static const char *const no_size[] = { "in_chans",  "in_channels", "spatial_patch_size",
                                           "num_heads", "window_size", "fullatt_block_indexes" };

    config_pass_over(reader, no_size, COUNT_OF(no_size));
    return (struct patches){ .elements = channels * frames * side * side, .merged = merge * merge };
}

/* Two matrices after a norm, from merged patches to the text model. */
static uint64_t
merger(uint64_t wide, uint64_t out)
{
    return vision_linear(wide, wide) + vision_linear(wide, out);
}

uint64_t
vision_qwen2(struct reader *reader, uint32_t text_hidden_size)
{
    if (!config_enter(reader, "vision_config"))
        return 0;
    struct patches patches = read_patches(reader, 14);
    uint64_t hidden = reader_count_or(reader, "embed_dim", 1, LIMIT_HIDDEN, 1280);
    uint64_t depth = reader_count_or(reader, "depth", 1, LIMIT_LAYERS, 32);
    uint64_t ratio = reader_count_or(reader, "mlp_ratio", 1, 64, 4);
    uint64_t out = reader_count_or(reader, "hidden_size", 1, LIMIT_HIDDEN, text_hidden_size);
    reader_leave(reader);
    return patches.elements * hidden + depth * vision_block(hidden, ratio * hidden) + 2 * hidden +
           merger(patches.merged * hidden, out);
}

uint64_t
vision_qwen2_5(struct reader *reader, uint32_t text_hidden_size)
{
    if (!config_enter(reader, "vision_config"))
        return 0;
    struct patches patches = read_patches(reader, 14);
    uint64_t hidden = reader_count_or(reader, "hidden_size", 1, LIMIT_HIDDEN, 1280);
    uint64_t depth = reader_count_or(reader, "depth", 1, LIMIT_LAYERS, 32);
    uint64_t intermediate = reader_count_or(reader, "intermediate_size", 1, LIMIT_WIDTH, 3420);
    uint64_t out = reader_count_or(reader, "out_hidden_size", 1, LIMIT_HIDDEN, text_hidden_size);
    /* RMS norms and a gated MLP, with biases */
    uint64_t block = 4 * vision_linear(hidden, hidden) + 2 * vision_linear(hidden, intermediate) +
                     vision_linear(intermediate, hidden) + 2 * hidden;
    reader_leave(reader);
    return patches.elements * hidden + depth * block + hidden + merger(patches.merged * hidden, out);
}

/* `stacked`: the class default of how many layers are handed on. */
static uint64_t
read_qwen3(struct reader *reader, uint32_t text_hidden_size, uint32_t stacked)
{
    if (!config_enter(reader, "vision_config"))
        return 0;
    struct patches patches = read_patches(reader, 16);
    uint64_t hidden = reader_count_or(reader, "hidden_size", 1, LIMIT_HIDDEN, 1152);
    uint64_t depth = reader_count_or(reader, "depth", 1, LIMIT_LAYERS, 27);
    uint64_t intermediate = reader_count_or(reader, "intermediate_size", 1, LIMIT_WIDTH, 4304);
    uint64_t positions = reader_count_or(reader, "num_position_embeddings", 1, 1 << 20, 2304);
    uint64_t out = reader_count_or(reader, "out_hidden_size", 1, LIMIT_HIDDEN, text_hidden_size);
    /* mergers that hand intermediate layers to the text model: like the last, but normed after merging */
    if (reader_find(reader, "deepstack_visual_indexes") != NULL)
        stacked = reader_list_length(reader, "deepstack_visual_indexes", LIMIT_SMALL);
    uint64_t wide = patches.merged * hidden;
    reader_leave(reader);
    return vision_linear(patches.elements, hidden) + positions * hidden + depth * vision_block(hidden, intermediate) +
           2 * hidden + merger(wide, out) + stacked * (2 * wide + merger(wide, out));
}

uint64_t
vision_qwen3(struct reader *reader, uint32_t text_hidden_size)
{
    return read_qwen3(reader, text_hidden_size, 3);
}

uint64_t
vision_qwen3_5(struct reader *reader, uint32_t text_hidden_size)
{
    return read_qwen3(reader, text_hidden_size, 0);
}
