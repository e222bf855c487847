/* GET /catalog on the compiled-in catalog: counts, pages, rows and their figures; filters, search, order, fields. */
#include "api/handlers/catalog.h"

#include <stdlib.h>
#include <string.h>

#include "api/json/catalog_columns.h"
#include "service/base/text.h"
#include "tests/support/catalog_client.h"
#include "tests/support/seed_catalog.h"
#include "tests/support/suite.h"

/* --- the whole --- */

START_TEST(the_root_counts_and_links)
{
    json_t *reply = catalog_get("/catalog", ""), *counts = json_object_get(reply, "counts");
    const struct catalog *catalog = seed_catalog();

    ck_assert_uint_eq(strtoull(json_string_value(json_object_get(reply, "catalog_version")), NULL, 10),
                      catalog->version);
    ck_assert_str_eq(text_at(reply, "as_of"), catalog->as_of);
    ck_assert_str_eq(text_at(reply, "source"), "embedded");
    ck_assert_uint_eq((size_t)number_at(counts, "gpus"), catalog->gpu_count);
    ck_assert_uint_eq((size_t)number_at(counts, "instances") + (size_t)number_at(counts, "servers"),
                      catalog->offer_count);
    for (size_t i = 0; i < catalog_list_count; i++) {
        json_t *list = catalog_get(text_at(json_object_get(reply, "links"), catalog_lists[i]->name), "limit=1");

        ck_assert_uint_eq(json_array_size(json_object_get(list, "items")), 1);
        json_decref(list);
    }
    json_decref(reply);
}
END_TEST

/* Every row of every list, page by page: each once, in order, and found again by its id. */
START_TEST(pages_hold_every_row_once)
{
    const struct catalog_list *list = catalog_lists[_i];
    char path[64], query[1024] = "limit=7", last[256] = "";
    size_t seen = 0, total = 0;

    text_format(path, sizeof path, "/catalog/%s", list->name);
    for (const char *cursor = ""; cursor;) {
        json_t *reply = catalog_get(path, query);
        size_t count = json_array_size(json_object_get(reply, "items"));
        bool has_link = catalog_header("Link") != NULL;

        total = (size_t)number_at(reply, "total_count");
        for (size_t i = 0; i < count; i++) {
            char item_path[384];

            ck_assert_str_gt(item_id_at(reply, i), last);
            text_copy(last, sizeof last, item_id_at(reply, i));
            if (i == 0) {
                text_format(item_path, sizeof item_path, "%s/%s", path, last);
                json_decref(catalog_get(item_path, ""));
            }
        }
        seen += count;
        cursor = text_at(reply, "next_cursor");
        ck_assert_int_eq(cursor != NULL, has_link);
        if (cursor)
            text_format(query, sizeof query, "limit=7&cursor=%s", cursor);
        json_decref(reply);
    }
    ck_assert_uint_eq(seen, total);
}
END_TEST

START_TEST(a_row_has_every_column)
{
    const struct catalog_list *list = catalog_lists[_i];
    char path[64];

    text_format(path, sizeof path, "/catalog/%s", list->name);
    json_t *reply = catalog_get(path, "limit=1"), *item = json_array_get(json_object_get(reply, "items"), 0);
    for (size_t i = 0; i < list->column_count; i++)
        ck_assert_msg(json_object_get(item, list->columns[i].name) != NULL, "%s: no %s", path, list->columns[i].name);
    ck_assert_uint_eq(json_object_size(item), list->column_count);
    json_decref(reply);
}
END_TEST

/* NVIDIA's data sheets: T4 70 W, 16 GB, no NVLink; H100 SXM NVLink 900 GB/s both ways, 700 W. */
START_TEST(figures_are_those_of_the_data_sheets)
{
    json_t *t4 = catalog_get("/catalog/gpus/t4-16gb", ""), *h100 = catalog_get("/catalog/gpus/h100-sxm-80gb", "");

    ck_assert_double_eq(number_at(t4, "tdp_watts"), 70);
    ck_assert_double_eq(number_at(t4, "memory_bytes"), 17179869184.0);
    ck_assert(json_is_null(json_object_get(t4, "nvlink_bytes_per_second")));
    ck_assert_str_eq(text_at(t4, "nvlink_kind"), "none");
    ck_assert(json_is_null(json_object_get(t4, "bf16_flop_per_second")));
    ck_assert_double_eq(number_at(h100, "nvlink_bytes_per_second"), 450e9);
    ck_assert_double_eq(number_at(h100, "tdp_watts"), 700);
    ck_assert_uint_eq(strtoull(json_string_value(json_object_get(h100, "catalog_version")), NULL, 10),
                      seed_catalog()->version);
    json_decref(t4);
    json_decref(h100);
}
END_TEST

