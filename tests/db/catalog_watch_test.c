/* Following PostgreSQL: changes that arrive by themselves, unsound ones that do not, crashes that heal. */
#include "db/db.h"

#include <arpa/inet.h>
#include <libpq-fe.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "service/base/text.h"
#include "tests/support/postgres.h"
#include "tests/support/suite.h"

static const char *url;

/* What the database thread reported, by kind, and the last event of each kind. */
static struct {
    pthread_mutex_t mutex;
    int count[DB_EVENT_KIND_COUNT];
    struct db_event last[DB_EVENT_KIND_COUNT];
} seen = { .mutex = PTHREAD_MUTEX_INITIALIZER };

static void
observe(void *context, const struct db_event *event)
{
    (void)context;
    (void)pthread_mutex_lock(&seen.mutex);
    seen.count[event->kind]++;
    seen.last[event->kind] = *event;
    (void)pthread_mutex_unlock(&seen.mutex);
}

static int
seen_count(enum db_event_kind kind)
{
    (void)pthread_mutex_lock(&seen.mutex);
    int count = seen.count[kind];
    (void)pthread_mutex_unlock(&seen.mutex);
    return count;
}

/* A copy of the last event of a kind: the thread may report another at any time. Valid until the next call. */
static const struct db_event *
last_seen(enum db_event_kind kind)
{
    static struct db_event event;

    (void)pthread_mutex_lock(&seen.mutex);
    event = seen.last[kind];
    (void)pthread_mutex_unlock(&seen.mutex);
    return &event;
}

static double
now(void)
{
    struct timespec time;

    (void)clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + (double)time.tv_nsec / 1e9;
}

static void
pause_briefly(void)
{
    const struct timespec brief = { 0, 10000000 };

    (void)nanosleep(&brief, NULL);
}

/* Waits until an event of a kind has been seen `count` times; fails after `seconds`. */
static void
wait_seen(enum db_event_kind kind, int count, double seconds)
{
    double deadline = now() + seconds;

    while (seen_count(kind) < count && now() < deadline)
        pause_briefly();
    ck_assert_msg(seen_count(kind) >= count, "no %s within %.1f s", db_event_kind_name(kind), seconds);
}

static void
wait_version_above(struct db *db, uint64_t version, double seconds)
{
    double deadline = now() + seconds;

    while (db_status(db).version <= version && now() < deadline)
        pause_briefly();
    ck_assert_msg(db_status(db).version > version, "no newer version within %.1f s", seconds);
}

/* Runs statements as the owner, or as another role; "" or the SQLSTATE of what was refused. */
static const char *
run_sql_as(const char *user, const char *sql)
{
    static char state[8];
    char conninfo[512];
    PGconn *pg;
    PGresult *result;

    (void)snprintf(conninfo, sizeof(conninfo), "%s%s%s", url, user != NULL ? " user=" : "", user != NULL ? user : "");
    pg = PQconnectdb(conninfo);
    ck_assert_msg(PQstatus(pg) == CONNECTION_OK, "%s", PQerrorMessage(pg));
    result = PQexec(pg, sql);
    text_copy(state, sizeof(state), PQresultErrorField(result, PG_DIAG_SQLSTATE));
    PQclear(result);
    PQfinish(pg);
    return state;
}

static void
run_sql(const char *sql)
{
    ck_assert_str_eq(run_sql_as(NULL, sql), "");
}

static struct catalog_slot slot;

static struct db *
start(const char *database_url, double poll_seconds)
{
    struct db_settings settings = {
        .database_url = database_url, .poll_seconds = poll_seconds, .connect_timeout_seconds = 2, .observe = observe
    };
    struct db *db;
    struct fault fault;

    fault_clear(&fault);
    catalog_slot_init(&slot);
    ck_assert_int_eq(db_start(&slot, &settings, &db, &fault), STATUS_OK);
    return db;
}

static void
stop(struct db *db)
{
    db_stop(db);
    catalog_slot_done(&slot);
}

START_TEST(a_change_arrives_within_two_seconds)
{
    struct db *db = start(url, 600);
    uint64_t before = db_status(db).version;

    run_sql("UPDATE gpus SET tdp_watts = 71 WHERE id = 't4-16gb'");
    wait_version_above(db, before, 2);
    struct snapshot *snapshot = catalog_acquire(&slot, 0), *pinned = catalog_acquire(&slot, before);
    ck_assert_uint_eq(catalog_gpu(snapshot->catalog, "t4-16gb")->tdp_watts, 71);
    ck_assert_uint_eq(catalog_gpu(pinned->catalog, "t4-16gb")->tdp_watts, 70);
    catalog_release(snapshot);
    catalog_release(pinned);
    run_sql("UPDATE gpus SET tdp_watts = 70 WHERE id = 't4-16gb'");
    stop(db);
}
END_TEST

