/* Keys that no family reads: which cannot matter, and which must not be passed over. */
#include "service/model/keys.h"

#include <stddef.h>
#include <string.h>

#include "service/base/quantity.h"
#include "service/base/text.h"

static const char *const harmless_keys[] = {
#include "service/model/harmless_keys.def"
};

static const char *const size_fragments[] = {
#include "service/model/size_fragments.def"
};

bool
keys_harmless(const char *key)
{
    size_t low = 0;
    size_t high = COUNT_OF(harmless_keys);

    while (low < high) {
        size_t middle = low + (high - low) / 2;
        int order = strcmp(harmless_keys[middle], key);

        if (order == 0)
            return true;
        if (order < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return false;
}

bool
keys_speak_of_size(const char *key)
{
    if (strcmp(key, "bias") == 0)
        return true;
    for (size_t i = 0; i < COUNT_OF(size_fragments); i++) {
        if (strstr(key, size_fragments[i]) != NULL)
            return true;
    }
    return false;
}

/* The same as leaving the key out: no part, none of them. */
static bool
is_neutral(const struct fact *fact)
{
    switch (fact->kind) {
    case FACT_NULL:
        return true;
    case FACT_BOOL:
    case FACT_INTEGER:
    case FACT_LIST:
    case FACT_OBJECT:
        return fact->integer == 0;
    case FACT_REAL:
        return false;
    case FACT_TEXT:
        return fact->text[0] == '\0';
    }
    return false;
}

/* The last name of a path when its level was read: the root, or an object that a family entered. */
static const char *
key_at_read_level(const struct reader *reader, const char *path)
{
    const char *slash = strrchr(path, '/');

    if (slash == NULL)
        return NULL;
    if (slash == path)
        return slash + 1;
    for (uint32_t i = 0; i < reader->entered_count; i++) {
        const char *level = reader->entered[i];

        if (strlen(level) == (size_t)(slash - path) && strncmp(level, path, (size_t)(slash - path)) == 0)
            return slash + 1;
    }
    return NULL;
}

/* A key at the root that says again what a nested object says: transformers 4.52 to 4.56 wrote the text model's keys of
 * Qwen-VL in both places. */
static bool
is_repeated(const struct reader *reader, const struct fact *fact)
{
    for (uint32_t i = 0; i < reader->entered_count; i++) {
        char path[2 * FACT_PATH_SIZE];

        text_format(path, sizeof(path), "%s%s", reader->entered[i], fact->path);
        const struct fact *nested = facts_peek(&reader->facts, path);
        if (nested != NULL && nested->kind == fact->kind && nested->integer == fact->integer &&
            (fact->kind == FACT_INTEGER || fact->kind == FACT_BOOL))
            return true;
    }
    return false;
}

void
keys_sort_out(struct reader *reader)
{
    struct model_arch *arch = reader->arch;

    for (size_t i = 0; i < reader->facts.count; i++) {
        const struct fact *fact = &reader->facts.items[i];
        const char *key = reader->facts.used[i] ? NULL : key_at_read_level(reader, fact->path);

        if (key == NULL || is_neutral(fact) || keys_harmless(key) || is_repeated(reader, fact))
            continue;
        if (keys_speak_of_size(key))
            reader_fault_at(reader, FAULT_MODEL_FIELD_UNSUPPORTED, fact, NULL);
        else if (arch->ignored_key_count < MAX_IGNORED_KEYS)
            arch->ignored_keys[arch->ignored_key_count++] = fact->path;
    }
}
