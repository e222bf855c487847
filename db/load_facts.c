/* Values and containers of a flat config. */
#include "db/load_facts.h"

#include <stdlib.h>
#include <string.h>
#include <talloc.h>

#include "db/cell_text.h"
#include "service/base/text.h"

enum { MAX_PATH_DEPTH = 8, TEXT_VALUE_SIZE = 1024 };

/* Writes a code point below U+10000 as UTF-8; returns how many bytes. */
static size_t
put_character(char *to, unsigned long point)
{
    if (point < 0x80) {
        to[0] = (char)point;
        return 1;
    }
    if (point < 0x800) {
        to[0] = (char)(0xC0 | point >> 6);
        to[1] = (char)(0x80 | (point & 0x3F));
        return 2;
    }
    to[0] = (char)(0xE0 | point >> 12);
    to[1] = (char)(0x80 | (point >> 6 & 0x3F));
    to[2] = (char)(0x80 | (point & 0x3F));
    return 3;
}

/* Reads what follows a backslash (RFC 8259 section 7), surrogates excepted. Returns the bytes read, 0: no escape. */
static size_t
unescape(const char *text, char *to, size_t *length)
{
    static const char letters[] = "\"\\/bfnrt", meant[] = "\"\\/\b\f\n\r\t";
    const char *letter = text[0] != '\0' ? strchr(letters, text[0]) : NULL;
    char hexadecimal[5] = "", *end;
    unsigned long point;

    if (letter != NULL) {
        to[(*length)++] = meant[letter - letters];
        return 1;
    }
    if (text[0] != 'u' || strspn(text + 1, "0123456789abcdefABCDEF") < 4)
        return 0;
    memcpy(hexadecimal, text + 1, 4);
    point = strtoul(hexadecimal, &end, 16);
    if (point == 0 || (point >= 0xD800 && point <= 0xDFFF))
        return 0;
    *length += put_character(to + *length, point);
    return 5;
}

/* A JSON string with its quotes. false: it is none, or too long. */
static bool
string_of(const char *json, char *to, size_t size)
{
    size_t length = 0, step;

    for (json++; *json != '"'; json += step) {
        if ((unsigned char)*json < 0x20 || length + 4 > size)
            return false;
        step = 1;
        if (*json != '\\') {
            to[length++] = *json;
        } else {
            step = unescape(json + 1, to, &length);
            if (step == 0)
                return false;
            step++;
        }
    }
    to[length] = '\0';
    return json[1] == '\0';
}

/* A number as a config means it: a real with an integral value is a count. */
static bool
number_fact(const char *value, struct fact *fact)
{
    double real;
    const char *digits = value + (value[0] == '-');
    uint64_t whole;

    if (!cell_decimal_number(value, &real))
        return false;
    fact->real = real;
    fact->kind = FACT_REAL;
    if (cell_whole_number(digits, &whole) && whole <= INT64_MAX) {
        fact->kind = FACT_INTEGER;
        fact->integer = value[0] == '-' ? -(int64_t)whole : (int64_t)whole;
    } else if (real >= -9007199254740992.0 && real <= 9007199254740992.0 && real == (double)(int64_t)real) { /* 2^53 */
        fact->kind = FACT_INTEGER;
        fact->integer = (int64_t)real;
    }
    return true;
}

static bool
value_fact(struct loader *loader, const char *value, struct fact *fact)
{
    char text[TEXT_VALUE_SIZE];

    if (strcmp(value, "null") == 0) {
        fact->kind = FACT_NULL;
    } else if (strcmp(value, "true") == 0 || strcmp(value, "false") == 0) {
        fact->kind = FACT_BOOL;
        fact->integer = value[0] == 't';
    } else if (strcmp(value, "[]") == 0) {
        fact->kind = FACT_LIST;
    } else if (strcmp(value, "{}") == 0) {
        fact->kind = FACT_OBJECT;
    } else if (value[0] == '"') {
        fact->kind = FACT_TEXT;
        if (!string_of(value, text, sizeof(text)))
            return false;
        fact->text = texts_keep(&loader->texts, text);
        return fact->text != NULL;
    } else {
        return number_fact(value, fact);
    }
    return true;
}

