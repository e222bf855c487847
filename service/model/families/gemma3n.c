/* Gemma 3n: four streams of hidden states of which a layer computes one and predicts the others (arXiv:2301.13310), a
 * low-rank path beside each layer (arXiv:2411.07501), a second embedding that every layer looks up, last layers that
 * read an earlier one's keys and values. Source: models/gemma3n of huggingface/transformers 4.57. */
#include <stddef.h>
#include <string.h>

#include "service/base/quantity.h"
#include "service/model/families/config.h"
#include "service/model/families/layers.h"
#include "service/model/families/tables.h"
#include "service/model/families/vision.h"

struct sizes {
    uint64_t hidden, streams, rank;
    uint32_t layers, heads, kv_heads, head_size, window, intermediate, layer_input;
    uint32_t first_shared; /* from here on layers keep no keys and values */
    bool bias;
};

static struct sizes
read_sizes(struct reader *reader)
{
    static const char *const no_size[] = { "activation_sparsity_pattern", "altup_active_idx", "altup_coef_clip",
                                           "altup_correct_scale", "altup_lr_multiplier" };
    struct sizes sizes = { 0 };

    sizes.hidden = reader_count(reader, "hidden_size", 1, LIMIT_HIDDEN);
    sizes.layers = reader_count(reader, "num_hidden_layers", 1, LIMIT_LAYERS);
    sizes.heads = reader_count(reader, "num_attention_heads", 1, LIMIT_HEADS);
    sizes.kv_heads = reader_count_or(reader, "num_key_value_heads", 1, LIMIT_HEADS, 2);
    sizes.head_size = reader_count_or(reader, "head_dim", 1, LIMIT_HEAD_SIZE, 256);
    sizes.window = reader_count_or(reader, "sliding_window", 1, LIMIT_CONTEXT, 512);
    sizes.intermediate = reader_count(reader, "intermediate_size", 1, LIMIT_WIDTH); /* or a list of equals */
    sizes.layer_input = reader_count_or(reader, "hidden_size_per_layer_input", 1, LIMIT_WIDTH, 256);
    sizes.streams = reader_count_or(reader, "altup_num_inputs", 1, 64, 4);
    sizes.rank = reader_count_or(reader, "laurel_rank", 1, LIMIT_WIDTH, 64);
    sizes.bias = reader_flag_or(reader, "attention_bias", false);
    uint32_t shared = reader_count_or(reader, "num_kv_shared_layers", 0, LIMIT_LAYERS, 15);
    if (shared > sizes.layers)
        reader_contradiction(reader, "num_kv_shared_layers", shared, "at most num_hidden_layers =", sizes.layers);
    sizes.first_shared = shared < sizes.layers ? sizes.layers - shared : sizes.layers;
    config_divides_heads(reader, "num_key_value_heads", sizes.kv_heads, sizes.heads);
    config_pass_over(reader, no_size, COUNT_OF(no_size));
    return sizes;
}

static struct layer_kind
kind_of(const struct sizes *sizes, bool global, bool shared)
{
    struct layer_kind kind;
    uint64_t streams = sizes->streams;

    memset(&kind, 0, sizeof(kind));
    kind.attention = ATTENTION_HEADS;
    kind.head_count = sizes->heads;
    kind.kv_head_count = sizes->kv_heads;
    kind.head_size = sizes->head_size;
    kind.window_tokens = global ? 0 : sizes->window;
    kind.shares_cache = shared;
    kind.qkv_bias = kind.out_bias = sizes->bias;
    kind.qk_norm_elements = 2 * (uint64_t)sizes->head_size;
    kind.mlp = MLP_DENSE;
    kind.gated = true;
    kind.intermediate_size = sizes->intermediate;
    /* a gate, a projection back, and this layer's rows of the projection that all layers' inputs come from */
    kind.side_size = sizes->layer_input;
    kind.side_count = 3;
    /* before and behind attention and MLP, behind the layer's input and the low-rank path, before the router */
    kind.norm_elements = 7 * sizes->hidden;
    /* router, what predicts and corrects the streams, the correction's scale; the low-rank path */
    kind.other_elements = streams * sizes->hidden + streams * streams * streams + streams * streams + sizes->hidden +
                          2 * sizes->rank * sizes->hidden;
    return kind;
}

/* Whether layer i sees the whole context: one of five when the config does not list them. */
static bool
is_global(struct reader *reader, uint32_t index, uint32_t listed)
{
    if (listed == 0)
        return (index + 1) % 5 == 0;
    return config_is_word(reader, "layer_types", index, "full_attention", "sliding_attention",
                          "full_attention|sliding_attention");
}

