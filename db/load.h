/* The tables of the catalog, each loaded by one function, in the order of catalog_load(). */
#ifndef DB_LOAD_H
#define DB_LOAD_H

#include "db/cells.h"
#include "service/base/quantity.h"

/* Each fills its arrays in loader->catalog; false after loader_refuse. */

/* gpus, gpu_aliases; networks; rates */
bool load_gpus(struct loader *loader);
bool load_networks(struct loader *loader);
bool load_rates(struct loader *loader);

/* providers; instances and servers; prices, after the catalog's as_of is settled by load_as_of */
bool load_providers(struct loader *loader);
bool load_offers(struct loader *loader);
bool load_prices(struct loader *loader);
bool load_storage(struct loader *loader);
bool load_fx(struct loader *loader);

/* Gives each offer the prices that hold on the day of the catalog's as_of. Comes last: the as_of of a seed is the
 * newest date of all its rows. */
bool load_current_prices(struct loader *loader);

/* models, model_fields, model_aliases */
bool load_models(struct loader *loader);

/* Turns (spelling, index) pairs into the sorted list that look-ups search: normalised, each once. Two that are the
 * same once normalised must mean the same row. */
bool load_alias_list(struct loader *loader, const struct cell_table *table, struct alias *aliases, size_t count,
                     size_t *ret_count);

/* Columns that most tables end with. */
#define SOURCE_CELLS(type)                                                                                           \
    { "source", CELL_TEXT, offsetof(type, source), CELL_REQUIRED, 0, 0, NULL, 0 },                                   \
    {                                                                                                                \
        "source_date", CELL_PARTIAL_DATE, offsetof(type, source_date), CELL_REQUIRED | CELL_DATES_ROW, 0, 0, NULL, 0 \
    }

/* Rows of cells, shortest form first. */
#define CELL(column, kind, type, member, flags)                    \
    {                                                              \
        column, kind, offsetof(type, member), flags, 0, 0, NULL, 0 \
    }
#define NUMBER_CELL(column, kind, type, member, flags, min, max)       \
    {                                                                  \
        column, kind, offsetof(type, member), flags, min, max, NULL, 0 \
    }
#define NAME_CELL(column, kind, type, member, flags, names)                       \
    {                                                                             \
        column, kind, offsetof(type, member), flags, 0, 0, names, COUNT_OF(names) \
    }

/* Ends of what is believable: beyond them a figure is a slip of the unit. */
#define MAX_ROW_BYTES 1e18
#define MAX_PER_SECOND 1e20
#define MAX_BITS_PER_SECOND 1e16
#define MAX_WATTS 1e6
#define MAX_COUNT 1e6

enum { MAX_ROWS = 200000, MAX_SMALL_ROWS = 20000 };

#endif
