/* The catalog as a client meets it over HTTP: negotiation, compression, conditions, links that can be followed. */
#include <string.h>
#include <zlib.h>

#include "service/base/text.h"
#include "tests/support/http_client.h"
#include "tests/support/program.h"
#include "tests/support/suite.h"

static struct program_run run;
static struct http_reply reply;

static void
ask(const char *method, const char *path, const char *header, const char *more)
{
    const char *const headers[] = { header, header ? more : NULL, NULL };
    struct http_request request = { .method = method, .headers = headers };
    char url[1024];

    text_format(url, sizeof url, "http://127.0.0.1:%u%s", run.port, path);
    request.url = url;
    if (reply.body)
        http_reply_done(&reply);
    http_send(&request, &reply);
}

static void
get(const char *path, const char *header)
{
    ask(NULL, path, header, NULL);
}

static const char *
header(const char *name)
{
    const char *value = http_reply_header(&reply, name);

    return value ? value : "";
}

static const char *
type_of_reply(void)
{
    static char type[64];

    text_format(type, sizeof type, "%.*s", (int)strcspn(header("Content-Type"), ";"), header("Content-Type"));
    return type;
}

START_TEST(accept_chooses_among_json_csv_and_ndjson)
{
    static const char *const types[] = { "application/json", "text/csv", "application/x-ndjson" };

    for (size_t i = 0; i < COUNT_OF(types); i++) {
        char accept[64];

        text_format(accept, sizeof accept, "Accept: %s", types[i]);
        get("/catalog/gpus", accept);
        ck_assert_int_eq(reply.status, 200);
        ck_assert_str_eq(type_of_reply(), types[i]);
        ck_assert_ptr_nonnull(strstr(header("Vary"), "Accept"));
    }
    get("/catalog/gpus", "Accept: image/png");
    ck_assert_int_eq(reply.status, 406);
    ck_assert_str_eq(type_of_reply(), "application/problem+json");
    get("/catalog/gpus/t4-16gb", "Accept: text/csv");
    ck_assert_int_eq(reply.status, 406);
    get("/catalog/gpus?format=csv", "Accept: text/html,*/*;q=0.8"); /* a plain link in a browser */
    ck_assert_int_eq(reply.status, 200);
    ck_assert_str_eq(type_of_reply(), "text/csv");
}
END_TEST

START_TEST(unchanged_lists_are_answered_without_a_body)
{
    char condition[128];

    get("/catalog/instances?provider=aliyun", NULL);
    ck_assert_str_eq(header("Cache-Control"), "no-cache");
    text_format(condition, sizeof condition, "If-None-Match: %s", header("ETag"));
    get("/catalog/instances?provider=aliyun", condition);
    ck_assert_int_eq(reply.status, 304);
    ck_assert_uint_eq(reply.body_size, 0);
    ck_assert_str_ne(header("ETag"), "");
    ck_assert_str_ne(header("Vary"), "");
    ck_assert_str_eq(header("Cache-Control"), "no-cache");
    get("/catalog/instances?provider=aws", condition);
    ck_assert_int_eq(reply.status, 200);
}
END_TEST

START_TEST(links_lead_through_the_whole_list)
{
    char path[1024] = "/catalog/instances?limit=150&fields=id&sort=-gpu_count";
    size_t seen = 0, total = 0, pages = 0;

    while (path[0] && pages++ < 100) {
        json_t *json;
        const char *link;

        get(path, NULL);
        ck_assert_int_eq(reply.status, 200);
        json = http_reply_json(&reply);
        seen += json_array_size(json_object_get(json, "items"));
        total = (size_t)json_integer_value(json_object_get(json, "total_count"));
        json_decref(json);
        link = header("Link");
        text_format(path, sizeof path, "%.*s", (int)strcspn(link, ">") - (*link == '<'), link + (*link == '<'));
    }
    ck_assert_uint_eq(seen, total);
    ck_assert_uint_gt(pages, 2);
}
END_TEST

