/* Which layers see the whole context, which a window of it, and which keep a state instead. */
#include "service/model/families/decoder_parts.h"

#include <string.h>

#include "service/base/quantity.h"
#include "service/base/text.h"

static const char window_keys[] = "sliding_window";

/* The window: null means none, a missing key the class default. */
static uint32_t
read_window(struct reader *reader, const struct decoder *decoder, const char *keys)
{
    uint32_t absent = reader_find(reader, keys) == NULL ? decoder->window_tokens : 0;

    return reader_count_or(reader, keys, 0, LIMIT_CONTEXT, absent);
}

static const struct {
    const char *word;
    enum mixer mixer;
} words[] = {
    { "full_attention", MIXER_FULL },
    { "attention", MIXER_FULL },
    { "sliding_attention", MIXER_WINDOW },
    { "chunked_attention", MIXER_WINDOW },
    { "linear_attention", MIXER_RECURRENT },
    { "mamba", MIXER_RECURRENT },
    { "conv", MIXER_RECURRENT },
};

/* One word of layer_types. */
static enum mixer
mixer_of_word(struct reader *reader, const struct decoder *decoder, uint32_t index)
{
    const char *word = reader_list_word(reader, "layer_types", index);
    char key[FACT_PATH_SIZE];

    for (size_t i = 0; i < COUNT_OF(words); i++) {
        if (strcmp(word, words[i].word) == 0 && (words[i].mixer != MIXER_RECURRENT || decoder->recurrent != NULL))
            return words[i].mixer;
    }
    text_format(key, sizeof(key), "layer_types/%u", index);
    reader_fault(reader, FAULT_MODEL_FIELD_UNSUPPORTED, key, word, NULL);
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

/* A period, or a letter a layer ("LLLG": L is windowed) that repeats. */
static void
read_pattern(struct reader *reader, const struct decoder *decoder, uint32_t layers, uint8_t *mixers)
{
    static const char keys[] = "sliding_window_pattern|_sliding_window_pattern|global_attn_every_n_layers";
    const struct fact *pattern = reader_get(reader, keys);

    if (pattern == NULL || pattern->kind != FACT_TEXT || pattern->text[0] == '\0') {
        fill_pattern(mixers, layers, reader_count_or(reader, keys, 1, LIMIT_SMALL, decoder->window_period),
                     MIXER_WINDOW);
        return;
    }
    size_t length = strlen(pattern->text);
    for (uint32_t i = 0; i < layers; i++)
        mixers[i] = pattern->text[i % length] == 'L' ? MIXER_WINDOW : MIXER_FULL;
}

/* Layers of attention between recurrent ones, a flag a layer. */
static void
fill_flags(struct reader *reader, const struct decoder *decoder, uint32_t layers, uint8_t *mixers)
{
    uint32_t length = reader_list_length(reader, decoder->attention_flags_key, MAX_LAYERS);

    if (length == 0)
        reader_fault(reader, FAULT_MODEL_FIELD_MISSING, decoder->attention_flags_key, NULL, "array of 0|1");
    else if (length != layers)
        reader_contradiction(reader, decoder->attention_flags_key, length, "num_hidden_layers =", layers);
    for (uint32_t i = 0; i < length && i < layers; i++)
        mixers[i] =
            reader_list_count(reader, decoder->attention_flags_key, i, 0, 1) == 1 ? MIXER_FULL : MIXER_RECURRENT;
}

/* Layers of attention between recurrent ones: a list of them, or a period and an offset. */
static void
fill_recurrent(struct reader *reader, const struct decoder *decoder, uint32_t layers, uint8_t *mixers)
{
    uint32_t length = 0;
    uint32_t period = 0;
    uint32_t offset = 0;

    if (decoder->attention_list_key != NULL)
        length = reader_list_length(reader, decoder->attention_list_key, MAX_LAYERS);
    if (decoder->period_keys != NULL) {
        period = reader_count_or(reader, decoder->period_keys, 1, LIMIT_SMALL, decoder->period);
        offset = decoder->offset_keys != NULL ? reader_count(reader, decoder->offset_keys, 0, LIMIT_SMALL) : period - 1;
        if (offset >= period)
            reader_contradiction(reader, decoder->offset_keys, offset, "below attn_layer_period", period);
    }
    for (uint32_t i = 0; i < layers; i++)
        mixers[i] = period > 0 && i % period == offset ? MIXER_FULL : MIXER_RECURRENT;
    for (uint32_t i = 0; i < length; i++) {
        uint32_t layer = reader_list_count(reader, decoder->attention_list_key, i, 0, MAX_LAYERS);

        if (layer < layers)
            mixers[layer] = MIXER_FULL;
    }
}

/* Layers by the rule of the class. */
static void
fill_by_rule(struct reader *reader, const struct decoder *decoder, uint32_t layers, uint8_t *mixers)
{
    uint32_t first;

    if (decoder->attention_flags_key != NULL) {
        fill_flags(reader, decoder, layers, mixers);
        return;
    }
    if (decoder->recurrent != NULL) {
        fill_recurrent(reader, decoder, layers, mixers);
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
        read_pattern(reader, decoder, layers, mixers);
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

    (void)reader_find(reader, decoder->period_keys != NULL ? decoder->period_keys : "sliding_window_pattern");
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
