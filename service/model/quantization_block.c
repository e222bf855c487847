/* Lookups below a path. */
#include "service/model/quantization_block.h"

#include <stdlib.h>
#include <string.h>

#include "service/base/text.h"

const struct fact *
block_fact(const struct block *block, const char *keys)
{
    while (keys != NULL) {
        size_t length = strcspn(keys, "|");
        char path[2 * FACT_PATH_SIZE];

        text_format(path, sizeof(path), "%s/%.*s", block->path, (int)length, keys);
        const struct fact *fact = facts_get(block->facts, path);
        if (fact != NULL)
            return fact;
        keys = keys[length] == '|' ? keys + length + 1 : NULL;
    }
    return NULL;
}

const char *
block_word(const struct block *block, const char *keys)
{
    const struct fact *fact = block_fact(block, keys);

    return fact != NULL && fact->kind == FACT_TEXT ? fact->text : "";
}

bool
block_flag(const struct block *block, const char *keys)
{
    const struct fact *fact = block_fact(block, keys);

    return fact != NULL && fact->kind == FACT_BOOL && fact->integer != 0;
}

int64_t
block_number(const struct block *block, const char *keys, int64_t absent)
{
    const struct fact *fact = block_fact(block, keys);

    if (fact != NULL && fact->kind == FACT_INTEGER)
        return fact->integer;
    if (fact != NULL && fact->kind == FACT_TEXT) {
        const char *digits = fact->text + strcspn(fact->text, "0123456789");

        if (*digits != '\0')
            return strtol(digits, NULL, 10) * (digits != fact->text && digits[-1] == '-' ? -1 : 1);
    }
    return absent;
}

bool
block_inside(const struct block *block, const char *key, struct block *ret_inside)
{
    return block_of_fact(block, block_fact(block, key), ret_inside);
}

/* Not by the object's stated size: lists made of leaves alone do not know it. */
bool
block_of_fact(const struct block *block, const struct fact *fact, struct block *ret_inside)
{
    struct block inside = { .facts = block->facts };
    const struct fact *member;
    const char *name;
    size_t at = 0;

    if (fact == NULL || fact->kind != FACT_OBJECT)
        return false;
    text_copy(inside.path, sizeof(inside.path), fact->path);
    if (!block_member(&inside, &at, &member, &name))
        return false;
    *ret_inside = inside;
    return true;
}

/* Members of an object stand behind it, but not always at once: "a-b" is between "a" and "a/c". */
bool
block_member(const struct block *block, size_t *at, const struct fact **ret_fact, const char **ret_name)
{
    size_t length = strlen(block->path);

    if (*at == 0) {
        const struct fact *self = facts_get(block->facts, block->path);

        if (self == NULL)
            return false;
        *at = (size_t)(self - block->facts->items) + 1;
    }
    for (; *at < block->facts->count; (*at)++) {
        const struct fact *fact = &block->facts->items[*at];

        if (strncmp(fact->path, block->path, length) != 0)
            return false;
        if (fact->path[length] != '/' || strchr(fact->path + length + 1, '/') != NULL)
            continue;
        *ret_fact = fact;
        *ret_name = fact->path + length + 1;
        (*at)++;
        return true;
    }
    return false;
}