static bool
refuse_row(struct loader *loader, const struct fact_row *row, const char *column, const char *why)
{
    char key[DB_KEY_SIZE];

    text_format(key, sizeof(key), "%s %s", row->model_id, row->path);
    return loader_refuse(loader, "model_fields", key, column, why);
}

static int
by_path(const void *a, const void *b)
{
    return strcmp(((const struct fact *)a)->path, ((const struct fact *)b)->path);
}

/* The places at which a path has a '/' after its first: where the containers around it end. */
static size_t
borders_of(const char *path, size_t *ret_borders)
{
    size_t count = 0;

    for (size_t i = 1; path[i] != '\0'; i++) {
        if (path[i] == '/' && count < MAX_PATH_DEPTH)
            ret_borders[count++] = i;
    }
    return count;
}

/* Adds a fact for each container around a path unless the row before stands in it too. */
static bool
add_containers(struct loader *loader, const char *path, const char *path_before, struct fact *facts, size_t *count)
{
    size_t borders[MAX_PATH_DEPTH], border_count = borders_of(path, borders);

    for (size_t i = 0; i < border_count; i++) {
        char container[FACT_PATH_SIZE];

        if (path_before != NULL && strncmp(path, path_before, borders[i] + 1) == 0)
            continue;
        text_format(container, sizeof(container), "%.*s", (int)borders[i], path);
        facts[*count].kind = FACT_OBJECT;
        facts[*count].path = texts_keep(&loader->texts, container);
        if (facts[(*count)++].path == NULL)
            return loader_refuse(loader, NULL, NULL, NULL, "out of memory");
    }
    return true;
}

/* Counts a container's members, each of which is one fact. One whose members are named 0, 1, 2, ... is a list. */
static void
settle_container(struct fact *container, const struct fact *facts, size_t count)
{
    size_t prefix = strlen(container->path);
    uint64_t members = 0, numbered = 0, highest = 0;

    for (size_t i = 0; i < count; i++) {
        const char *name = facts[i].path + prefix + 1;
        uint64_t index;

        if (strncmp(facts[i].path, container->path, prefix) != 0 || facts[i].path[prefix] != '/' ||
            strchr(name, '/') != NULL)
            continue;
        members++;
        if (name[0] == '\0' || strlen(name) > 6 || name[strspn(name, "0123456789")] != '\0')
            continue;
        numbered++;
        index = strtoull(name, NULL, 10);
        highest = index > highest ? index : highest;
    }
    container->integer = (int64_t)members;
    if (members > 0 && numbered == members && highest == members - 1)
        container->kind = FACT_LIST;
}

bool
load_facts(struct loader *loader, const struct fact_row *rows, size_t count, const struct fact **ret_facts,
           size_t *ret_count)
{
    struct fact *facts = loader_array(loader, count * (1 + MAX_PATH_DEPTH), sizeof(*facts));
    size_t made = 0;

    if (facts == NULL)
        return false;
    for (size_t i = 0; i < count; i++) {
        const char *before = i > 0 ? rows[i - 1].path : NULL;

        if (strlen(rows[i].path) >= FACT_PATH_SIZE)
            return refuse_row(loader, &rows[i], "path", "too long");
        if (before != NULL && strcmp(before, rows[i].path) == 0)
            return refuse_row(loader, &rows[i], "path", "stands twice");
        facts[made].path = rows[i].path;
        if (!value_fact(loader, rows[i].value, &facts[made++]))
            return refuse_row(loader, &rows[i], "value", "not a value as JSON writes it");
        if (!add_containers(loader, rows[i].path, before, facts, &made))
            return false;
    }
    if (made > MAX_FACTS)
        return refuse_row(loader, &rows[0], "path", "the model has too many fields");
    qsort(facts, made, sizeof(*facts), by_path);
    for (size_t i = 0; i < made; i++) {
        if (i > 0 && strcmp(facts[i - 1].path, facts[i].path) == 0)
            return loader_refuse(loader, "model_fields", facts[i].path, "path", "is a value and holds others");
        if (facts[i].kind == FACT_OBJECT)
            settle_container(&facts[i], facts, made);
    }
    *ret_facts = talloc_realloc(loader->tree, facts, struct fact, (unsigned)made);
    *ret_count = made;
    return *ret_facts != NULL;
}
