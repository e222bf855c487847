/* Convolution networks: parameters, work and kept outputs summed over their convolutions. Sources: modeling_resnet.py
 * and modeling_convnext.py of huggingface/transformers 4.53 (arXiv:1512.03385 table 1, arXiv:2201.03545 table 9). */
#include <stddef.h>
#include <string.h>

#include "service/model/families/network.h"
#include "service/model/families/tables.h"

enum { MAX_STAGES = 8, IMAGE_SIZE = 224 };

/* A block with its shortcut; the shortcut is a convolution where shapes differ. Each convolution is normed. */
static void
append_residual(struct network *network, double in, double out, uint32_t stride, bool bottleneck)
{
    double narrow = bottleneck ? out / 4 : out;

    if (bottleneck) {
        network_convolve(network, in, narrow, 1, 1);
        network->parameters += 2 * narrow;
    }
    network_shrink(network, stride);
    network_convolve(network, bottleneck ? narrow : in, narrow, 3, 1);
    network_convolve(network, narrow, out, bottleneck ? 1 : 3, 1);
    network->parameters += 2 * narrow + 2 * out;
    if (in != out || stride != 1) {
        network_convolve(network, in, out, 1, 1);
        network->parameters += 2 * out;
    }
}

static uint32_t
read_stages(struct reader *reader, uint32_t *widths, uint32_t *depths)
{
    uint32_t count = reader_list_length(reader, "hidden_sizes", MAX_STAGES);

    if (count == 0)
        reader_fault(reader, FAULT_MODEL_FIELD_MISSING, "hidden_sizes", NULL, "array");
    uint32_t depth_count = reader_list_length(reader, "depths", MAX_STAGES);
    if (depth_count != count)
        reader_contradiction(reader, "depths", depth_count, "hidden_sizes =", count);
    for (uint32_t i = 0; i < count; i++) {
        widths[i] = reader_list_count(reader, "hidden_sizes", i, 4, LIMIT_WIDTH);
        depths[i] = i < depth_count ? reader_list_count(reader, "depths", i, 1, LIMIT_SMALL) : 1;
    }
    (void)reader_find(reader, "num_stages");
    return count;
}

static void
finish(struct reader *reader, struct network *network, double width)
{
    double classes = reader_image_labels(reader);

    network->parameters += width * classes + classes;
    network->flop += 2 * width * classes;
    network_finish(network, reader->arch);
}

static void
read_resnet(struct reader *reader, const struct decoder *traits)
{
    uint32_t widths[MAX_STAGES];
    uint32_t depths[MAX_STAGES];
    uint32_t stages = read_stages(reader, widths, depths);
    struct network network = { .side = reader_count_or(reader, "image_size", 1, LIMIT_SMALL, IMAGE_SIZE) };
    double in = reader_count_or(reader, "embedding_size", 1, LIMIT_WIDTH, 64);
    const char *block_type = reader_word_or(reader, "layer_type", "bottleneck");
    bool bottleneck = strcmp(block_type, "bottleneck") == 0;

    if (!bottleneck && strcmp(block_type, "basic") != 0)
        reader_fault(reader, FAULT_MODEL_FIELD_UNSUPPORTED, "layer_type", block_type, "bottleneck|basic");
    (void)traits;
    reader_fixed(reader, "downsample_in_first_stage", "false");
    reader_fixed(reader, "downsample_in_bottleneck", "false");
    network_shrink(&network, 2);
    network_convolve(&network, reader_count_or(reader, "num_channels", 1, LIMIT_SMALL, 3), in, 7, 1);
    network.parameters += 2 * in;
    network_shrink(&network, 2);
    for (uint32_t stage = 0; stage < stages; stage++) {
        for (uint32_t block = 0; block < depths[stage]; block++) {
            append_residual(&network, in, widths[stage], stage > 0 && block == 0 ? 2 : 1, bottleneck);
            in = widths[stage];
        }
    }
    finish(reader, &network, in);
}

/* Depth-wise 7 x 7, a norm, two matrices over channels, a scale; biases throughout. */
static void
append_convnext(struct network *network, double width, bool scaled)
{
    network_convolve(network, width, width, 7, width);
    network_convolve(network, width, 4 * width, 1, 1);
    network_convolve(network, 4 * width, width, 1, 1);
    network->parameters += width + 2 * width + 4 * width + width + (scaled ? width : 0);
}

static void
read_convnext(struct reader *reader, const struct decoder *traits)
{
    uint32_t widths[MAX_STAGES];
    uint32_t depths[MAX_STAGES];
    uint32_t stages = read_stages(reader, widths, depths);
    struct network network = { .side = reader_count_or(reader, "image_size", 1, LIMIT_SMALL, IMAGE_SIZE) };
    double in = reader_count_or(reader, "num_channels", 1, LIMIT_SMALL, 3);
    const struct fact *scale = reader_get(reader, "layer_scale_init_value");
    uint32_t stride = reader_count_or(reader, "patch_size", 1, LIMIT_SMALL, 4);

    (void)traits;
    for (uint32_t stage = 0; stage < stages; stage++) {
        network_shrink(&network, stride);
        network_convolve(&network, in, widths[stage], stride, 1);
        network.parameters += widths[stage] + 2 * (stage == 0 ? (double)widths[stage] : in); /* bias; norm */
        for (uint32_t block = 0; block < depths[stage]; block++)
            append_convnext(&network, widths[stage], scale == NULL || scale->real > 0);
        in = widths[stage];
        stride = 2;
    }
    network.parameters += 2 * in;
    finish(reader, &network, in);
}

const struct family_class family_conv_nets[] = {
    { "ResNetForImageClassification", "resnet", read_resnet, NULL },
    { "ConvNextForImageClassification", "convnext", read_convnext, NULL },
    { NULL, NULL, NULL, NULL },
};
