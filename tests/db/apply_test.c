/* migrations/apply.sh against a real PostgreSQL: what it makes, what it refuses, and that versions follow changes. */
#include <libpq-fe.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/support/postgres.h"
#include "tests/support/suite.h"

static const char *server_url; /* of the whole test program */
static char database_url[256]; /* of one test: a database of its own */
static char copies[48];        /* of all tests: copies of migrations/ that they may change */
static char folder[96];        /* the copy of one test */

static PGconn *
connect_to(const char *url)
{
    PGconn *connection = PQconnectdb(url);

    ck_assert_msg(PQstatus(connection) == CONNECTION_OK, "%s", PQerrorMessage(connection));
    return connection;
}

/* Runs SQL and returns whether it was allowed. */
static bool
run_sql(PGconn *connection, const char *sql)
{
    PGresult *result = PQexec(connection, sql);
    bool done = PQresultStatus(result) == PGRES_COMMAND_OK || PQresultStatus(result) == PGRES_TUPLES_OK;

    PQclear(result);
    return done;
}

static long
ask_number(PGconn *connection, const char *sql)
{
    PGresult *result = PQexec(connection, sql);

    ck_assert_msg(PQntuples(result) == 1, "%s: %s", sql, PQerrorMessage(connection));
    long number = strtol(PQgetvalue(result, 0, 0), NULL, 10);
    PQclear(result);
    return number;
}

static int
exit_code(pid_t child)
{
    int status;

    ck_assert(waitpid(child, &status, 0) == child && WIFEXITED(status));
    return WEXITSTATUS(status);
}

/* Runs a shell command with DATABASE_URL and FOLDER set, its standard error into the file FOLDER.err. */
static pid_t
start_command(const char *command)
{
    pid_t child = fork();

    if (child == 0) {
        char errors[sizeof(folder) + 8];

        (void)snprintf(errors, sizeof(errors), "%s.err", folder);
        (void)setenv("DATABASE_URL", database_url, 1);
        (void)setenv("FOLDER", folder, 1);
        if (freopen(errors, "a", stderr) != NULL && freopen("/dev/null", "w", stdout) != NULL)
            (void)execl("/bin/sh", "sh", "-c", command, (char *)NULL);
        _exit(127);
    }
    return child;
}

static int
run_command(const char *command)
{
    return exit_code(start_command(command));
}

static void
make_database(void)
{
    static unsigned made; /* with CK_FORK=no, all tests have one process id */
    PGconn *connection = connect_to(server_url);
    char name[48], sql[96];

    (void)snprintf(name, sizeof(name), "test_%d_%u", getpid(), made++);
    (void)snprintf(folder, sizeof(folder), "%s/%s", copies, name);
    (void)snprintf(sql, sizeof(sql), "CREATE DATABASE %s", name);
    ck_assert(run_sql(connection, sql));
    PQfinish(connection);
    (void)snprintf(database_url, sizeof(database_url), "%s dbname=%s", server_url, name);
    ck_assert_int_eq(run_command("cp -R '" PROJECT_ROOT "/migrations' \"$FOLDER\""), 0);
}

START_TEST(an_empty_database_is_filled_once)
{
    ck_assert_int_eq(run_command("$FOLDER/apply.sh"), 0);
    PGconn *connection = connect_to(database_url);
    long version = ask_number(connection, "SELECT max(version) FROM catalog_versions");

    ck_assert_int_ge(ask_number(connection, "SELECT count(*) FROM schema_migrations"), 2);
    ck_assert_int_gt(ask_number(connection, "SELECT count(*) FROM gpus"), 0);
    ck_assert_int_eq(run_command("$FOLDER/apply.sh"), 0);
    ck_assert_int_eq(ask_number(connection, "SELECT max(version) FROM catalog_versions"), version);
    PQfinish(connection);
}
END_TEST

START_TEST(two_runs_at_once_do_not_disturb_each_other)
{
    pid_t runs[3];
    for (size_t i = 0; i < COUNT_OF(runs); i++)
        runs[i] = start_command("$FOLDER/apply.sh");
    for (size_t i = 0; i < COUNT_OF(runs); i++)
        ck_assert_int_eq(exit_code(runs[i]), 0);

    PGconn *connection = connect_to(database_url);
    ck_assert_int_eq(ask_number(connection, "SELECT count(*) - count(DISTINCT name) FROM schema_migrations"), 0);
    ck_assert_int_eq(ask_number(connection, "SELECT count(*) FROM catalog_versions"), 2); /* empty, then the seeds */
    PQfinish(connection);
}
END_TEST

START_TEST(a_changed_migration_is_refused_by_name)
{
    ck_assert_int_eq(run_command("$FOLDER/apply.sh && echo >>$FOLDER/0001_catalog.sql"), 0);
    ck_assert_int_ne(run_command("$FOLDER/apply.sh"), 0);
    ck_assert_int_eq(run_command("grep -q '0001_catalog.sql was changed' $FOLDER.err"), 0);
}
END_TEST

START_TEST(a_changed_seed_is_told_and_left_alone)
{
    ck_assert_int_eq(run_command("$FOLDER/apply.sh && tail -n 1 $FOLDER/seed/fx.csv | sed 's/^[a-z]*/zzz/' "
                                 ">>$FOLDER/seed/fx.csv"),
                     0);
    ck_assert_int_eq(run_command("$FOLDER/apply.sh"), 0);
    ck_assert_int_eq(run_command("grep -q 'seed/fx.csv was changed' $FOLDER.err"), 0);
    PGconn *connection = connect_to(database_url);
    ck_assert_int_eq(ask_number(connection, "SELECT count(*) FROM fx WHERE id LIKE 'zzz%'"), 0);
    PQfinish(connection);
}
END_TEST

