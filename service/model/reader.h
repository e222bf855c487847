/* What every family reads with: sizes, flags and words of a config, its faults collected as it goes. */
#ifndef SERVICE_MODEL_READER_H
#define SERVICE_MODEL_READER_H

#include <stdbool.h>
#include <stdint.h>

#include "service/base/note.h"
#include "service/base/result.h"
#include "service/model/arch.h"
#include "service/model/facts.h"

/* Largest sizes that are believed; above them is a fault, so that products of a few of them stay in 64 bits. */
enum {
    LIMIT_LAYERS = MAX_LAYERS,
    LIMIT_HIDDEN = 1 << 20,
    LIMIT_WIDTH = 1 << 22, /* widths of any other matrix */
    LIMIT_HEADS = 4096,
    LIMIT_HEAD_SIZE = 1 << 16,
    LIMIT_VOCABULARY = 1 << 24,
    LIMIT_EXPERTS = 4096,
    LIMIT_CONTEXT = 1 << 30,
    LIMIT_SMALL = 4096, /* kernels, periods, patches, channels, depths */
    READER_PREFIX_SIZE = 48,
    MAX_ENTERED = 4,
};

#define LIMIT_PARAMETERS (UINT64_C(1) << 62)

/* Keys are names without a slash in front; "n_embd|hidden_size" tries one after the other and speaks of the first. */
struct reader {
    struct facts facts;
    const char *pointer;             /* where the config stands in the request */
    char prefix[READER_PREFIX_SIZE]; /* "/text_config": where the keys stand in the config, "" for its root */
    bool class_defaults; /* a nested config holds only what differs from its class: a size may be left out */
    const char *entered[MAX_ENTERED]; /* objects whose keys were read, for those that nobody knew */
    uint32_t entered_count;
    bool faulty; /* a value was refused or is missing, and another taken in its stead to read on */
    struct model_arch *arch;
    struct notices *notices;
    struct fault *fault;
};

/* The fact of the first key that is there, null included; NULL when none is. */
const struct fact *reader_find(const struct reader *reader, const char *keys);

/* The same, null counting as absent. */
const struct fact *reader_get(const struct reader *reader, const char *keys);

/* An integer of at least `min` and at most `max`; a fault and `min` when it is missing or is none. */
uint32_t reader_count(struct reader *reader, const char *keys, uint32_t min, uint32_t max);

/* The same, `absent` when the key is missing or null. */
uint32_t reader_count_or(struct reader *reader, const char *keys, uint32_t min, uint32_t max, uint32_t absent);

/* The same, missing only allowed in a nested config whose class has a default (0: it has none). */
uint32_t
reader_count_class(struct reader *reader, const char *keys, uint32_t min, uint32_t max, uint32_t class_default);

bool reader_flag_or(struct reader *reader, const char *keys, bool absent);

/* A key that can only hold one value (as text: "true", "4", "default"); a fault when it holds another. */
void reader_fixed(struct reader *reader, const char *key, const char *value);

/* A text, lent by the facts; `absent` (may be NULL) when missing. */
const char *reader_word_or(struct reader *reader, const char *keys, const char *absent);

/* Length of a list, 0 when missing; its elements by index. */
uint32_t reader_list_length(struct reader *reader, const char *keys, uint32_t max);
uint32_t reader_list_count(struct reader *reader, const char *key, uint32_t index, uint32_t min, uint32_t max);
const char *reader_list_word(struct reader *reader, const char *key, uint32_t index);

/* A factor of a width, above 0 and at most 64; 1 when missing. */
double reader_factor(struct reader *reader, const char *key);

/* Classes of a classifier: entries of id2label, or num_labels, else `absent`. */
uint32_t reader_labels(struct reader *reader, uint32_t absent);

/* The same for images: what transformers wrote leaves out its two labels alone, in any other file it is ImageNet's
 * thousand that go without saying. */
uint32_t reader_image_labels(struct reader *reader);

/* Faults at a key. `expected` holds names and numbers, no prose; NULL for none. */
void
reader_fault(struct reader *reader, enum fault_code code, const char *key, const char *value, const char *expected);

/* A fault at a fact's own path, with its value. */
void reader_fault_at(struct reader *reader, enum fault_code code, const struct fact *fact, const char *expected);

/* Two keys that cannot both hold: at `key`, which holds `value`, with what would have fitted. Not told once a value was
 * refused, as what is held against may be what was taken in its stead. */
void
reader_contradiction(struct reader *reader, const char *key, uint64_t value, const char *relation, uint64_t expected);

/* Enters a nested object ("text_config") when it is there and says whether it did; class defaults stand in it for what
 * is missing. Leave by reader_leave(). Only one level is entered at a time. */
bool reader_enter(struct reader *reader, const char *object);
void reader_leave(struct reader *reader);

#endif
