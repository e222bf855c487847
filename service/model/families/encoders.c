/* Encoders of text and of images: layer norms with biases, plain MLP, no cache. Sources: the modelling files of
 * huggingface/transformers 4.53 (bert, roberta, vit, clip). */
#include "service/model/families/encoder_parts.h"

#include <stddef.h>
#include <string.h>

#include "service/base/quantity.h"
#include "service/base/text.h"
#include "service/model/families/config.h"
#include "service/model/families/layers.h"
#include "service/model/families/tables.h"
#include "service/model/families/vision.h"

struct encoder
encoder_read(struct reader *reader, const struct encoder *class_sizes)
{
    struct encoder encoder;

    encoder.hidden = reader_count_class(reader, "hidden_size|dim", 1, LIMIT_HIDDEN, (uint32_t)class_sizes->hidden);
    encoder.layers =
        reader_count_class(reader, "num_hidden_layers|n_layers", 1, LIMIT_LAYERS, (uint32_t)class_sizes->layers);
    encoder.heads =
        reader_count_class(reader, "num_attention_heads|n_heads", 1, LIMIT_HEADS, (uint32_t)class_sizes->heads);
    encoder.intermediate =
        reader_count_class(reader, "intermediate_size|hidden_dim", 1, LIMIT_WIDTH, (uint32_t)class_sizes->intermediate);
    if (encoder.hidden % encoder.heads != 0)
        reader_contradiction(reader, "num_attention_heads", encoder.heads, "divides hidden_size", encoder.hidden);
    return encoder;
}

struct layer_kind
encoder_layer(const struct encoder *encoder, bool qkv_bias)
{
    struct layer_kind kind;

    memset(&kind, 0, sizeof(kind));
    kind.attention = ATTENTION_HEADS;
    kind.encoder = true;
    kind.head_count = kind.kv_head_count = (uint32_t)encoder->heads;
    kind.head_size = (uint32_t)(encoder->hidden / encoder->heads);
    kind.qkv_bias = qkv_bias;
    kind.out_bias = true;
    kind.mlp = MLP_DENSE;
    kind.mlp_bias = true;
    kind.intermediate_size = (uint32_t)encoder->intermediate;
    kind.norm_elements = 4 * encoder->hidden;
    return kind;
}

void
encoder_append(struct reader *reader, const struct encoder *encoder, const struct layer_kind *kind)
{
    struct layers layers = { .reader = reader };

    layers_append_run(&layers, 0, (uint32_t)encoder->layers, kind);
    reader->arch->hidden_size = (uint32_t)encoder->hidden;
    reader->arch->tied_head = true; /* there is no head of the vocabulary's width beside the embedding */
}

static void
append_layers(struct reader *reader, const struct encoder *encoder, bool qkv_bias)
{
    struct layer_kind kind = encoder_layer(encoder, qkv_bias);

    encoder_append(reader, encoder, &kind);
}

static const struct encoder no_class_sizes;

/* Positions of RoBERTa count from behind the padding token's: two rows of the table are never a token's
 * (modeling_roberta.py, create_position_ids_from_input_ids). */
static const struct decoder behind_padding = { .position_extra = 2 };

/* Words and positions alone; names of its own for the sizes (arXiv:1910.01108 section 3). */
static const struct decoder distilbert = { .position_extra = 0 };

