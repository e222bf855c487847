/* Published models of tests/data/models: their configs as facts, and what others count in them. */
#ifndef TESTS_SUPPORT_MODEL_ROWS_H
#define TESTS_SUPPORT_MODEL_ROWS_H

#include <stddef.h>
#include <stdint.h>

#include "service/model/facts.h"

enum { MODEL_ROW_FACTS = 256 };

struct model_row {
    const char *name, *source;
    uint64_t parameters, active, cache_bytes_per_token; /* active: 0 when nobody published it */
    size_t fact_count;
    struct fact facts[MODEL_ROW_FACTS]; /* sorted by path */
};

/* All rows of tests/data/models/published.tsv, read once; they stay valid. Aborts with a message when a line is
 * unsound. */
const struct model_row *model_rows(size_t *ret_count);

/* The row of a name; aborts when there is none. */
const struct model_row *model_row_of(const char *name);

/* A fact of kind "integer", "bool", "text", "real", "null", "list" or "object" with its value as text. Aborts on any
 * other. */
struct fact model_row_fact(const char *path, const char *kind, const char *value);

/* The facts of a row with one of them put in or, with the same path, in its stead; `kind` NULL takes it (and what is
 * under it) away. `items` holds MODEL_ROW_FACTS + 1. Returns their number. */
size_t
model_row_with(const struct model_row *row, const char *path, const char *kind, const char *value, struct fact *items);

/* Facts to read from: `used` holds `count` flags, which are cleared. */
struct facts model_row_facts(const struct fact *items, size_t count, bool *used);

#endif
