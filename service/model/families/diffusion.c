/* Denoisers of diffusers configs (_class_name), without text encoders and image decoder. Sources: unet_2d_condition.py
 * and transformer_flux.py of huggingface/diffusers 0.35 (arXiv:2112.10752 section 3.3, arXiv:2307.01952 table 1). Work
 * is that of one step on one image. */
#include <stddef.h>
#include <string.h>

#include "service/base/quantity.h"
#include "service/model/families/config.h"
#include "service/model/families/network.h"
#include "service/model/families/tables.h"

enum { MAX_BLOCKS = 8, MAX_BLOCK_LAYERS = 64, TEXT_TOKENS = 77 };

struct unet {
    struct network network;
    double time, context; /* widths of the time and of the text embedding */
    uint32_t blocks, layers;
    double widths[MAX_BLOCKS];
    uint32_t depths[MAX_BLOCKS]; /* transformer layers where a block has attention */
    bool down_attends[MAX_BLOCKS], up_attends[MAX_BLOCKS];
};

/* A matrix with its bias over `tokens`. */
static void
append_linear(struct network *network, double in, double out, double tokens)
{
    network->parameters += in * out + out;
    network->flop += 2 * in * out * tokens;
    network->outputs += out * tokens;
}

/* A convolution with its bias. */
static void
append_conv(struct network *network, double in, double out, double kernel)
{
    network_convolve(network, in, out, kernel, 1);
    network->parameters += out;
}

static void
append_resnet(struct unet *unet, double in, double out)
{
    struct network *network = &unet->network;

    network->parameters += 2 * in + 2 * out;
    append_conv(network, in, out, 3);
    append_conv(network, out, out, 3);
    append_linear(network, unet->time, out, 1);
    if (in != out)
        append_conv(network, in, out, 1);
}

/* Projection in and out around layers of self-attention, attention to the text, and a gated MLP of 4 widths. */
static void
append_transformer(struct unet *unet, double width, uint32_t layers)
{
    struct network *network = &unet->network;
    double tokens = network->side * network->side;
    double squares = 6 * width * width; /* query and output twice, key and value of the image */
    double of_text = 2 * unet->context * width;

    network->parameters += 2 * width;
    append_conv(network, width, width, 1);
    append_conv(network, width, width, 1);
    for (uint32_t i = 0; i < layers; i++) {
        network->parameters += squares + of_text + 2 * width /* biases of the outputs */ + 6 * width /* norms */;
        network->flop += 2 * squares * tokens + 2 * of_text * TEXT_TOKENS;
        network->flop += 4 * width * tokens * (tokens + TEXT_TOKENS);
        network->outputs += 6 * width * tokens;
        append_linear(network, width, 8 * width, tokens);
        append_linear(network, 4 * width, width, tokens);
    }
}

static void
append_down(struct unet *unet)
{
    double in = unet->widths[0];

    for (uint32_t block = 0; block < unet->blocks; block++) {
        double out = unet->widths[block];

        for (uint32_t layer = 0; layer < unet->layers; layer++) {
            append_resnet(unet, in, out);
            if (unet->down_attends[block])
                append_transformer(unet, out, unet->depths[block]);
            in = out;
        }
        if (block + 1 < unet->blocks) {
            network_shrink(&unet->network, 2);
            append_conv(&unet->network, out, out, 3);
        }
    }
}

/* Mirrors the way down with one resnet more a block; each takes in what the way down left at its height. */
static void
append_up(struct unet *unet)
{
    double before = unet->widths[unet->blocks - 1];

    for (uint32_t up = 0; up < unet->blocks; up++) {
        uint32_t block = unet->blocks - 1 - up;
        double out = unet->widths[block];
        double below = unet->widths[block > 0 ? block - 1 : 0];

        for (uint32_t layer = 0; layer <= unet->layers; layer++) {
            append_resnet(unet, (layer == 0 ? before : out) + (layer == unet->layers ? below : out), out);
            if (unet->up_attends[up])
                append_transformer(unet, out, unet->depths[block]);
        }
        if (block > 0) {
            unet->network.side *= 2;
            append_conv(&unet->network, out, out, 3);
        }
        before = out;
    }
}

