/* Decoders told by their traits: sizes, embeddings, and the layers one by one. */
#include "service/model/families/decoder.h"

#include <string.h>

#include "service/model/families/decoder_parts.h"
#include "service/model/families/layers.h"

static const struct class_sizes no_class_sizes;

static uint64_t
norm_elements(const struct decoder *decoder, uint32_t hidden)
{
    switch (decoder->norm) {
    case NORM_RMS:
        return hidden;
    case NORM_LAYER:
        return 2 * (uint64_t)hidden;
    case NORM_WEIGHTLESS:
        break;
    }
    return 0;
}

static uint64_t
norms_of_layer(struct reader *reader, const struct decoder *decoder)
{
    if (choice_made(reader, &decoder->one_norm))
        return 1;
    return decoder->block_norms > 0 ? decoder->block_norms : 2;
}

static void
read_sizes(struct reader *reader, const struct decoder *decoder, struct decoder_sizes *sizes)
{
    const struct class_sizes *class_sizes = decoder->sizes != NULL ? decoder->sizes : &no_class_sizes;
    bool padded = reader_get(reader, "padded_vocab_size") != NULL; /* what the tensors have */

    sizes->hidden =
        reader_count_class(reader, "hidden_size|n_embd|d_model|n_embed", 1, LIMIT_HIDDEN, class_sizes->hidden);
    sizes->layers = reader_count_class(reader, "num_hidden_layers|n_layer|n_layers|num_layers", 1, LIMIT_LAYERS,
                                       class_sizes->layers);
    uint32_t again = reader_count_or(reader, "num_layers", 1, LIMIT_LAYERS, sizes->layers); /* some say it twice */
    if (again != sizes->layers)
        reader_contradiction(reader, "num_layers", again, "num_hidden_layers =", sizes->layers);
    sizes->vocabulary = reader_count_class(reader, padded ? "padded_vocab_size" : "vocab_size", 1, LIMIT_VOCABULARY,
                                           class_sizes->vocabulary);
    (void)reader_find(reader, "vocab_size");
    attention_read_heads(reader, decoder, sizes);
    for (const struct fixed *fixed = decoder->fixed; fixed != NULL && fixed->key != NULL; fixed++) {
        if (fixed->value != NULL)
            reader_fixed(reader, fixed->key, fixed->value);
        else
            (void)reader_find(reader, fixed->key);
    }
}

/* Width of a dense MLP. */
static uint32_t
read_mlp_width(struct reader *reader, const struct decoder *decoder, uint32_t hidden)
{
    static const char keys[] = "intermediate_size|n_inner|ffn_hidden_size|ffn_dim|d_ff";
    const char *own_keys = decoder->experts != NULL ? decoder->experts->dense_width_keys : NULL;
    uint32_t width;

    if (decoder->mlp_width > 0)
        return decoder->mlp_width;
    if (own_keys != NULL)
        return reader_count(reader, own_keys, 1, LIMIT_WIDTH);
    if (decoder->mlp_multiples > 0)
        width = reader_count_or(reader, keys, 1, LIMIT_WIDTH, decoder->mlp_multiples * hidden);
    else
        width =
            reader_count_class(reader, keys, 1, LIMIT_WIDTH, decoder->sizes != NULL ? decoder->sizes->intermediate : 0);
    return decoder->mlp_divisor > 0 ? width / decoder->mlp_divisor : width;
}

/* The context of a nested config that leaves it to its class. */
static uint32_t
class_context(const struct reader *reader, const struct decoder *decoder)
{
    return reader->class_defaults && decoder->sizes != NULL ? decoder->sizes->context : 0;
}

/* Embedding, positions, head and the norms outside the layers. */
static void
read_ends(struct reader *reader, const struct decoder *decoder, const struct decoder_sizes *sizes)
{
    struct model_arch *arch = reader->arch;
    uint64_t norm = norm_elements(decoder, sizes->hidden);

    arch->causal = true;
    arch->hidden_size = sizes->hidden;
    arch->vocabulary_size = sizes->vocabulary;
    arch->final_norm_elements =
        (choice_made(reader, &decoder->no_final_norm) ? 0 : norm) + (decoder->embedding_norm ? norm : 0);
    if (choice_made(reader, &decoder->head_bias))
        arch->final_norm_elements += sizes->vocabulary;
    if (decoder->projected_embedding) {
        arch->embedding_size = reader_count_or(reader, "word_embed_proj_dim", 1, LIMIT_WIDTH, sizes->hidden);
        if (arch->embedding_size != sizes->hidden)
            arch->final_norm_elements += 2 * (uint64_t)sizes->hidden * arch->embedding_size;
    }
    if (decoder->position_keys != NULL) {
        uint64_t rows = reader_count(reader, decoder->position_keys, 1, LIMIT_CONTEXT);

        arch->position_elements = (rows + decoder->position_extra) * sizes->hidden;
    }
    arch->max_context_tokens = reader_count_or(reader,
                                               "max_position_embeddings|n_positions|seq_length|max_seq_len|"
                                               "max_sequence_length|n_ctx|model_max_length",
                                               1, LIMIT_CONTEXT, class_context(reader, decoder));
}

