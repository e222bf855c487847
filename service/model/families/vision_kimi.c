/* MoonViT, the tower of Kimi-VL, Kimi K2.5 and K3, and its projection. Sources: modeling_kimi_k25.py of
 * moonshotai/Kimi-K2.5, modeling_kimi_vl.py of moonshotai/Kimi-VL-A3B-Instruct; models/kimi_k3_vl.py of
 * sgl-project/sglang, a port of modeling_kimi_k3.py. */
#include <stddef.h>

#include "service/base/quantity.h"
#include "service/model/families/config.h"
#include "service/model/families/vision.h"

/* Keys that name a kind of positions, of merging, of attention: none has weights. */
static void
read_kinds(struct reader *reader)
{
    static const struct {
        const char *key, *value;
    } fixed[] = {
        { "merge_type", "sd2_tpool" },
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
    config_pass_over(reader, no_size, COUNT_OF(no_size));
}

/* Blocks with layer norms and biases behind learned positions on a grid; merged patches pass a norm and two matrices.
 */
uint64_t
vision_kimi(struct reader *reader, uint32_t text_hidden_size)
{
    if (!config_enter(reader, "vision_config"))
        return 0;
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
    reader_fixed(reader, "mm_projector_type", "patchmerger");
    reader_leave(reader);
    return vision_linear(3 * patch * patch, hidden) + rows * columns * hidden +
           layers * vision_block(hidden, intermediate) + 2 * hidden + 2 * read + vision_linear(merged, merged) +
           vision_linear(merged, text_hidden_size);
}

/* Keys of K3 that say what the tower goes without. */
static void
read_k3_kinds(struct reader *reader)
{
    static const struct {
        const char *key, *value;
    } fixed[] = {
        { "mm_projector_type", "patchmergerv2" },
        { "norm_type", "rmsnorm" },
        { "mlp_type", "mlp2" },
        { "attn_bias", "false" },
        { "linear_bias", "false" },
        { "patch_embed_proj_bias", "false" },
    };

    read_kinds(reader);
    for (size_t i = 0; i < COUNT_OF(fixed); i++)
        reader_fixed(reader, fixed[i].key, fixed[i].value);
    (void)reader_find(reader, "pos_emb_interpolation_mode");
    (void)reader_find(reader, "activation_func");
}

/* The same without biases, with RMS norms, and heads of a width of their own; the projection has its norm behind. */
uint64_t
vision_kimi_k3(struct reader *reader, uint32_t text_hidden_size)
{
    if (!config_enter(reader, "vision_config"))
        return 0;
    uint64_t hidden = reader_count(reader, "vt_hidden_size|hidden_size", 1, LIMIT_HIDDEN);
    uint64_t layers = reader_count(reader, "vt_num_hidden_layers|num_hidden_layers", 1, LIMIT_LAYERS);
    uint64_t intermediate = reader_count(reader, "vt_intermediate_size|intermediate_size", 1, LIMIT_WIDTH);
    uint64_t heads = reader_count_or(reader, "qkv_hidden_size", 1, LIMIT_WIDTH, (uint32_t)hidden);
    uint64_t patch = reader_count(reader, "patch_size", 1, 256);
    uint64_t rows = reader_count(reader, "init_pos_emb_height", 1, LIMIT_SMALL);
    uint64_t columns = reader_count(reader, "init_pos_emb_width", 1, LIMIT_SMALL);
    uint64_t read = reader_count_or(reader, "mm_hidden_size", 1, LIMIT_HIDDEN, (uint32_t)hidden);
    uint64_t merged = (uint64_t)reader_count(reader, "merge_kernel_size/0", 1, 16) *
                      reader_count(reader, "merge_kernel_size/1", 1, 16) * read;
    uint64_t block = 4 * hidden * heads + 2 * hidden * intermediate + 2 * hidden;

    read_k3_kinds(reader);
    reader_leave(reader);
    return 3 * patch * patch * hidden + rows * columns * hidden + layers * block + hidden + merged * merged +
           merged * text_hidden_size + text_hidden_size;
}
