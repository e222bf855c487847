/* A counted reference is taken under the same lock as the swap, so that a reader never counts up a freed snapshot. */
#include "service/catalog/snapshot.h"

#include <stddef.h>
#include <string.h>

void
catalog_slot_init(struct catalog_slot *slot)
{
    memset(slot->kept, 0, sizeof(slot->kept));
    (void)pthread_mutex_init(&slot->mutex, NULL);
}

void
catalog_slot_done(struct catalog_slot *slot)
{
    for (size_t i = 0; i < SNAPSHOTS_KEPT; i++) {
        catalog_release(slot->kept[i]);
        slot->kept[i] = NULL;
    }
    (void)pthread_mutex_destroy(&slot->mutex);
}

/* Where the newcomer pushes everything down to: the place of its own version, else of the oldest. */
static size_t
place_to_vacate(const struct catalog_slot *slot, uint64_t version)
{
    size_t i = 0;

    while (i < SNAPSHOTS_KEPT - 1 && slot->kept[i] != NULL && slot->kept[i]->catalog->version != version)
        i++;
    return i;
}

void
catalog_publish(struct catalog_slot *slot, struct snapshot *snapshot_memory, const struct catalog *catalog,
                void (*free_catalog)(void *owner), void *owner)
{
    struct snapshot *dropped;

    snapshot_memory->catalog = catalog;
    snapshot_memory->free_catalog = free_catalog;
    snapshot_memory->owner = owner;
    atomic_init(&snapshot_memory->references, 1);

    (void)pthread_mutex_lock(&slot->mutex);
    size_t last = place_to_vacate(slot, catalog->version);
    dropped = slot->kept[last];
    memmove(&slot->kept[1], &slot->kept[0], last * sizeof(slot->kept[0]));
    slot->kept[0] = snapshot_memory;
    (void)pthread_mutex_unlock(&slot->mutex);

    catalog_release(dropped); /* outside the lock: freeing a large tree takes a while */
}

struct snapshot *
catalog_acquire(struct catalog_slot *slot, uint64_t version)
{
    struct snapshot *found = NULL;

    (void)pthread_mutex_lock(&slot->mutex);
    if (version == 0) {
        found = slot->kept[0];
    } else {
        for (size_t i = 0; i < SNAPSHOTS_KEPT && slot->kept[i] != NULL && found == NULL; i++) {
            if (slot->kept[i]->catalog->version == version)
                found = slot->kept[i];
        }
    }
    if (found != NULL)
        atomic_fetch_add_explicit(&found->references, 1, memory_order_relaxed);
    (void)pthread_mutex_unlock(&slot->mutex);
    return found;
}

void
catalog_release(struct snapshot *snapshot)
{
    if (snapshot == NULL)
        return;
    /* acq_rel: whatever other readers did with the catalog has happened before it is freed */
    if (atomic_fetch_sub_explicit(&snapshot->references, 1, memory_order_acq_rel) == 1)
        snapshot->free_catalog(snapshot->owner);
}