/* What the layers are put together from. */
struct layer_parts {
    struct layer_kind attention, recurrent, dense, sparse;
    uint32_t window_tokens;
};

static struct layer_kind
layer_of(const struct layer_parts *parts, enum mixer mixer, bool sparse)
{
    struct layer_kind kind = mixer == MIXER_RECURRENT ? parts->recurrent : parts->attention;
    const struct layer_kind *mlp = sparse ? &parts->sparse : &parts->dense;

    kind.window_tokens = mixer == MIXER_WINDOW ? parts->window_tokens : 0;
    kind.mlp = mlp->mlp;
    kind.gated = mlp->gated;
    kind.mlp_bias = mlp->mlp_bias;
    kind.intermediate_size = sparse ? 0 : mlp->intermediate_size;
    kind.expert_count = mlp->expert_count;
    kind.experts_per_token = mlp->experts_per_token;
    kind.expert_size = mlp->expert_size;
    kind.shared_size = mlp->shared_size;
    kind.shared_gate = mlp->shared_gate;
    kind.router_bias = mlp->router_bias;
    return kind;
}

static void
read_layers(struct reader *reader, const struct decoder *decoder, const struct decoder_sizes *sizes)
{
    uint8_t mixers[MAX_LAYERS];
    uint8_t sparse[MAX_LAYERS];
    struct layer_parts parts;
    struct layers layers = { .reader = reader };
    uint64_t norms = norms_of_layer(reader, decoder) * norm_elements(decoder, sizes->hidden);
    bool any_dense = false;

    memset(&parts, 0, sizeof(parts));
    parts.window_tokens = mixers_read(reader, decoder, sizes->layers, mixers);
    parts.attention.norm_elements = norms;
    parts.attention.other_elements = decoder->layer_elements;
    attention_read(reader, decoder, sizes, &parts.attention);
    if (decoder->recurrent != NULL) {
        parts.recurrent.norm_elements = norms;
        decoder->recurrent(reader, sizes->hidden, &parts.recurrent);
    }
    parts.dense.mlp = MLP_DENSE;
    parts.dense.gated = parts.sparse.gated = !decoder->plain_mlp;
    parts.dense.mlp_bias = parts.sparse.mlp_bias = choice_made(reader, &decoder->mlp_bias);
    (void)experts_read(reader, decoder, sizes, &parts.sparse, sparse);
    for (uint32_t i = 0; i < sizes->layers; i++)
        any_dense = any_dense || !sparse[i];
    if (any_dense || reader_get(reader, "intermediate_size") != NULL)
        parts.dense.intermediate_size = read_mlp_width(reader, decoder, sizes->hidden);
    for (uint32_t i = 0; i < sizes->layers; i++) {
        struct layer_kind kind = { 0 };
        uint32_t sort = mixers[i] * 2U + sparse[i];

        if (!layers_know(&layers, sort))
            kind = layer_of(&parts, (enum mixer)mixers[i], sparse[i] != 0);
        layers_append(&layers, sort, &kind);
    }
}

/* Whether the head is the embedding. A nested config's own word counts first, until transformers 5 moved it to the
 * class around it (huggingface/transformers #44976). */
static bool
read_tie(struct reader *reader, const struct decoder *decoder, bool nested_first, bool nested_known, bool nested)
{
    const struct fact *outer = reader_get(reader, "tie_word_embeddings");

    if (nested_known && (nested_first || outer == NULL))
        return nested;
    return reader_flag_or(reader, "tie_word_embeddings", decoder->tied);
}

static bool
version_is_5(const struct reader *reader)
{
    const struct fact *version = facts_get(&reader->facts, "/transformers_version");

    return version != NULL && version->kind == FACT_TEXT && version->text[0] >= '5' && version->text[0] <= '9';
}

/* Multi-token prediction layers are in checkpoints but not in the class's count. */
static uint32_t
read_mtp(struct reader *reader, const struct decoder *decoder)
{
    return reader_count_or(reader, "num_nextn_predict_layers|mtp_num_hidden_layers|num_mtp_modules|_mtp_layers", 0,
                           LIMIT_SMALL, decoder->mtp_layers);
}

void
decoder_read(struct reader *reader, const struct decoder *decoder)
{
    struct decoder_sizes sizes = { 0 };
    bool nested = decoder->text_object != NULL && reader_enter(reader, decoder->text_object);
    bool nested_known = nested && reader_get(reader, "tie_word_embeddings") != NULL;
    bool nested_tie = nested_known && reader_flag_or(reader, "tie_word_embeddings", false);

    read_sizes(reader, decoder, &sizes);
    read_ends(reader, decoder, &sizes);
    read_layers(reader, decoder, &sizes);
    reader->arch->mtp_layer_count = read_mtp(reader, decoder);
    if (nested) {
        reader_leave(reader);
        (void)reader_find(reader, "vocab_size"); /* repeated there by some */
    }
    reader->arch->tied_head = read_tie(reader, decoder, !version_is_5(reader), nested_known, nested_tie);
    if (decoder->tower != NULL)
        vision_add(reader, decoder->tower, sizes.hidden);
}
