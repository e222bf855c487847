/* Facts of a quantisation block, read quietly: what is of another type than expected says nothing. */
#ifndef SERVICE_MODEL_QUANTIZATION_BLOCK_H
#define SERVICE_MODEL_QUANTIZATION_BLOCK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "service/model/facts.h"

struct block {
    const struct facts *facts;
    char path[FACT_PATH_SIZE]; /* where it stands, "" for the root */
};

/* Keys are names without a slash in front; "group_size|groupsize" tries one after the other. */
const struct fact *block_fact(const struct block *block, const char *keys);
const char *block_word(const struct block *block, const char *keys); /* "" when there is none */
bool block_flag(const struct block *block, const char *keys);

/* A whole number, also as text with letters around it ("int4", "4bit"); `absent` when there is none. */
int64_t block_number(const struct block *block, const char *keys, int64_t absent);

/* The object of a name inside a block; false when there is none (or an empty one). */
bool block_inside(const struct block *block, const char *key, struct block *ret_inside);

/* The same of a fact that block_member() gave. */
bool block_of_fact(const struct block *block, const struct fact *fact, struct block *ret_inside);

/* The members of a block one after the other: start with *at = 0; false after the last. Their names are lent. */
bool block_member(const struct block *block, size_t *at, const struct fact **ret_fact, const char **ret_name);

#endif
