/* Supplies rows from CSV text, as the seed files are written. */
#ifndef DB_SEED_H
#define DB_SEED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "db/rows.h"
#include "db/seed_data.h"

/* Files to read from: the compiled-in ones, or a test's own. */
struct seed_set {
    const struct seed_file *files;
    size_t count;
};

struct seed_set seed_compiled_in(void);

/* A source over `set` (both lent). A file's first line names the columns; an empty cell is no value. Refused: a table
 * without a file, text that is not CSV or not UTF-8, a row longer or shorter than the first. */
struct row_source seed_source(struct seed_set *set);

/* A number that changes with any byte of the files and is the same for the same files: 1 .. 2^48 - 1.
 * (FNV-1a, 64 bits, folded: draft-eastlake-fnv-17 sections 2 and 3.) */
uint64_t seed_version(const struct seed_set *set);

#endif
