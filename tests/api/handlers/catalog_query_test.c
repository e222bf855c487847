/* What a catalog request may not ask for, and cursors. */
#include "api/handlers/catalog_query.h"

#include <stdio.h>
#include <string.h>

#include "api/handlers/catalog_cursor.h"
#include "service/base/text.h"
#include "tests/support/catalog_client.h"
#include "tests/support/seed_catalog.h"
#include "tests/support/suite.h"

/* --- refusals --- */

static const struct {
    const char *path, *query;
    enum fault_code code;
    const char *parameter, *suggestion;
} refused[] = {
    { "/catalog", "x=1", FAULT_UNKNOWN_PARAMETER, "x", "" },
    { "/catalog/gpus", "vndor=x", FAULT_UNKNOWN_PARAMETER, "vndor", "vendor" },
    { "/catalog/gpus", "memory_bytes_mim=1", FAULT_UNKNOWN_PARAMETER, "memory_bytes_mim", "memory_bytes_min" },
    { "/catalog/gpus", "name_min=1", FAULT_UNKNOWN_PARAMETER, "name_min", NULL },
    { "/catalog/gpus", "aliases=x", FAULT_UNKNOWN_PARAMETER, "aliases", NULL },
    { "/catalog/instances", "prices=1", FAULT_UNKNOWN_PARAMETER, "prices", NULL },
    { "/catalog/gpus", "limits=5", FAULT_UNKNOWN_PARAMETER, "limits", "limit" },
    { "/catalog/gpus", "memory_bytes=much", FAULT_BAD_PARAMETER, "memory_bytes", "" },
    { "/catalog/gpus", "memory_bytes_min=nan", FAULT_BAD_PARAMETER, "memory_bytes_min", "" },
    { "/catalog/gpus", "memory_bytes_min=1e999", FAULT_BAD_PARAMETER, "memory_bytes_min", "" },
    { "/catalog/gpus", "peer_to_peer=yes", FAULT_BAD_PARAMETER, "peer_to_peer", "" },
    { "/catalog/gpus", "limit=0", FAULT_BAD_PARAMETER, "limit", "" },
    { "/catalog/gpus", "limit=-1", FAULT_BAD_PARAMETER, "limit", "" },
    { "/catalog/gpus", "limit=ten", FAULT_BAD_PARAMETER, "limit", "" },
    { "/catalog/gpus", "limit=1&limit=2", FAULT_BAD_PARAMETER, "limit", "" },
    { "/catalog/gpus", "sort=tdp_wats", FAULT_BAD_PARAMETER, "sort", "tdp_watts" },
    { "/catalog/gpus", "sort=aliases", FAULT_BAD_PARAMETER, "sort", NULL },
    { "/catalog/gpus", "sort=id,name,vendor,family,note", FAULT_BAD_PARAMETER, "sort", "" },
    { "/catalog/gpus", "fields=nam", FAULT_BAD_PARAMETER, "fields", "name" },
    { "/catalog/gpus", "fields=id,", FAULT_BAD_PARAMETER, "fields", "" },
    { "/catalog/gpus", "format=xml", FAULT_BAD_PARAMETER, "format", "" },
    { "/catalog/gpus", "as_of=yesterday", FAULT_BAD_PARAMETER, "as_of", "" },
    { "/catalog/gpus", "as_of=2026-13-01", FAULT_BAD_PARAMETER, "as_of", "" },
    { "/catalog/gpus", "as_of=2024-01-01", FAULT_BAD_PARAMETER, "as_of", "" },
    { "/catalog/prices", "as_of=2024-01-01T00:00:00+08:00", FAULT_BAD_PARAMETER, "as_of", "" },
    { "/catalog/gpus", "cursor=abc", FAULT_CURSOR_INVALID, "cursor", "" },
    { "/catalog/gpus", "cursor=%%%", FAULT_CURSOR_INVALID, "cursor", "" },
    { "/catalog/gpus/t4-16gb", "limit=1", FAULT_UNKNOWN_PARAMETER, "limit", NULL },
    { "/catalog/gpus/h100-smx-80gb", "", FAULT_NOT_FOUND, "id", "h100-sxm-80gb" },
    { "/catalog/gpus/H100", "", FAULT_NOT_FOUND, "id", "h100-sxm-80gb" },
    { "/catalog/instances/dell-xe9680-8xh100", "", FAULT_NOT_FOUND, "id", NULL },
    { "/catalog/models/Llama 3 8B", "", FAULT_NOT_FOUND, "id", NULL },
    { "/catalog/prices/none", "", FAULT_NOT_FOUND, "id", "" },
};

