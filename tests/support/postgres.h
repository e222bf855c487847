/* A throw-away PostgreSQL cluster for one test program, on a Unix socket under the system's temporary folder. */
#ifndef TESTS_SUPPORT_POSTGRES_H
#define TESTS_SUPPORT_POSTGRES_H

#include <stdbool.h>

/* Makes and starts an empty cluster (about a second) and returns the connection string of its owner, a superuser:
 * "host=... user=postgres dbname=postgres", lent until the stop. Aborts with the server's log when it cannot.
 * One cluster at a time; tests that Check forks off share the one that their parent started. It is removed when the
 * process that started it ends, however it ends. */
const char *test_postgres_start(void);

/* Stops and removes it. Only the process that started it may. */
void test_postgres_stop(void);

/* Kills the server at once, as a crash would; the data stay. Returns when it is gone. From forked tests, too. */
void test_postgres_kill9(void);

/* Starts the server again on the same data and connection string: after a kill, or (when it runs) after an orderly stop
 * that breaks all connections. Returns when it accepts connections. From forked tests, too. */
void test_postgres_restart(void);

/* Runs migrations/apply.sh as the owner; returns its exit code. */
int test_postgres_apply(const char *database_url);

#endif
