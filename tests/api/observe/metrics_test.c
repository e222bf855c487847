/* Metrics: counted right, and in a text that Prometheus reads. */
#include "api/observe/metrics.h"

#include <ctype.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/support/suite.h"

static const struct route table[] = {
    { .method = HTTP_GET, .path = "/livez" },
    { .method = HTTP_GET, .path = "/prices" },
    { .method = HTTP_POST, .path = "/prices" },
};
enum { OTHER = COUNT_OF(table) };

static struct metrics *metrics;
static struct buffer *out;

static void
setup(void)
{
    metrics = metrics_create(table, COUNT_OF(table));
    ck_assert_ptr_nonnull(metrics);
    out = buffer_take();
}

static void
teardown(void)
{
    buffer_give(out);
    buffer_pool_done();
    metrics_free(metrics);
}

static void
count(enum http_method method, size_t route_index, int status, double seconds)
{
    const struct request_record record = {
        .method = method,
        .route_index = route_index,
        .status = status,
        .aborted = status == 0,
        .nanoseconds = (uint64_t)(seconds * 1e9),
        .bytes_in = 10,
        .bytes_out = 100,
    };

    metrics_request(metrics, &record);
}

static const char *
exposition(void)
{
    static const struct catalog catalog = { .version = 246343691433808 };
    const struct service_state state = {
        .version = "1.2.3",
        .catalog = &catalog,
        .database_connected = true,
        .snapshot_age_seconds = 2.5,
        .connection_count = 3,
        .running_count = 1,
        .metrics = metrics,
    };

    out->size = 0;
    metrics_write(metrics, &state, out);
    buffer_append(out, "", 1);
    ck_assert(!out->failed);
    return out->bytes;
}

/* The value of a series; fails the test when it is not there or there twice. */
static double
value(const char *text, const char *series)
{
    size_t size = strlen(series);
    const char *found = NULL;

    for (const char *line = text; line && *line; line = strchr(line, '\n'), line = line ? line + 1 : NULL)
        if (strncmp(line, series, size) == 0 && line[size] == ' ') {
            ck_assert_msg(!found, "%s is there twice", series);
            found = line + size + 1;
        }
    ck_assert_msg(found != NULL, "%s is not in:\n%s", series, text);
    return strtod(found, NULL);
}

START_TEST(requests_are_counted)
{
    const char *text;

    count(HTTP_GET, 0, 200, 0.0001);
    count(HTTP_GET, 0, 200, 0.3);
    count(HTTP_HEAD, 0, 200, 0.3);
    count(HTTP_GET, OTHER, 404, 0.001);
    count(HTTP_UNKNOWN, OTHER, 501, 0.001);
    count(HTTP_POST, 2, 0, 20);
    text = exposition();
    ck_assert(value(text, "sizer_http_requests_total{method=\"GET\",route=\"/livez\",status=\"200\"}") == 2);
    ck_assert(value(text, "sizer_http_requests_total{method=\"HEAD\",route=\"/livez\",status=\"200\"}") == 1);
    ck_assert(value(text, "sizer_http_requests_total{method=\"GET\",route=\"other\",status=\"404\"}") == 1);
    ck_assert(value(text, "sizer_http_requests_total{method=\"OTHER\",route=\"other\",status=\"501\"}") == 1);
    ck_assert(value(text, "sizer_http_requests_total{method=\"POST\",route=\"/prices\",status=\"0\"}") == 1);
    ck_assert(value(text, "sizer_http_requests_aborted_total{route=\"/prices\"}") == 1);
    ck_assert(value(text, "sizer_http_request_body_bytes_total{route=\"/livez\"}") == 30);
    ck_assert(value(text, "sizer_http_response_body_bytes_total{route=\"/livez\"}") == 300);
    ck_assert(value(text, "sizer_http_request_duration_seconds_bucket{route=\"/livez\",le=\"0.0001\"}") == 1);
    ck_assert(value(text, "sizer_http_request_duration_seconds_bucket{route=\"/livez\",le=\"0.25\"}") == 1);
    ck_assert(value(text, "sizer_http_request_duration_seconds_bucket{route=\"/livez\",le=\"0.5\"}") == 3);
    ck_assert(value(text, "sizer_http_request_duration_seconds_bucket{route=\"/livez\",le=\"+Inf\"}") == 3);
    ck_assert(value(text, "sizer_http_request_duration_seconds_count{route=\"/livez\"}") == 3);
    ck_assert_double_eq_tol(value(text, "sizer_http_request_duration_seconds_sum{route=\"/livez\"}"), 0.6001, 1e-9);
    ck_assert(value(text, "sizer_http_request_duration_seconds_bucket{route=\"/prices\",le=\"10\"}") == 0);
    ck_assert(value(text, "sizer_http_request_duration_seconds_bucket{route=\"/prices\",le=\"+Inf\"}") == 1);
}
END_TEST