static size_t
unpacked_size(char *bytes, size_t size)
{
    static unsigned char plain[16 * 1024 * 1024];
    z_stream stream = { .next_in = (unsigned char *)bytes, .avail_in = (unsigned)size };

    stream.next_out = plain;
    stream.avail_out = sizeof plain;
    ck_assert_int_eq(inflateInit2(&stream, 15 + 16), Z_OK);
    ck_assert_int_eq(inflate(&stream, Z_FINISH), Z_STREAM_END);
    ck_assert_int_eq(inflateEnd(&stream), Z_OK);
    return stream.total_out;
}

START_TEST(large_replies_are_compressed_for_who_takes_that)
{
    size_t plain;

    get("/catalog/instances?format=ndjson", NULL);
    ck_assert_str_eq(header("Content-Encoding"), "");
    plain = reply.body_size;
    for (int i = 0; i < 2; i++) { /* rendered, then kept */
        get("/catalog/instances?format=ndjson", "Accept-Encoding: gzip");
        ck_assert_str_eq(header("Content-Encoding"), "gzip");
        ck_assert_uint_lt(reply.body_size * 5, plain);
        ck_assert_uint_eq(unpacked_size(reply.body, reply.body_size), plain);
    }
}
END_TEST

START_TEST(head_says_what_get_would)
{
    char etag[64];

    get("/catalog/gpus", NULL);
    text_copy(etag, sizeof etag, header("ETag"));
    ask("HEAD", "/catalog/gpus", NULL, NULL);
    ck_assert_int_eq(reply.status, 200);
    ck_assert_str_eq(header("ETag"), etag);
    ck_assert_uint_eq(reply.body_size, 0);
}
END_TEST

START_TEST(chinese_words_and_escaped_ids_are_understood)
{
    json_t *json;

    get("/catalog/providers?q=%E9%98%BF%E9%87%8C%E4%BA%91&fields=id", NULL);
    json = http_reply_json(&reply);
    ck_assert_str_eq(json_string_value(json_object_get(json_array_get(json_object_get(json, "items"), 0), "id")),
                     "aliyun");
    json_decref(json);
    get("/catalog/instances/aws%3Ap5.48xlarge", NULL);
    ck_assert_int_eq(reply.status, 200);
    get("/catalog/nothing", NULL);
    ck_assert_int_eq(reply.status, 404);
    get("/catalog/gpus/", NULL);
    ck_assert_int_eq(reply.status, 404);
    ask("POST", "/catalog/gpus", NULL, NULL);
    ck_assert_int_eq(reply.status, 405);
    ck_assert_ptr_nonnull(strstr(header("Allow"), "GET"));
}
END_TEST

START_TEST(mistakes_are_told_in_the_callers_language)
{
    json_t *json;

    ask(NULL, "/catalog/gpus?vndor=NVIDIA", "Accept-Language: zh-CN", NULL);
    ck_assert_int_eq(reply.status, 400);
    json = http_reply_json(&reply);
    ck_assert_str_eq(json_string_value(json_object_get(json, "code")), "unknown_parameter");
    ck_assert_ptr_nonnull(strstr(json_string_value(json_object_get(json, "detail")), "vendor"));
    ck_assert_int_gt((unsigned char)json_string_value(json_object_get(json, "title"))[0], 0x7F);
    json_decref(json);
}
END_TEST

static void
serve(void)
{
    const char *const nothing[] = { NULL };

    program_serve(&run, nothing);
}

static void
end(void)
{
    if (reply.body)
        http_reply_done(&reply);
    ck_assert_int_eq(program_end(&run), 0);
}

int
main(void)
{
    TCase *tcase = tcase_create("catalog");

    tcase_set_timeout(tcase, 60);
    tcase_add_checked_fixture(tcase, serve, end);
    tcase_add_test(tcase, accept_chooses_among_json_csv_and_ndjson);
    tcase_add_test(tcase, unchanged_lists_are_answered_without_a_body);
    tcase_add_test(tcase, links_lead_through_the_whole_list);
    tcase_add_test(tcase, large_replies_are_compressed_for_who_takes_that);
    tcase_add_test(tcase, head_says_what_get_would);
    tcase_add_test(tcase, chinese_words_and_escaped_ids_are_understood);
    tcase_add_test(tcase, mistakes_are_told_in_the_callers_language);
    return suite_run("catalog", tcase);
}
