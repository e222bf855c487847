/* Start, status and stop of the catalog's source. */
#include "db/db.h"

#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <time.h>
#include <unistd.h>

#include "db/catalog_load.h"
#include "db/catalog_watch.h"
#include "db/seed.h"
#include "db/wait.h"
#include "service/base/text.h"

#define DEFAULT_POLL_SECONDS 30.0
#define DEFAULT_TIMEOUT_SECONDS 5.0
enum { FIRST_LOAD_SECONDS = 3 };

struct db {
    struct catalog_watch watch;
    char *url; /* NULL: the seed, no thread */
    pthread_t thread;
};

const char *
db_event_kind_name(enum db_event_kind kind)
{
    static const char *const names[DB_EVENT_KIND_COUNT] = {
        [DB_CATALOG_LOADED] = "catalog_loaded",
        [DB_CATALOG_REFUSED] = "catalog_refused",
        [DB_RELOAD_FAILED] = "catalog_reload_failed",
        [DB_CONNECTION_FAILED] = "database_connection_failed",
        [DB_CONNECTION_LOST] = "database_connection_lost",
        [DB_CONNECTION_RESTORED] = "database_connected",
    };

    return kind < DB_EVENT_KIND_COUNT ? names[kind] : "";
}

static enum status
fail(struct fault *fault, enum fault_code code, const char *pointer, const char *why)
{
    fault_add(fault, code, pointer, NULL, why, NULL);
    return STATUS_FAULT;
}

static enum status
load_seed(struct db *db, struct fault *fault)
{
    struct seed_set set = seed_compiled_in();
    struct row_source source = seed_source(&set);
    struct load_order order = { .source = &source, .version = seed_version(&set), .embedded = true };
    struct loaded_catalog *loaded;
    struct db_event refusal = { .kind = DB_CATALOG_REFUSED, .embedded = true, .version = order.version };
    double began = clock_seconds();
    char pointer[FAULT_POINTER_SIZE];

    if (catalog_load(&order, &loaded, &refusal) == LOAD_OK) {
        catalog_watch_publish(&db->watch, loaded, clock_seconds() - began);
        return STATUS_OK;
    }
    if (db->watch.observe != NULL)
        db->watch.observe(db->watch.context, &refusal);
    text_format(pointer, sizeof(pointer), "/%s/%s/%s", refusal.table, refusal.key, refusal.column);
    return fail(fault, FAULT_INTERNAL, pointer, refusal.why);
}

/* Not longer than a moment: start-up is ready when the database is, and does not hang when it is not. */
static void
wait_first_try(struct catalog_watch *watch)
{
    struct timespec until;

    (void)clock_gettime(CLOCK_REALTIME, &until);
    until.tv_sec += FIRST_LOAD_SECONDS;
    (void)pthread_mutex_lock(&watch->mutex);
    while (!watch->has_tried && pthread_cond_timedwait(&watch->tried, &watch->mutex, &until) == 0)
        continue;
    (void)pthread_mutex_unlock(&watch->mutex);
}

/* Signals are the main thread's: the new one inherits a mask without any. */
static bool
start_thread(struct db *db)
{
    sigset_t all, before;
    bool started;

    (void)sigfillset(&all);
    (void)pthread_sigmask(SIG_SETMASK, &all, &before);
    started = pthread_create(&db->thread, NULL, catalog_watch_run, &db->watch) == 0;
    (void)pthread_sigmask(SIG_SETMASK, &before, NULL);
    return started;
}

static enum status
start_watching(struct db *db, const struct db_settings *settings, struct fault *fault)
{
    struct catalog_watch *watch = &db->watch;

    if (!conn_url_is_readable(settings->database_url))
        return fail(fault, FAULT_BAD_PARAMETER, "DATABASE_URL", "connection string of libpq");
    watch->conn.timeout_seconds =
        settings->connect_timeout_seconds > 0 ? settings->connect_timeout_seconds : DEFAULT_TIMEOUT_SECONDS;
    watch->conn.stop_fd = eventfd(0, EFD_CLOEXEC);
    db->url = strdup(settings->database_url);
    watch->url = db->url;
    if (watch->conn.stop_fd < 0 || db->url == NULL || !start_thread(db)) {
        if (watch->conn.stop_fd >= 0)
            (void)close(watch->conn.stop_fd);
        free(db->url);
        db->url = NULL;
        return fail(fault, FAULT_INTERNAL, "/database", "a thread");
    }
    wait_first_try(watch);
    return STATUS_OK;
}

enum status
db_start(struct catalog_slot *slot, const struct db_settings *settings, struct db **ret_db, struct fault *ret_fault)
{
    struct db *db = calloc(1, sizeof(*db));
    bool from_seed = settings->database_url == NULL || settings->database_url[0] == '\0';
    enum status status;

    if (db == NULL)
        return fail(ret_fault, FAULT_INTERNAL, "/database", "memory");
    db->watch.slot = slot;
    db->watch.poll_seconds = settings->poll_seconds > 0 ? settings->poll_seconds : DEFAULT_POLL_SECONDS;
    db->watch.observe = settings->observe;
    db->watch.context = settings->context;
    (void)pthread_mutex_init(&db->watch.mutex, NULL);
    (void)pthread_cond_init(&db->watch.tried, NULL);
    status = from_seed ? load_seed(db, ret_fault) : start_watching(db, settings, ret_fault);
    if (status == STATUS_OK)
        *ret_db = db;
    else
        db_stop(db);
    return status;
}

struct db_status
db_status(struct db *db)
{
    struct db_status status = { .seconds_since_loaded = -1 };

    if (db == NULL)
        return status;
    (void)pthread_mutex_lock(&db->watch.mutex);
    status.configured = db->url != NULL;
    status.connected = db->watch.connected;
    status.version = db->watch.version;
    if (db->watch.current_at > 0)
        /* what is compiled in is always the current version */
        status.seconds_since_loaded = db->url != NULL ? clock_seconds() - db->watch.current_at : 0;
    (void)pthread_mutex_unlock(&db->watch.mutex);
    return status;
}

void
db_stop(struct db *db)
{
    const uint64_t stop = 1;

    if (db == NULL)
        return;
    if (db->url != NULL) {
        (void)!write(db->watch.conn.stop_fd, &stop, sizeof(stop));
        (void)pthread_join(db->thread, NULL);
        (void)close(db->watch.conn.stop_fd);
        free(db->url);
    }
    (void)pthread_cond_destroy(&db->watch.tried);
    (void)pthread_mutex_destroy(&db->watch.mutex);
    free(db);
}