/* Embeddings of words, positions and types with their norm, then the layers. */
static uint64_t
read_text_encoder(struct reader *reader, const struct decoder *traits)
{
    static const char *const no_size[] = {
        "tie_weights_",         "pooler_fc_size",       "pooler_num_attention_heads",
        "pooler_num_fc_layers", "pooler_size_per_head", "pooler_type",
    }; /* of google-research/bert and DistilBERT, no class here reads them */
    struct encoder encoder = encoder_read(reader, &no_class_sizes);
    struct model_arch *arch = reader->arch;
    uint64_t positions = reader_count(reader, "max_position_embeddings", 1, LIMIT_VOCABULARY);
    uint64_t types = reader_count_or(reader, "type_vocab_size", 0, LIMIT_SMALL, traits == &distilbert ? 0 : 2);

    reader_fixed(reader, "is_decoder", "false");
    reader_fixed(reader, "tie_word_embeddings", "true");
    reader_fixed(reader, "position_embedding_type", "absolute");
    config_pass_over(reader, no_size, COUNT_OF(no_size));
    arch->vocabulary_size = reader_count(reader, "vocab_size", 1, LIMIT_VOCABULARY);
    arch->position_elements = (positions + types) * encoder.hidden;
    arch->final_norm_elements = 2 * encoder.hidden;
    arch->max_context_tokens = (uint32_t)positions;
    if (traits != NULL && positions > traits->position_extra)
        arch->max_context_tokens -= traits->position_extra;
    append_layers(reader, &encoder, true);
    return encoder.hidden;
}

static void
read_text_layers(struct reader *reader, const struct decoder *traits)
{
    (void)read_text_encoder(reader, traits);
}

/* With a pooler: one matrix over the first token. */
static void
read_text_model(struct reader *reader, const struct decoder *traits)
{
    uint64_t hidden = read_text_encoder(reader, traits);

    reader->arch->final_norm_elements += vision_linear(hidden, hidden);
}

/* With a transform in front of the tied head, which has a bias; no pooler. */
static void
read_masked_model(struct reader *reader, const struct decoder *traits)
{
    uint64_t hidden = read_text_encoder(reader, traits);

    reader->arch->final_norm_elements += vision_linear(hidden, hidden) + 2 * hidden + reader->arch->vocabulary_size;
}

/* Labels of a whole text: BERT's behind its pooler, RoBERTa's behind a matrix of the same size. */
static void
read_text_classifier(struct reader *reader, const struct decoder *traits)
{
    uint64_t hidden = read_text_encoder(reader, traits);

    reader->arch->final_norm_elements +=
        vision_linear(hidden, hidden) + vision_linear(hidden, reader_labels(reader, 2));
}

/* Labels of each token; no pooler. */
static void
read_token_classifier(struct reader *reader, const struct decoder *traits)
{
    uint64_t hidden = read_text_encoder(reader, traits);

    reader->arch->final_norm_elements += vision_linear(hidden, reader_labels(reader, 2));
}

/* Patches, a class token, positions, the layers, a norm. */
static uint64_t
read_image_encoder(struct reader *reader)
{
    struct encoder encoder = encoder_read(reader, &no_class_sizes);
    struct model_arch *arch = reader->arch;
    uint64_t image = reader_count_or(reader, "image_size", 1, LIMIT_SMALL, 224);
    uint64_t patch = reader_count_or(reader, "patch_size", 1, LIMIT_SMALL, 16);
    uint64_t channels = reader_count_or(reader, "num_channels", 1, LIMIT_SMALL, 3);
    uint64_t patches = (image / patch) * (image / patch);

    if (patch > image)
        reader_contradiction(reader, "patch_size", patch, "at most image_size", image);
    (void)reader_find(reader, "encoder_stride");
    arch->position_elements = (patches + 1) * encoder.hidden;
    arch->final_norm_elements =
        encoder.hidden + vision_linear(channels * patch * patch, encoder.hidden) + 2 * encoder.hidden;
    arch->max_context_tokens = (uint32_t)patches + 1;
    append_layers(reader, &encoder, reader_flag_or(reader, "qkv_bias", true));
    return encoder.hidden;
}

static void
read_image_model(struct reader *reader, const struct decoder *traits)
{
    uint64_t hidden = read_image_encoder(reader);

    (void)traits;
    (void)reader_find(reader, "pooler_output_size");
    reader->arch->final_norm_elements += vision_linear(hidden, hidden);
}

static void
read_image_classifier(struct reader *reader, const struct decoder *traits)
{
    uint64_t hidden = read_image_encoder(reader);

    (void)traits;
    reader->arch->final_norm_elements += vision_linear(hidden, reader_image_labels(reader));
}

/* Configs of the first converted models hold what transformers made their nested configs of a second time, and say that
 * it goes before (configuration_clip.py, text_config_dict): sizes have to agree. */
