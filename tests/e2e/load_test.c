/* Many connections at once, and the end of the server under them. */
#include <poll.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#include "tests/support/served.h"
#include "tests/support/suite.h"
#include "tests/support/wire.h"

#define GET(path) "GET " path " HTTP/1.1\r\nHost: h\r\n\r\n"
#define POST(path, headers, body) "POST " path " HTTP/1.1\r\nHost: h\r\n" headers "\r\n" body

enum { ROUNDS = 20, MAX_CONNECTIONS = 1000 };

static struct wire_reply reply;

static double
now_seconds(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

static void
pause_ms(long milliseconds)
{
    struct timespec time = { .tv_sec = milliseconds / 1000, .tv_nsec = milliseconds % 1000 * 1000000 };

    nanosleep(&time, NULL);
}

static void
allow_descriptors(void)
{
    struct rlimit limit;

    getrlimit(RLIMIT_NOFILE, &limit);
    limit.rlim_cur = limit.rlim_max;
    setrlimit(RLIMIT_NOFILE, &limit);
}

/* Every connection asks, then every answer is read, again and again: all of them are busy at the same moment.
 * Returns the seconds of the slowest round. */
static double
slowest_round(const int *fds, size_t count)
{
    double slowest = 0;

    for (int round = 0; round < ROUNDS; round++) {
        double began = now_seconds(), took;

        for (size_t i = 0; i < count; i++)
            ck_assert(wire_send(fds[i], GET("/livez")));
        for (size_t i = 0; i < count; i++) {
            wire_read(fds[i], false, &reply);
            ck_assert_msg(reply.status == 200, "connection %zu of %zu, round %d", i, count, round);
        }
        took = now_seconds() - began;
        if (took > slowest)
            slowest = took;
    }
    return slowest;
}

static const struct {
    unsigned workers; /* 0: the default */
    size_t connections;
} crowds[] = {
    { 0, 127 }, { 0, 128 }, { 0, 129 }, { 0, 256 }, { 1, 119 }, { 1, 120 }, { 2, 128 }, { 2, 240 }, { 0, 800 },
};

/* Where libmicrohttpd's workers wait once more at 128 events, a round takes a second. */
START_TEST(busy_connections_are_all_served)
{
    static int fds[MAX_CONNECTIONS];
    size_t count = crowds[_i].connections;
    double slowest;

    allow_descriptors();
    served_settings.workers = crowds[_i].workers;
    served_start(true);
    for (size_t i = 0; i < count; i++)
        fds[i] = wire_open(served_port);
    slowest = slowest_round(fds, count);
    ck_assert_msg(slowest < 0.9, "%zu connections: a round took %.3f s", count, slowest);
    for (size_t i = 0; i < count; i++)
        close(fds[i]);
    served_stop();
}
END_TEST

/* 128 connections on one worker: those it may have are answered at once, the others when there is room for them. */
START_TEST(a_worker_never_has_128)
{
    enum { TRIED = 128, SERVED = 120 };
    int fds[TRIED];
    double began;

    served_settings.workers = 1;
    served_start(true);
    for (size_t i = 0; i < TRIED; i++)
        fds[i] = wire_open(served_port);
    pause_ms(50);
    began = now_seconds();
    for (size_t i = 0; i < TRIED; i++)
        wire_send(fds[i], GET("/livez"));
    for (size_t i = 0; i < TRIED; i++) {
        wire_read(fds[i], false, &reply);
        ck_assert_int_eq(reply.status, 200);
        if (i >= TRIED - SERVED)
            continue;
        close(fds[i]); /* makes room for one of the last */
    }
    ck_assert_msg(now_seconds() - began < 0.9, "took %.3f s", now_seconds() - began);
    for (size_t i = TRIED - SERVED; i < TRIED; i++)
        close(fds[i]);
    served_stop();
}
END_TEST

START_TEST(connections_above_the_cap_wait_their_turn)
{
    int fds[4], late;

    served_settings.connections = COUNT_OF(fds);
    served_start(true);
    for (size_t i = 0; i < COUNT_OF(fds); i++)
        fds[i] = wire_open(served_port);
    (void)slowest_round(fds, COUNT_OF(fds));
    late = wire_open(served_port); /* the kernel takes it, the server not yet */
    wire_send(late, GET("/livez"));
    {
        struct pollfd wait = { .fd = late, .events = POLLIN };

        ck_assert_int_eq(poll(&wait, 1, 200), 0);
    }
    close(fds[0]);
    wire_read(late, false, &reply);
    ck_assert_int_eq(reply.status, 200);
    for (size_t i = 1; i < COUNT_OF(fds); i++)
        close(fds[i]);
    close(late);
    served_stop();
}
END_TEST

START_TEST(connections_come_and_go)
{
    served_settings.connections = 8;
    served_start(true);
    for (int i = 0; i < 300; i++) {
        wire_ask(served_port, GET("/livez"), &reply);
        ck_assert_int_eq(reply.status, 200);
    }
    served_stop();
}
END_TEST

START_TEST(draining_ends_what_runs_and_takes_nothing_new)
{
    int slow, kept, fd;

    served_start(true);
    slow = wire_open(served_port);
    kept = wire_open(served_port);
    wire_send(kept, GET("/readyz"));
    wire_read(kept, false, &reply);
    ck_assert_int_eq(reply.status, 200);
    ck_assert_ptr_nonnull(strstr(reply.body, "\"source\":\"embedded\""));
    wire_send(slow, POST("/slow", "Content-Length: 3\r\n", "5"));
    pause_ms(100);
    ck_assert(!server_is_idle(served_server));
    server_drain(served_server);
    fd = wire_try_open(served_port);
    ck_assert_int_eq(fd, -1);
    wire_send(kept, GET("/readyz"));
    wire_read(kept, false, &reply);
    ck_assert_int_eq(reply.status, 503);
    ck_assert_ptr_nonnull(strstr(reply.body, "\"status\":\"draining\""));
    ck_assert_str_eq(wire_header(&reply, "Connection"), "close");
    ck_assert(wire_is_closed(kept));
    wire_send(slow, "00"); /* the rest of its body */
    wire_read(slow, false, &reply);
    ck_assert_int_eq(reply.status, 200);
    ck_assert_str_eq(reply.body, "{}");
    ck_assert_str_eq(wire_header(&reply, "Connection"), "close");
    for (int i = 0; i < 100 && !server_is_idle(served_server); i++)
        pause_ms(10);
    ck_assert(server_is_idle(served_server));
    close(slow);
    close(kept);
    served_stop();
}
END_TEST

/* Faster than the server accepts, so that at the drain some are in the kernel's queue still. */
START_TEST(draining_takes_in_who_has_connected)
{
    int fds[300];

    allow_descriptors();
    served_start(true);
    for (size_t i = 0; i < COUNT_OF(fds); i++)
        fds[i] = wire_open(served_port);
    server_drain(served_server);
    for (size_t i = 0; i < COUNT_OF(fds); i++) {
        ck_assert(wire_send(fds[i], GET("/livez")));
        wire_read(fds[i], false, &reply);
        ck_assert_msg(reply.status == 200, "connection %zu was cut off", i);
        close(fds[i]);
    }
    served_stop();
}
END_TEST

struct asker {
    pthread_t thread;
    size_t answered, cut;
};

/* Asks until the server is gone; counts requests that were taken but not answered. */
static void *
ask_on(void *of)
{
    struct asker *asker = of;
    struct wire_reply *got = malloc(sizeof *got);
    int fd;

    while (got && (fd = wire_try_open(served_port)) >= 0) {
        do {
            if (!wire_send(fd, POST("/echo", "Content-Length: 2\r\n", "{}")))
                break;
            wire_read(fd, false, got);
            if (got->status == 200)
                asker->answered++;
            else
                asker->cut++;
        } while (got->status == 200 && !wire_header(got, "Connection"));
        close(fd);
    }
    free(got);
    return NULL;
}

START_TEST(draining_under_load_cuts_nobody_off)
{
    struct asker askers[4] = { { .answered = 0 } };
    size_t answered = 0, cut = 0;

    served_start(true);
    for (size_t i = 0; i < COUNT_OF(askers); i++)
        pthread_create(&askers[i].thread, NULL, ask_on, &askers[i]);
    pause_ms(300);
    server_drain(served_server);
    for (size_t i = 0; i < COUNT_OF(askers); i++) {
        pthread_join(askers[i].thread, NULL);
        answered += askers[i].answered;
        cut += askers[i].cut;
    }
    ck_assert(server_is_idle(served_server));
    ck_assert_uint_gt(answered, 100);
    ck_assert_msg(cut <= COUNT_OF(askers), "%zu answered, %zu cut", answered,
                  cut); /* connected while the listener was being closed: one each */
    served_stop();
}
END_TEST

START_TEST(stopping_does_not_wait_for_the_idle)
{
    int fds[200];
    double began;

    allow_descriptors();
    served_start(true);
    for (size_t i = 0; i < COUNT_OF(fds); i++)
        fds[i] = wire_open(served_port);
    (void)slowest_round(fds, COUNT_OF(fds));
    began = now_seconds();
    served_stop();
    ck_assert_msg(now_seconds() - began < 2, "took %.1f s", now_seconds() - began);
    for (size_t i = 0; i < COUNT_OF(fds); i++) {
        ck_assert(wire_is_closed(fds[i]));
        close(fds[i]);
    }
}
END_TEST

int
main(void)
{
    TCase *tcase = tcase_create("load");

    tcase_set_timeout(tcase, 60);
    tcase_add_loop_test(tcase, busy_connections_are_all_served, 0, COUNT_OF(crowds));
    tcase_add_test(tcase, a_worker_never_has_128);
    tcase_add_test(tcase, connections_above_the_cap_wait_their_turn);
    tcase_add_test(tcase, connections_come_and_go);
    tcase_add_test(tcase, draining_ends_what_runs_and_takes_nothing_new);
    tcase_add_test(tcase, draining_takes_in_who_has_connected);
    tcase_add_test(tcase, draining_under_load_cuts_nobody_off);
    tcase_add_test(tcase, stopping_does_not_wait_for_the_idle);
    return suite_run("load", tcase);
}