START_TEST(money_is_a_decimal_text_and_no_price_is_an_empty_list)
{
    json_t *priced = catalog_get("/catalog/instances", "price_count_min=1&limit=1");
    json_t *price = json_array_get(json_object_get(json_array_get(json_object_get(priced, "items"), 0), "prices"), 0);
    json_t *unpriced = catalog_get("/catalog/instances", "price_count=0&limit=1");

    ck_assert(json_is_string(json_object_get(json_object_get(price, "low"), "amount")));
    ck_assert_uint_eq(strlen(text_at(json_object_get(price, "low"), "currency")), 3);
    ck_assert_ptr_nonnull(text_at(price, "price_type"));
    ck_assert_uint_eq(json_array_size(json_object_get(json_array_get(json_object_get(unpriced, "items"), 0), "prices")),
                      0);
    ck_assert(json_is_array(json_object_get(json_array_get(json_object_get(unpriced, "items"), 0), "prices")));
    json_decref(priced);
    json_decref(unpriced);
}
END_TEST

/* --- filters, search, order, fields --- */

/* Whether an item of the reply to `query` must have a member of this text, or a number in this range. */
static const struct {
    const char *path, *query, *member, *text;
    double min, max;
} filters[] = {
    { "/catalog/gpus", "vendor=nvidia", "vendor", "NVIDIA", 0, 0 },
    { "/catalog/gpus", "family=hopper&limit=200", "family", "hopper", 0, 0 },
    { "/catalog/gpus", "memory_bytes_min=85899345920", "memory_bytes", NULL, 85899345920.0, 1e15 },
    { "/catalog/gpus", "tdp_watts_max=75", "tdp_watts", NULL, 1, 75 },
    { "/catalog/gpus", "memory_bytes=25769803776", "memory_bytes", NULL, 25769803776.0, 25769803776.0 },
    { "/catalog/instances", "provider=aliyun", "provider", "aliyun", 0, 0 },
    { "/catalog/instances", "gpu=a100-sxm-80gb", "gpu", "a100-sxm-80gb", 0, 0 },
    { "/catalog/instances", "gpu_count_min=8&gpu_count_max=8", "gpu_count", NULL, 8, 8 },
    { "/catalog/prices", "currency=CNY&price_type=spot", "price_type", "spot", 0, 0 },
    { "/catalog/prices", "provider=aws", "provider", "aws", 0, 0 },
    { "/catalog/models", "parameter_count_min=1e11", "parameter_count", NULL, 1e11, 1e14 },
    { "/catalog/storage", "media=nvme", "media", "nvme", 0, 0 },
};

START_TEST(filters_leave_what_fits)
{
    json_t *reply = catalog_get(filters[_i].path, filters[_i].query), *item;
    size_t i;

    ck_assert_msg(json_array_size(json_object_get(reply, "items")) > 0, "%s?%s has nothing", filters[_i].path,
                  filters[_i].query);
    json_array_foreach(json_object_get(reply, "items"), i, item)
    {
        if (filters[_i].text) {
            ck_assert_str_eq(text_at(item, filters[_i].member), filters[_i].text);
        } else {
            ck_assert_double_ge(number_at(item, filters[_i].member), filters[_i].min);
            ck_assert_double_le(number_at(item, filters[_i].member), filters[_i].max);
        }
    }
    json_decref(reply);
}
END_TEST

START_TEST(several_values_of_one_filter_are_any_of_them)
{
    size_t hopper = catalog_total("/catalog/gpus", "family=hopper"),
           ampere = catalog_total("/catalog/gpus", "family=ampere");

    ck_assert_uint_gt(hopper, 0);
    ck_assert_uint_eq(catalog_total("/catalog/gpus", "family=hopper&family=ampere"), hopper + ampere);
    ck_assert_uint_eq(catalog_total("/catalog/gpus", "family=hopper,ampere"), hopper + ampere);
    ck_assert_uint_eq(catalog_total("/catalog/gpus", "family="), seed_catalog()->gpu_count);
    ck_assert_uint_eq(catalog_total("/catalog/gpus", "family=hopper&memory_bytes_max=1"), 0);
}
END_TEST

