/* Each row of the catalog, in each form that it is answered in, against openapi.yaml. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "api/json/catalog_columns.h"
#include "tests/support/contract.h"
#include "tests/support/schema.h"
#include "tests/support/suite.h"

enum { PATH_SIZE = 768, REPORT_SIZE = 4096 };

static json_t *
get_json(const char *path)
{
    struct http_reply reply;
    json_t *parsed;

    contract_send("GET", path, NULL, NULL, &reply);
    ck_assert_msg(reply.status == 200, "%s: %ld %.500s", path, reply.status, reply.body);
    parsed = http_reply_json(&reply);
    http_reply_done(&reply);
    return parsed;
}

static json_int_t
count_of(const char *list)
{
    json_t *catalog = get_json("/catalog");
    json_int_t count = json_integer_value(json_object_get(json_object_get(catalog, "counts"), list));

    ck_assert_msg(count > 0, "%s", list);
    json_decref(catalog);
    return count;
}

/* Pages of the whole list: together they have every row once. */
START_TEST(pages_fit_the_schema)
{
    const struct catalog_list *list = catalog_lists[_i];
    char path[PATH_SIZE];
    json_t *seen = json_object(), *page;
    size_t index;
    const json_t *row;
    json_int_t total = 0;

    (void)snprintf(path, sizeof path, "/catalog/%s?limit=150", list->name);
    for (;;) {
        const char *cursor;

        page = get_json(path);
        total = contract_count(page, "/total_count");
        json_array_foreach(json_object_get(page, "items"), index, row)
        {
            ck_assert_msg(!json_object_get(seen, contract_text(row, "/id")), "%s twice", contract_text(row, "/id"));
            json_object_set_new(seen, contract_text(row, "/id"), json_true());
        }
        cursor = json_string_value(json_object_get(page, "next_cursor"));
        if (!cursor)
            break;
        (void)snprintf(path, sizeof path, "/catalog/%s?limit=150&cursor=%s", list->name, cursor);
        json_decref(page);
    }
    ck_assert_int_eq((json_int_t)json_object_size(seen), total);
    if (!list->price) /* of prices, those that hold on the catalog's day */
        ck_assert_int_eq(total, count_of(list->name));
    json_decref(page);
    json_decref(seen);
}
END_TEST

/* The path of one row answers what the list shows of it, and its version. */
START_TEST(one_row_is_that_of_the_list)
{
    const struct catalog_list *list = catalog_lists[_i];
    char path[PATH_SIZE];
    json_t *page, *alone;
    const json_t *row;

    (void)snprintf(path, sizeof path, "/catalog/%s?limit=1", list->name);
    page = get_json(path);
    row = schema_at(page, "/items/0");
    (void)snprintf(path, sizeof path, "/catalog/%s/%s", list->name, contract_text(row, "/id"));
    alone = get_json(path);
    ck_assert(json_equal(json_object_get(alone, "catalog_version"), json_object_get(page, "catalog_version")));
    json_object_del(alone, "catalog_version");
    ck_assert(json_equal(alone, row));
    json_decref(alone);
    json_decref(page);
}
END_TEST

static const json_t *
schema_of_rows(const struct catalog_list *list)
{
    char path[PATH_SIZE];

    (void)snprintf(path, sizeof path, "/catalog/%s/{id}", list->name);
    return schema_at(json_object_get(json_object_get(contract_document(), "paths"), path),
                     "/get/responses/200/content/application~1json/schema");
}

/* A line of NDJSON is a row as pages have it. */
START_TEST(lines_fit_the_schema)
{
    static const char *const headers[] = { "Accept: application/x-ndjson", NULL };
    const struct catalog_list *list = catalog_lists[_i];
    struct http_reply reply;
    char path[PATH_SIZE], report[REPORT_SIZE];
    size_t lines = 0;

    (void)snprintf(path, sizeof path, "/catalog/%s", list->name);
    contract_send("GET", path, headers, NULL, &reply);
    ck_assert_int_eq(reply.status, 200);
    for (const char *line = reply.body; *line; lines++) {
        size_t size = strcspn(line, "\n");
        json_t *row = json_loadb(line, size, JSON_REJECT_DUPLICATES, NULL);

        ck_assert_msg(row != NULL, "%.*s", (int)size, line);
        ck_assert_msg(
            schema_validate(contract_document(), schema_of_rows(list), row, SCHEMA_CLOSED, report, sizeof report) == 0,
            "%.*s\n%s", (int)size, line, report);
        json_decref(row);
        ck_assert(line[size] == '\n');
        line += size + 1;
    }
    ck_assert_uint_gt(lines, 0);
    http_reply_done(&reply);
}
END_TEST

