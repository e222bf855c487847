/* The program (SIZER_PROGRAM) as an operator meets it: settings, log, health check, signals, exit codes. */
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#include "tests/support/program.h"
#include "tests/support/suite.h"
#include "tests/support/wire.h"

static struct program_run run;
static struct wire_reply reply;

#define GET(path) "GET " path " HTTP/1.1\r\nHost: h\r\n\r\n"
#define NONE              \
    (const char *const[]) \
    {                     \
        NULL              \
    }

static const char *
text(const json_t *object, const char *name)
{
    return json_string_value(json_object_get(object, name));
}

static void
pause_ms(long milliseconds)
{
    struct timespec time = { .tv_sec = milliseconds / 1000, .tv_nsec = milliseconds % 1000 * 1000000 };

    nanosleep(&time, NULL);
}

START_TEST(it_serves_until_sigterm)
{
    json_t *line;

    program_serve(&run, NONE);
    wire_ask(run.port, GET("/livez"), &reply);
    ck_assert_int_eq(reply.status, 200);
    wire_ask(run.port, GET("/readyz"), &reply);
    ck_assert_int_eq(reply.status, 200);
    ck_assert_ptr_nonnull(strstr(reply.body, "\"source\":\"embedded\""));
    ck_assert_ptr_nonnull(strstr(reply.body, "\"database\":\"not_configured\""));
    kill(run.pid, SIGTERM);
    line = program_event(&run, "stopped");
    json_decref(line);
    ck_assert_int_eq(program_wait(&run), 0);
    ck_assert_int_eq(wire_try_open(run.port), -1);
}
END_TEST

START_TEST(sigint_ends_it_too)
{
    program_serve(&run, NONE);
    kill(run.pid, SIGINT);
    ck_assert_int_eq(program_wait(&run), 0);
}
END_TEST

START_TEST(a_request_is_one_line)
{
    json_t *line;
    const char *time;

    program_serve(&run, NONE);
    wire_ask(run.port,
             "POST /estimate?token=geheim HTTP/1.1\r\nHost: h\r\nX-Request-Id: request-42\r\nContent-Length: 3\r\n"
             "Authorization: Bearer geheim\r\n"
             "traceparent: 00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01\r\n\r\n{,}",
             &reply);
    ck_assert_int_eq(reply.status, 400);
    line = program_event(&run, "request");
    time = text(line, "time");
    ck_assert_msg(strlen(time) == 24 && time[10] == 'T' && time[19] == '.' && time[23] == 'Z', "%s", time);
    ck_assert_str_eq(text(line, "level"), "info");
    ck_assert_str_eq(text(line, "request_id"), "request-42");
    ck_assert_str_eq(text(line, "trace_id"), "4bf92f3577b34da6a3ce929d0e0e4736");
    ck_assert_str_eq(text(line, "method"), "POST");
    ck_assert_str_eq(text(line, "route"), "/estimate");
    ck_assert_int_eq(json_integer_value(json_object_get(line, "status")), 400);
    ck_assert(json_is_number(json_object_get(line, "duration_ms")));
    ck_assert_int_eq(json_integer_value(json_object_get(line, "bytes_in")), 3);
    ck_assert_int_eq(json_integer_value(json_object_get(line, "bytes_out")), (json_int_t)reply.body_size);
    ck_assert_str_eq(text(line, "client"), "127.0.0.1");
    ck_assert(json_is_integer(json_object_get(line, "catalog_version")));
    json_decref(line);
    ck_assert_int_eq(program_end(&run), 0);
    ck_assert_ptr_null(strstr(run.log, "geheim"));
}
END_TEST

