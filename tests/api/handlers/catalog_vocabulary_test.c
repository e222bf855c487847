/* Filters by a word that nothing can hold are told from those that no row meets. */
#include "api/handlers/catalog_vocabulary.h"

#include "api/json/job_json.h"
#include "service/base/result.h"
#include "tests/support/seed_catalog.h"
#include "tests/support/suite.h"

static char expected[FAULT_TEXT_SIZE];
static const char *nearest;

static bool
has(const char *column, const char *word)
{
    nearest = NULL;
    return vocabulary_has(seed_catalog(), column, word, expected, &nearest);
}

START_TEST(every_row_is_held)
{
    const struct catalog *catalog = seed_catalog();

    ck_assert_uint_gt(catalog->offer_count, 800);
    for (size_t i = 0; i < catalog->offer_count; i++) {
        const struct offer *offer = &catalog->offers[i];

        ck_assert_msg(!offer->gpu || has("gpu", offer->gpu->id), "%s", offer->id);
        ck_assert_msg(!offer->provider || has("provider", offer->provider->id), "%s", offer->id);
    }
    ck_assert_uint_gt(catalog->price_count, 900);
    for (size_t i = 0; i < catalog->price_count; i++) {
        ck_assert(has("price_type", price_type_names[catalog->prices[i].type]));
        ck_assert(has("currency", currency_names[catalog->prices[i].low.currency]));
    }
}
END_TEST

static const struct {
    const char *column, *word, *expected, *nearest;
} strange[] = {
    { "gpu", "H100", "id of /catalog/gpus", "h100-sxm-80gb" },
    { "gpu", "h100-sxm-80g", "id of /catalog/gpus", "h100-sxm-80gb" },
    { "provider", "aliyum", "id of /catalog/providers", "aliyun" },
    { "price_type", "spott", "one of on_demand|spot|reserved|subscription|purchase", "spot" },
};

START_TEST(what_nothing_holds_is_told)
{
    ck_assert(!has(strange[_i].column, strange[_i].word));
    ck_assert_str_eq(expected, strange[_i].expected);
    ck_assert_str_eq(nearest, strange[_i].nearest);
}
END_TEST

START_TEST(money_has_codes)
{
    ck_assert(!has("currency", "RMB"));
    ck_assert_ptr_nonnull(strstr(expected, "one of CNY|USD|"));
    ck_assert(has("currency", "cny"));
    ck_assert(has("gpu", "H100-SXM-80GB"));
    ck_assert(has("region", "somewhere"));
    ck_assert(has("name", ""));
}
END_TEST

int
main(void)
{
    TCase *tcase = tcase_create("vocabulary");

    tcase_add_test(tcase, every_row_is_held);
    tcase_add_loop_test(tcase, what_nothing_holds_is_told, 0, COUNT_OF(strange));
    tcase_add_test(tcase, money_has_codes);
    return suite_run("catalog_vocabulary", tcase);
}