/* Known, false and not known are three things. */
START_TEST(what_is_not_known_fits_neither_truth)
{
    size_t yes = catalog_total("/catalog/gpus", "export_restricted=true"),
           no = catalog_total("/catalog/gpus", "export_restricted=false");

    ck_assert_uint_gt(yes, 0);
    ck_assert_uint_gt(no, 0);
    ck_assert_uint_lt(yes + no, seed_catalog()->gpu_count);
}
END_TEST

static const struct {
    const char *path, *query, *id;
} searches[] = {
    { "/catalog/gpus", "q=4090", "rtx-4090-24gb" },    { "/catalog/gpus", "q=H100 80gb HBM3", "h100-sxm-80gb" },
    { "/catalog/gpus", "q=昇腾", "ascend-910b-64gb" }, { "/catalog/providers", "q=阿里云", "aliyun" },
    { "/catalog/providers", "q=ALIBABA", "aliyun" },   { "/catalog/models", "q=通义千问", "qwen-1.8b" },
    { "/catalog/storage", "q=阿里云", "essd-pl1" },
};

START_TEST(words_are_found_in_names_and_aliases)
{
    char query[128];
    bool found = false;
    json_t *item;
    size_t i;

    text_format(query, sizeof query, "%s&limit=200", searches[_i].query);
    json_t *reply = catalog_get(searches[_i].path, query);
    json_array_foreach(json_object_get(reply, "items"), i, item)
    {
        found = found || strcmp(text_at(item, "id"), searches[_i].id) == 0;
    }
    ck_assert_msg(found, "%s?%s has no %s", searches[_i].path, searches[_i].query, searches[_i].id);
    json_decref(reply);
}
END_TEST

START_TEST(a_word_that_stands_nowhere_finds_nothing)
{
    ck_assert_uint_eq(catalog_total("/catalog/gpus", "q=abacus"), 0);
    ck_assert_uint_eq(catalog_total("/catalog/gpus", "q=h100 abacus"), 0);
    ck_assert_uint_eq(catalog_total("/catalog/gpus", "q="), seed_catalog()->gpu_count);
}
END_TEST

START_TEST(order_is_as_asked_and_the_unknown_comes_last)
{
    static const char *const queries[] = { "sort=tdp_watts&limit=200", "sort=-tdp_watts&limit=200" };
    json_t *item;
    size_t i;

    for (int descending = 0; descending < 2; descending++) {
        json_t *reply = catalog_get("/catalog/gpus", queries[descending]);
        double last = descending ? 1e9 : 0;
        bool unknown = false;

        json_array_foreach(json_object_get(reply, "items"), i, item)
        {
            const json_t *watts = json_object_get(item, "tdp_watts");

            ck_assert(!unknown || json_is_null(watts));
            unknown = json_is_null(watts);
            if (unknown)
                continue;
            ck_assert(descending ? json_number_value(watts) <= last : json_number_value(watts) >= last);
            last = json_number_value(watts);
        }
        json_decref(reply);
    }
}
END_TEST

/* Equal in the first, ordered by the second; the id decides at last. */
START_TEST(a_second_column_breaks_ties)
{
    json_t *reply = catalog_get("/catalog/instances", "sort=provider,-gpu_count&limit=200"),
           *items = json_object_get(reply, "items");

    for (size_t i = 1; i < json_array_size(items); i++) {
        const json_t *before = json_array_get(items, i - 1), *item = json_array_get(items, i);
        int order = strcmp(text_at(before, "provider"), text_at(item, "provider"));

        ck_assert_int_le(order, 0);
        if (order == 0)
            ck_assert_double_ge(number_at(before, "gpu_count"), number_at(item, "gpu_count"));
        if (order == 0 && number_at(before, "gpu_count") == number_at(item, "gpu_count"))
            ck_assert_str_lt(text_at(before, "id"), text_at(item, "id"));
    }
    json_decref(reply);
}
END_TEST

START_TEST(sorted_pages_do_not_repeat_rows)
{
    char query[1024] = "sort=-gpu_count,provider&limit=100";
    size_t seen = 0;
    double last = 1e9;

    for (bool more = true; more;) {
        json_t *reply = catalog_get("/catalog/instances", query);
        const char *cursor = text_at(reply, "next_cursor");

        seen += json_array_size(json_object_get(reply, "items"));
        ck_assert_double_le(number_at(json_array_get(json_object_get(reply, "items"), 0), "gpu_count"), last);
        last = number_at(
            json_array_get(json_object_get(reply, "items"), json_array_size(json_object_get(reply, "items")) - 1),
            "gpu_count");
        more = cursor != NULL;
        text_format(query, sizeof query, "sort=-gpu_count,provider&limit=100&cursor=%s", cursor ? cursor : "");
        json_decref(reply);
    }
    ck_assert_uint_eq(seen, catalog_total("/catalog/instances", ""));
}
END_TEST

