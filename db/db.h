/* Fills the catalog and keeps it current: from PostgreSQL on a thread of its own, or once from the compiled-in seed. */
#ifndef DB_DB_H
#define DB_DB_H

#include <stdbool.h>
#include <stdint.h>

#include "service/base/result.h"
#include "service/catalog/snapshot.h"

/* What happens to the database that someone may want to log or count. db/ never logs: it reports. */
enum db_event_kind {
    DB_CATALOG_LOADED = 0,  /* a version was read, found sound and published; seconds: how long that took */
    DB_CATALOG_REFUSED,     /* a version was read but is unsound; the last good one stays. table, key, column, why */
    DB_RELOAD_FAILED,       /* reading failed though the connection stands (a missing table or right). why */
    DB_CONNECTION_FAILED,   /* no connection at start or at a further try. why; seconds until the next try */
    DB_CONNECTION_LOST,     /* an established connection broke. why; seconds until the next try */
    DB_CONNECTION_RESTORED, /* connected (again) */
    DB_EVENT_KIND_COUNT
};

enum { DB_NAME_SIZE = 64, DB_KEY_SIZE = 96, DB_WHY_SIZE = 256 };

/* Bounded texts, "" where they do not apply; never a password. Lent for the length of the call. */
struct db_event {
    enum db_event_kind kind;
    uint64_t version; /* of the catalog, 0 where there is none */
    double seconds;
    bool embedded;
    char table[DB_NAME_SIZE];
    char key[DB_KEY_SIZE]; /* of the row: its first column */
    char column[DB_NAME_SIZE];
    char why[DB_WHY_SIZE];
};

/* Stable name of a kind ("catalog_loaded"), for logs and metrics. */
const char *db_event_kind_name(enum db_event_kind kind);

struct db_settings {
    const char *database_url;       /* URI or key=value string of libpq, several hosts too; NULL or "": the seed */
    double poll_seconds;            /* how often the version is looked up when no notice comes; 0: 30 */
    double connect_timeout_seconds; /* also of each query; 0: 5 */
    void (*observe)(void *context, const struct db_event *event); /* may be NULL; called from the database thread too */
    void *context;
};

/* Where things stand, for health checks. */
struct db_status {
    bool configured, connected;
    double seconds_since_loaded; /* since the version now served was last found to be the current one; -1: never */
    uint64_t version;            /* now served; 0: none yet */
};

struct db;

/* Publishes into `slot` (lent until db_stop). Without a database_url the seed is loaded and published before this
 * returns, and no thread is made. With one, the database thread starts and this waits a few seconds at most for the
 * first catalog; an unreachable or unsound database is no error here: the thread goes on trying and events tell.
 * FAULT_INTERNAL: the seed is unsound (pointer "/table/key/column", expected: why) or no memory or thread is to be
 * had. FAULT_BAD_PARAMETER at DATABASE_URL: libpq cannot read it. *ret_db is freed by db_stop. */
enum status
db_start(struct catalog_slot *slot, const struct db_settings *settings, struct db **ret_db, struct fault *ret_fault);

/* From any thread. */
struct db_status db_status(struct db *db);

/* Stops the thread (at once, whatever it waits for) and frees `db`; what was published stays. NULL is fine. */
void db_stop(struct db *db);

#endif
