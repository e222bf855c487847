/* One connection to PostgreSQL, opened and used without ever waiting past a deadline. */
#ifndef DB_CONN_H
#define DB_CONN_H

#include <libpq-fe.h>
#include <stdbool.h>
#include <stddef.h>

enum conn_result {
    CONN_OK = 0,
    CONN_LOST,    /* no connection, or none any more */
    CONN_REFUSED, /* the server understood and said no; the connection stands */
    CONN_STOPPED, /* the program is ending */
};

struct conn {
    PGconn *pg; /* NULL: not connected */
    double timeout_seconds;
    int stop_fd; /* readable: give up at once */
};

/* false: libpq cannot read the connection string. */
bool conn_url_is_readable(const char *url);

/* Opens conn->pg. Hosts of the string are tried one after the other, each for timeout_seconds, as libpq itself does
 * it only when it blocks. Name look-ups block for as long as the resolver takes. `why` never quotes the string: a badly
 * written one has pieces of its password where libpq looks for a host or a database. */
enum conn_result conn_open(struct conn *conn, const char *url, char *why, size_t why_size);

void conn_close(struct conn *conn);

/* Runs one statement without parameters, texts back. CONN_OK: *ret_result holds `columns` columns (0: none expected,
 * -1: any number) and is freed by PQclear. A statement that outlasts the timeout counts as a lost connection. */
enum conn_result
conn_query(struct conn *conn, const char *sql, int columns, PGresult **ret_result, char *why, size_t why_size);

/* Waits until `deadline` for a notice; true (and its payload as a number, 0: none) when there is one. */
enum conn_result
conn_wait_notice(struct conn *conn, double deadline, bool *ret_noticed, unsigned long long *ret_number);

#endif
