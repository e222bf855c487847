/* Keeps texts for as long as a snapshot lives: in few large blocks, and equal ones mostly once. */
#ifndef DB_TEXTS_H
#define DB_TEXTS_H

#include <stddef.h>

enum { TEXTS_RECENT = 1024 };

struct texts {
    void *tree; /* talloc context that owns the blocks */
    char *block;
    size_t block_size, block_used;
    const char *recent[TEXTS_RECENT]; /* by hash: the last text of that hash */
};

void texts_init(struct texts *texts, void *tree);

/* A copy of `text` that lives as long as the tree; NULL when memory is out. */
const char *texts_keep(struct texts *texts, const char *text);

#endif
