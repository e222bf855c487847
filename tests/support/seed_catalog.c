#include "tests/support/seed_catalog.h"

#include <stdio.h>
#include <stdlib.h>

#include "db/db.h"

struct catalog_slot *
seed_catalog_slot(void)
{
    static struct catalog_slot slot;
    static struct db *db; /* static: stays reachable, for leak checkers */
    static struct fault fault;
    const struct db_settings settings = { .database_url = NULL };

    if (db == NULL) {
        catalog_slot_init(&slot);
        fault_clear(&fault);
        if (db_start(&slot, &settings, &db, &fault) != STATUS_OK) {
            (void)fprintf(stderr, "the seed is unsound at %s: %s\n", fault.items[0].pointer, fault.items[0].expected);
            abort();
        }
    }
    return &slot;
}

const struct catalog *
seed_catalog(void)
{
    static const struct snapshot *snapshot;

    if (snapshot == NULL)
        snapshot = catalog_acquire(seed_catalog_slot(), 0);
    return snapshot->catalog;
}
