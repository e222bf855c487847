/* Forms of a list (CSV, NDJSON, gzip), entity tags, replies from the cache, links. */
#include "api/handlers/catalog_reply.h"

#include <stdlib.h>
#include <string.h>

#include "service/base/text.h"
#include "tests/support/catalog_client.h"
#include "tests/support/seed_catalog.h"
#include "tests/support/suite.h"

/* --- other forms --- */

static size_t
lines_of(const char *text)
{
    size_t lines = 0;

    for (; *text; text++)
        lines += *text == '\n';
    return lines;
}

START_TEST(csv_is_the_whole_list_with_a_byte_order_mark)
{
    const char *csv = catalog_get_text("/catalog/instances", "format=csv&fields=id,gpu_count,note");

    ck_assert_int_eq(strncmp(csv, "\xEF\xBB\xBFid,gpu_count,note\r\n", 22), 0);
    ck_assert_int_eq(catalog_response.media, MEDIA_CSV);
    ck_assert_str_eq(catalog_header("Content-Disposition"), "attachment; filename=\"sizer-instances.csv\"");
    ck_assert_uint_ge(lines_of(csv), catalog_total("/catalog/instances", "") + 1);
}
END_TEST

START_TEST(accept_chooses_the_form_and_format_beats_it)
{
    catalog_start("/catalog/gpus", "");
    catalog_request.accept = MEDIA_NDJSON;
    ck_assert_int_eq(catalog_send(), STATUS_OK);
    ck_assert_int_eq(catalog_response.media, MEDIA_NDJSON);
    catalog_start("/catalog/gpus", "format=json");
    catalog_request.accept = MEDIA_CSV;
    ck_assert_int_eq(catalog_send(), STATUS_OK);
    ck_assert_int_eq(catalog_response.media, MEDIA_JSON);
}
END_TEST

START_TEST(ndjson_is_one_object_a_line)
{
    char *text = strdup(catalog_get_text("/catalog/servers", "format=ndjson"));
    size_t lines = 0;

    for (char *line = text; *line; lines++) {
        char *end = strchr(line, '\n');

        ck_assert_ptr_nonnull(end);
        json_t *object = json_loadb(line, (size_t)(end - line), 0, NULL);
        ck_assert(json_is_object(object));
        json_decref(object);
        line = end + 1;
    }
    free(text);
    ck_assert_uint_eq(lines, catalog_total("/catalog/servers", ""));
}
END_TEST

/* --- tags --- */

static void
ask_again(const char *path, const char *query, const char *if_none_match)
{
    catalog_start(path, query);
    catalog_request.if_none_match = if_none_match;
    ck_assert_int_eq(catalog_send(), STATUS_OK);
}

START_TEST(an_unchanged_reply_is_not_sent_again)
{
    static const char *const paths[] = { "/catalog", "/catalog/gpus", "/catalog/gpus/t4-16gb" };
    char etag[64], list[256];

    json_decref(catalog_get(paths[_i], ""));
    text_copy(etag, sizeof etag, catalog_header("ETag"));
    ck_assert_int_eq(etag[0], '"'); /* strong */
    ask_again(paths[_i], "", etag);
    ck_assert_int_eq(catalog_response.status, 304);
    ck_assert_uint_eq(catalog_response.body->size, 0);
    ck_assert_str_eq(catalog_header("ETag"), etag);
    ck_assert_ptr_nonnull(catalog_header("Vary"));
    text_format(list, sizeof list, "\"a,b\", W/%s", etag);
    ask_again(paths[_i], "", list);
    ck_assert_int_eq(catalog_response.status, 304);
    ask_again(paths[_i], "", "*");
    ck_assert_int_eq(catalog_response.status, 304);
    ck_assert_uint_eq(catalog_response.body->size, 0);
    ask_again(paths[_i], "", "\"0123456789abcdef\"");
    ck_assert_int_eq(catalog_response.status, 200);
}
END_TEST