START_TEST(many_changes_cost_few_loads)
{
    struct db *db = start(url, 600);
    uint64_t before = db_status(db).version;

    run_sql("DO $$ BEGIN FOR i IN 1..40 LOOP UPDATE networks SET note = i::text WHERE id = (SELECT min(id) FROM "
            "networks); COMMIT; PERFORM set_config('sizer.catalog_version', '', false); END LOOP; END $$");
    wait_version_above(db, before + 39, 5);
    ck_assert_int_le(seen_count(DB_CATALOG_LOADED), 20);
    stop(db);
}
END_TEST

/* Behind a pooler that swallows notices. */
START_TEST(a_change_without_a_notice_is_found_by_polling)
{
    struct db *db = start(url, 0.2);
    uint64_t before = db_status(db).version;

    run_sql("INSERT INTO catalog_versions (note) VALUES ('no notice')");
    wait_version_above(db, before, 5);
    stop(db);
}
END_TEST

START_TEST(an_unsound_change_is_refused_and_the_last_catalog_stays)
{
    struct db *db = start(url, 0.2);
    uint64_t before = db_status(db).version;

    run_sql("UPDATE prices SET unit = 'unit' WHERE id = (SELECT min(id) FROM prices WHERE price_type = 'on_demand')");
    wait_seen(DB_CATALOG_REFUSED, 1, 5);
    ck_assert_str_eq(last_seen(DB_CATALOG_REFUSED)->table, "prices");
    ck_assert_str_eq(last_seen(DB_CATALOG_REFUSED)->column, "unit");
    ck_assert_str_ne(last_seen(DB_CATALOG_REFUSED)->key, "");
    ck_assert_uint_eq(db_status(db).version, before);
    ck_assert(db_status(db).connected);
    for (int i = 0; i < 100; i++)
        pause_briefly();
    ck_assert_int_eq(seen_count(DB_CATALOG_REFUSED), 1); /* told once, not at each look */
    run_sql("UPDATE prices SET unit = 'hour' WHERE price_type = 'on_demand'");
    wait_version_above(db, before, 5);
    stop(db);
}
END_TEST

START_TEST(a_crash_of_the_server_heals)
{
    struct db *db = start(url, 0.5);
    uint64_t before = db_status(db).version;

    test_postgres_kill9();
    wait_seen(DB_CONNECTION_LOST, 1, 5);
    ck_assert(!db_status(db).connected);
    struct snapshot *snapshot = catalog_acquire(&slot, 0);
    ck_assert_uint_eq(snapshot->catalog->version, before);
    catalog_release(snapshot);
    wait_seen(DB_CONNECTION_FAILED, 1, 5);
    test_postgres_restart();
    wait_seen(DB_CONNECTION_RESTORED, 2, 15);
    run_sql("UPDATE gpus SET note = 'after the crash' WHERE id = 't4-16gb'");
    wait_version_above(db, before, 5);
    ck_assert(db_status(db).connected);
    run_sql("UPDATE gpus SET note = NULL WHERE id = 't4-16gb'");
    stop(db);
}
END_TEST

START_TEST(the_services_role_reads_and_does_nothing_else)
{
    char as_service[512];
    struct db *db;

    (void)snprintf(as_service, sizeof(as_service), "%s user=sizer_service", url);
    db = start(as_service, 0);
    ck_assert_uint_gt(db_status(db).version, 0);
    stop(db);
    /* 42501: insufficient_privilege */
    ck_assert_str_eq(run_sql_as("sizer_service", "DELETE FROM gpus"), "42501");
    ck_assert_str_eq(run_sql_as("sizer_service", "UPDATE rates SET value = 1"), "42501");
    ck_assert_str_eq(run_sql_as("sizer_service", "INSERT INTO catalog_versions (note) VALUES ('x')"), "42501");
    ck_assert_str_eq(run_sql_as("sizer_service", "CREATE TABLE mine (x int)"), "42501");
    ck_assert_str_eq(run_sql_as("sizer_service", "DROP TABLE gpus"), "42501");
    ck_assert_str_eq(run_sql_as("sizer_service", "SELECT id FROM gpus"), "");
}
END_TEST

START_TEST(a_database_without_tables_is_told_and_tried_again)
{
    char empty[512];
    struct db *db;

    run_sql("CREATE DATABASE empty");
    (void)snprintf(empty, sizeof(empty), "%s dbname=empty", url);
    db = start(empty, 0);
    ck_assert_uint_eq(db_status(db).version, 0);
    wait_seen(DB_RELOAD_FAILED, 2, 5);
    ck_assert_ptr_nonnull(strstr(last_seen(DB_RELOAD_FAILED)->why, "42P01")); /* undefined_table */
    ck_assert_int_eq(test_postgres_apply(empty), 0);
    wait_seen(DB_CATALOG_LOADED, 1, 15);
    stop(db);
    run_sql("DROP DATABASE empty");
}
END_TEST

START_TEST(the_next_of_several_hosts_is_tried)
{
    char hosts[512];
    const char *real = strstr(url, "host=");
    struct db *db;

    (void)snprintf(hosts, sizeof(hosts), "host=/nonexistent,%s", real + strlen("host="));
    db = start(hosts, 0);
    ck_assert_uint_gt(db_status(db).version, 0);
    stop(db);
}
END_TEST