START_TEST(only_the_fields_asked_for_are_shown)
{
    json_t *reply = catalog_get("/catalog/gpus", "fields=name,id&limit=1"),
           *item = json_array_get(json_object_get(reply, "items"), 0);

    ck_assert_uint_eq(json_object_size(item), 2);
    ck_assert_str_eq(json_object_iter_key(json_object_iter(item)), "name");
    json_decref(reply);
    reply = catalog_get("/catalog/gpus/t4-16gb", "fields=tdp_watts");
    ck_assert_uint_eq(json_object_size(reply), 2); /* and the version */
    json_decref(reply);
}
END_TEST

/* Prices of the day; a day of the past shows what held then. */
START_TEST(as_of_shows_the_prices_of_another_day)
{
    const struct catalog *catalog = seed_catalog();
    size_t now = catalog_total("/catalog/prices", ""), then = catalog_total("/catalog/prices", "as_of=2024-06-01");
    size_t held = 0;
    char query[64];

    for (size_t i = 0; i < catalog->price_count; i++) {
        const struct price *price = &catalog->prices[i];

        held += strcmp(price->valid_from, "2024-06-01") <= 0 &&
                (!price->valid_to || strcmp(price->valid_to, "2024-06-01") > 0);
    }
    ck_assert_uint_eq(then, held);
    ck_assert_uint_lt(now, catalog->price_count);
    ck_assert_uint_eq(catalog_total("/catalog/prices", "as_of=1999-01-01T00:00:00Z"), 0);
    text_format(query, sizeof query, "as_of=%s", catalog->as_of);
    ck_assert_uint_eq(catalog_total("/catalog/prices", query), now);
    ck_assert_uint_eq(catalog_total("/catalog/instances", "as_of=1999-01-01&price_count_min=1"), 0);
    ck_assert_uint_gt(catalog_total("/catalog/instances", "as_of=2024-06-01&price_count_min=1"), 0);
    ck_assert_uint_eq(catalog_total("/catalog/gpus", query), catalog->gpu_count);
}
END_TEST

START_TEST(a_limit_is_cut_not_refused)
{
    json_t *reply = catalog_get("/catalog/instances", "limit=1000000"), *usual = catalog_get("/catalog/instances", "");

    ck_assert_uint_eq(json_array_size(json_object_get(reply, "items")), 200);
    ck_assert_uint_eq(json_array_size(json_object_get(usual, "items")), 50);
    json_decref(reply);
    json_decref(usual);
}
END_TEST

int
main(void)
{
    TCase *tcase = tcase_create("catalog");
    int lists = (int)catalog_list_count;

    tcase_set_timeout(tcase, 60);
    tcase_add_checked_fixture(tcase, NULL, catalog_give_back);
    tcase_add_test(tcase, the_root_counts_and_links);
    tcase_add_loop_test(tcase, pages_hold_every_row_once, 0, lists);
    tcase_add_loop_test(tcase, a_row_has_every_column, 0, lists);
    tcase_add_test(tcase, figures_are_those_of_the_data_sheets);
    tcase_add_test(tcase, money_is_a_decimal_text_and_no_price_is_an_empty_list);
    tcase_add_loop_test(tcase, filters_leave_what_fits, 0, COUNT_OF(filters));
    tcase_add_test(tcase, several_values_of_one_filter_are_any_of_them);
    tcase_add_test(tcase, what_is_not_known_fits_neither_truth);
    tcase_add_loop_test(tcase, words_are_found_in_names_and_aliases, 0, COUNT_OF(searches));
    tcase_add_test(tcase, a_word_that_stands_nowhere_finds_nothing);
    tcase_add_test(tcase, order_is_as_asked_and_the_unknown_comes_last);
    tcase_add_test(tcase, a_second_column_breaks_ties);
    tcase_add_test(tcase, sorted_pages_do_not_repeat_rows);
    tcase_add_test(tcase, only_the_fields_asked_for_are_shown);
    tcase_add_test(tcase, as_of_shows_the_prices_of_another_day);
    tcase_add_test(tcase, a_limit_is_cut_not_refused);
    return suite_run("catalog", tcase);
}
