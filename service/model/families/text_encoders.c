/* Encoders of text that came after BERT: ModernBERT (arXiv:2412.13663 section 2) and DeBERTa v2 and v3
 * (arXiv:2006.03654 section 3, arXiv:2111.09543). Sources: modeling_modernbert.py and modeling_deberta_v2.py of
 * huggingface/transformers 4.57. */
#include <stddef.h>
#include <string.h>

#include "service/base/quantity.h"
#include "service/model/families/config.h"
#include "service/model/families/encoder_parts.h"
#include "service/model/families/layers.h"
#include "service/model/families/tables.h"
#include "service/model/families/vision.h"

static const struct encoder no_class_sizes;

/* A layer norm, of a weight alone unless norm_bias. */
static uint64_t
modern_norm(struct reader *reader, uint64_t hidden)
{
    return reader_flag_or(reader, "norm_bias", false) ? 2 * hidden : hidden;
}

/* Whether a layer sees the whole text: as newer files say it of each, or one in so many. */
static bool
sees_whole_text(struct reader *reader, uint32_t index, uint32_t period)
{
    if (reader_get(reader, "layer_types") == NULL)
        return index % period == 0;
    return strcmp(reader_list_word(reader, "layer_types", index), "full_attention") == 0;
}

/* Layers of ModernBERT: every so many sees the whole text, the others a window; the first has no norm in front of its
 * attention, as the embeddings are normed already. */
static void
append_modern(struct reader *reader, const struct encoder *encoder)
{
    struct layers layers = { .reader = reader };
    struct layer_kind kind = encoder_layer(encoder, reader_flag_or(reader, "attention_bias", false));
    uint32_t period = reader_count_or(reader, "global_attn_every_n_layers", 1, LIMIT_SMALL, 3);
    uint32_t window = reader_count_or(reader, "local_attention", 1, LIMIT_CONTEXT, 128);
    uint64_t norm = modern_norm(reader, encoder->hidden);

    kind.out_bias = kind.qkv_bias;
    kind.gated = true;
    kind.mlp_bias = reader_flag_or(reader, "mlp_bias", false);
    uint32_t told = reader_list_length(reader, "layer_types", MAX_LAYERS);
    if (told != 0 && told != encoder->layers)
        reader_contradiction(reader, "layer_types", told, "num_hidden_layers =", encoder->layers);
    for (uint32_t i = 0; i < encoder->layers; i++) {
        bool whole = sees_whole_text(reader, i, period);

        kind.norm_elements = i == 0 ? norm : 2 * norm;
        kind.window_tokens = whole ? 0 : window;
        layers_append(&layers, i == 0 ? 0 : whole ? 1 : 2, &kind);
    }
    reader->arch->hidden_size = (uint32_t)encoder->hidden;
    reader->arch->tied_head = true;
}

/* Words and a norm, the layers, a norm; positions are rotary. */
static uint64_t
read_modern(struct reader *reader)
{
    static const char *const no_size[] = {
        "mlp_dropout",
        "classifier_activation",
        "classifier_pooling",
        "cls_token_id",
        "decoder_bias",
        "classifier_bias",
        "deterministic_flash_attn",
        "global_rope_theta",
        "local_rope_theta",
        "initializer_cutoff_factor",
        "reference_compile",
        "repad_logits_with_grad",
        "sparse_pred_ignore_index",
        "sparse_prediction",
    };
    struct encoder encoder = encoder_read(reader, &no_class_sizes);
    struct model_arch *arch = reader->arch;

    (void)reader_find(reader, "position_embedding_type"); /* of the files, read by no class */
    reader_fixed(reader, "tie_word_embeddings", "true");
    config_pass_over(reader, no_size, COUNT_OF(no_size));
    arch->vocabulary_size = reader_count(reader, "vocab_size", 1, LIMIT_VOCABULARY);
    arch->final_norm_elements = 2 * modern_norm(reader, encoder.hidden);
    arch->max_context_tokens = reader_count_or(reader, "max_position_embeddings", 1, LIMIT_CONTEXT, 0);
    append_modern(reader, &encoder);
    return encoder.hidden;
}

static void
read_modern_model(struct reader *reader, const struct decoder *traits)
{
    (void)traits;
    (void)read_modern(reader);
}

/* A matrix and a norm, in front of whatever head. */
static uint64_t
read_modern_transformed(struct reader *reader)
{
    uint64_t hidden = read_modern(reader);
    bool bias = reader_flag_or(reader, "classifier_bias", false);

    reader->arch->final_norm_elements += hidden * hidden + (bias ? hidden : 0) + modern_norm(reader, hidden);
    return hidden;
}

static void
read_modern_masked(struct reader *reader, const struct decoder *traits)
{
    (void)traits;
    (void)read_modern_transformed(reader);
    if (reader_flag_or(reader, "decoder_bias", true))
        reader->arch->final_norm_elements += reader->arch->vocabulary_size;
}

static void
read_modern_classifier(struct reader *reader, const struct decoder *traits)
{
    uint64_t hidden = read_modern_transformed(reader);

    (void)traits;
    reader->arch->final_norm_elements += vision_linear(hidden, reader_labels(reader, 2));
}