static void
read_layers(struct reader *reader, const struct sizes *sizes)
{
    struct layers layers = { .reader = reader };
    uint32_t listed = reader_list_length(reader, "layer_types", MAX_LAYERS);

    if (!config_list_fits(reader, "layer_types", listed, sizes->layers))
        return;
    for (uint32_t i = 0; i < sizes->layers; i++) {
        bool global = is_global(reader, i, listed), shared = i >= sizes->first_shared;
        struct layer_kind kind = kind_of(sizes, global, shared);

        layers_append(&layers, (shared ? 2U : 0U) + (global ? 1U : 0U), &kind);
    }
}

static void
read_text(struct reader *reader)
{
    struct model_arch *arch = reader->arch;
    struct sizes sizes = read_sizes(reader);
    uint32_t rows = reader_count_or(reader, "vocab_size_per_layer_input", 1, LIMIT_VOCABULARY, 262144);

    arch->causal = true;
    arch->hidden_size = (uint32_t)sizes.hidden;
    arch->vocabulary_size = reader_count_or(reader, "vocab_size", 1, LIMIT_VOCABULARY, 262400);
    arch->max_context_tokens = reader_count_or(reader, "max_position_embeddings", 1, LIMIT_CONTEXT, 0);
    /* for every token of text a vector a layer: rows of its own, as tokens of images and sound have none */
    arch->layer_embedding_size = (uint64_t)sizes.layers * sizes.layer_input;
    arch->layer_embedding_rows = rows;
    /* matrices that make the other streams of the first, and one of all in the end */
    arch->final_norm_elements =
        sizes.hidden + sizes.layer_input + 2 * (sizes.streams - 1) * sizes.hidden * sizes.hidden;
    read_layers(reader, &sizes);
}

/* Blocks of MobileNet-V5 (timm/models/mobilenetv5.py of huggingface/pytorch-image-models 1.0.16): convolutions without
 * bias, each with a norm of a weight. An inverted residual widens by 1 x 1, convolves depth-wise before or in between,
 * narrows, and scales its output. */
static uint64_t
inverted(uint64_t in, uint64_t out, uint64_t expand, uint64_t start_kernel, uint64_t middle_kernel)
{
    uint64_t middle = in * expand;
    uint64_t elements = in * middle + middle + middle * out + out + out;

    if (start_kernel > 0)
        elements += start_kernel * start_kernel * in + in;
    if (middle_kernel > 0)
        elements += middle_kernel * middle_kernel * middle + middle;
    return elements;
}

/* The same with one full 3 x 3 convolution instead of the first two. */
static uint64_t
fused(uint64_t in, uint64_t out)
{
    uint64_t middle = 4 * in;

    return 9 * in * middle + middle + middle * out + out;
}

/* Heads that share one key and value, which `strided` shrinks by a depth-wise convolution of 3 x 3 each. */
static uint64_t
shared_heads(uint64_t width, uint64_t heads, uint64_t size, bool strided)
{
    return 2 * width + 2 * width * heads * size + 2 * width * size + (strided ? 2 * (9 * width + width) : 0);
}

/* mobilenetv5_300m_enc: a stem with bias, four stages, the last two mixed into 2048 channels. */
static uint64_t
mobilenet_v5_300m(void)
{
    uint64_t stem = 3 * 9 * 64 + 2 * 64;
    uint64_t first = fused(64, 128) + 2 * fused(128, 128);
    uint64_t second = inverted(128, 256, 6, 3, 5) + 2 * inverted(256, 256, 4, 5, 0) + 2 * inverted(256, 256, 4, 3, 0);
    uint64_t third = inverted(256, 640, 6, 5, 5) + 7 * inverted(640, 640, 4, 5, 0) + inverted(640, 640, 1, 0, 0) +
                     14 * (shared_heads(640, 12, 64, true) + inverted(640, 640, 2, 0, 0));
    uint64_t fourth =
        inverted(640, 1280, 6, 5, 5) + 19 * (shared_heads(1280, 16, 96, false) + inverted(1280, 1280, 2, 0, 0));
    uint64_t mixed = 640 + 1280;
    uint64_t mixer = 2 * mixed * mixed + 2 * mixed + 2 * mixed * 2048 + 2048 + 2048;

    return stem + first + second + third + fourth + mixer;
}

/* What carries a tower's output, or one of its own tokens, to the text model: two norms, one matrix. */
static uint64_t
embedder(uint64_t tokens, uint64_t hidden, uint64_t text_hidden)
{
    return tokens * hidden + 2 * hidden + hidden * text_hidden;
}

static uint64_t
read_sight(struct reader *reader, uint64_t text_hidden)
{
    if (!config_enter(reader, "vision_config"))
        return 0;
    uint64_t tokens = reader_count_or(reader, "vocab_size", 1, LIMIT_VOCABULARY, 128);
    reader_fixed(reader, "architecture", "mobilenetv5_300m_enc");
    reader_fixed(reader, "hidden_size", "2048");
    reader_fixed(reader, "do_pooling", "false");
    (void)reader_find(reader, "label_names");
    (void)reader_find(reader, "num_classes"); /* its head is taken off */
    (void)reader_find(reader, "vocab_offset");
    reader_leave(reader);
    return mobilenet_v5_300m() + embedder(tokens, 2048, text_hidden);
}

