/* One loop a connection inside one loop of connections; every wait of both ends at once when the program stops. */
#include "db/catalog_watch.h"

#include <math.h>
#include <string.h>
#include <sys/random.h>

#include "db/catalog_read.h"
#include "db/wait.h"
#include "service/base/text.h"

#define FIRST_RETRY_SECONDS 0.2
#define LONGEST_RETRY_SECONDS 10.0
#define GATHER_SECONDS 0.05 /* notices that come close together are answered by one load */

/* Where the thread is in its life. */
struct life {
    struct catalog_watch *watch;
    uint64_t seen;      /* version that was last looked at, published or refused; 0: none */
    unsigned failures;  /* since something was last loaded */
    bool was_connected; /* ever */
};

static void
report(const struct catalog_watch *watch, struct db_event *event, enum db_event_kind kind)
{
    event->kind = kind;
    if (watch->observe != NULL)
        watch->observe(watch->context, event);
}

static void
set_connected(struct catalog_watch *watch, bool connected)
{
    (void)pthread_mutex_lock(&watch->mutex);
    watch->connected = connected;
    (void)pthread_mutex_unlock(&watch->mutex);
}

static void
tell_first_try(struct catalog_watch *watch)
{
    (void)pthread_mutex_lock(&watch->mutex);
    watch->has_tried = true;
    (void)pthread_cond_broadcast(&watch->tried);
    (void)pthread_mutex_unlock(&watch->mutex);
}

void
catalog_watch_publish(struct catalog_watch *watch, struct loaded_catalog *loaded, double seconds)
{
    struct db_event event = { .version = loaded->catalog.version,
                              .embedded = loaded->catalog.embedded,
                              .seconds = seconds };

    catalog_publish(watch->slot, &loaded->snapshot, &loaded->catalog, loaded_catalog_free, loaded);
    (void)pthread_mutex_lock(&watch->mutex);
    watch->version = event.version;
    watch->current_at = clock_seconds();
    (void)pthread_mutex_unlock(&watch->mutex);
    report(watch, &event, DB_CATALOG_LOADED);
}

/* A version that is refused is not looked at again: only a change can make it sound, and that is another version. */
static enum read_result
load(struct life *life)
{
    struct catalog_watch *watch = life->watch;
    struct loaded_catalog *loaded;
    struct db_event event = { 0 };
    double began = clock_seconds();
    uint64_t version = 0;
    enum read_result result = catalog_read(&watch->conn, &version, &loaded, &event);

    event.version = version;
    switch (result) {
    case READ_OK:
        life->seen = version;
        life->failures = 0;
        catalog_watch_publish(watch, loaded, clock_seconds() - began);
        break;
    case READ_REFUSED:
        life->seen = version;
        life->failures = 0;
        report(watch, &event, DB_CATALOG_REFUSED);
        break;
    case READ_FAILED:
        report(watch, &event, DB_RELOAD_FAILED);
        break;
    case READ_LOST:
    case READ_STOPPED:
        break;
    }
    if (result != READ_LOST)
        tell_first_try(watch);
    return result;
}

/* The same version still: what is published is current. Another one: load it. */
static enum read_result
look_up_version(struct life *life, struct db_event *event)
{
    struct catalog_watch *watch = life->watch;
    uint64_t version = 0;
    enum read_result result = catalog_read_version(&watch->conn, &version, event);

    if (result == READ_FAILED)
        report(watch, event, DB_RELOAD_FAILED);
    if (result != READ_OK)
        return result;
    if (version != life->seen)
        return load(life);
    (void)pthread_mutex_lock(&watch->mutex);
    if (watch->version == version)
        watch->current_at = clock_seconds();
    (void)pthread_mutex_unlock(&watch->mutex);
    return READ_OK;
}

/* Takes the notices that follow closely, too. */
static enum conn_result
gather_notices(struct catalog_watch *watch, unsigned long long *number)
{
    double deadline = clock_seconds() + GATHER_SECONDS;
    enum conn_result result;
    bool noticed;

    do {
        result = conn_wait_notice(&watch->conn, deadline, &noticed, number);
    } while (result == CONN_OK && noticed);
    return result;
}

/* Until the connection is of no more use. The version is looked up now and then even when no notice comes: a pooler
 * between here and the server may swallow them. */
static enum read_result
follow(struct life *life, struct db_event *event)
{
    struct catalog_watch *watch = life->watch;
    enum read_result result = load(life);

    while (result == READ_OK || result == READ_REFUSED) {
        unsigned long long number = 0;
        bool noticed = false;
        enum conn_result waited =
            conn_wait_notice(&watch->conn, clock_seconds() + watch->poll_seconds, &noticed, &number);

        if (waited == CONN_OK && noticed)
            waited = gather_notices(watch, &number);
        if (waited == CONN_STOPPED)
            return READ_STOPPED;
        if (waited != CONN_OK) {
            text_copy(event->why, sizeof(event->why), "the connection broke");
            return READ_LOST;
        }
        if (!noticed || number == 0 || number != life->seen)
            result = look_up_version(life, event);
    }
    return result;
}

/* Half to one and a half of the wait that is due: processes that lost the same server do not come back all at once. */
static double
retry_seconds(unsigned failures)
{
    double due = fmin(FIRST_RETRY_SECONDS * ldexp(1, (int)(failures < 16 ? failures : 16)), LONGEST_RETRY_SECONDS);
    uint32_t random = UINT32_MAX / 2;

    if (getrandom(&random, sizeof(random), GRND_NONBLOCK) != (ssize_t)sizeof(random))
        return due;
    return due * (0.5 + (double)random / (double)UINT32_MAX);
}

/* One connection from its opening to its end. */
static enum read_result
live_once(struct life *life, struct db_event *event, enum db_event_kind *ret_end)
{
    struct catalog_watch *watch = life->watch;
    enum conn_result opened = conn_open(&watch->conn, watch->url, event->why, sizeof(event->why));
    struct db_event restored = { 0 };
    enum read_result result;

    *ret_end = DB_CONNECTION_FAILED;
    if (opened == CONN_OK)
        opened = conn_query(&watch->conn, "LISTEN catalog", 0, NULL, event->why, sizeof(event->why));
    if (opened != CONN_OK)
        return opened == CONN_STOPPED ? READ_STOPPED : READ_LOST;
    *ret_end = DB_CONNECTION_LOST;
    set_connected(watch, true);
    report(watch, &restored, DB_CONNECTION_RESTORED);
    result = follow(life, event);
    set_connected(watch, false);
    return result;
}

void *
catalog_watch_run(void *context)
{
    struct life life = { .watch = context };
    struct catalog_watch *watch = context;

    for (;;) {
        struct db_event event = { 0 };
        enum db_event_kind end;
        enum read_result result = live_once(&life, &event, &end);

        conn_close(&watch->conn);
        if (result == READ_STOPPED)
            break;
        event.seconds = retry_seconds(life.failures++);
        if (result == READ_LOST) /* a failed reading has been reported where it failed */
            report(watch, &event, end);
        tell_first_try(watch);
        if (wait_for(-1, 0, watch->conn.stop_fd, clock_seconds() + event.seconds) == WAIT_STOPPED)
            break;
    }
    tell_first_try(watch);
    return NULL;
}
