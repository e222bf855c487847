/* Log lines: JSON, whole, and with nothing in them that could break a line. */
#include "api/observe/log.h"

#include <fcntl.h>
#include <jansson.h>
#include <pthread.h>
#include <string.h>
#include <unistd.h>

#include "api/json/buffer.h"
#include "tests/support/suite.h"

static int ends[2];
static struct log lines;
static char text[65536];

static void
setup(void)
{
    ck_assert_int_eq(pipe(ends), 0);
    lines = (struct log){ .fd = ends[1] };
}

static void
teardown(void)
{
    close(ends[0]);
    close(ends[1]);
    buffer_pool_done();
}

/* All that was written, "" when nothing was. */
static const char *
written(void)
{
    ssize_t size;

    fcntl(ends[0], F_SETFL, O_NONBLOCK);
    size = read(ends[0], text, sizeof text - 1);
    text[size > 0 ? size : 0] = '\0';
    return text;
}

static json_t *
line(void)
{
    json_t *parsed = json_loads(written(), JSON_REJECT_DUPLICATES, NULL);

    ck_assert_msg(parsed != NULL, "%s", text);
    ck_assert_ptr_eq(strchr(text, '\n'), text + strlen(text) - 1);
    return parsed;
}

static const struct request_record usual = {
    .method = HTTP_POST,
    .route = "/estimate",
    .status = 200,
    .nanoseconds = 1234567,
    .bytes_in = 612,
    .bytes_out = 3001,
    .request_id = "0123456789abcdef",
    .trace_id = "",
    .client = "192.0.2.1",
    .catalog_version = 12,
};

START_TEST(a_request)
{
    json_t *parsed, *expected;

    log_request(&lines, &usual);
    parsed = line();
    ck_assert_uint_eq(strlen(json_string_value(json_object_get(parsed, "time"))), 24);
    json_object_del(parsed, "time");
    expected = json_pack("{s:s, s:s, s:s, s:s, s:s, s:i, s:f, s:i, s:i, s:s, s:i}", "level", "info", "msg", "request",
                         "request_id", "0123456789abcdef", "method", "POST", "route", "/estimate", "status", 200,
                         "duration_ms", 1.234, "bytes_in", 612, "bytes_out", 3001, "client", "192.0.2.1",
                         "catalog_version", 12);
    ck_assert_msg(json_equal(parsed, expected), "%s", text);
    json_decref(parsed);
    json_decref(expected);
}
END_TEST

static const struct {
    int status;
    bool aborted;
    const char *level, *msg;
} outcomes[] = {
    { 200, false, "info", "request" }, { 404, false, "info", "request" },      { 500, false, "error", "request" },
    { 503, false, "warn", "request" }, { 0, true, "info", "request_aborted" },
};

START_TEST(levels_by_status)
{
    struct request_record record = usual;
    json_t *parsed;

    record.status = outcomes[_i].status;
    record.aborted = outcomes[_i].aborted;
    record.trace_id = "4bf92f3577b34da6a3ce929d0e0e4736";
    record.catalog_version = 0;
    log_request(&lines, &record);
    parsed = line();
    ck_assert_str_eq(json_string_value(json_object_get(parsed, "level")), outcomes[_i].level);
    ck_assert_str_eq(json_string_value(json_object_get(parsed, "msg")), outcomes[_i].msg);
    ck_assert_str_eq(json_string_value(json_object_get(parsed, "trace_id")), record.trace_id);
    ck_assert_ptr_null(json_object_get(parsed, "catalog_version"));
    json_decref(parsed);
}
END_TEST

START_TEST(what_is_below_the_level_is_left_out)
{
    struct request_record broken = usual;

    broken.status = 500;
    lines.level = LEVEL_ERROR;
    log_request(&lines, &usual);
    log_event(&lines, EVENT_LISTENING, NULL, 0);
    log_event(&lines, EVENT_UNKNOWN_SETTING, NULL, 0);
    ck_assert_str_eq(written(), "");
    log_request(&lines, &broken);
    ck_assert_ptr_nonnull(strstr(written(), "\"status\":500"));
    log_event(&lines, EVENT_BAD_SETTING, NULL, 0);
    ck_assert_ptr_nonnull(strstr(written(), "\"bad_setting\""));
}
END_TEST

START_TEST(texts_cannot_break_out)
{
    static const char evil[] = "a\"b\\c\nd\r\x01\x7F 中";
    const struct event_field fields[] = {
        { .name = "why", .text = evil },
        { .name = "count", .number = 3 },
        { .name = "seconds", .number = 0.25 },
    };
    json_t *parsed;

    log_event(&lines, EVENT_CATALOG_REFUSED, fields, COUNT_OF(fields));
    parsed = line();
    ck_assert_str_eq(json_string_value(json_object_get(parsed, "why")), evil);
    ck_assert_int_eq(json_integer_value(json_object_get(parsed, "count")), 3);
    ck_assert(json_real_value(json_object_get(parsed, "seconds")) == 0.25);
    json_decref(parsed);
}
END_TEST

/* 951782400 is the start of 29 February 2000: date -u -d @951782400 */
START_TEST(times)
{
    char time[LOG_TIME_SIZE];

    log_time(time, 951782400, 0);
    ck_assert_str_eq(time, "2000-02-29T00:00:00.000Z");
    log_time(time, 951782400, 999999999);
    ck_assert_str_eq(time, "2000-02-29T00:00:00.999Z");
    log_time(time, 951868799, 7000000);
    ck_assert_str_eq(time, "2000-02-29T23:59:59.007Z");
}
END_TEST

START_TEST(lost_lines_are_told)
{
    ck_assert(log_request(&lines, &usual));
    lines.fd = -1;
    ck_assert(!log_request(&lines, &usual));
    ck_assert(!log_event(&lines, EVENT_STARTED, NULL, 0));
    lines.level = LEVEL_WARN;
    ck_assert(log_event(&lines, EVENT_STARTED, NULL, 0)); /* left out is not lost */
}
END_TEST

enum { THREADS = 4, LINES = 50 };

static void *
log_many(void *unused)
{
    for (int i = 0; i < LINES; i++)
        log_request(&lines, &usual);
    return unused;
}

START_TEST(threads_do_not_mix_lines)
{
    pthread_t threads[THREADS];
    size_t count = 0;

    for (int i = 0; i < THREADS; i++)
        pthread_create(&threads[i], NULL, log_many, NULL);
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    for (const char *at = written(), *end; (end = strchr(at, '\n')); at = end + 1, count++) {
        json_t *parsed = json_loadb(at, (size_t)(end - at), JSON_REJECT_DUPLICATES, NULL);

        ck_assert_ptr_nonnull(parsed);
        json_decref(parsed);
    }
    ck_assert_uint_eq(count, THREADS * LINES);
}
END_TEST

int
main(void)
{
    TCase *tcase = tcase_create("log");

    tcase_add_checked_fixture(tcase, setup, teardown);
    tcase_add_test(tcase, a_request);
    tcase_add_loop_test(tcase, levels_by_status, 0, COUNT_OF(outcomes));
    tcase_add_test(tcase, what_is_below_the_level_is_left_out);
    tcase_add_test(tcase, texts_cannot_break_out);
    tcase_add_test(tcase, times);
    tcase_add_test(tcase, lost_lines_are_told);
    tcase_add_test(tcase, threads_do_not_mix_lines);
    return suite_run("log", tcase);
}