START_TEST(the_log_can_be_quiet)
{
    char listen[64];
    const char *const variables[] = { listen, "SIZER_LOG=error", NULL };
    uint16_t port;
    int fd = -1;

    program_serve(&run, NONE); /* to learn a free port, for a quiet server does not tell its own */
    ck_assert_int_eq(program_end(&run), 0);
    (void)snprintf(listen, sizeof listen, "SIZER_LISTEN=127.0.0.1:%u", run.port);
    port = run.port;
    program_start(&run, NULL, variables);
    for (int i = 0; i < 100 && fd < 0; i++) {
        pause_ms(50);
        fd = wire_try_open(port);
    }
    ck_assert_int_ge(fd, 0);
    wire_send(fd, GET("/livez"));
    wire_read(fd, false, &reply);
    ck_assert_int_eq(reply.status, 200);
    close(fd);
    ck_assert_int_eq(program_end(&run), 0);
    ck_assert_str_eq(run.log, "");
}
END_TEST

START_TEST(bad_settings_are_all_named)
{
    const char *const variables[] = { "SIZER_WORKERS=many", "SIZER_LISTEN=nowhere", NULL };
    json_t *line;

    program_start(&run, NULL, variables);
    line = program_event(&run, "bad_setting");
    ck_assert_str_eq(text(line, "level"), "error");
    ck_assert_str_eq(text(line, "detail"), "SIZER_LISTEN=nowhere: expected host:port, port 0..65535");
    json_decref(line);
    line = program_event(&run, "bad_setting");
    ck_assert_str_eq(text(line, "detail"), "SIZER_WORKERS=many: expected integer 0..256");
    json_decref(line);
    ck_assert_int_eq(program_wait(&run), 2);
}
END_TEST

START_TEST(a_misspelt_setting_is_a_warning)
{
    const char *const variables[] = { "SIZER_WORKER=4", NULL };
    json_t *line;

    program_serve(&run, variables);
    ck_assert_int_eq(program_end(&run), 0);
    run.log_read = 0;
    line = program_event(&run, "unknown_setting");
    ck_assert_str_eq(text(line, "level"), "warn");
    ck_assert_str_eq(text(line, "name"), "SIZER_WORKER");
    ck_assert_str_eq(text(line, "did_you_mean"), "SIZER_WORKERS");
    json_decref(line);
}
END_TEST

START_TEST(a_taken_port)
{
    static struct program_run second;
    char listen[64];
    const char *const variables[] = { listen, NULL };
    json_t *line;

    program_serve(&run, NONE);
    (void)snprintf(listen, sizeof listen, "SIZER_LISTEN=127.0.0.1:%u", run.port);
    program_start(&second, NULL, variables);
    line = program_event(&second, "listen_failed");
    ck_assert_ptr_nonnull(strstr(text(line, "detail"), "Address already in use"));
    ck_assert_ptr_nonnull(strstr(text(line, "detail"), "SIZER_LISTEN"));
    json_decref(line);
    ck_assert_int_eq(program_wait(&second), 1);
    ck_assert_int_eq(program_end(&run), 0);
}
END_TEST

START_TEST(the_health_check_of_an_image)
{
    static struct program_run probe;
    char listen[64];
    const char *const variables[] = { listen, NULL };

    program_serve(&run, NONE);
    (void)snprintf(listen, sizeof listen, "SIZER_LISTEN=0.0.0.0:%u", run.port);
    program_start(&probe, "--probe", variables);
    ck_assert_int_eq(program_wait(&probe), 0);
    ck_assert_int_eq(program_end(&run), 0);
    program_start(&probe, "--probe", variables);
    ck_assert_int_eq(program_wait(&probe), 1);
}
END_TEST

START_TEST(words_of_the_command_line)
{
    static const struct {
        const char *word, *says;
        int code;
    } words[] = {
        { "--help", "DATABASE_URL", 0 },
        { "--version", "sizer ", 0 },
        { "--nonsense", "--nonsense", 2 },
        { "server", "--help", 2 },
    };

    for (size_t i = 0; i < COUNT_OF(words); i++) {
        program_start(&run, words[i].word, NONE);
        ck_assert_int_eq(program_wait(&run), words[i].code);
        ck_assert_ptr_nonnull(strstr(run.log, words[i].says));
    }
}
END_TEST

