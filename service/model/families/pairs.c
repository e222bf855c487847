/* An encoder and a decoder that attends to it. Only the decoder's own attention keeps a cache that grows. Sources: the
 * modelling files of huggingface/transformers 4.53 (t5, bart, whisper). */
#include <stddef.h>
#include <string.h>

#include "service/model/families/layers.h"
#include "service/model/families/tables.h"
#include "service/model/families/vision.h"

/* One side. */
struct side {
    uint64_t layers, heads, head_size, intermediate;
};

static struct layer_kind
kind_of_side(const struct side *side, bool is_encoder)
{
    struct layer_kind kind;

    memset(&kind, 0, sizeof(kind));
    kind.attention = ATTENTION_HEADS;
    kind.encoder = is_encoder;
    kind.cross_attention = !is_encoder;
    kind.head_count = kind.kv_head_count = (uint32_t)side->heads;
    kind.head_size = (uint32_t)side->head_size;
    kind.mlp = MLP_DENSE;
    kind.intermediate_size = (uint32_t)side->intermediate;
    return kind;
}

enum { ENCODER_SORT, DECODER_SORT };

static void
start(struct reader *reader, uint64_t hidden)
{
    reader->arch->causal = true;
    reader->arch->hidden_size = (uint32_t)hidden;
    reader->arch->vocabulary_size = reader_count(reader, "vocab_size", 1, LIMIT_VOCABULARY);
}

static const struct decoder tied = { .tied = true };
static const struct decoder mt5 = { .tied = false };

/* Relative positions instead of a table: one bias a bucket and head on either side (arXiv:1910.10683 section 2.1). */
static void
read_t5_sides(struct reader *reader, const struct decoder *traits, bool has_decoder)
{
    struct layers layers = { .reader = reader };
    uint64_t hidden = reader_count(reader, "d_model", 1, LIMIT_HIDDEN);
    uint64_t buckets = reader_count_or(reader, "relative_attention_num_buckets", 1, LIMIT_SMALL, 32);
    uint64_t sides = has_decoder ? 2 : 1;
    struct side side = {
        .layers = reader_count(reader, "num_layers", 1, LIMIT_LAYERS / 2),
        .heads = reader_count(reader, "num_heads", 1, LIMIT_HEADS),
        .head_size = reader_count_or(reader, "d_kv", 1, LIMIT_HEAD_SIZE, 64),
        .intermediate = reader_count(reader, "d_ff", 1, LIMIT_WIDTH),
    };
    struct layer_kind encoder = kind_of_side(&side, true);
    struct layer_kind decoder = kind_of_side(&side, false);
    const char *activation = reader_word_or(reader, "feed_forward_proj", traits == &mt5 ? "gated-gelu" : "relu");
    bool is_tied = reader_flag_or(reader, "tie_word_embeddings", traits->tied);
    uint32_t decoder_layers = reader_count_or(reader, "num_decoder_layers", 1, LIMIT_LAYERS / 2, (uint32_t)side.layers);

    start(reader, hidden);
    reader->arch->causal = has_decoder;
    reader->arch->tied_head = is_tied || !has_decoder; /* an encoder has no head */
    reader->arch->position_elements = sides * buckets * side.heads;
    reader->arch->final_norm_elements = sides * hidden;
    encoder.gated = decoder.gated = strncmp(activation, "gated-", 6) == 0;
    encoder.norm_elements = 2 * hidden;
    decoder.norm_elements = 3 * hidden;
    (void)reader_find(reader, "is_gated_act");
    (void)reader_find(reader, "relative_attention_max_distance");
    layers_append_run(&layers, ENCODER_SORT, (uint32_t)side.layers, &encoder);
    if (has_decoder)
        layers_append_run(&layers, DECODER_SORT, decoder_layers, &decoder);
}

static void
read_t5(struct reader *reader, const struct decoder *traits)
{
    read_t5_sides(reader, traits, true);
}

/* The text encoder of image generators. */
static void
read_t5_encoder(struct reader *reader, const struct decoder *traits)
{
    read_t5_sides(reader, traits, false);
}

/* The keys of a side. */
struct side_keys {
    const char *layers, *heads, *width;
};

static const struct side_keys encoder_keys = { "encoder_layers", "encoder_attention_heads", "encoder_ffn_dim" };
static const struct side_keys decoder_keys = { "decoder_layers", "decoder_attention_heads", "decoder_ffn_dim" };