static void
check_copy(struct reader *reader, const char *copy, const char *original)
{
    size_t length = strlen(copy);

    (void)reader_find(reader, copy);
    for (size_t i = 0; i < reader->facts.count; i++) {
        const struct fact *fact = &reader->facts.items[i];
        char path[FACT_PATH_SIZE];

        if (fact->path[0] != '/' || strncmp(fact->path + 1, copy, length) != 0 || fact->path[1 + length] != '/' ||
            fact->kind != FACT_INTEGER)
            continue;
        text_format(path, sizeof(path), "/%s%s", original, fact->path + 1 + length);
        const struct fact *same = facts_peek(&reader->facts, path);
        if (same == NULL || same->kind != FACT_INTEGER || same->integer != fact->integer)
            reader_fault_at(reader, FAULT_MODEL_FIELD_UNSUPPORTED, fact, NULL);
    }
}

/* A text and an image encoder, each projected; the logit scale is one element. */
static void
read_clip(struct reader *reader, const struct decoder *traits)
{
    static const struct encoder text_sizes = { .hidden = 512, .layers = 12, .heads = 8, .intermediate = 2048 };
    struct model_arch *arch = reader->arch;
    uint64_t projection = reader_count_or(reader, "projection_dim", 1, LIMIT_WIDTH, 512);
    uint64_t image_hidden = 1;

    (void)traits;
    check_copy(reader, "text_config_dict", "text_config");
    check_copy(reader, "vision_config_dict", "vision_config");
    if (!config_enter(reader, "text_config"))
        return;
    struct encoder text = encoder_read(reader, &text_sizes);
    uint64_t positions = reader_count_or(reader, "max_position_embeddings", 1, LIMIT_VOCABULARY, 77);
    arch->vocabulary_size = reader_count_or(reader, "vocab_size", 1, LIMIT_VOCABULARY, 49408);
    (void)reader_find(reader, "projection_dim");
    (void)reader_find(reader, "tie_word_embeddings"); /* no head */
    reader_leave(reader);
    arch->max_context_tokens = (uint32_t)positions;
    arch->position_elements = positions * text.hidden;
    arch->final_norm_elements = 2 * text.hidden + text.hidden * projection + 1;
    append_layers(reader, &text, true);
    uint64_t tower = vision_clip(reader, &image_hidden);
    arch->tower_elements = tower + image_hidden * projection;
    arch->extra_parameters = (int64_t)(tower + image_hidden * projection);
}

const struct family_class family_encoders[] = {
    { "BertModel", "bert", read_text_model, NULL },
    { "BertForMaskedLM", "", read_masked_model, NULL },
    { "BertForSequenceClassification", "", read_text_classifier, NULL },
    { "BertForTokenClassification", "", read_token_classifier, NULL },
    { "DistilBertModel", "distilbert", read_text_layers, &distilbert },
    { "DistilBertForMaskedLM", "", read_masked_model, &distilbert },
    { "DistilBertForSequenceClassification", "", read_text_classifier, &distilbert },
    { "DistilBertForTokenClassification", "", read_token_classifier, &distilbert },
    { "RobertaModel", "roberta", read_text_model, &behind_padding },
    { "RobertaForMaskedLM", "", read_masked_model, &behind_padding },
    { "RobertaForSequenceClassification", "", read_text_classifier, &behind_padding },
    { "RobertaForTokenClassification", "", read_token_classifier, &behind_padding },
    { "XLMRobertaModel", "xlm-roberta", read_text_model, &behind_padding },
    { "XLMRobertaForMaskedLM", "", read_masked_model, &behind_padding },
    { "XLMRobertaForSequenceClassification", "", read_text_classifier, &behind_padding },
    { "XLMRobertaForTokenClassification", "", read_token_classifier, &behind_padding },
    { "ViTModel", "vit", read_image_model, NULL },
    { "ViTForImageClassification", "", read_image_classifier, NULL },
    { "CLIPModel", "clip", read_clip, NULL },
    { NULL, NULL, NULL, NULL },
};
