/* Typed and bounded reading of facts, every fault noted where it stands. */
#include "service/model/reader.h"

#include <string.h>

#include "service/base/text.h"

/* prefix + "/" + the first of `keys`; false when it does not fit (then no fact has it either). Returns the rest after
 * a '|', NULL after the last. */
static const char *
path_of(const struct reader *reader, const char *keys, char *path)
{
    size_t prefix_length = strlen(reader->prefix);
    size_t key_length = strcspn(keys, "|");

    path[0] = '\0';
    if (prefix_length + 1 + key_length < FACT_PATH_SIZE) {
        memcpy(path, reader->prefix, prefix_length);
        path[prefix_length] = '/';
        memcpy(path + prefix_length + 1, keys, key_length);
        path[prefix_length + 1 + key_length] = '\0';
    }
    return keys[key_length] == '|' ? keys + key_length + 1 : NULL;
}

const struct fact *
reader_find(const struct reader *reader, const char *keys)
{
    const struct fact *found = NULL;

    while (keys != NULL && found == NULL) {
        char path[FACT_PATH_SIZE];

        keys = path_of(reader, keys, path);
        found = facts_find(&reader->facts, path);
    }
    return found;
}

/* Configs that were saved anew say a size under its old name and its new one: the rest of the names is read, too, where
 * it says the same. */
static void
read_repeats(const struct reader *reader, const char *keys, const struct fact *fact)
{
    while (keys != NULL && reader->facts.used != NULL && fact->kind == FACT_INTEGER) {
        char path[FACT_PATH_SIZE];

        keys = path_of(reader, keys, path);
        const struct fact *again = facts_peek(&reader->facts, path);
        if (again != NULL && again->kind == FACT_INTEGER && again->integer == fact->integer)
            (void)facts_find(&reader->facts, path);
    }
}

const struct fact *
reader_get(const struct reader *reader, const char *keys)
{
    while (keys != NULL) {
        char path[FACT_PATH_SIZE];

        keys = path_of(reader, keys, path);
        const struct fact *fact = facts_get(&reader->facts, path);
        if (fact != NULL) {
            read_repeats(reader, keys, fact);
            return fact;
        }
    }
    return NULL;
}

void
reader_fault(struct reader *reader, enum fault_code code, const char *key, const char *value, const char *expected)
{
    char path[FACT_PATH_SIZE];
    char pointer[FAULT_POINTER_SIZE];

    (void)path_of(reader, key, path);
    text_format(pointer, sizeof(pointer), "%s%s", reader->pointer, path);
    fault_add(reader->fault, code, pointer, value, expected, NULL);
    reader->faulty = reader->faulty || code != FAULT_MODEL_CONTRADICTION;
}

void
reader_contradiction(struct reader *reader, const char *key, uint64_t value, const char *relation, uint64_t expected)
{
    char found[FAULT_TEXT_SIZE];
    char wanted[FAULT_TEXT_SIZE];

    if (reader->faulty)
        return;
    text_format(found, sizeof(found), "%llu", (unsigned long long)value);
    text_format(wanted, sizeof(wanted), "%s %llu", relation, (unsigned long long)expected);
    reader_fault(reader, FAULT_MODEL_CONTRADICTION, key, found, wanted);
}

void
reader_fault_at(struct reader *reader, enum fault_code code, const struct fact *fact, const char *expected)
{
    char pointer[FAULT_POINTER_SIZE];
    char value[FAULT_TEXT_SIZE] = "";

    if (fact->kind == FACT_TEXT)
        text_copy(value, sizeof(value), fact->text);
    else if (fact->kind == FACT_REAL)
        text_format(value, sizeof(value), "%g", fact->real);
    else if (fact->kind == FACT_INTEGER)
        text_format(value, sizeof(value), "%lld", (long long)fact->integer);
    text_format(pointer, sizeof(pointer), "%s%s", reader->pointer, fact->path);
    fault_add(reader->fault, code, pointer, value, expected, NULL);
    reader->faulty = true;
}

/* A list where one value is usual: its entries, when all are the same integer, else the list itself. Entries stand
 * behind their list. */
static const struct fact *
alike_or_list(const struct reader *reader, const struct fact *list)
{
    const struct fact *first = NULL;
    size_t length = strlen(list->path);
    int64_t seen = 0;

    for (size_t i = (size_t)(list - reader->facts.items) + 1; i < reader->facts.count; i++) {
        const struct fact *fact = &reader->facts.items[i];

        if (strncmp(fact->path, list->path, length) != 0)
            break;
        if (fact->path[length] != '/')
            continue;
        if (fact->kind != FACT_INTEGER || (first != NULL && fact->integer != first->integer))
            return list;
        first = first != NULL ? first : fact;
        seen++;
    }
    return first != NULL && seen == list->integer ? first : list;
}

/* The integer of a fact that is there. */
static uint32_t
count_of(struct reader *reader, const struct fact *fact, uint32_t min, uint32_t max)
{
    if (fact->kind == FACT_LIST)
        fact = alike_or_list(reader, fact);
    if (fact->kind == FACT_INTEGER && fact->integer >= min && fact->integer <= max)
        return (uint32_t)fact->integer;
    char expected[FAULT_TEXT_SIZE];
    text_format(expected, sizeof(expected), "integer %u..%u", min, max);
    reader_fault_at(reader, fact->kind == FACT_INTEGER ? FAULT_OUT_OF_RANGE : FAULT_WRONG_TYPE, fact, expected);
    return min;
}

uint32_t
reader_count(struct reader *reader, const char *keys, uint32_t min, uint32_t max)
{
    const struct fact *fact = reader_get(reader, keys);

    if (fact != NULL)
        return count_of(reader, fact, min, max);
    char expected[FAULT_TEXT_SIZE];
    text_format(expected, sizeof(expected), "integer %u..%u", min, max);
    reader_fault(reader, FAULT_MODEL_FIELD_MISSING, keys, NULL, expected);
    return min;
}