START_TEST(start_goes_on_without_a_database)
{
    double began = now();
    struct db *db = start("host=/nonexistent", 0);

    ck_assert_double_lt(now() - began, 3.5);
    ck_assert(db_status(db).configured);
    ck_assert(!db_status(db).connected);
    ck_assert_uint_eq(db_status(db).version, 0);
    ck_assert_double_lt(db_status(db).seconds_since_loaded, 0);
    ck_assert_ptr_null(catalog_acquire(&slot, 0));
    wait_seen(DB_CONNECTION_FAILED, 2, 5);
    stop(db);
}
END_TEST

/* A listener that accepts and says nothing. */
static int
silent_listener(char *conninfo, size_t size)
{
    struct sockaddr_in address = { .sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
    socklen_t length = sizeof(address);
    int fd = socket(AF_INET, SOCK_STREAM, 0);

    ck_assert_int_ge(fd, 0);
    ck_assert_int_eq(bind(fd, (struct sockaddr *)&address, sizeof(address)), 0);
    ck_assert_int_eq(listen(fd, 8), 0);
    ck_assert_int_eq(getsockname(fd, (struct sockaddr *)&address, &length), 0);
    (void)snprintf(conninfo, size, "host=127.0.0.1 port=%u user=x dbname=x", ntohs(address.sin_port));
    return fd;
}

START_TEST(a_silent_server_holds_up_neither_start_nor_stop)
{
    char conninfo[128];
    int fd = silent_listener(conninfo, sizeof(conninfo));
    double began = now();
    struct db *db = start(conninfo, 0);

    ck_assert_double_lt(now() - began, 3.5);
    wait_seen(DB_CONNECTION_FAILED, 1, 5);
    ck_assert_ptr_nonnull(strstr(last_seen(DB_CONNECTION_FAILED)->why, "in time"));
    for (int i = 0; i < 60; i++) /* well inside the next try */
        pause_briefly();
    began = now();
    stop(db);
    ck_assert_double_lt(now() - began, 0.5);
    (void)close(fd);
}
END_TEST

/* Badly written strings make libpq look for a host or port in pieces of the password. */
START_TEST(no_event_shows_a_password)
{
    static const char *const urls[] = {
        "postgres://user:geheim@/x?host=/nonexistent", "postgres://user:p/geheim@127.0.0.1:1/x",
        "postgres://user:p@geheim@127.0.0.1:1/x",      "postgres://user:geheim/x@127.0.0.1:1/x",
        "host=127.0.0.1 port=1 password=geheim",       "host=geheim.invalid port=geheim",
    };

    for (size_t i = 0; i < COUNT_OF(urls); i++) {
        struct db *db = start(urls[i], 0);

        wait_seen(DB_CONNECTION_FAILED, 1, 8);
        stop(db);
        ck_assert_msg(strstr(last_seen(DB_CONNECTION_FAILED)->why, "geheim") == NULL, "%s: %s", urls[i],
                      last_seen(DB_CONNECTION_FAILED)->why);
        ck_assert_str_ne(last_seen(DB_CONNECTION_FAILED)->why, "");
        seen.count[DB_CONNECTION_FAILED] = 0;
    }
}
END_TEST

START_TEST(an_unreadable_string_is_the_callers_fault)
{
    struct db_settings settings = { .database_url = "postgres://u:geheim@h/x?nonsense=1" };
    struct fault fault;
    struct db *db;

    fault_clear(&fault);
    catalog_slot_init(&slot);
    ck_assert_int_eq(db_start(&slot, &settings, &db, &fault), STATUS_FAULT);
    ck_assert_int_eq(fault.code, FAULT_BAD_PARAMETER);
    ck_assert_str_eq(fault.items[0].pointer, "DATABASE_URL");
    ck_assert_ptr_null(strstr(fault.items[0].expected, "geheim"));
    catalog_slot_done(&slot);
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
    TCase *with_server = tcase_create("server"), *without = tcase_create("no_server");
    TCase *tcases[] = { with_server, without };

    tcase_set_timeout(with_server, 90);
    tcase_add_unchecked_fixture(with_server, setup, test_postgres_stop);
    tcase_add_test(with_server, a_change_arrives_within_two_seconds);
    tcase_add_test(with_server, many_changes_cost_few_loads);
    tcase_add_test(with_server, a_change_without_a_notice_is_found_by_polling);
    tcase_add_test(with_server, an_unsound_change_is_refused_and_the_last_catalog_stays);
    tcase_add_test(with_server, a_crash_of_the_server_heals);
    tcase_add_test(with_server, the_services_role_reads_and_does_nothing_else);
    tcase_add_test(with_server, a_database_without_tables_is_told_and_tried_again);
    tcase_add_test(with_server, the_next_of_several_hosts_is_tried);
    tcase_set_timeout(without, 60);
    tcase_add_test(without, start_goes_on_without_a_database);
    tcase_add_test(without, a_silent_server_holds_up_neither_start_nor_stop);
    tcase_add_test(without, no_event_shows_a_password);
    tcase_add_test(without, an_unreadable_string_is_the_callers_fault);
    return suite_run_many("catalog_watch", tcases, COUNT_OF(tcases));
}
