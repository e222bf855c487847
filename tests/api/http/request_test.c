/* Percent-encoding, UTF-8, ids: what is let in and what is not. */
#include "api/http/request.h"

#include <string.h>

#include "tests/support/suite.h"

static const struct {
    const char *raw, *decoded; /* NULL: refused */
} escapes[] = {
    { "", "" },
    { "/catalog/gpus", "/catalog/gpus" },
    { "/catalog/instances/aliyun%3Aecs.gn7e", "/catalog/instances/aliyun:ecs.gn7e" },
    { "%2fa%2Fb", "/a/b" },
    { "%E4%B8%AD%e6%96%87", "中文" },
    { "a+b", "a+b" },
    { "%25", "%" },
    { "/a%00b", NULL },
    { "%", NULL },
    { "%4", NULL },
    { "%4g", NULL },
    { "%g4", NULL },
    { "%ff", NULL },
    { "%c0%af", NULL },       /* '/' in more bytes than it takes: RFC 3629, section 10 */
    { "%ed%a0%80", NULL },    /* a surrogate */
    { "%f4%90%80%80", NULL }, /* above U+10FFFF */
    { "%e4%b8", NULL },
    { "\xE4\xB8\xAD", "中" }, /* browsers escape it, curl does not */
    { "\xFF", NULL },
};

START_TEST(escapes_are_undone_or_refused)
{
    char to[64];
    ptrdiff_t size = percent_decode(to, escapes[_i].raw);

    if (!escapes[_i].decoded) {
        ck_assert_msg(size == -1, "%s", escapes[_i].raw);
        return;
    }
    ck_assert_int_eq(size, (ptrdiff_t)strlen(escapes[_i].decoded));
    ck_assert_str_eq(to, escapes[_i].decoded);
}
END_TEST

static const struct {
    const char *bytes;
    bool valid;
} sequences[] = {
    { "", true },
    { "\x7F", true },
    { "\xC2\x80", true },
    { "\xDF\xBF", true },
    { "\xE0\xA0\x80", true },
    { "\xED\x9F\xBF", true },
    { "\xEE\x80\x80", true },
    { "\xF0\x90\x80\x80", true },
    { "\xF4\x8F\xBF\xBF", true },
    { "\x80", false },
    { "\xC1\xBF", false },
    { "\xE0\x9F\xBF", false },
    { "\xF0\x8F\xBF\xBF", false },
    { "\xF5\x80\x80\x80", false },
    { "\xC2", false },
    { "\xE1\x80", false },
    { "\xF1\x80\x80", false },
    { "\xE1\x80\x41", false },
};

/* The bounds are those of the table in RFC 3629, section 4. */
START_TEST(utf8_bounds)
{
    ck_assert_msg(utf8_valid(sequences[_i].bytes, strlen(sequences[_i].bytes)) == sequences[_i].valid, "row %d", _i);
}
END_TEST

START_TEST(request_ids)
{
    char id[REQUEST_ID_SIZE + 1];

    memset(id, 'a', sizeof id);
    id[REQUEST_ID_SIZE - 1] = '\0';
    ck_assert(request_id_valid(id));
    id[REQUEST_ID_SIZE - 1] = 'a';
    id[REQUEST_ID_SIZE] = '\0';
    ck_assert(!request_id_valid(id));
    ck_assert(request_id_valid("A-z_0.9x"));
    ck_assert(!request_id_valid("1234567"));
    ck_assert(!request_id_valid(""));
    ck_assert(!request_id_valid("has a blank"));
    ck_assert(!request_id_valid("line\nbreak1"));
    ck_assert(!request_id_valid("quote\"quote"));
}
END_TEST

#define TRACE "4bf92f3577b34da6a3ce929d0e0e4736"

/* The first is the example of the W3C recommendation, section 3.2. */
static const struct {
    const char *header, *trace_id;
} traces[] = {
    { "00-" TRACE "-00f067aa0ba902b7-01", TRACE },
    { "01-" TRACE "-00f067aa0ba902b7-01-more", TRACE },
    { "01-" TRACE "-00f067aa0ba902b7-01", TRACE },
    { "01-" TRACE "-00f067aa0ba902b7-01more", "" },
    { "00-" TRACE "-00f067aa0ba902b7-01-more", "" },
    { "ff-" TRACE "-00f067aa0ba902b7-01", "" },
    { "00-00000000000000000000000000000000-00f067aa0ba902b7-01", "" },
    { "00-" TRACE "-0000000000000000-01", "" },
    { "00-4BF92F3577B34DA6A3CE929D0E0E4736-00f067aa0ba902b7-01", "" },
    { "00-" TRACE "-00f067aa0ba902b7", "" },
    { "00_" TRACE "-00f067aa0ba902b7-01", "" },
    { "", "" },
};

START_TEST(trace_ids)
{
    char id[TRACE_ID_SIZE];

    trace_id_read(traces[_i].header, id);
    ck_assert_str_eq(id, traces[_i].trace_id);
}
END_TEST

START_TEST(methods_by_name)
{
    for (int method = HTTP_GET; method < HTTP_UNKNOWN; method++)
        ck_assert_int_eq(method_from_name(method_name((enum http_method)method)), method);
    ck_assert_int_eq(method_from_name("BREW"), HTTP_UNKNOWN);
    ck_assert_int_eq(method_from_name("get"), HTTP_UNKNOWN);
}
END_TEST

START_TEST(query_parameters_by_name)
{
    const struct request request = { .query = { { "limit", "5" }, { "q", "" } }, .query_count = 2 };

    ck_assert_str_eq(request_query(&request, "limit"), "5");
    ck_assert_str_eq(request_query(&request, "q"), "");
    ck_assert_ptr_null(request_query(&request, "cursor"));
}
END_TEST

int
main(void)
{
    TCase *tcase = tcase_create("request");

    tcase_add_loop_test(tcase, escapes_are_undone_or_refused, 0, COUNT_OF(escapes));
    tcase_add_loop_test(tcase, utf8_bounds, 0, COUNT_OF(sequences));
    tcase_add_test(tcase, request_ids);
    tcase_add_loop_test(tcase, trace_ids, 0, COUNT_OF(traces));
    tcase_add_test(tcase, methods_by_name);
    tcase_add_test(tcase, query_parameters_by_name);
    return suite_run("request", tcase);
}