uint32_t
reader_count_or(struct reader *reader, const char *keys, uint32_t min, uint32_t max, uint32_t absent)
{
    const struct fact *fact = reader_get(reader, keys);

    return fact == NULL ? absent : count_of(reader, fact, min, max);
}

uint32_t
reader_count_class(struct reader *reader, const char *keys, uint32_t min, uint32_t max, uint32_t class_default)
{
    if (reader->class_defaults && class_default > 0)
        return reader_count_or(reader, keys, min, max, class_default);
    return reader_count(reader, keys, min, max);
}

bool
reader_flag_or(struct reader *reader, const char *keys, bool absent)
{
    const struct fact *fact = reader_get(reader, keys);

    if (fact == NULL)
        return absent;
    if (fact->kind == FACT_BOOL || (fact->kind == FACT_INTEGER && (fact->integer == 0 || fact->integer == 1)))
        return fact->integer != 0;
    reader_fault_at(reader, FAULT_WRONG_TYPE, fact, "true|false");
    return absent;
}

void
reader_fixed(struct reader *reader, const char *key, const char *value)
{
    const struct fact *fact = reader_get(reader, key);
    char held[FAULT_TEXT_SIZE] = "";

    if (fact == NULL)
        return;
    if (fact->kind == FACT_BOOL)
        text_copy(held, sizeof(held), fact->integer != 0 ? "true" : "false");
    else if (fact->kind == FACT_INTEGER)
        text_format(held, sizeof(held), "%lld", (long long)fact->integer);
    else if (fact->kind == FACT_TEXT)
        text_copy(held, sizeof(held), fact->text);
    if (strcmp(held, value) != 0)
        reader_fault(reader, FAULT_MODEL_FIELD_UNSUPPORTED, key, held, value);
}

const char *
reader_word_or(struct reader *reader, const char *keys, const char *absent)
{
    const struct fact *fact = reader_get(reader, keys);

    if (fact == NULL)
        return absent;
    if (fact->kind == FACT_TEXT)
        return fact->text;
    reader_fault_at(reader, FAULT_WRONG_TYPE, fact, "string");
    return absent;
}

uint32_t
reader_list_length(struct reader *reader, const char *keys, uint32_t max)
{
    const struct fact *fact = reader_get(reader, keys);

    if (fact == NULL)
        return 0;
    if (fact->kind == FACT_LIST && fact->integer <= max)
        return (uint32_t)fact->integer;
    char expected[FAULT_TEXT_SIZE];
    text_format(expected, sizeof(expected), "array 0..%u", max);
    reader_fault_at(reader, fact->kind == FACT_LIST ? FAULT_TOO_MANY_ITEMS : FAULT_WRONG_TYPE, fact, expected);
    return 0;
}

/* "key/3"; by hand, as lists of layers make this the busiest path of reading. */
static void
element_key(char *text, const char *key, uint32_t index)
{
    char digits[12];
    size_t count = 0;
    size_t length = strlen(key);

    do {
        digits[count++] = (char)('0' + index % 10);
        index /= 10;
    } while (index > 0);
    if (length + 1 + count >= FACT_PATH_SIZE)
        length = 0;
    memcpy(text, key, length);
    text[length++] = '/';
    while (count > 0)
        text[length++] = digits[--count];
    text[length] = '\0';
}

uint32_t
reader_list_count(struct reader *reader, const char *key, uint32_t index, uint32_t min, uint32_t max)
{
    char element[FACT_PATH_SIZE];

    element_key(element, key, index);
    return reader_count(reader, element, min, max);
}

const char *
reader_list_word(struct reader *reader, const char *key, uint32_t index)
{
    char element[FACT_PATH_SIZE];

    element_key(element, key, index);
    return reader_word_or(reader, element, "");
}

double
reader_factor(struct reader *reader, const char *key)
{
    const struct fact *fact = reader_get(reader, key);

    if (fact == NULL)
        return 1;
    bool number = fact->kind == FACT_REAL || fact->kind == FACT_INTEGER;
    if (number && fact->real > 0 && fact->real <= 64)
        return fact->real;
    reader_fault_at(reader, number ? FAULT_OUT_OF_RANGE : FAULT_WRONG_TYPE, fact, "number 0..64");
    return 1;
}

uint32_t
reader_labels(struct reader *reader, uint32_t absent)
{
    const struct fact *labels = reader_get(reader, "id2label");

    if (labels != NULL && labels->kind == FACT_OBJECT && labels->integer > 0 && labels->integer <= LIMIT_VOCABULARY)
        return (uint32_t)labels->integer;
    return reader_count_or(reader, "num_labels|_num_labels", 1, LIMIT_VOCABULARY, absent);
}

uint32_t
reader_image_labels(struct reader *reader)
{
    bool written = reader_get(reader, "transformers_version") != NULL;

    return reader_labels(reader, written ? 2 : 1000);
}

bool
reader_enter(struct reader *reader, const char *object)
{
    const struct fact *fact = reader_get(reader, object);

    if (fact == NULL)
        return false;
    if (fact->kind != FACT_OBJECT) {
        reader_fault_at(reader, FAULT_WRONG_TYPE, fact, "object");
        return false;
    }
    text_copy(reader->prefix, sizeof(reader->prefix), fact->path);
    if (reader->entered_count < MAX_ENTERED)
        reader->entered[reader->entered_count++] = fact->path;
    reader->class_defaults = true;
    return true;
}

void
reader_leave(struct reader *reader)
{
    reader->prefix[0] = '\0';
    reader->class_defaults = false;
}
