/* The catalog that is read from PostgreSQL is the one of the seed that was loaded into it, row by row. */
#include "db/db.h"

#include <string.h>

#include "service/base/text.h"
#include "tests/support/postgres.h"
#include "tests/support/suite.h"

static const char *url;

#define SAME_TEXT(a, b, member) ck_assert_msg(text_equal((a)->member, (b)->member), "%s: %s", (a)->id, #member)

static void
same_gpu(const struct gpu *a, const struct gpu *b)
{
    SAME_TEXT(a, b, id);
    SAME_TEXT(a, b, name);
    SAME_TEXT(a, b, note);
    SAME_TEXT(a, b, launch_date);
    ck_assert_uint_eq(a->memory_bytes, b->memory_bytes);
    ck_assert_uint_eq(a->usable_bytes, b->usable_bytes);
    ck_assert_double_eq(a->bf16_flop_per_second, b->bf16_flop_per_second);
    ck_assert_double_eq(a->nvlink_bytes_per_second, b->nvlink_bytes_per_second);
    ck_assert_int_eq(a->export_restricted, b->export_restricted);
    ck_assert_int_eq((int)a->family, (int)b->family);
    ck_assert_int_eq(a->peer_to_peer, b->peer_to_peer);
}

static void
same_price(const struct price *a, const struct price *b)
{
    SAME_TEXT(a, b, id);
    SAME_TEXT(a, b, region);
    SAME_TEXT(a, b, valid_from);
    SAME_TEXT(a, b, valid_to);
    SAME_TEXT(a, b, observed_date);
    ck_assert_int_eq(a->low.micros, b->low.micros);
    ck_assert_int_eq(a->high.micros, b->high.micros);
    ck_assert_int_eq((int)a->high.currency, (int)b->high.currency);
    ck_assert_int_eq((int)a->type, (int)b->type);
    ck_assert_int_eq(a->tax_included, b->tax_included);
    ck_assert_int_eq(a->confidence, b->confidence);
}

static void
same_offer(const struct offer *a, const struct offer *b)
{
    SAME_TEXT(a, b, id);
    SAME_TEXT(a, b, provider->id);
    SAME_TEXT(a, b, gpu_name);
    ck_assert(text_equal(a->gpu != NULL ? a->gpu->id : NULL, b->gpu != NULL ? b->gpu->id : NULL));
    ck_assert_double_eq(a->gpu_count, b->gpu_count);
    ck_assert_uint_eq(a->ram_bytes, b->ram_bytes);
    ck_assert_int_eq(a->is_server, b->is_server);
}

static void
same_model(const struct model_preset *a, const struct model_preset *b)
{
    SAME_TEXT(a, b, id);
    SAME_TEXT(a, b, name_zh);
    ck_assert_uint_eq(a->params.total, b->params.total);
    ck_assert_uint_eq(a->fact_count, b->fact_count);
}

static void
same_catalog(const struct catalog *a, const struct catalog *b)
{
    struct rates left = a->rates, right = b->rates;

    ck_assert_uint_eq(a->gpu_count, b->gpu_count);
    ck_assert_uint_eq(a->gpu_alias_count, b->gpu_alias_count);
    ck_assert_uint_eq(a->provider_count, b->provider_count);
    ck_assert_uint_eq(a->offer_count, b->offer_count);
    ck_assert_uint_eq(a->price_count, b->price_count);
    ck_assert_uint_eq(a->storage_count, b->storage_count);
    ck_assert_uint_eq(a->network_count, b->network_count);
    ck_assert_uint_eq(a->fx_count, b->fx_count);
    ck_assert_uint_eq(a->model_count, b->model_count);
    ck_assert_uint_eq(a->model_alias_count, b->model_alias_count);
    for (size_t i = 0; i < a->gpu_count; i++)
        same_gpu(&a->gpus[i], &b->gpus[i]);
    for (size_t i = 0; i < a->price_count; i++)
        same_price(&a->prices[i], &b->prices[i]);
    for (size_t i = 0; i < a->offer_count; i++)
        same_offer(&a->offers[i], &b->offers[i]);
    for (size_t i = 0; i < a->model_count; i++)
        same_model(&a->models[i], &b->models[i]);
    for (size_t i = 0; i < rates_count(); i++)
        ck_assert_double_eq(*rates_at(&left, i), *rates_at(&right, i));
}

START_TEST(the_database_gives_the_catalog_of_the_seed)
{
    struct db *db, *seed;
    struct catalog_slot slot, seed_slot;
    struct db_settings settings = { .database_url = url }, embedded = { .database_url = "" };
    struct fault fault;
    struct snapshot *from_database, *from_seed;

    fault_clear(&fault);
    catalog_slot_init(&slot);
    catalog_slot_init(&seed_slot);
    ck_assert_int_eq(db_start(&slot, &settings, &db, &fault), STATUS_OK);
    ck_assert_int_eq(db_start(&seed_slot, &embedded, &seed, &fault), STATUS_OK);
    from_database = catalog_acquire(&slot, 0);
    from_seed = catalog_acquire(&seed_slot, 0);
    ck_assert_ptr_nonnull(from_database);
    ck_assert(!from_database->catalog->embedded);
    ck_assert(db_status(db).connected);
    ck_assert_uint_eq(db_status(db).version, from_database->catalog->version);
    ck_assert_uint_eq(strlen(from_database->catalog->as_of), strlen("2026-11-30T00:00:00Z"));
    same_catalog(from_seed->catalog, from_database->catalog);
    catalog_release(from_database);
    catalog_release(from_seed);
    db_stop(seed);
    catalog_slot_done(&seed_slot);
    db_stop(db);
    catalog_slot_done(&slot);
}
END_TEST

static void
setup(void)
{
    url = test_postgres_start();
    ck_assert_int_eq(test_postgres_apply(url), 0);
}

int
main(void)
{
    TCase *tcase = tcase_create("catalog_read");

    tcase_set_timeout(tcase, 60);
    tcase_add_unchecked_fixture(tcase, setup, test_postgres_stop);
    tcase_add_test(tcase, the_database_gives_the_catalog_of_the_seed);
    return suite_run("catalog_read", tcase);
}
