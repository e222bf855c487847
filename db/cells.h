/* Reads typed structs from rows of text cells by a table of columns, and says which cell is unsound. */
#ifndef DB_CELLS_H
#define DB_CELLS_H

#include <stdbool.h>
#include <stddef.h>

#include "db/db.h"
#include "db/rows.h"
#include "db/texts.h"
#include "service/catalog/catalog.h"

/* What a cell becomes. Empty: NULL, 0, false or the first name, unless said otherwise. */
enum cell_kind {
    CELL_TEXT,         /* const char * */
    CELL_SLUG,         /* const char *: words of a-z and 0-9 joined by single '-' or '.' */
    CELL_PATH,         /* const char *: begins with '/' */
    CELL_DATE,         /* const char *: YYYY-MM-DD, a day of the calendar */
    CELL_PARTIAL_DATE, /* const char *: YYYY, YYYY-MM or YYYY-MM-DD */
    CELL_COUNTRY,      /* const char *: two capital letters */
    CELL_NAME,         /* const char *: one of `names` */
    CELL_U32,          /* uint32_t: digits */
    CELL_U64,          /* uint64_t: digits */
    CELL_REAL,         /* double: decimal, finite */
    CELL_MICROS,       /* int64_t: millionths of a decimal with at most 6 places */
    CELL_BOOL,         /* bool: true or false (t or f) */
    CELL_FLAG,         /* int: 1, 0; empty: -1 */
    CELL_ENUM,         /* an int-sized enum: i for names[i]; names[i] may be NULL */
    CELL_CURRENCY,     /* enum currency, one that the program knows */
    CELL_LETTER,       /* char: A, B or C */
    CELL_PROVIDER,     /* const struct provider *: a row loaded before */
    CELL_GPU,          /* const struct gpu *: likewise */
    CELL_MODEL,        /* const struct model_preset *: likewise */
};

enum {
    CELL_REQUIRED = 1,
    CELL_DATES_ROW = 2, /* says when something was known: the newest one dates a seed */
};

struct cell {
    const char *column;
    enum cell_kind kind;
    size_t offset;
    unsigned flags;
    double min, max; /* of numbers, inclusive */
    const char *const *names;
    size_t name_count;
};

/* One table. Its first cell is the key that refusals name. */
struct cell_table {
    const char *table;
    const struct cell *cells;
    size_t cell_count;
    size_t row_size; /* of the struct */
    size_t max_rows;
};

/* Where a catalog is unsound: table, key, column and why of the event, in a few words of English. */
struct loader {
    const struct row_source *source;
    bool strict; /* also refuse columns and constants that the program does not know */
    void *tree;  /* talloc context of the snapshot */
    struct texts texts;
    struct catalog *catalog; /* what is loaded so far */
    struct offer *offers;    /* those of the catalog, which get their prices last */
    char newest_date[11];
    struct db_event *refusal;
    bool not_read; /* the source failed, not its content */
};

/* Notes why the catalog is refused. Returns false, to be passed on. NULL texts are "". */
bool loader_refuse(struct loader *loader, const char *table, const char *key, const char *column, const char *why);

/* Zeroed memory in the snapshot's tree for `count` structs (at least one), NULL after noting that memory is out. */
void *loader_array(struct loader *loader, size_t count, size_t size);

/* Reads a whole table into an array of structs in the tree. `finish` (may be NULL) settles what several cells decide
 * and checks it; it returns false after loader_refuse. */
bool cells_load(struct loader *loader, const struct cell_table *table,
                bool (*finish)(struct loader *loader, const struct cell_table *table, void *row), void **ret_rows,
                size_t *ret_count);

/* Sorts structs that begin with their key (const char *) and refuses a key that stands twice. */
bool cells_sort(struct loader *loader, const struct cell_table *table, void *rows, size_t count);

#endif
