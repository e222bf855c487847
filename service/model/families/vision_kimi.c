/* MoonViT, the tower of Kimi-VL, Kimi K2.5 and later, and its projection. Sources: modeling_kimi_k25.py of
 * moonshotai/Kimi-K2.5 and modeling_kimi_vl.py of moonshotai/Kimi-VL-A3B-Instruct. */
#include <stddef.h>

#include "service/base/quantity.h"
#include "service/model/families/vision.h"

/* Keys that name a kind of positions, of merging, of attention: none has weights. */
static void
read_kinds(struct reader *reader)
{
    static const struct {
        const char *key, *value;
    } fixed[] = {
        { "merge_type", "sd2_tpool" },
        { "mm_projector_type", "patchmerger" },
        { "pos_emb_type", "divided_fixed" },
        { "video_attn_type", "spatial_temporal" },
    };
    static const char *const no_size[] = { "vt_num_attention_heads|num_attention_heads",
                                           "init_pos_emb_time",
                                           "text_hidden_size",
                                           "projector_ln_eps",
                                           "merge_kernel_size",
                                           "rope_theta" };

    for (size_t i = 0; i < COUNT_OF(fixed); i++)
        reader_fixed(reader, fixed[i].key, fixed[i].value);
    for (size_t i = 0; i < COUNT_OF(no_size); i++)
        (void)reader_find(reader, no_size[i]);
}

/* Blocks with layer norms and biases behind learned positions on a grid; merged patches pass a norm and two matrices.
 */
uint64_t
vision_kimi(struct reader *reader, uint32_t text_hidden_size)
{
    if (!reader_enter(reader, "vision_config")) {
        reader_fault(reader, FAULT_MODEL_FIELD_MISSING, "vision_config", NULL, "object");
        return 0;
    }
    uint64_t hidden = reader_count_or(reader, "vt_hidden_size|hidden_size", 1, LIMIT_HIDDEN, 1152);
    uint64_t layers = reader_count_or(reader, "vt_num_hidden_layers|num_hidden_layers", 1, LIMIT_LAYERS, 27);
    uint64_t intermediate = reader_count_or(reader, "vt_intermediate_size|intermediate_size", 1, LIMIT_WIDTH, 4304);
    uint64_t patch = reader_count_or(reader, "patch_size", 1, 256, 14);
    uint64_t rows = reader_count_or(reader, "init_pos_emb_height", 1, LIMIT_SMALL, 64);
    uint64_t columns = reader_count_or(reader, "init_pos_emb_width", 1, LIMIT_SMALL, 64);
    uint64_t read = reader_count_or(reader, "mm_hidden_size", 1, LIMIT_HIDDEN, (uint32_t)hidden);
    uint64_t merged = (uint64_t)reader_count_or(reader, "merge_kernel_size/0", 1, 16, 2) *
                      reader_count_or(reader, "merge_kernel_size/1", 1, 16, 2) * read;
    read_kinds(reader);
    reader_leave(reader);
    return vision_linear(3 * patch * patch, hidden) + rows * columns * hidden +
           layers * vision_block(hidden, intermediate) + 2 * hidden + 2 * read + vision_linear(merged, merged) +
           vision_linear(merged, text_hidden_size);
}