/* A conformer (arXiv:2005.08100): half MLPs before and behind, attention with relative positions, a short convolution.
 * Returns the elements of one layer. */
static uint64_t
conformer(uint64_t hidden, uint64_t heads, uint64_t kernel)
{
    uint64_t half_mlp = 8 * hidden * hidden + 2 * hidden;
    uint64_t attention = 5 * hidden * hidden + hidden / heads + 2 * hidden;
    uint64_t convolution = 3 * hidden * hidden + kernel * hidden + 2 * hidden;

    return 2 * half_mlp + attention + convolution + hidden;
}

/* Two convolutions of 3 x 3 that halve time and frequencies, a matrix, the layers. */
static uint64_t
read_hearing(struct reader *reader, uint64_t text_hidden)
{
    static const char *const no_size[] = { "conf_reduction_factor",
                                           "sscp_conv_channel_size",
                                           "sscp_conv_kernel_size",
                                           "sscp_conv_stride_size",
                                           "sscp_conv_eps",
                                           "sscp_conv_group_norm_eps",
                                           "conf_attention_chunk_size",
                                           "conf_attention_context_left",
                                           "conf_attention_context_right",
                                           "conf_attention_invalid_logits_value",
                                           "conf_attention_logit_cap",
                                           "conf_residual_weight",
                                           "gradient_clipping",
                                           "vocab_offset" };

    if (!config_enter(reader, "audio_config"))
        return 0;
    uint64_t hidden = reader_count_or(reader, "hidden_size", 1, LIMIT_HIDDEN, 1536);
    uint64_t layers = reader_count_or(reader, "conf_num_hidden_layers", 1, LIMIT_LAYERS, 12);
    uint64_t heads = reader_count_or(reader, "conf_num_attention_heads", 1, LIMIT_HEADS, 8);
    uint64_t kernel = reader_count_or(reader, "conf_conv_kernel_size", 1, LIMIT_SMALL, 5);
    uint64_t bins = reader_count_or(reader, "input_feat_size", 1, LIMIT_SMALL, 128);
    uint64_t wide = reader_count_or(reader, "sscp_conv_channel_size/0", 1, LIMIT_SMALL, 128);
    uint64_t narrow = reader_count_or(reader, "sscp_conv_channel_size/1", 1, LIMIT_SMALL, 32);
    uint64_t tokens = reader_count_or(reader, "vocab_size", 1, LIMIT_VOCABULARY, 128);
    static const char *const kernels[] = { "sscp_conv_kernel_size/0/0", "sscp_conv_kernel_size/0/1",
                                           "sscp_conv_kernel_size/1/0", "sscp_conv_kernel_size/1/1" };

    for (size_t i = 0; i < COUNT_OF(kernels); i++)
        reader_fixed(reader, kernels[i], "3");
    reader_fixed(reader, "sscp_conv_stride_size/0/1", "2");
    reader_fixed(reader, "sscp_conv_stride_size/1/1", "2");
    config_pass_over(reader, no_size, COUNT_OF(no_size));
    reader_leave(reader);
    uint64_t bins_left = u64_ceil_div(u64_ceil_div(bins, 2), 2);
    uint64_t front = 9 * wide + wide + 9 * wide * narrow + narrow + bins_left * narrow * hidden;
    return front + layers * conformer(hidden, heads, kernel) + embedder(tokens, hidden, text_hidden);
}

static uint64_t
read_senses(struct reader *reader, uint32_t text_hidden_size)
{
    (void)reader_find(reader, "audio_soft_tokens_per_image");
    (void)reader_find(reader, "vision_soft_tokens_per_image");
    uint64_t sight = read_sight(reader, text_hidden_size);
    return sight + read_hearing(reader, text_hidden_size);
}

static void
read_gemma3n(struct reader *reader, const struct decoder *traits)
{
    bool nested = reader_enter(reader, "text_config");
    bool tied = reader_flag_or(reader, "tie_word_embeddings", true);

    (void)traits;
    read_text(reader);
    if (nested)
        reader_leave(reader);
    reader->arch->tied_head = reader_flag_or(reader, "tie_word_embeddings", tied);
    vision_add(reader, read_senses, reader->arch->hidden_size);
}

static void
read_gemma3n_text(struct reader *reader, const struct decoder *traits)
{
    (void)traits;
    read_text(reader);
    reader->arch->tied_head = reader_flag_or(reader, "tie_word_embeddings", true);
}

const struct family_class family_gemma3n[] = {
    { "Gemma3nForConditionalGeneration", "gemma3n", read_gemma3n, NULL },
    { "Gemma3nForCausalLM", "gemma3n_text", read_gemma3n_text, NULL },
    { NULL, NULL, NULL, NULL },
};