/* Whether each block of a list has attention, by its type. */
static void
read_block_types(struct reader *reader, const char *key, const char *with, const char *without, uint32_t blocks,
                 bool *ret_attends)
{
    if (reader_list_length(reader, key, MAX_BLOCKS) != blocks)
        reader_contradiction(reader, key, reader_list_length(reader, key, MAX_BLOCKS), "block_out_channels =", blocks);
    for (uint32_t i = 0; i < blocks; i++) {
        const char *type = reader_list_word(reader, key, i);

        ret_attends[i] = strcmp(type, with) == 0;
        if (!ret_attends[i] && strcmp(type, without) != 0)
            reader_fault(reader, FAULT_MODEL_FIELD_UNSUPPORTED, key, type, NULL);
    }
}

static void
read_blocks(struct reader *reader, struct unet *unet)
{
    const struct fact *depth = reader_get(reader, "transformer_layers_per_block");

    unet->blocks = reader_list_length(reader, "block_out_channels", MAX_BLOCKS);
    if (unet->blocks == 0)
        reader_fault(reader, FAULT_MODEL_FIELD_MISSING, "block_out_channels", NULL, "array");
    for (uint32_t i = 0; i < unet->blocks; i++) {
        unet->widths[i] = reader_list_count(reader, "block_out_channels", i, 1, LIMIT_WIDTH);
        unet->depths[i] = depth != NULL && depth->kind == FACT_LIST
                              ? reader_list_count(reader, "transformer_layers_per_block", i, 1, MAX_BLOCK_LAYERS)
                              : reader_count_or(reader, "transformer_layers_per_block", 1, MAX_BLOCK_LAYERS, 1);
    }
    unet->layers = reader_count_or(reader, "layers_per_block", 1, MAX_BLOCK_LAYERS, 2);
    read_block_types(reader, "down_block_types", "CrossAttnDownBlock2D", "DownBlock2D", unet->blocks,
                     unet->down_attends);
    read_block_types(reader, "up_block_types", "CrossAttnUpBlock2D", "UpBlock2D", unet->blocks, unet->up_attends);
}

/* Keys that say how, not how much. */
static void
mark_unet_keys(struct reader *reader)
{
    static const char *const no_size[] = {
        "attention_head_dim",
        "num_attention_heads",
        "norm_num_groups",
        "norm_eps",
        "act_fn",
        "center_input_sample",
        "flip_sin_to_cos",
        "freq_shift",
        "downsample_padding",
        "mid_block_scale_factor",
        "use_linear_projection",
        "upcast_attention",
        "addition_time_embed_dim",
        "addition_embed_type_num_heads", /* of the types that are refused */
    };
    static const struct fixed only[] = {
        { "class_embed_type", "false" },
        { "class_embeddings_concat", "false" },
        { "num_class_embeds", "false" },
        { "encoder_hid_dim", "false" },
        { "encoder_hid_dim_type", "false" },
        { "time_cond_proj_dim", "false" },
        { "time_embedding_dim", "false" },
        { "time_embedding_type", "positional" },
        { "dual_cross_attention", "false" },
        { "cross_attention_norm", "false" },
        { "only_cross_attention", "false" },
        { "mid_block_only_cross_attention", "false" },
        { "mid_block_type", "UNetMidBlock2DCrossAttn" },
        { "resnet_time_scale_shift", "default" },
        { "attention_type", "default" },
        { "conv_in_kernel", "3" },
        { "conv_out_kernel", "3" },
    };

    config_pass_over(reader, no_size, COUNT_OF(no_size));
    for (size_t i = 0; i < COUNT_OF(only); i++)
        reader_fixed(reader, only[i].key, only[i].value);
}

static void
read_unet(struct reader *reader, const struct decoder *traits)
{
    struct unet unet = { 0 };
    double in = reader_count_or(reader, "in_channels", 1, LIMIT_SMALL, 4);
    double out = reader_count_or(reader, "out_channels", 1, LIMIT_SMALL, 4);
    const char *added = reader_word_or(reader, "addition_embed_type", "");

    (void)traits;
    mark_unet_keys(reader);
    read_blocks(reader, &unet);
    if (unet.blocks == 0)
        return;
    unet.network.side = reader_count_or(reader, "sample_size", 1, LIMIT_SMALL, 64);
    unet.context = reader_count_or(reader, "cross_attention_dim", 1, LIMIT_WIDTH, 1280);
    unet.time = 4 * unet.widths[0];
    append_conv(&unet.network, in, unet.widths[0], 3);
    append_linear(&unet.network, unet.widths[0], unet.time, 1);
    append_linear(&unet.network, unet.time, unet.time, 1);
    if (strcmp(added, "text_time") == 0) {
        append_linear(&unet.network, reader_count(reader, "projection_class_embeddings_input_dim", 1, LIMIT_WIDTH),
                      unet.time, 1);
        append_linear(&unet.network, unet.time, unet.time, 1);
    } else if (added[0] != '\0') {
        reader_fault(reader, FAULT_MODEL_FIELD_UNSUPPORTED, "addition_embed_type", added, "text_time");
    }
    append_down(&unet);
    append_resnet(&unet, unet.widths[unet.blocks - 1], unet.widths[unet.blocks - 1]);
    append_transformer(&unet, unet.widths[unet.blocks - 1], unet.depths[unet.blocks - 1]);
    append_resnet(&unet, unet.widths[unet.blocks - 1], unet.widths[unet.blocks - 1]);
    append_up(&unet);
    unet.network.parameters += 2 * unet.widths[0];
    append_conv(&unet.network, unet.widths[0], out, 3);
    network_finish(&unet.network, reader->arch);
}