/* Rows of the table of distances between two tokens: one side and the other. */
static uint64_t
distance_rows(struct reader *reader, uint64_t positions)
{
    const struct fact *buckets = reader_get(reader, "position_buckets");
    const struct fact *distance = reader_get(reader, "max_relative_positions");

    if (buckets != NULL && buckets->kind == FACT_INTEGER && buckets->integer > 0)
        return 2 * (uint64_t)reader_count(reader, "position_buckets", 1, LIMIT_CONTEXT);
    if (distance != NULL && distance->kind == FACT_INTEGER && distance->integer > 0)
        return 2 * (uint64_t)reader_count(reader, "max_relative_positions", 1, LIMIT_CONTEXT);
    return 2 * positions;
}

/* A convolution over the text beside the first layer, with its norm, in some of the second version. */
static uint64_t
convolution(struct reader *reader, uint64_t hidden)
{
    uint64_t kernel = reader_count_or(reader, "conv_kernel_size", 0, LIMIT_SMALL, 0);

    reader_fixed(reader, "conv_groups", "1");
    (void)reader_find(reader, "conv_act");
    return kernel > 0 ? kernel * hidden * hidden + 3 * hidden : 0;
}

/* Words with a norm, the layers, a normed table of distances, which the layers' own query and key matrices read. */
static uint64_t
read_deberta(struct reader *reader)
{
    static const char *const no_size[] = {
        "pooler_dropout", "pooler_hidden_act", "pos_att_type", "attention_head_size", "legacy",
    };
    struct encoder encoder = encoder_read(reader, &no_class_sizes);
    struct model_arch *arch = reader->arch;
    uint64_t positions = reader_count(reader, "max_position_embeddings", 1, LIMIT_VOCABULARY);
    uint64_t types = reader_count_or(reader, "type_vocab_size", 0, LIMIT_SMALL, 0);
    struct layer_kind kind = encoder_layer(&encoder, true);
    uint64_t embedding = reader_count_or(reader, "embedding_size", 1, LIMIT_WIDTH, (uint32_t)encoder.hidden);
    uint64_t pooled = reader_count_or(reader, "pooler_hidden_size", 1, LIMIT_WIDTH, (uint32_t)encoder.hidden);

    if (embedding != encoder.hidden)
        reader_fault(reader, FAULT_MODEL_FIELD_UNSUPPORTED, "embedding_size", NULL, "hidden_size");
    if (pooled != encoder.hidden)
        reader_fault(reader, FAULT_MODEL_FIELD_UNSUPPORTED, "pooler_hidden_size", NULL, "hidden_size");
    if (!reader_flag_or(reader, "relative_attention", false))
        reader_fault(reader, FAULT_MODEL_FIELD_UNSUPPORTED, "relative_attention", "false", "true");
    if (!reader_flag_or(reader, "share_att_key", false))
        reader_fault(reader, FAULT_MODEL_FIELD_UNSUPPORTED, "share_att_key", "false", "true");
    reader_fixed(reader, "norm_rel_ebd", "layer_norm");
    reader_fixed(reader, "tie_word_embeddings", "true");
    config_pass_over(reader, no_size, COUNT_OF(no_size));
    arch->vocabulary_size = reader_count(reader, "vocab_size", 1, LIMIT_VOCABULARY);
    arch->position_elements = distance_rows(reader, positions) * encoder.hidden + types * encoder.hidden;
    if (reader_flag_or(reader, "position_biased_input", true))
        arch->position_elements += positions * encoder.hidden;
    arch->final_norm_elements = 2 * encoder.hidden + convolution(reader, encoder.hidden);
    if (reader_get(reader, "norm_rel_ebd") != NULL)
        arch->final_norm_elements += 2 * encoder.hidden;
    arch->max_context_tokens = (uint32_t)positions;
    encoder_append(reader, &encoder, &kind);
    return encoder.hidden;
}

static void
read_deberta_model(struct reader *reader, const struct decoder *traits)
{
    (void)traits;
    (void)read_deberta(reader);
}

/* Labels of a whole text, behind a matrix over its first token. */
static void
read_deberta_classifier(struct reader *reader, const struct decoder *traits)
{
    uint64_t hidden = read_deberta(reader);

    (void)traits;
    reader->arch->final_norm_elements +=
        vision_linear(hidden, hidden) + vision_linear(hidden, reader_labels(reader, 2));
}

static void
read_deberta_token_classifier(struct reader *reader, const struct decoder *traits)
{
    uint64_t hidden = read_deberta(reader);

    (void)traits;
    reader->arch->final_norm_elements += vision_linear(hidden, reader_labels(reader, 2));
}

const struct family_class family_text_encoders[] = {
    { "ModernBertModel", "modernbert", read_modern_model, NULL },
    { "ModernBertForMaskedLM", "", read_modern_masked, NULL },
    { "ModernBertForSequenceClassification", "", read_modern_classifier, NULL },
    { "ModernBertForTokenClassification", "", read_modern_classifier, NULL },
    { "DebertaV2Model", "deberta-v2", read_deberta_model, NULL },
    { "DebertaV2ForSequenceClassification", "", read_deberta_classifier, NULL },
    { "DebertaV2ForTokenClassification", "", read_deberta_token_classifier, NULL },
    { NULL, NULL, NULL, NULL },
};
