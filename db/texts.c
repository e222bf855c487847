/* A row repeats what its neighbours say (source, region, date), so the recent texts are looked at before copying. */
#include "db/texts.h"

#include <stdint.h>
#include <string.h>
#include <talloc.h>

enum { BLOCK_BYTES = 64 * 1024 };

void
texts_init(struct texts *texts, void *tree)
{
    memset(texts, 0, sizeof(*texts));
    texts->tree = tree;
}

/* FNV-1a, 32 bits: quick and even on short texts. */
static uint32_t
hash_of(const char *text)
{
    uint32_t hash = 0x811c9dc5U;

    for (; *text != '\0'; text++)
        hash = (hash ^ (unsigned char)*text) * 0x01000193U;
    return hash;
}

static char *
room_for(struct texts *texts, size_t size)
{
    char *room;

    if (size > texts->block_size - texts->block_used) {
        size_t block_size = size > BLOCK_BYTES ? size : BLOCK_BYTES;
        char *block = talloc_array(texts->tree, char, (unsigned)block_size);

        if (block == NULL)
            return NULL;
        texts->block = block;
        texts->block_size = block_size;
        texts->block_used = 0;
    }
    room = texts->block + texts->block_used;
    texts->block_used += size;
    return room;
}

const char *
texts_keep(struct texts *texts, const char *text)
{
    const char **recent = &texts->recent[hash_of(text) % TEXTS_RECENT];
    size_t size = strlen(text) + 1;
    char *copy;

    if (*recent != NULL && strcmp(*recent, text) == 0)
        return *recent;
    copy = room_for(texts, size);
    if (copy == NULL)
        return NULL;
    memcpy(copy, text, size);
    *recent = copy;
    return copy;
}
