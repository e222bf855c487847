/* Builds one version of the catalog from rows: whole and sound, or not at all. */
#ifndef DB_CATALOG_LOAD_H
#define DB_CATALOG_LOAD_H

#include <stdint.h>

#include "db/db.h"
#include "db/rows.h"
#include "service/catalog/snapshot.h"

struct load_order {
    const struct row_source *source;
    uint64_t version;
    const char *as_of; /* RFC 3339 UTC; NULL: the newest date in the rows, at midnight */
    bool embedded;     /* marks the catalog, and refuses columns and constants that the program does not know */
};

enum load_result {
    LOAD_OK = 0,
    LOAD_REFUSED,  /* a row is unsound */
    LOAD_NOT_READ, /* the source could not supply a table */
};

/* A catalog and the memory of its snapshot, in one tree. */
struct loaded_catalog {
    struct catalog catalog;
    struct snapshot snapshot;
};

/* *ret_loaded is freed by loaded_catalog_free, or published with it. On failure table, key, column and why of
 * *ret_refusal say where and what. */
enum load_result
catalog_load(const struct load_order *order, struct loaded_catalog **ret_loaded, struct db_event *ret_refusal);

/* Frees a struct loaded_catalog; fits struct snapshot. */
void loaded_catalog_free(void *loaded);

#endif