START_TEST(a_broken_migration_leaves_nothing_behind)
{
    ck_assert_int_eq(run_command("$FOLDER/apply.sh"), 0);
    ck_assert_int_eq(run_command("echo 'CREATE TABLE half (); SELECT 1 / 0;' >$FOLDER/0999_broken.sql"), 0);
    ck_assert_int_ne(run_command("$FOLDER/apply.sh"), 0);
    PGconn *connection = connect_to(database_url);
    ck_assert_int_eq(ask_number(connection, "SELECT count(*) FROM pg_tables WHERE tablename = 'half'"), 0);
    ck_assert_int_eq(ask_number(connection, "SELECT count(*) FROM schema_migrations WHERE name LIKE '0999%'"), 0);
    PQfinish(connection);
}
END_TEST

START_TEST(the_service_reads_and_does_no_more)
{
    char service_url[sizeof(database_url) + 32];

    ck_assert_int_eq(run_command("$FOLDER/apply.sh"), 0);
    (void)snprintf(service_url, sizeof(service_url), "%s user=sizer_service", database_url);
    PGconn *connection = connect_to(service_url);
    ck_assert_int_gt(ask_number(connection, "SELECT count(*) FROM gpus"), 0);
    ck_assert_int_gt(ask_number(connection, "SELECT max(version) FROM catalog_versions"), 0);
    ck_assert(!run_sql(connection, "CREATE TABLE own ()"));
    ck_assert(!run_sql(connection, "DELETE FROM prices"));
    ck_assert(!run_sql(connection, "INSERT INTO catalog_versions (note) VALUES ('mine')"));
    ck_assert(!run_sql(connection, "ALTER TABLE gpus ADD COLUMN own text"));
    PQfinish(connection);
}
END_TEST

START_TEST(a_transaction_makes_one_version_and_one_notice)
{
    ck_assert_int_eq(run_command("$FOLDER/apply.sh"), 0);
    PGconn *listener = connect_to(database_url), *writer = connect_to(database_url);
    long before = ask_number(listener, "SELECT max(version) FROM catalog_versions");

    ck_assert(run_sql(listener, "LISTEN catalog"));
    ck_assert(run_sql(writer, "BEGIN; UPDATE gpus SET note = 'a'; UPDATE fx SET rate = rate * 2; COMMIT"));
    ck_assert(run_sql(writer, "BEGIN; UPDATE gpus SET note = 'b'; ROLLBACK"));
    long after = ask_number(listener, "SELECT max(version) FROM catalog_versions");
    ck_assert_int_gt(after, before);
    ck_assert_int_eq(ask_number(listener, "SELECT count(*) FROM catalog_versions"), 3);

    PGnotify *notice = PQnotifies(listener);
    ck_assert(notice != NULL);
    ck_assert_str_eq(notice->relname, "catalog");
    ck_assert_int_eq(strtol(notice->extra, NULL, 10), after);
    PQfreemem(notice);
    ck_assert(PQnotifies(listener) == NULL);
    PQfinish(writer);
    PQfinish(listener);
}
END_TEST

/* Else a reader who saw the later version would never look again, and miss the earlier one's rows. */
START_TEST(versions_are_committed_in_their_order)
{
    ck_assert_int_eq(run_command("$FOLDER/apply.sh"), 0);
    PGconn *first = connect_to(database_url), *second = connect_to(database_url);

    ck_assert(run_sql(first, "BEGIN; UPDATE gpus SET note = 'first'"));
    ck_assert(run_sql(second, "SET lock_timeout = '200ms'"));
    ck_assert(!run_sql(second, "UPDATE fx SET rate = rate * 2"));
    ck_assert_int_gt(ask_number(second, "SELECT max(version) FROM catalog_versions"), 0);
    ck_assert(run_sql(first, "COMMIT"));
    ck_assert(run_sql(second, "UPDATE fx SET rate = rate * 2"));
    PQfinish(first);
    PQfinish(second);
}
END_TEST

int
main(void)
{
    TCase *tcase = tcase_create("apply.sh");
    char command[sizeof(copies) + 16];

    (void)snprintf(copies, sizeof(copies), "/tmp/sizer-apply-XXXXXX");
    if (mkdtemp(copies) == NULL)
        return EXIT_FAILURE;
    server_url = test_postgres_start();
    tcase_add_checked_fixture(tcase, make_database, NULL);
    tcase_set_timeout(tcase, 30);
    tcase_add_test(tcase, an_empty_database_is_filled_once);
    tcase_add_test(tcase, two_runs_at_once_do_not_disturb_each_other);
    tcase_add_test(tcase, a_changed_migration_is_refused_by_name);
    tcase_add_test(tcase, a_changed_seed_is_told_and_left_alone);
    tcase_add_test(tcase, a_broken_migration_leaves_nothing_behind);
    tcase_add_test(tcase, the_service_reads_and_does_no_more);
    tcase_add_test(tcase, a_transaction_makes_one_version_and_one_notice);
    tcase_add_test(tcase, versions_are_committed_in_their_order);
    int result = suite_run("migrations", tcase);
    test_postgres_stop();
    (void)snprintf(command, sizeof(command), "rm -rf '%s'", copies);
    return system(command) == 0 ? result : EXIT_FAILURE;
}
