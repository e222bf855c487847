/* The database thread: connects, loads, listens, loads again, and never gives up. */
#ifndef DB_CATALOG_WATCH_H
#define DB_CATALOG_WATCH_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

#include "db/catalog_load.h"
#include "db/conn.h"
#include "db/db.h"

/* Shared with the thread. Members below `mutex` are guarded by it. */
struct catalog_watch {
    struct catalog_slot *slot;
    const char *url;
    double poll_seconds;
    void (*observe)(void *context, const struct db_event *event);
    void *context;
    struct conn conn; /* of the thread alone, but for stop_fd */

    pthread_mutex_t mutex;
    pthread_cond_t tried; /* the first try to load has ended, well or not */
    bool has_tried, connected;
    double current_at; /* when the published version was last known to be the newest, clock_seconds(); 0: never */
    uint64_t version;  /* published */
};

/* Body of the thread; `watch` is a struct catalog_watch. Ends when conn.stop_fd becomes readable. */
void *catalog_watch_run(void *watch);

/* Publishes a freshly loaded catalog and reports it. */
void catalog_watch_publish(struct catalog_watch *watch, struct loaded_catalog *loaded, double seconds);

#endif
