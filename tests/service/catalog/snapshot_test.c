/* The shared snapshot: what is held stays whole, what nobody holds is freed once, versions can be pinned. */
#include "service/catalog/snapshot.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "tests/support/suite.h"

static atomic_int freed, made;

/* A catalog whose contents say whether it has been freed. */
struct owner {
    struct catalog catalog;
    struct snapshot snapshot;
    uint64_t copy_of_version;
};

static void
free_owner(void *owner)
{
    memset(owner, 0xFF, sizeof(struct owner));
    free(owner);
    atomic_fetch_add(&freed, 1);
}

static void
publish(struct catalog_slot *slot, uint64_t version)
{
    struct owner *owner = calloc(1, sizeof(*owner));

    ck_assert_ptr_nonnull(owner);
    owner->catalog.version = version;
    owner->copy_of_version = version;
    atomic_fetch_add(&made, 1);
    catalog_publish(slot, &owner->snapshot, &owner->catalog, free_owner, owner);
}

static uint64_t
current_version(struct catalog_slot *slot, uint64_t version)
{
    struct snapshot *snapshot = catalog_acquire(slot, version);
    uint64_t found = snapshot != NULL ? snapshot->catalog->version : 0;

    catalog_release(snapshot);
    return found;
}

START_TEST(nothing_is_found_before_the_first_publish)
{
    struct catalog_slot slot;

    catalog_slot_init(&slot);
    ck_assert_ptr_null(catalog_acquire(&slot, 0));
    catalog_release(NULL);
    catalog_slot_done(&slot);
}
END_TEST

START_TEST(the_last_versions_can_be_pinned)
{
    struct catalog_slot slot;

    catalog_slot_init(&slot);
    for (uint64_t version = 1; version <= SNAPSHOTS_KEPT + 2; version++)
        publish(&slot, version);
    ck_assert_uint_eq(current_version(&slot, 0), SNAPSHOTS_KEPT + 2);
    ck_assert_uint_eq(current_version(&slot, 3), 3);
    ck_assert_uint_eq(current_version(&slot, 2), 0);
    ck_assert_int_eq(atomic_load(&freed), 2);
    catalog_slot_done(&slot);
    ck_assert_int_eq(atomic_load(&freed), SNAPSHOTS_KEPT + 2);
}
END_TEST

START_TEST(a_version_published_again_replaces_itself)
{
    struct catalog_slot slot;

    catalog_slot_init(&slot);
    publish(&slot, 1);
    publish(&slot, 2);
    publish(&slot, 1); /* a database restored from a backup */
    ck_assert_uint_eq(current_version(&slot, 0), 1);
    ck_assert_uint_eq(current_version(&slot, 2), 2);
    ck_assert_int_eq(atomic_load(&freed), 1);
    catalog_slot_done(&slot);
    ck_assert_int_eq(atomic_load(&freed), 3);
}
END_TEST

START_TEST(what_is_held_outlives_the_slot)
{
    struct catalog_slot slot;
    struct snapshot *held;

    catalog_slot_init(&slot);
    publish(&slot, 7);
    held = catalog_acquire(&slot, 0);
    catalog_slot_done(&slot);
    ck_assert_int_eq(atomic_load(&freed), 0);
    ck_assert_uint_eq(held->catalog->version, 7);
    catalog_release(held);
    ck_assert_int_eq(atomic_load(&freed), 1);
}
END_TEST

enum { READERS = 2, READS = 100000, PUBLISHED = 2000 };

static void *
read_often(void *context)
{
    struct catalog_slot *slot = context;
    uint64_t last = 0;

    for (int i = 0; i < READS; i++) {
        struct snapshot *snapshot = catalog_acquire(slot, 0);
        const struct owner *owner = (const struct owner *)(const void *)snapshot->catalog;

        if (owner->copy_of_version != snapshot->catalog->version || snapshot->catalog->version < last)
            abort();
        last = snapshot->catalog->version;
        catalog_release(snapshot);
    }
    return NULL;
}

/* Also the run that a thread sanitizer looks at. */
START_TEST(readers_see_whole_catalogs_while_others_are_published)
{
    struct catalog_slot slot;
    pthread_t readers[READERS];

    catalog_slot_init(&slot);
    publish(&slot, 1);
    for (int i = 0; i < READERS; i++)
        ck_assert_int_eq(pthread_create(&readers[i], NULL, read_often, &slot), 0);
    for (uint64_t version = 2; version <= PUBLISHED; version++)
        publish(&slot, version);
    for (int i = 0; i < READERS; i++)
        ck_assert_int_eq(pthread_join(readers[i], NULL), 0);
    catalog_slot_done(&slot);
    ck_assert_int_eq(atomic_load(&freed), atomic_load(&made));
}
END_TEST

/* Requests take a reference each: it must not be felt. The bound is loose, for sanitizers and busy machines. */
START_TEST(a_reference_costs_little)
{
    enum { TIMES = 200000, NANOSECONDS_AT_MOST = 3000 };
    struct catalog_slot slot;
    struct timespec began, ended;
    double nanoseconds;

    catalog_slot_init(&slot);
    publish(&slot, 1);
    (void)clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &began);
    for (int i = 0; i < TIMES; i++)
        catalog_release(catalog_acquire(&slot, 0));
    (void)clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &ended);
    nanoseconds =
        ((double)(ended.tv_sec - began.tv_sec) * 1e9 + (double)(ended.tv_nsec - began.tv_nsec)) / (double)TIMES;
    printf("acquire and release: %.0f ns\n", nanoseconds);
    ck_assert_double_lt(nanoseconds, NANOSECONDS_AT_MOST);
    catalog_slot_done(&slot);
}
END_TEST

static void
count_from_zero(void)
{
    atomic_store(&freed, 0);
    atomic_store(&made, 0);
}

int
main(void)
{
    TCase *tcase = tcase_create("snapshot");

    tcase_set_timeout(tcase, 60);
    tcase_add_checked_fixture(tcase, count_from_zero, NULL);
    tcase_add_test(tcase, nothing_is_found_before_the_first_publish);
    tcase_add_test(tcase, the_last_versions_can_be_pinned);
    tcase_add_test(tcase, a_version_published_again_replaces_itself);
    tcase_add_test(tcase, what_is_held_outlives_the_slot);
    tcase_add_test(tcase, readers_see_whole_catalogs_while_others_are_published);
    tcase_add_test(tcase, a_reference_costs_little);
    return suite_run("snapshot", tcase);
}