/* The names of a table's columns are the members of a row, in order. */
START_TEST(tables_have_the_members)
{
    static const char *const headers[] = { "Accept: text/csv", NULL };
    static const char mark[] = "\xEF\xBB\xBF";
    const struct catalog_list *list = catalog_lists[_i];
    struct http_reply reply;
    char path[PATH_SIZE];
    const char *at;

    (void)snprintf(path, sizeof path, "/catalog/%s?limit=1", list->name);
    contract_send("GET", path, headers, NULL, &reply);
    ck_assert_int_eq(reply.status, 200);
    ck_assert_int_eq(strncmp(reply.body, mark, sizeof mark - 1), 0);
    at = reply.body + sizeof mark - 1;
    for (size_t i = 0; i < list->column_count; i++) {
        size_t size = strcspn(at, ",\r");

        ck_assert_msg(strlen(list->columns[i].name) == size && strncmp(at, list->columns[i].name, size) == 0,
                      "%s: %.*s, not %s", list->name, (int)size, at, list->columns[i].name);
        at += size + (at[size] == ',');
    }
    http_reply_done(&reply);
}
END_TEST

static const char *const cached[] = { "/catalog", "/catalog/gpus", "/catalog/gpus/h100-sxm-80gb", "/openapi.yaml",
                                      "/catalog/prices?price_type=spot&sort=-low" };

START_TEST(what_stands_is_not_sent_again)
{
    char condition[128];
    const char *headers[] = { condition, NULL };
    struct http_reply reply;

    contract_send("GET", cached[_i], NULL, NULL, &reply);
    ck_assert_int_eq(reply.status, 200);
    (void)snprintf(condition, sizeof condition, "If-None-Match: %s", http_reply_header(&reply, "ETag"));
    http_reply_done(&reply);
    contract_send("GET", cached[_i], headers, NULL, &reply);
    ck_assert_int_eq(reply.status, 304);
    http_reply_done(&reply);
}
END_TEST

static const struct {
    const char *path;
    long status;
} others[] = {
    { "/livez", 200 },
    { "/readyz", 200 },
    { "/metrics", 200 },
    { "/openapi.yaml", 200 },
    { "/catalog/gpus?vendr=NVIDIA", 400 },
    { "/catalog/gpus?limit=0", 400 },
    { "/catalog/gpus?sort=speed", 400 },
    { "/catalog/gpus?cursor=no", 400 },
    { "/catalog/gpus?memory_bytes_min=many", 400 },
    { "/catalog/models/no-such-model", 404 },
    { "/catalog/nothing", 404 },
};

START_TEST(other_replies_fit_too)
{
    struct http_reply reply;

    contract_send("GET", others[_i].path, NULL, NULL, &reply);
    ck_assert_msg(reply.status == others[_i].status, "%s: %ld", others[_i].path, reply.status);
    http_reply_done(&reply);
}
END_TEST

/* What a client is served is the file in the tree. */
START_TEST(the_document_is_served)
{
    struct http_reply reply;
    FILE *file = fopen(PROJECT_ROOT "/openapi.yaml", "rb");
    char *text;

    ck_assert_ptr_nonnull(file);
    contract_send("GET", "/openapi.yaml", NULL, NULL, &reply);
    text = malloc(reply.body_size + 1);
    ck_assert_uint_eq(fread(text, 1, reply.body_size + 1, file), reply.body_size);
    ck_assert_mem_eq(text, reply.body, reply.body_size);
    (void)fclose(file);
    free(text);
    http_reply_done(&reply);
}
END_TEST

int
main(void)
{
    TCase *tcase = tcase_create("catalog contract");
    int lists = (int)catalog_list_count;

    tcase_set_timeout(tcase, 60);
    tcase_add_unchecked_fixture(tcase, contract_start, contract_stop);
    tcase_add_loop_test(tcase, pages_fit_the_schema, 0, lists);
    tcase_add_loop_test(tcase, one_row_is_that_of_the_list, 0, lists);
    tcase_add_loop_test(tcase, lines_fit_the_schema, 0, lists);
    tcase_add_loop_test(tcase, tables_have_the_members, 0, lists);
    tcase_add_loop_test(tcase, what_stands_is_not_sent_again, 0, COUNT_OF(cached));
    tcase_add_loop_test(tcase, other_replies_fit_too, 0, COUNT_OF(others));
    tcase_add_test(tcase, the_document_is_served);
    return suite_run("catalog contract", tcase);
}