START_TEST(the_state_is_told)
{
    const char *text;

    metrics_event(metrics, EVENT_CATALOG_LOADED);
    text = exposition();
    ck_assert(value(text, "sizer_build_info{version=\"1.2.3\"}") == 1);
    ck_assert(value(text, "sizer_connections") == 3);
    ck_assert(value(text, "sizer_requests_running") == 1);
    ck_assert(value(text, "sizer_catalog_version") == 246343691433808);
    ck_assert(value(text, "sizer_catalog_age_seconds") == 2.5);
    ck_assert(value(text, "sizer_database_connected") == 1);
    ck_assert(value(text, "sizer_events_total{event=\"catalog_loaded\"}") == 1);
    ck_assert(value(text, "process_resident_memory_bytes") > 100000);
    ck_assert(value(text, "process_open_fds") >= 3);
    ck_assert(value(text, "process_start_time_seconds") > 1.7e9);
    ck_assert(value(text, "process_cpu_seconds_total") >= 0);
}
END_TEST

static bool
is_name(const char *text, size_t size)
{
    for (size_t i = 0; i < size; i++)
        if (!islower((unsigned char)text[i]) && !isdigit((unsigned char)text[i]) && text[i] != '_')
            return false;
    return size > 0 && islower((unsigned char)text[0]);
}

/* A sample belongs to the family above it: its name, or with a histogram's endings. */
static void
check_sample(const char *line, const char *end, const char *family, const char *type)
{
    size_t size = strcspn(line, "{ ");
    const char *ending = line + strlen(family), *at = line + size;
    char *rest;

    ck_assert_msg(is_name(line, size) && strncmp(line, family, strlen(family)) == 0, "%.*s", (int)(end - line), line);
    if (strcmp(type, "histogram") != 0)
        ck_assert_uint_eq(size, strlen(family));
    else
        ck_assert(strncmp(ending, "_bucket{", 8) == 0 || strncmp(ending, "_sum", 4) == 0 ||
                  strncmp(ending, "_count", 6) == 0);
    if (*at == '{')
        at = strchr(at, '}') + 1;
    ck_assert(*at == ' ');
    (void)strtod(at + 1, &rest);
    ck_assert_ptr_eq(rest, end);
}

/* The rules of the text format 0.0.4 that promtool checks too: HELP, then TYPE, once a family, then its samples;
 * counters end in _total. */
START_TEST(the_text_is_well_formed)
{
    char families[64][64], type[16] = "";
    size_t family_count = 0;
    const char *text;

    for (size_t route_index = 0; route_index <= OTHER; route_index++)
        for (int method = 0; method <= HTTP_UNKNOWN; method++)
            count((enum http_method)method, route_index, 200 + method, 0.01 * method);
    text = exposition();
    for (const char *line = text, *end; *line; line = end + 1) {
        end = strchr(line, '\n');
        ck_assert_ptr_nonnull(end);
        if (strncmp(line, "# HELP ", 7) == 0) {
            ck_assert_uint_lt(family_count, COUNT_OF(families));
            ck_assert_int_eq(sscanf(line, "# HELP %63s", families[family_count]), 1);
            for (size_t i = 0; i < family_count; i++)
                ck_assert_str_ne(families[i], families[family_count]);
            family_count++;
        } else if (strncmp(line, "# TYPE ", 7) == 0) {
            char name[64];

            ck_assert_int_eq(sscanf(line, "# TYPE %63s %15s", name, type), 2);
            ck_assert_str_eq(name, families[family_count - 1]);
            ck_assert(strcmp(type, "counter") != 0 || strcmp(name + strlen(name) - 6, "_total") == 0);
        } else {
            ck_assert_uint_gt(family_count, 0);
            check_sample(line, end, families[family_count - 1], type);
        }
    }
    ck_assert_uint_gt(family_count, 15);
}
END_TEST

enum { THREADS = 4, REQUESTS = 20000 };

static void *
count_many(void *unused)
{
    for (int i = 0; i < REQUESTS; i++)
        count(HTTP_GET, 0, 200, 0.001);
    return unused;
}

START_TEST(threads_lose_nothing)
{
    pthread_t threads[THREADS];
    const char *text;

    for (int i = 0; i < THREADS; i++)
        pthread_create(&threads[i], NULL, count_many, NULL);
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    text = exposition();
    ck_assert(value(text, "sizer_http_requests_total{method=\"GET\",route=\"/livez\",status=\"200\"}") ==
              THREADS * REQUESTS);
}
END_TEST

int
main(void)
{
    TCase *tcase = tcase_create("metrics");

    tcase_add_checked_fixture(tcase, setup, teardown);
    tcase_add_test(tcase, requests_are_counted);
    tcase_add_test(tcase, the_state_is_told);
    tcase_add_test(tcase, the_text_is_well_formed);
    tcase_add_test(tcase, threads_lose_nothing);
    return suite_run("metrics", tcase);
}
