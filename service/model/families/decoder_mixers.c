/* Which layers see the whole context, which a window of it, and which keep a state instead. */
#include "service/model/families/decoder_parts.h"

#include <string.h>

#include "service/base/text.h"

static const char window_keys[] = "sliding_window";

/* The window: null means none, a missing key the class default. */
static uint32_t
read_window(struct reader *reader, const struct decoder *decoder, const char *keys)
{
    uint32_t absent = reader_find(reader, keys) == NULL ? decoder->window_tokens : 0;

    return reader_count_or(reader, keys, 0, LIMIT_CONTEXT, absent);
}

/* One word of layer_types. */
static enum mixer
mixer_of_word(struct reader *reader, const struct decoder *decoder, uint32_t index)
{
    const char *word = reader_list_word(reader, "layer_types", index);
    char key[FACT_PATH_SIZE];

    if (strcmp(word, "full_attention") == 0)
        return MIXER_FULL;
    if (strcmp(word, "sliding_attention") == 0 || strcmp(word, "chunked_attention") == 0)
        return MIXER_WINDOW;
    if (strcmp(word, "linear_attention") == 0 && decoder->delta_net)
        return MIXER_RECURRENT;
    text_format(key, sizeof(key), "layer_types/%u", index);
    reader_fault(reader, FAULT_MODEL_FIELD_UNSUPPORTED, key, word,
                 decoder->delta_net ? "full_attention|linear_attention" : "full_attention|sliding_attention");
    return MIXER_FULL;
}

/* Layers that layer_types names; false when the config has no such list. */
static bool
read_layer_types(struct reader *reader, const struct decoder *decoder, uint32_t layers, uint8_t *mixers)
{
    uint32_t length = reader_list_length(reader, "layer_types", MAX_LAYERS);

    if (length == 0)
        return false;
    if (length != layers)
        reader_contradiction(reader, "layer_types", length, "num_hidden_layers =", layers);
    for (uint32_t i = 0; i < length && i < layers; i++)
        mixers[i] = (uint8_t)mixer_of_word(reader, decoder, i);
    return true;
}

static void
fill_pattern(uint8_t *mixers, uint32_t layers, uint32_t period, enum mixer most)
{
    for (uint32_t i = 0; i < layers; i++)
        mixers[i] = (uint8_t)(period > 0 && (i + 1) % period == 0 ? MIXER_FULL : most);
}

/* Layers by the rule of the class. */
static void
fill_by_rule(struct reader *reader, const struct decoder *decoder, uint32_t layers, uint8_t *mixers)
{
    uint32_t first;

    if (decoder->delta_net) {
        fill_pattern(mixers, layers, reader_count_or(reader, "full_attention_interval", 1, LIMIT_SMALL, 4),
                     MIXER_RECURRENT);
        return;
    }
    switch (decoder->window) {
    case WINDOW_NONE:
        break;
    case WINDOW_ALL:
        memset(mixers, MIXER_WINDOW, layers);
        break;
    case WINDOW_LATE:
        first = reader_count_or(reader, "max_window_layers", 0, LIMIT_SMALL, 28);
        for (uint32_t i = first; i < layers; i++)
            mixers[i] = MIXER_WINDOW;
        break;
    case WINDOW_ALTERNATING:
        fill_pattern(mixers, layers, 2, MIXER_WINDOW);
        break;
    case WINDOW_PATTERN:
        fill_pattern(mixers, layers,
                     reader_count_or(reader, "sliding_window_pattern|_sliding_window_pattern", 1, LIMIT_SMALL,
                                     decoder->window_period),
                     MIXER_WINDOW);
        break;
    case WINDOW_CHUNKED:
        fill_pattern(mixers, layers,
                     reader_count_or(reader, "no_rope_layer_interval", 1, LIMIT_SMALL, decoder->window_period),
                     MIXER_WINDOW);
        break;
    }
}

/* Chunked attention: layers with rotary positions (1 in no_rope_layers) are chunked. */
static void
read_no_rope_layers(struct reader *reader, uint32_t layers, uint8_t *mixers)
{
    uint32_t length = reader_list_length(reader, "no_rope_layers", MAX_LAYERS);

    for (uint32_t i = 0; i < length && i < layers; i++)
        mixers[i] = reader_list_count(reader, "no_rope_layers", i, 0, 1) == 1 ? MIXER_WINDOW : MIXER_FULL;
}

uint32_t
mixers_read(struct reader *reader, const struct decoder *decoder, uint32_t layers, uint8_t *ret_mixers)
{
    bool chunked = decoder->window == WINDOW_CHUNKED;
    bool asked = decoder->window != WINDOW_LATE || reader_flag_or(reader, "use_sliding_window", false);
    uint32_t window = read_window(reader, decoder, chunked ? "attention_chunk_size" : window_keys);

    memset(ret_mixers, MIXER_FULL, layers);
    if (!read_layer_types(reader, decoder, layers, ret_mixers)) {
        fill_by_rule(reader, decoder, layers, ret_mixers);
        if (chunked)
            read_no_rope_layers(reader, layers, ret_mixers);
    }
    if (window == 0 || !asked) {
        for (uint32_t i = 0; i < layers; i++)
            ret_mixers[i] = ret_mixers[i] == MIXER_WINDOW ? MIXER_FULL : ret_mixers[i];
    }
    return window;
}

/* Gated delta net (arXiv:2412.06464 section 3): one projection in for query, key, value and gate, one for the decay and
 * the write strength of each value head, a short convolution, one projection out. The state is a matrix a value head.
 */
void
delta_net_read(struct reader *reader, uint32_t hidden, struct layer_kind *ret_kind)
{
    uint64_t key_heads = reader_count(reader, "linear_num_key_heads", 1, LIMIT_HEADS);
    uint64_t value_heads = reader_count(reader, "linear_num_value_heads", 1, LIMIT_HEADS);
    uint64_t key_size = reader_count(reader, "linear_key_head_dim", 1, LIMIT_HEAD_SIZE);
    uint64_t value_size = reader_count(reader, "linear_value_head_dim", 1, LIMIT_HEAD_SIZE);
    uint64_t kernel = reader_count_or(reader, "linear_conv_kernel_dim", 1, LIMIT_SMALL, 4);
    uint64_t keys = key_heads * key_size;
    uint64_t values = value_heads * value_size;
    uint64_t mixed = 2 * keys + values;

    ret_kind->attention = ATTENTION_RECURRENT;
    ret_kind->mixer_elements = (mixed + values + 2 * value_heads + values) * hidden;
    ret_kind->other_elements += mixed * kernel + 2 * value_heads + value_size;
    ret_kind->recurrent_state_elements = value_heads * key_size * value_size + mixed * (kernel - 1);
}
