/* The tower of Step-3.7 and what carries its output to the text model. Source: models/step3p7 of
 * huggingface/transformers 5.15; the first keys are those of its checkpoint. */
#include <stddef.h>

#include "service/base/quantity.h"
#include "service/model/families/config.h"
#include "service/model/families/vision.h"

/* Blocks with layer norms, biases and a scale of each of their two outputs, behind learned positions and a norm; two
 * convolutions of 3 x 3 halve the grid and double the width, one matrix follows. */
uint64_t
vision_step(struct reader *reader, uint32_t text_hidden_size)
{
    static const char *const no_size[] = {
        "heads|num_attention_heads", "ls_init_value", "layer_scale_init_value", "use_rope2d", "pool_type", "output_dim"
    };

    reader_fixed(reader, "projector_bias", "false");
    (void)reader_find(reader, "understand_projector_stride");
    if (!config_enter(reader, "vision_config"))
        return 0;
    uint64_t width = reader_count(reader, "width|hidden_size", 1, LIMIT_HIDDEN);
    uint64_t layers = reader_count(reader, "layers|num_hidden_layers", 1, LIMIT_LAYERS);
    uint64_t patch = reader_count_or(reader, "patch_size", 1, 256, 14);
    uint64_t channels = reader_count_or(reader, "num_channels", 1, 256, 3);
    uint64_t side = reader_count_or(reader, "image_size", 1, LIMIT_SMALL, 728) / patch;
    uint64_t intermediate = reader_count_or(reader, "intermediate_size", 0, LIMIT_WIDTH, 0);

    if (intermediate == 0) { /* not on the checkpoint's files: they hold the quotient */
        if (reader_get(reader, "mlp_ratio") == NULL)
            reader_fault(reader, FAULT_MODEL_FIELD_MISSING, "mlp_ratio", NULL, "number above 0");
        intermediate = (uint64_t)((double)width * reader_factor(reader, "mlp_ratio") + 0.5);
    }
    reader_fixed(reader, "use_cls_token", "false");
    reader_fixed(reader, "use_ln_post", "false");
    reader_fixed(reader, "use_ln_pre", "true");
    reader_fixed(reader, "use_abs_posemb", "true");
    config_pass_over(reader, no_size, COUNT_OF(no_size));
    reader_leave(reader);
    return channels * patch * patch * width + side * side * width + 2 * width +
           layers * (vision_block(width, intermediate) + 2 * width) + vision_linear(9 * width, 2 * width) +
           vision_linear(18 * width, 4 * width) + 4 * width * text_hidden_size;
}
