/* Reads one version of the catalog from PostgreSQL: all tables as they were at one moment. */
#ifndef DB_CATALOG_READ_H
#define DB_CATALOG_READ_H

#include <stdint.h>

#include "db/catalog_load.h"
#include "db/conn.h"

enum read_result {
    READ_OK = 0,
    READ_REFUSED, /* the content is unsound: table, key, column and why of the event */
    READ_FAILED,  /* the server said no (a missing table or right): table and why */
    READ_LOST,    /* the connection broke: why */
    READ_STOPPED,
};

/* One repeatable-read, read-only transaction. *ret_version is set as soon as it is known (0 before), also when the
 * catalog of that version is then refused. */
enum read_result
catalog_read(struct conn *conn, uint64_t *ret_version, struct loaded_catalog **ret_loaded, struct db_event *ret_event);

/* The number of the newest version. */
enum read_result catalog_read_version(struct conn *conn, uint64_t *ret_version, struct db_event *ret_event);

#endif