START_TEST(what_is_wrong_is_named)
{
    catalog_start(refused[_i].path, refused[_i].query);
    ck_assert_msg(catalog_send() == STATUS_FAULT, "%s?%s was answered", refused[_i].path, refused[_i].query);
    ck_assert_str_eq(fault_code_name(catalog_fault.code), fault_code_name(refused[_i].code));
    ck_assert_str_eq(catalog_fault.items[0].pointer, refused[_i].parameter);
    ck_assert(catalog_fault.items[0].is_parameter);
    if (refused[_i].suggestion)
        ck_assert_str_eq(catalog_fault.items[0].suggestion, refused[_i].suggestion);
}
END_TEST

START_TEST(all_mistakes_are_told_at_once)
{
    catalog_start("/catalog/gpus", "limit=0&vndor=x&sort=nothing&memory_bytes=much");
    ck_assert_int_eq(catalog_send(), STATUS_FAULT);
    ck_assert_uint_eq(catalog_fault.item_count, 4);
}
END_TEST

/* A cursor belongs to its list, filters, order and version. */
START_TEST(a_cursor_of_another_question_is_refused)
{
    static const char *const others[][2] = {
        { "/catalog/providers", "limit=2&q=a&cursor=%s" },
        { "/catalog/gpus", "limit=2&q=b&cursor=%s" },
        { "/catalog/gpus", "limit=2&q=a&sort=-id&cursor=%s" },
        { "/catalog/gpus", "limit=2&q=a&vendor=AMD&cursor=%s" },
    };
    json_t *reply = catalog_get("/catalog/gpus", "limit=2&q=a");
    const char *cursor = text_at(reply, "next_cursor");
    struct catalog_cursor taken;
    char query[1024], text[CURSOR_TEXT_SIZE];

    text_format(query, sizeof query, "limit=50&q=a&fields=id&cursor=%s", cursor);
    json_decref(catalog_get("/catalog/gpus", query)); /* the page's size and columns may change */
    for (size_t i = 0; i < COUNT_OF(others); i++) {
        (void)snprintf(query, sizeof query, others[i][1], cursor);
        catalog_start(others[i][0], query);
        ck_assert_int_eq(catalog_send(), STATUS_FAULT);
        ck_assert_str_eq(fault_code_name(catalog_fault.code), "cursor_invalid");
    }
    ck_assert(catalog_cursor_read(cursor, &taken));
    ck_assert_uint_eq(taken.version, seed_catalog()->version);
    taken.version++;
    catalog_cursor_write(&taken, text);
    text_format(query, sizeof query, "limit=2&q=a&cursor=%s", text);
    catalog_start("/catalog/gpus", query);
    ck_assert_int_eq(catalog_send(), STATUS_FAULT);
    ck_assert_str_eq(fault_code_name(catalog_fault.code), "cursor_invalid");
    json_decref(reply);
}
END_TEST

START_TEST(a_cursor_is_read_as_it_was_written)
{
    struct catalog_cursor cursor = { .version = 0xFFFFFFFFFFFFU, .shape = UINT64_MAX }, taken;
    char text[CURSOR_TEXT_SIZE];

    for (size_t length = 1; length < CURSOR_ID_SIZE; length++) {
        memset(cursor.id, 'x', length);
        cursor.id[length - 1] = '.';
        catalog_cursor_write(&cursor, text);
        ck_assert(catalog_cursor_read(text, &taken));
        ck_assert_uint_eq(taken.version, cursor.version);
        ck_assert_uint_eq(taken.shape, cursor.shape);
        ck_assert_str_eq(taken.id, cursor.id);
    }
}
END_TEST

int
main(void)
{
    TCase *tcase = tcase_create("catalog_query");

    tcase_set_timeout(tcase, 60);
    tcase_add_checked_fixture(tcase, NULL, catalog_give_back);
    tcase_add_loop_test(tcase, what_is_wrong_is_named, 0, COUNT_OF(refused));
    tcase_add_test(tcase, all_mistakes_are_told_at_once);
    tcase_add_test(tcase, a_cursor_of_another_question_is_refused);
    tcase_add_test(tcase, a_cursor_is_read_as_it_was_written);
    return suite_run("catalog_query", tcase);
}
