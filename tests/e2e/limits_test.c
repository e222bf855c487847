/* Limits of the server (server_start in this process): each one met, each one told. */
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "tests/support/served.h"
#include "tests/support/suite.h"
#include "tests/support/wire.h"

static struct wire_reply reply;

#define HOST "Host: h\r\n"
#define GET(path) "GET " path " HTTP/1.1\r\n" HOST "\r\n"
#define POST(path, headers, body) "POST " path " HTTP/1.1\r\n" HOST headers "\r\n" body

enum { BODY_LIMIT = 4096 };

static void
pause_ms(long milliseconds)
{
    struct timespec time = { .tv_sec = milliseconds / 1000, .tv_nsec = milliseconds % 1000 * 1000000 };

    nanosleep(&time, NULL);
}

static void
send_filler(int fd, size_t size)
{
    static const char filler[1024] = { ' ' };

    for (; size >= sizeof filler; size -= sizeof filler)
        if (!wire_send_bytes(fd, filler, sizeof filler))
            return;
    wire_send_bytes(fd, filler, size);
}

/* What follows a refused body is still understood: the body was read to its end. */
static void
check_goes_on(int fd)
{
    wire_send(fd, GET("/livez"));
    wire_read(fd, false, &reply);
    ck_assert_int_eq(reply.status, 200);
}

static void
teardown(void)
{
    served_stop();
}

static void
setup_small_bodies(void)
{
    served_settings.body_bytes = BODY_LIMIT;
    served_start(true);
}

START_TEST(a_body_at_the_limit)
{
    int fd = wire_open(served_port);

    wire_send(fd, POST("/echo", "Content-Length: 4096\r\n", ""));
    send_filler(fd, BODY_LIMIT);
    wire_read(fd, false, &reply);
    ck_assert_int_eq(reply.status, 200);
    ck_assert_uint_eq(reply.body_size, BODY_LIMIT);
    check_goes_on(fd);
    close(fd);
}
END_TEST

START_TEST(a_body_above_the_limit)
{
    int fd = wire_open(served_port);

    wire_send(fd, POST("/echo", "Content-Length: 4097\r\n", ""));
    send_filler(fd, BODY_LIMIT + 1);
    wire_read(fd, false, &reply);
    ck_assert_int_eq(reply.status, 413);
    ck_assert_ptr_nonnull(strstr(reply.body, "body_too_large"));
    check_goes_on(fd);
    close(fd);
}
END_TEST

START_TEST(a_body_that_does_not_say_its_length)
{
    int fd = wire_open(served_port);

    wire_send(fd, POST("/echo", "Transfer-Encoding: chunked\r\n", "1001\r\n"));
    send_filler(fd, BODY_LIMIT + 1);
    wire_send(fd, "\r\n0\r\n\r\n");
    wire_read(fd, false, &reply);
    ck_assert_int_eq(reply.status, 413);
    check_goes_on(fd);
    close(fd);
}
END_TEST

START_TEST(a_body_not_worth_reading)
{
    int fd = wire_open(served_port);

    wire_send(fd, POST("/echo", "Content-Length: 99999999999\r\n", ""));
    wire_read(fd, false, &reply);
    ck_assert_int_eq(reply.status, 413);
    ck_assert_str_eq(wire_header(&reply, "Connection"), "close");
    close(fd);
}
END_TEST

START_TEST(a_refused_body_without_end)
{
    int fd = wire_open(served_port);

    wire_send(fd, POST("/nothing", "Transfer-Encoding: chunked\r\n", "FFFFFFF\r\n"));
    send_filler(fd, 16 * BODY_LIMIT);
    ck_assert(wire_is_closed(fd));
    close(fd);
}
END_TEST

static void
setup_tight_memory(void)
{
    served_settings.all_bodies_bytes = 100 * 1024;
    served_start(true);
}

START_TEST(all_bodies_together)
{
    int first = wire_open(served_port), second = wire_open(served_port);

    wire_send(first, POST("/echo", "Content-Length: 65536\r\n", ""));
    send_filler(first, 60000);
    pause_ms(100);
    wire_send(second, POST("/echo", "Content-Length: 65536\r\n", ""));
    send_filler(second, 65536);
    wire_read(second, false, &reply);
    ck_assert_int_eq(reply.status, 503);
    ck_assert_str_eq(wire_header(&reply, "Retry-After"), "1");
    send_filler(first, 5536);
    wire_read(first, false, &reply);
    ck_assert_int_eq(reply.status, 200);
    /* what the first held is free again */
    wire_send(second, POST("/echo", "Content-Length: 65536\r\n", ""));
    send_filler(second, 65536);
    wire_read(second, false, &reply);
    ck_assert_int_eq(reply.status, 200);
    close(first);
    close(second);
}
END_TEST

