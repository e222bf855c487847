/* A transaction around the loader, with query results as its rows. */
#include "db/catalog_read.h"

#include <string.h>

#include "db/cell_text.h"
#include "service/base/text.h"

/* What the loader's source needs, and how its last statement went. */
struct reading {
    struct conn *conn;
    enum conn_result last;
};

static const char *
result_column_name(const void *content, size_t column)
{
    return PQfname(content, (int)column);
}

static const char *
result_cell(const void *content, size_t row, size_t column)
{
    if (PQgetisnull(content, (int)row, (int)column))
        return NULL;
    return PQgetvalue(content, (int)row, (int)column);
}

static void
result_free(void *content)
{
    PQclear(content);
}

/* Table names come from the loader's own tables, never from outside. */
static bool
read_table(void *context, const char *table, struct rows *ret_rows, char *why, size_t why_size)
{
    struct reading *reading = context;
    char sql[DB_NAME_SIZE + 32];
    PGresult *result;

    text_format(sql, sizeof(sql), "SELECT * FROM %s", table);
    reading->last = conn_query(reading->conn, sql, -1, &result, why, why_size);
    if (reading->last != CONN_OK)
        return false;
    *ret_rows = (struct rows){
        .row_count = (size_t)PQntuples(result),
        .column_count = (size_t)PQnfields(result),
        .column_name = result_column_name,
        .cell = result_cell,
        .free_content = result_free,
        .content = result,
    };
    return true;
}

static enum read_result
as_read_result(enum conn_result result)
{
    switch (result) {
    case CONN_OK:
        return READ_OK;
    case CONN_LOST:
        return READ_LOST;
    case CONN_REFUSED:
        return READ_FAILED;
    case CONN_STOPPED:
        return READ_STOPPED;
    }
    return READ_FAILED;
}

static enum read_result
version_and_time(struct conn *conn, uint64_t *ret_version, char *as_of, size_t as_of_size, struct db_event *ret_event)
{
    PGresult *result;
    enum conn_result asked =
        conn_query(conn,
                   "SELECT version, to_char(made_at AT TIME ZONE 'UTC', 'YYYY-MM-DD\"T\"HH24:MI:SS\"Z\"')"
                   "  FROM catalog_versions ORDER BY version DESC LIMIT 1",
                   2, &result, ret_event->why, sizeof(ret_event->why));
    bool found;

    text_copy(ret_event->table, sizeof(ret_event->table), "catalog_versions");
    if (asked != CONN_OK)
        return as_read_result(asked);
    found = PQntuples(result) == 1 && cell_whole_number(PQgetvalue(result, 0, 0), ret_version) && *ret_version > 0;
    if (found)
        text_copy(as_of, as_of_size, PQgetvalue(result, 0, 1));
    else
        text_copy(ret_event->why, sizeof(ret_event->why), "there is no version yet");
    PQclear(result);
    return found ? READ_OK : READ_FAILED;
}

static enum read_result
begin(struct conn *conn, struct db_event *ret_event)
{
    enum conn_result result = conn_query(conn, "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY", 0, NULL,
                                         ret_event->why, sizeof(ret_event->why));

    if (result == CONN_OK)
        result = conn_query(conn, "SET LOCAL datestyle = 'ISO, YMD'", 0, NULL, ret_event->why, sizeof(ret_event->why));
    return as_read_result(result);
}

static enum read_result
read_all(struct conn *conn, uint64_t *ret_version, struct loaded_catalog **ret_loaded, struct db_event *ret_event)
{
    struct reading reading = { .conn = conn };
    struct row_source source = { .read_table = read_table, .context = &reading };
    char as_of[32];
    struct load_order order = { .source = &source, .as_of = as_of };
    enum read_result result = version_and_time(conn, ret_version, as_of, sizeof(as_of), ret_event);

    if (result != READ_OK)
        return result;
    order.version = *ret_version;
    switch (catalog_load(&order, ret_loaded, ret_event)) {
    case LOAD_OK:
        return READ_OK;
    case LOAD_REFUSED:
        return READ_REFUSED;
    case LOAD_NOT_READ:
        return as_read_result(reading.last);
    }
    return READ_FAILED;
}

enum read_result
catalog_read(struct conn *conn, uint64_t *ret_version, struct loaded_catalog **ret_loaded, struct db_event *ret_event)
{
    enum read_result result = begin(conn, ret_event), ended;
    char why[DB_WHY_SIZE] = "";

    *ret_version = 0;
    if (result == READ_OK)
        result = read_all(conn, ret_version, ret_loaded, ret_event);
    if (result == READ_LOST || result == READ_STOPPED)
        return result;
    ended = as_read_result(conn_query(conn, "ROLLBACK", 0, NULL, why, sizeof(why)));
    if (ended != READ_OK && result == READ_OK)
        loaded_catalog_free(*ret_loaded);
    return ended != READ_OK && result == READ_OK ? ended : result;
}

enum read_result
catalog_read_version(struct conn *conn, uint64_t *ret_version, struct db_event *ret_event)
{
    char as_of[32];

    return version_and_time(conn, ret_version, as_of, sizeof(as_of), ret_event);
}