static struct side
read_side(struct reader *reader, const struct side_keys *keys, uint64_t hidden)
{
    struct side side;

    side.layers = reader_count(reader, keys->layers, 1, LIMIT_LAYERS / 2);
    side.heads = reader_count(reader, keys->heads, 1, LIMIT_HEADS);
    side.intermediate = reader_count(reader, keys->width, 1, LIMIT_WIDTH);
    side.head_size = hidden / side.heads > 0 ? hidden / side.heads : 1;
    if (hidden % side.heads != 0)
        reader_contradiction(reader, keys->heads, side.heads, "divides d_model", hidden);
    return side;
}

/* Both sides with layer norms and biases; a key bias only where the class has one. */
static void
append_sides(struct reader *reader, uint64_t hidden, bool key_bias)
{
    struct layers layers = { .reader = reader };
    struct side sides[2] = { read_side(reader, &encoder_keys, hidden), read_side(reader, &decoder_keys, hidden) };

    (void)reader_find(reader, "num_hidden_layers");
    for (uint32_t i = 0; i < 2; i++) {
        struct layer_kind kind = kind_of_side(&sides[i], i == ENCODER_SORT);
        uint64_t attentions = i == ENCODER_SORT ? 1 : 2;

        kind.qkv_bias = key_bias;
        kind.out_bias = true;
        kind.mlp_bias = true;
        kind.norm_elements = 2 * hidden * (attentions + 1);
        kind.other_elements = key_bias ? 0 : attentions * 2 * hidden; /* of query and value */
        layers_append_run(&layers, i, (uint32_t)sides[i].layers, &kind);
    }
}

/* Two position rows more than positions on either side; a norm on the embedding of either (arXiv:1910.13461). */
static void
read_bart(struct reader *reader, const struct decoder *traits)
{
    uint64_t hidden = reader_count(reader, "d_model", 1, LIMIT_HIDDEN);
    uint64_t positions = reader_count(reader, "max_position_embeddings", 1, LIMIT_VOCABULARY);

    start(reader, hidden);
    reader_fixed(reader, "add_final_layer_norm", "false");
    reader_fixed(reader, "normalize_before", "false");
    reader_fixed(reader, "normalize_embedding", "true");
    reader->arch->tied_head = reader_flag_or(reader, "tie_word_embeddings", traits->tied);
    reader->arch->max_context_tokens = (uint32_t)positions;
    reader->arch->position_elements = 2 * (positions + 2) * hidden;
    reader->arch->final_norm_elements = 4 * hidden;
    append_sides(reader, hidden, true);
}

/* Two convolutions of kernel 3 over the mel bins, a position table on either side (arXiv:2212.04356 section 2.2). */
static void
read_whisper(struct reader *reader, const struct decoder *traits)
{
    uint64_t hidden = reader_count(reader, "d_model", 1, LIMIT_HIDDEN);
    uint64_t bins = reader_count(reader, "num_mel_bins", 1, LIMIT_SMALL);
    uint64_t frames = reader_count(reader, "max_source_positions", 1, LIMIT_VOCABULARY);
    uint64_t positions = reader_count(reader, "max_target_positions", 1, LIMIT_VOCABULARY);

    start(reader, hidden);
    reader->arch->tied_head = reader_flag_or(reader, "tie_word_embeddings", traits->tied);
    reader->arch->max_context_tokens = (uint32_t)positions;
    reader->arch->source_tokens = (uint32_t)frames; /* sound is filled up to 30 seconds */
    reader->arch->position_elements = (frames + positions) * hidden;
    reader->arch->final_norm_elements =
        4 * hidden + vision_linear(3 * bins, hidden) + vision_linear(3 * hidden, hidden);
    (void)reader_find(reader, "classifier_proj_size"); /* of the class for audio classification */
    append_sides(reader, hidden, false);
}

const struct family_class family_pairs[] = {
    { "T5ForConditionalGeneration", "t5", read_t5, &tied },
    { "T5EncoderModel", "", read_t5_encoder, &tied },
    { "MT5ForConditionalGeneration", "mt5", read_t5, &mt5 },
    { "MT5EncoderModel", "", read_t5_encoder, &mt5 },
    { "BartModel", "bart", read_bart, &tied },
    { "BartForConditionalGeneration", "", read_bart, &tied },
    { "WhisperForConditionalGeneration", "whisper", read_whisper, &tied },
    { NULL, NULL, NULL, NULL },
};