static void
setup_short_patience(void)
{
    served_settings.body_seconds = 0.5;
    served_settings.idle_seconds = 2;
    served_start(true);
}

START_TEST(a_slow_body_in_time)
{
    int fd = wire_open(served_port);

    wire_send(fd, "POST /echo HTTP/1.1\r\nHo");
    pause_ms(50);
    wire_send(fd, "st: h\r\nContent-Length: 3\r\n\r\n");
    for (int i = 0; i < 3; i++) {
        pause_ms(50);
        wire_send(fd, "x");
    }
    wire_read(fd, false, &reply);
    ck_assert_int_eq(reply.status, 200);
    ck_assert_str_eq(reply.body, "xxx");
    close(fd);
}
END_TEST

START_TEST(a_body_that_takes_too_long)
{
    int fd = wire_open(served_port);

    wire_send(fd, POST("/echo", "Content-Length: 100\r\n", ""));
    for (int i = 0; i < 7; i++) {
        pause_ms(100);
        wire_send(fd, "x");
    }
    ck_assert(wire_is_closed(fd));
    close(fd);
}
END_TEST

START_TEST(a_silent_connection)
{
    int fd = wire_open(served_port);

    pause_ms(2500);
    ck_assert(wire_is_closed(fd));
    close(fd);
}
END_TEST

static void
setup_rate(void)
{
    served_settings.rate_per_second = 0.5;
    served_settings.rate_burst = 2;
    served_settings.trust_forwarded = true;
    served_start(true);
}

#define FROM(address) "GET /table HTTP/1.1\r\n" HOST "X-Forwarded-For: 192.0.2.9, " address "\r\n\r\n"

START_TEST(too_many_requests_of_one_client)
{
    for (int i = 0; i < 2; i++) {
        wire_ask(served_port, GET("/table"), &reply);
        ck_assert_int_eq(reply.status, 200);
    }
    wire_ask(served_port, GET("/table"), &reply);
    ck_assert_int_eq(reply.status, 429);
    ck_assert_str_eq(wire_header(&reply, "Retry-After"), "2");
    ck_assert_ptr_nonnull(strstr(reply.body, "rate_limited"));
    wire_ask(served_port, GET("/nothing"), &reply);
    ck_assert_int_eq(reply.status, 429);
    wire_ask(served_port, GET("/livez"), &reply); /* probes are not to fail because clients are many */
    ck_assert_int_eq(reply.status, 200);
}
END_TEST

START_TEST(clients_behind_a_proxy)
{
    for (int i = 0; i < 2; i++) {
        wire_ask(served_port, FROM("198.51.100.1"), &reply);
        ck_assert_int_eq(reply.status, 200);
    }
    wire_ask(served_port, FROM("198.51.100.1"), &reply);
    ck_assert_int_eq(reply.status, 429);
    wire_ask(served_port, FROM("198.51.100.2"), &reply);
    ck_assert_int_eq(reply.status, 200);
    wire_ask(served_port, FROM("[2001:db8::1]:4711"), &reply);
    ck_assert_int_eq(reply.status, 200);
    wire_ask(served_port, FROM("198.51.100.1:80"), &reply);
    ck_assert_int_eq(reply.status, 429);
}
END_TEST

static void
setup_one_running(void)
{
    served_settings.max_running = 1;
    served_start(true);
}

START_TEST(too_many_running)
{
    int slow = wire_open(served_port);

    /* another connection may be served by the thread that sleeps: of eight, two are not on it */
    wire_send(slow, POST("/slow", "Content-Length: 3\r\n", "700"));
    pause_ms(100);
    wire_ask(served_port, POST("/slow", "Content-Length: 1\r\n", "0"), &reply);
    if (reply.status == 200) /* it came after all */
        wire_ask(served_port, POST("/slow", "Content-Length: 1\r\n", "0"), &reply);
    ck_assert_int_eq(reply.status, 503);
    ck_assert_str_eq(wire_header(&reply, "Retry-After"), "1");
    ck_assert_ptr_nonnull(strstr(reply.body, "overloaded"));
    wire_ask(served_port, GET("/livez"), &reply);
    ck_assert_int_eq(reply.status, 200);
    wire_read(slow, false, &reply);
    ck_assert_int_eq(reply.status, 200);
    close(slow);
    wire_ask(served_port, POST("/slow", "Content-Length: 1\r\n", "0"), &reply);
    ck_assert_int_eq(reply.status, 200);
}
END_TEST

