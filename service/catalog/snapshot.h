/* The current catalog, shared by threads: publish, acquire, release, counted. */
#ifndef SERVICE_CATALOG_SNAPSHOT_H
#define SERVICE_CATALOG_SNAPSHOT_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>

#include "service/catalog/catalog.h"

enum { SNAPSHOTS_KEPT = 8 };

/* One published catalog with what frees it. */
struct snapshot {
    const struct catalog *catalog;
    void (*free_catalog)(void *owner); /* called by the last release */
    void *owner;
    atomic_uint_fast32_t references;
};

/* Where the current snapshot is found. main owns it; all members are private to snapshot.c. The last SNAPSHOTS_KEPT
 * versions stay for requests that pin one. */
struct catalog_slot {
    pthread_mutex_t mutex;
    struct snapshot *kept[SNAPSHOTS_KEPT]; /* [0] is the current one */
};

void catalog_slot_init(struct catalog_slot *slot);

/* Releases all it keeps. No reader is left. */
void catalog_slot_done(struct catalog_slot *slot);

/* Makes `catalog` the current one. Takes `snapshot_memory` (caller-allocated, must live until free_catalog(owner) is
 * called, normally inside owner). A version that is already current replaces it. */
void catalog_publish(struct catalog_slot *slot, struct snapshot *snapshot_memory, const struct catalog *catalog,
                     void (*free_catalog)(void *owner), void *owner);

/* Lends the current snapshot until release; NULL before the first publish. `version` 0: the current one, else exactly
 * that one, NULL when it is not held. */
struct snapshot *catalog_acquire(struct catalog_slot *slot, uint64_t version);
void catalog_release(struct snapshot *snapshot);

#endif
