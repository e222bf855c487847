/* The program on a real PostgreSQL: ready when it is, current when it changes, serving when it is gone. */
#include <string.h>
#include <time.h>

#include <libpq-fe.h>

#include "service/base/text.h"
#include "tests/support/postgres.h"
#include "tests/support/program.h"
#include "tests/support/suite.h"
#include "tests/support/wire.h"

static const char *url;
static struct program_run run;
static struct wire_reply reply;

static json_t *
get(const char *path)
{
    char text[512];
    json_t *json;

    text_format(text, sizeof text, "GET %s HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n", path);
    wire_ask(run.port, text, &reply);
    json = json_loadb(reply.body, reply.body_size, 0, NULL);
    ck_assert_msg(json != NULL, "%s: %s", path, reply.body);
    return json;
}

/* A number or text of the T4's row or of readiness, as text. */
static const char *
member(const char *path, const char *object, const char *name)
{
    static char text[64];
    json_t *json = get(path), *holder = object ? json_object_get(json, object) : json;
    const json_t *value = json_object_get(holder, name);

    if (json_is_string(value))
        text_copy(text, sizeof text, json_string_value(value));
    else
        text_format(text, sizeof text, "%g", json_number_value(value));
    json_decref(json);
    return text;
}

static bool
member_becomes(const char *path, const char *object, const char *name, const char *wanted, unsigned seconds)
{
    const struct timespec brief = { 0, 20000000 };

    for (unsigned looks = 0; looks < seconds * 50; looks++) {
        if (strcmp(member(path, object, name), wanted) == 0)
            return true;
        nanosleep(&brief, NULL);
    }
    return false;
}

static void
run_sql(const char *sql)
{
    PGconn *pg = PQconnectdb(url);
    PGresult *result = PQexec(pg, sql);

    ck_assert_msg(PQresultStatus(result) == PGRES_COMMAND_OK, "%s", PQerrorMessage(pg));
    PQclear(result);
    PQfinish(pg);
}

static void
serve(const char *database_url)
{
    char setting[600];
    const char *const environment[] = { setting, NULL };

    text_format(setting, sizeof setting, "DATABASE_URL=%s", database_url);
    program_serve(&run, environment);
}

static void
serve_as_service(void)
{
    char as_service[512];

    text_format(as_service, sizeof as_service, "%s user=sizer_service", url);
    serve(as_service);
}

START_TEST(it_is_ready_at_once_and_follows_changes)
{
    serve_as_service();
    json_t *ready = get("/readyz");
    ck_assert_int_eq(reply.status, 200);
    ck_assert_str_eq(json_string_value(json_object_get(ready, "database")), "connected");
    ck_assert_str_eq(json_string_value(json_object_get(json_object_get(ready, "catalog"), "source")), "postgresql");
    json_decref(ready);
    ck_assert_str_eq(member("/catalog/gpus/t4-16gb", NULL, "tdp_watts"), "70");
    run_sql("UPDATE gpus SET tdp_watts = 71 WHERE id = 't4-16gb'");
    ck_assert(member_becomes("/catalog/gpus/t4-16gb", NULL, "tdp_watts", "71", 2));
    run_sql("UPDATE gpus SET tdp_watts = 70 WHERE id = 't4-16gb'");
    ck_assert(member_becomes("/catalog/gpus/t4-16gb", NULL, "tdp_watts", "70", 2));
    ck_assert_int_eq(program_end(&run), 0);
}
END_TEST

START_TEST(it_serves_on_while_the_database_is_gone)
{
    serve_as_service();
    test_postgres_kill9();
    ck_assert(member_becomes("/readyz", NULL, "database", "disconnected", 5));
    ck_assert_int_eq(reply.status, 200);
    ck_assert_str_eq(member("/catalog/gpus/t4-16gb", NULL, "tdp_watts"), "70");
    ck_assert_int_eq(reply.status, 200);
    test_postgres_restart();
    ck_assert(member_becomes("/readyz", NULL, "database", "connected", 15));
    run_sql("UPDATE gpus SET tdp_watts = 72 WHERE id = 't4-16gb'");
    ck_assert(member_becomes("/catalog/gpus/t4-16gb", NULL, "tdp_watts", "72", 5));
    run_sql("UPDATE gpus SET tdp_watts = 70 WHERE id = 't4-16gb'");
    ck_assert_int_eq(program_end(&run), 0);
}
END_TEST

START_TEST(a_page_is_continued_in_its_own_version)
{
    char next[1024];

    serve_as_service();
    json_t *first = get("/catalog/gpus?limit=1&fields=id");
    text_format(next, sizeof next, "/catalog/gpus?limit=1&fields=id&cursor=%s",
                json_string_value(json_object_get(first, "next_cursor")));
    run_sql("UPDATE gpus SET note = 'changed' WHERE id = 't4-16gb'");
    ck_assert(member_becomes("/catalog/gpus/t4-16gb", NULL, "note", "changed", 2));
    json_t *second = get(next);
    ck_assert_int_eq(reply.status, 200);
    ck_assert(json_equal(json_object_get(first, "catalog_version"), json_object_get(second, "catalog_version")));
    json_decref(first);
    json_decref(second);
    run_sql("UPDATE gpus SET note = NULL WHERE id = 't4-16gb'");
    ck_assert_int_eq(program_end(&run), 0);
}
END_TEST

START_TEST(it_starts_without_a_database_and_says_so)
{
    serve("host=/nonexistent user=x");
    json_t *ready = get("/readyz");
    ck_assert_int_eq(reply.status, 503);
    ck_assert_str_eq(json_string_value(json_object_get(ready, "database")), "disconnected");
    json_decref(ready);
    json_decref(get("/catalog"));
    ck_assert_int_eq(reply.status, 503);
    json_decref(get("/livez"));
    ck_assert_int_eq(reply.status, 200);
    ck_assert_int_eq(program_end(&run), 0);
}
END_TEST

START_TEST(an_unreadable_string_ends_it_with_a_message)
{
    const char *const environment[] = { "DATABASE_URL=postgres://u:geheim@h/x?nonsense=1", "SIZER_LISTEN=127.0.0.1:0",
                                        NULL };

    program_start(&run, NULL, environment);
    ck_assert_int_gt(program_wait(&run), 0);
    ck_assert_ptr_nonnull(strstr(run.log, "DATABASE_URL"));
    ck_assert_ptr_null(strstr(run.log, "geheim"));
}
END_TEST

static void
setup(void)
{
    url = test_postgres_start();
    ck_assert_int_eq(test_postgres_apply(url), 0);
}

int
main(void)
{
    TCase *tcase = tcase_create("database");

    tcase_set_timeout(tcase, 90);
    tcase_add_unchecked_fixture(tcase, setup, test_postgres_stop);
    tcase_add_test(tcase, it_is_ready_at_once_and_follows_changes);
    tcase_add_test(tcase, it_serves_on_while_the_database_is_gone);
    tcase_add_test(tcase, a_page_is_continued_in_its_own_version);
    tcase_add_test(tcase, it_starts_without_a_database_and_says_so);
    tcase_add_test(tcase, an_unreadable_string_ends_it_with_a_message);
    return suite_run("database", tcase);
}