static void
setup_without_catalog(void)
{
    served_start(false);
}

START_TEST(before_the_first_catalog)
{
    wire_ask(served_port, GET("/table"), &reply);
    ck_assert_int_eq(reply.status, 503);
    ck_assert_ptr_nonnull(strstr(reply.body, "not_ready"));
    ck_assert_str_eq(wire_header(&reply, "Retry-After"), "1");
    wire_ask(served_port, GET("/readyz"), &reply);
    ck_assert_int_eq(reply.status, 503);
    ck_assert_ptr_nonnull(strstr(reply.body, "\"status\":\"starting\""));
    wire_ask(served_port, GET("/livez"), &reply);
    ck_assert_int_eq(reply.status, 200);
}
END_TEST

static void
setup_cors(void)
{
    static const char *const origins[] = { "https://portal.example", "http://localhost:5173" };

    served_settings.cors_origins = origins;
    served_settings.cors_origin_count = COUNT_OF(origins);
    served_start(true);
}

START_TEST(other_origins)
{
    wire_ask(served_port, "GET /table HTTP/1.1\r\n" HOST "Origin: http://localhost:5173\r\n\r\n", &reply);
    ck_assert_str_eq(wire_header(&reply, "Access-Control-Allow-Origin"), "http://localhost:5173");
    ck_assert_ptr_nonnull(strstr(wire_header(&reply, "Access-Control-Expose-Headers"), "X-Request-Id"));
    ck_assert_str_eq(wire_header(&reply, "Vary"), "Origin");
    wire_ask(served_port, "GET /table HTTP/1.1\r\n" HOST "Origin: https://evil.example\r\n\r\n", &reply);
    ck_assert_ptr_null(wire_header(&reply, "Access-Control-Allow-Origin"));
    ck_assert_str_eq(wire_header(&reply, "Vary"), "Origin");
    wire_ask(served_port,
             "OPTIONS /echo HTTP/1.1\r\n" HOST
             "Origin: https://portal.example\r\nAccess-Control-Request-Method: POST\r\n\r\n",
             &reply);
    ck_assert_int_eq(reply.status, 204);
    ck_assert_str_eq(wire_header(&reply, "Access-Control-Allow-Origin"), "https://portal.example");
    ck_assert_str_eq(wire_header(&reply, "Access-Control-Allow-Methods"), "POST, OPTIONS");
    ck_assert_ptr_nonnull(strstr(wire_header(&reply, "Access-Control-Allow-Headers"), "Content-Type"));
    ck_assert_str_eq(wire_header(&reply, "Access-Control-Max-Age"), "7200");
}
END_TEST

static TCase *
tcase_with(const char *name, SFun setup)
{
    TCase *tcase = tcase_create(name);

    tcase_add_checked_fixture(tcase, setup, teardown);
    tcase_set_timeout(tcase, 20);
    return tcase;
}

int
main(void)
{
    TCase *bodies = tcase_with("small bodies", setup_small_bodies);
    TCase *memory = tcase_with("tight memory", setup_tight_memory);
    TCase *patience = tcase_with("short patience", setup_short_patience);
    TCase *rate = tcase_with("rate", setup_rate);
    TCase *running = tcase_with("one running", setup_one_running);
    TCase *catalog = tcase_with("no catalog", setup_without_catalog);
    TCase *cors = tcase_with("cors", setup_cors);
    TCase *const tcases[] = { bodies, memory, patience, rate, running, catalog, cors };

    tcase_add_test(bodies, a_body_at_the_limit);
    tcase_add_test(bodies, a_body_above_the_limit);
    tcase_add_test(bodies, a_body_that_does_not_say_its_length);
    tcase_add_test(bodies, a_body_not_worth_reading);
    tcase_add_test(bodies, a_refused_body_without_end);
    tcase_add_test(memory, all_bodies_together);
    tcase_add_test(patience, a_slow_body_in_time);
    tcase_add_test(patience, a_body_that_takes_too_long);
    tcase_add_test(patience, a_silent_connection);
    tcase_add_test(rate, too_many_requests_of_one_client);
    tcase_add_test(rate, clients_behind_a_proxy);
    tcase_add_test(running, too_many_running);
    tcase_add_test(catalog, before_the_first_catalog);
    tcase_add_test(cors, other_origins);
    return suite_run_many("limits", tcases, COUNT_OF(tcases));
}
