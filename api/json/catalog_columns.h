/* What each list of the catalog has: one table of columns a list, from which JSON, CSV, filters and sorting follow. */
#ifndef API_JSON_CATALOG_COLUMNS_H
#define API_JSON_CATALOG_COLUMNS_H

#include <stdbool.h>
#include <stddef.h>

#include "service/base/quantity.h"
#include "service/catalog/catalog.h"

/* A catalog as it is looked at: prices are those of one day. */
struct catalog_view {
    const struct catalog *catalog;
    char date[sizeof "YYYY-MM-DD"];
    bool is_current; /* the day is that of the catalog's as_of */
};

/* What a cell holds. Texts are lent by the catalog. */
struct catalog_value {
    enum {
        VALUE_NONE = 0, /* not known */
        VALUE_TEXT,
        VALUE_WHOLE,
        VALUE_REAL,
        VALUE_TRUTH,
        VALUE_MONEY,
    } kind;
    union {
        const char *text;
        uint64_t whole;
        double real;
        bool truth;
        struct money money;
    };
};

/* How the struct of a row keeps a cell. */
enum column_kind {
    COLUMN_TEXT,     /* const char * */
    COLUMN_U32,      /* uint32_t; 0: none */
    COLUMN_U64,      /* uint64_t; 0: none */
    COLUMN_REAL,     /* double; 0: none */
    COLUMN_RATE,     /* double, shown with 10 significant digits */
    COLUMN_BOOL,     /* bool */
    COLUMN_FLAG,     /* int: 1, 0, -1: none */
    COLUMN_LETTER,   /* char */
    COLUMN_CURRENCY, /* enum currency */
    COLUMN_MONEY,    /* struct money; currency UNSAID: none */
    COLUMN_OF,       /* by `read`, a text, number or truth */
    COLUMN_ALIASES,  /* the other spellings of the row, an array of texts */
    COLUMN_PRICES,   /* an offer's prices at the time asked about, an array of objects */
};

struct catalog_list;

struct catalog_column {
    const char *name;
    enum column_kind kind;
    size_t offset;
    struct catalog_value (*read)(const struct catalog_view *view, const void *row); /* COLUMN_OF */
    enum { COLUMN_IS_TEXT = 0, COLUMN_IS_NUMBER, COLUMN_IS_TRUTH } read_kind;
};

/* The other spellings of rows: (spelling, index of the row) pairs. */
struct spellings {
    const struct alias *aliases;
    size_t count;
};

/* One list. Rows are structs that begin with their id. */
struct catalog_list {
    const char *name; /* /catalog/NAME */
    const struct catalog_column *columns;
    size_t column_count;
    const void *(*rows)(const struct catalog *catalog, size_t *ret_count);
    size_t row_size;
    bool (*belongs)(const void *row);                             /* NULL: all do */
    struct spellings (*spellings)(const struct catalog *catalog); /* NULL: none but the id */
    void (*texts)(const void *row, const char *ret_texts[4]);     /* what q looks into, NULL where there is none */
    const struct price *(*price)(const void *row);                /* NULL: rows have no validity */
};

extern const struct catalog_list *const catalog_lists[];
extern const size_t catalog_list_count;

/* NULL: there is no such list. */
const struct catalog_list *catalog_list_find(const char *name);

/* How many rows belong to a list. */
size_t catalog_list_size(const struct catalog_list *list, const struct catalog *catalog);

/* The i-th struct of a list's array (which may not belong to it), and the row of an id (NULL: none). */
const void *catalog_row(const struct catalog_list *list, const struct catalog *catalog, size_t i);
const void *catalog_row_find(const struct catalog_list *list, const struct catalog *catalog, const char *id);
const char *catalog_row_id(const void *row);

/* The i-th spelling in the catalog when it is one of this row, NULL when it is another's. There are
 * catalog_spelling_count() of them. */
const char *
catalog_row_spelling(const struct catalog_list *list, const struct catalog *catalog, const void *row, size_t i);
size_t catalog_spelling_count(const struct catalog_list *list, const struct catalog *catalog);

/* NULL: the list has no such column. */
const struct catalog_column *catalog_column_find(const struct catalog_list *list, const char *name);

enum { MAX_CATALOG_COLUMNS = 48 };

/* The columns that are shown, in their order. */
struct column_choice {
    size_t count;
    const struct catalog_column *columns[MAX_CATALOG_COLUMNS];
};

/* Whether a column can be compared and sorted by (not an array). */
bool catalog_column_is_scalar(const struct catalog_column *column);
bool catalog_column_is_number(const struct catalog_column *column);
bool catalog_column_is_truth(const struct catalog_column *column);

/* The cell of a row; VALUE_NONE for arrays. */
struct catalog_value
catalog_value(const struct catalog_view *view, const struct catalog_column *column, const void *row);

/* A text as a value; NULL and "" are none. */
struct catalog_value catalog_text(const char *text);

/* Whether a price holds on the day of the view. */
bool price_holds(const struct catalog_view *view, const struct price *price);

/* Where an offer's prices stand: *ret_count rows, of which those count that price_holds(). */
const struct price *offer_prices(const struct catalog_view *view, const struct offer *offer, size_t *ret_count);

/* The lists, defined beside their columns. */
extern const struct catalog_list gpus_list, networks_list, storage_list, providers_list, fx_list, models_list,
    instances_list, servers_list, prices_list;
extern const struct catalog_list price_members; /* the columns of a price inside an offer */

#define COLUMN(name, kind, type, member)                         \
    {                                                            \
        name, kind, offsetof(type, member), NULL, COLUMN_IS_TEXT \
    }
#define COLUMN_BY(name, read, is)    \
    {                                \
        name, COLUMN_OF, 0, read, is \
    }

#endif