START_TEST(each_form_and_query_has_its_own_tag)
{
    char tags[5][64];

    for (size_t i = 0; i < COUNT_OF(tags); i++) {
        catalog_start("/catalog/gpus", i == 1 ? "limit=3" : i == 2 ? "limit=3&format=csv" : "");
        catalog_request.accept = i == 3 ? MEDIA_CSV : MEDIA_JSON;
        catalog_request.accepts_gzip = i == 4;
        ck_assert_int_eq(catalog_send(), STATUS_OK);
        text_copy(tags[i], sizeof tags[i], catalog_header("ETag"));
        for (size_t j = 0; j < i; j++)
            ck_assert_str_ne(tags[i], tags[j]);
    }
}
END_TEST

/* The second reply comes from the cache: the same bytes and headers, and freed by nobody but the cache. */
START_TEST(a_reply_is_the_same_the_second_time)
{
    static const char *const queries[] = { "limit=3", "limit=3&format=csv", "q=a100", "sort=-tdp_watts" };

    for (size_t i = 0; i < COUNT_OF(queries); i++) {
        for (int gzip = 0; gzip < 2; gzip++) {
            char *bytes, link[RESPONSE_HEADER_SIZE];
            size_t size;

            catalog_start("/catalog/gpus", queries[i]);
            catalog_request.accepts_gzip = gzip;
            ck_assert_int_eq(catalog_send(), STATUS_OK);
            size = catalog_response.body->size;
            bytes = malloc(size);
            memcpy(bytes, catalog_response.body->bytes, size);
            text_copy(link, sizeof link, catalog_header("Link"));
            ck_assert_int_eq(catalog_header("Content-Encoding") != NULL, gzip);
            catalog_start("/catalog/gpus", queries[i]);
            catalog_request.accepts_gzip = gzip;
            ck_assert_int_eq(catalog_send(), STATUS_OK);
            ck_assert_uint_eq(catalog_response.body->size, size);
            ck_assert_mem_eq(catalog_response.body->bytes, bytes, size);
            ck_assert_int_eq(catalog_header("Content-Encoding") != NULL, gzip);
            ck_assert_str_eq(catalog_header("Link") ? catalog_header("Link") : "", link);
            free(bytes);
        }
    }
}
END_TEST

START_TEST(a_link_leads_to_the_next_page)
{
    json_decref(catalog_get("/catalog/providers", "limit=2&q=a&sort=-name"));
    ck_assert_ptr_nonnull(strstr(catalog_header("Link"), "</catalog/providers?cursor="));
    ck_assert_ptr_nonnull(strstr(catalog_header("Link"), "&limit=2&q=a&sort=-name>; rel=\"next\""));
    json_decref(catalog_get("/catalog/providers", "limit=2&q=阿"));
    ck_assert_ptr_null(catalog_header("Link"));
    json_decref(catalog_get("/catalog/models", "limit=2&q=通"));
    ck_assert_ptr_nonnull(strstr(catalog_header("Link"), "&q=%E9%80%9A>"));
}
END_TEST

int
main(void)
{
    TCase *tcase = tcase_create("catalog_reply");

    tcase_set_timeout(tcase, 60);
    tcase_add_checked_fixture(tcase, NULL, catalog_give_back);
    tcase_add_test(tcase, csv_is_the_whole_list_with_a_byte_order_mark);
    tcase_add_test(tcase, accept_chooses_the_form_and_format_beats_it);
    tcase_add_test(tcase, ndjson_is_one_object_a_line);
    tcase_add_loop_test(tcase, an_unchanged_reply_is_not_sent_again, 0, 3);
    tcase_add_test(tcase, each_form_and_query_has_its_own_tag);
    tcase_add_test(tcase, a_reply_is_the_same_the_second_time);
    tcase_add_test(tcase, a_link_leads_to_the_next_page);
    return suite_run("catalog_reply", tcase);
}