/* Tokens of a 1024 x 1024 image (patches of 16 pixels) and of its text. */
enum { FLUX_IMAGE_TOKENS = 4096, FLUX_TEXT_TOKENS = 512 };

/* Two matrices from an embedding of a step, a guidance or the text's sum. */
static void
append_embedder(struct network *network, double in, double width)
{
    append_linear(network, in, width, 1);
    append_linear(network, width, width, 1);
}

/* Attention and MLP of one stream with its modulation of 6 widths. */
static void
append_flux_stream(struct network *network, double width, double head_size, double tokens)
{
    append_linear(network, width, 6 * width, 1);
    for (int i = 0; i < 4; i++)
        append_linear(network, width, width, tokens);
    network->parameters += 2 * head_size;
    append_linear(network, width, 4 * width, tokens);
    append_linear(network, 4 * width, width, tokens);
}

static void
append_flux_blocks(struct network *network, double width, double head_size, uint32_t two_streams, uint32_t one_stream)
{
    double tokens = FLUX_IMAGE_TOKENS + FLUX_TEXT_TOKENS;

    for (uint32_t i = 0; i < two_streams; i++) {
        append_flux_stream(network, width, head_size, FLUX_IMAGE_TOKENS);
        append_flux_stream(network, width, head_size, FLUX_TEXT_TOKENS);
        network->flop += 4 * width * tokens * tokens;
    }
    for (uint32_t i = 0; i < one_stream; i++) {
        append_linear(network, width, 3 * width, 1);
        append_linear(network, width, 3 * width, tokens);
        append_linear(network, width, 4 * width, tokens);
        append_linear(network, 5 * width, width, tokens);
        network->parameters += 2 * head_size;
        network->flop += 4 * width * tokens * tokens;
    }
}

static void
read_flux(struct reader *reader, const struct decoder *traits)
{
    struct network network = { 0 };
    double heads = reader_count(reader, "num_attention_heads", 1, LIMIT_HEADS);
    double head_size = reader_count(reader, "attention_head_dim", 1, LIMIT_HEAD_SIZE);
    double channels = reader_count(reader, "in_channels", 1, LIMIT_SMALL);
    double out = reader_count_or(reader, "out_channels", 1, LIMIT_SMALL, (uint32_t)channels);
    double patch = reader_count_or(reader, "patch_size", 1, 64, 1);
    double width = heads * head_size;

    (void)traits;
    (void)reader_find(reader, "axes_dims_rope");
    append_linear(&network, channels, width, FLUX_IMAGE_TOKENS);
    append_linear(&network, reader_count(reader, "joint_attention_dim", 1, LIMIT_WIDTH), width, FLUX_TEXT_TOKENS);
    append_embedder(&network, 256, width); /* sines of the step */
    if (reader_flag_or(reader, "guidance_embeds", false))
        append_embedder(&network, 256, width);
    append_embedder(&network, reader_count(reader, "pooled_projection_dim", 1, LIMIT_WIDTH), width);
    append_flux_blocks(&network, width, head_size, reader_count(reader, "num_layers", 1, LIMIT_LAYERS),
                       reader_count(reader, "num_single_layers", 0, LIMIT_LAYERS));
    append_linear(&network, width, 2 * width, 1);
    append_linear(&network, width, patch * patch * out, FLUX_IMAGE_TOKENS);
    network_finish(&network, reader->arch);
}

const struct family_class family_diffusion[] = {
    { "UNet2DConditionModel", "", read_unet, NULL },
    { "FluxTransformer2DModel", "", read_flux, NULL },
    { NULL, NULL, NULL, NULL },
};