/* A server, and a request to it of which the last byte is missing. */
static int
begin_request(const char *const *variables)
{
    int fd;

    program_serve(&run, variables);
    fd = wire_open(run.port);
    wire_send(fd, "POST /estimate HTTP/1.1\r\nHost: h\r\nContent-Length: 2\r\n\r\n{");
    pause_ms(100);
    return fd;
}

START_TEST(sigterm_lets_a_request_end)
{
    int fd = begin_request(NONE);

    kill(run.pid, SIGTERM);
    pause_ms(300);
    ck_assert_int_eq(wire_try_open(run.port), -1);
    wire_send(fd, "}");
    wire_read(fd, false, &reply);
    ck_assert_int_eq(reply.status, 422); /* nothing was asked, but it was answered */
    ck_assert_int_eq(program_wait(&run), 0);
    ck_assert_ptr_null(strstr(run.log, "drain_incomplete"));
    close(fd);
}
END_TEST

START_TEST(draining_has_an_end)
{
    const char *const variables[] = { "SIZER_DRAIN_SECONDS=0.3", NULL };
    int fd = begin_request(variables);

    ck_assert_int_eq(program_end(&run), 0);
    ck_assert_ptr_nonnull(strstr(run.log, "\"drain_incomplete\""));
    ck_assert_ptr_nonnull(strstr(run.log, "\"request_aborted\""));
    close(fd);
}
END_TEST

START_TEST(a_second_signal_hurries)
{
    int fd = begin_request(NONE);

    kill(run.pid, SIGTERM);
    pause_ms(200);
    ck_assert_int_eq(program_end(&run), 0);
    close(fd);
}
END_TEST

START_TEST(an_unreachable_database)
{
    const char *const variables[] = { "DATABASE_URL=postgres://sizer:geheim@127.0.0.1:1/none",
                                      "SIZER_DATABASE_TIMEOUT_SECONDS=1", NULL };

    program_serve(&run, variables);
    wire_ask(run.port, GET("/livez"), &reply);
    ck_assert_int_eq(reply.status, 200);
    wire_ask(run.port, GET("/readyz"), &reply);
    ck_assert_int_eq(reply.status, 503);
    ck_assert_ptr_nonnull(strstr(reply.body, "\"database\":\"disconnected\""));
    ck_assert_int_eq(program_end(&run), 0);
    ck_assert_ptr_nonnull(strstr(run.log, "\"database_unreachable\""));
    ck_assert_ptr_null(strstr(run.log, "geheim"));
}
END_TEST

START_TEST(few_file_descriptors)
{
    struct rlimit limit = { 100, 100 };
    json_t *line;

    ck_assert_int_eq(setrlimit(RLIMIT_NOFILE, &limit), 0);
    program_serve(&run, NONE);
    wire_ask(run.port, GET("/livez"), &reply);
    ck_assert_int_eq(reply.status, 200);
    ck_assert_int_eq(program_end(&run), 0);
    run.log_read = 0;
    line = program_event(&run, "limit_lowered");
    ck_assert_int_gt(json_integer_value(json_object_get(line, "connections")), 0);
    json_decref(line);
}
END_TEST

int
main(void)
{
    TCase *tcase = tcase_create("process");

    tcase_set_timeout(tcase, 30);
    tcase_add_test(tcase, it_serves_until_sigterm);
    tcase_add_test(tcase, sigint_ends_it_too);
    tcase_add_test(tcase, a_request_is_one_line);
    tcase_add_test(tcase, the_log_can_be_quiet);
    tcase_add_test(tcase, bad_settings_are_all_named);
    tcase_add_test(tcase, a_misspelt_setting_is_a_warning);
    tcase_add_test(tcase, a_taken_port);
    tcase_add_test(tcase, the_health_check_of_an_image);
    tcase_add_test(tcase, words_of_the_command_line);
    tcase_add_test(tcase, sigterm_lets_a_request_end);
    tcase_add_test(tcase, draining_has_an_end);
    tcase_add_test(tcase, a_second_signal_hurries);
    tcase_add_test(tcase, an_unreachable_database);
    tcase_add_test(tcase, few_file_descriptors);
    return suite_run("process", tcase);
}
