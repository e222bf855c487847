/* Statements and notices on an open connection. */
#include <poll.h>
#include <stdlib.h>
#include <string.h>

#include "db/conn.h"
#include "db/wait.h"
#include "service/base/text.h"

/* Reads until libpq has a whole result. */
static enum conn_result
wait_result(struct conn *conn, double deadline, char *why, size_t why_size)
{
    while (PQisBusy(conn->pg)) {
        switch (wait_for(PQsocket(conn->pg), POLLIN, conn->stop_fd, deadline)) {
        case WAIT_STOPPED:
            return CONN_STOPPED;
        case WAIT_TIMEOUT:
            text_copy(why, why_size, "the server did not answer in time");
            return CONN_LOST;
        case WAIT_READY:
            if (!PQconsumeInput(conn->pg)) {
                text_copy(why, why_size, "the connection broke");
                return CONN_LOST;
            }
            break;
        }
    }
    return CONN_OK;
}

/* SQLSTATE and the first line of what the server said; statements carry no secrets, so it may be passed on. */
static void
refusal_of(const PGresult *result, char *why, size_t size)
{
    const char *state = PQresultErrorField(result, PG_DIAG_SQLSTATE);
    const char *message = PQresultErrorField(result, PG_DIAG_MESSAGE_PRIMARY);

    text_format(why, size, "%s (SQLSTATE %s)", message != NULL ? message : "no reason given",
                state != NULL ? state : "none");
}

/* 57P01..57P05: the server is going down or has dropped the session; class 08: the connection failed. */
static bool
is_loss(const PGconn *pg, const PGresult *result)
{
    const char *state = PQresultErrorField(result, PG_DIAG_SQLSTATE);

    if (PQstatus(pg) != CONNECTION_OK)
        return true;
    return state != NULL && (strncmp(state, "57P", 3) == 0 || strncmp(state, "08", 2) == 0);
}

static enum conn_result
judge(const struct conn *conn, const PGresult *result, int columns, char *why, size_t why_size)
{
    ExecStatusType status = PQresultStatus(result);

    if (columns == 0 && status == PGRES_COMMAND_OK)
        return CONN_OK;
    if (columns != 0 && status == PGRES_TUPLES_OK && (columns < 0 || PQnfields(result) == columns))
        return CONN_OK;
    if (status == PGRES_TUPLES_OK || status == PGRES_COMMAND_OK) {
        text_copy(why, why_size, "an answer of another shape than asked for");
        return CONN_REFUSED;
    }
    refusal_of(result, why, why_size);
    return is_loss(conn->pg, result) ? CONN_LOST : CONN_REFUSED;
}

enum conn_result
conn_query(struct conn *conn, const char *sql, int columns, PGresult **ret_result, char *why, size_t why_size)
{
    double deadline = clock_seconds() + conn->timeout_seconds;
    PGresult *first = NULL, *more;
    enum conn_result result;

    if (!PQsendQueryParams(conn->pg, sql, 0, NULL, NULL, NULL, NULL, 0)) {
        text_copy(why, why_size, "the connection broke");
        return CONN_LOST;
    }
    do {
        result = wait_result(conn, deadline, why, why_size);
        if (result != CONN_OK) {
            PQclear(first);
            return result;
        }
        more = PQgetResult(conn->pg);
        if (first == NULL)
            first = more;
        else
            PQclear(more);
    } while (more != NULL);
    if (first == NULL) {
        text_copy(why, why_size, "the connection broke");
        return CONN_LOST;
    }
    result = judge(conn, first, columns, why, why_size);
    if (result == CONN_OK && ret_result != NULL)
        *ret_result = first;
    else
        PQclear(first);
    return result;
}

enum conn_result
conn_wait_notice(struct conn *conn, double deadline, bool *ret_noticed, unsigned long long *ret_number)
{
    PGnotify *notice = PQnotifies(conn->pg);

    while (notice == NULL) {
        switch (wait_for(PQsocket(conn->pg), POLLIN, conn->stop_fd, deadline)) {
        case WAIT_STOPPED:
            return CONN_STOPPED;
        case WAIT_TIMEOUT:
            *ret_noticed = false;
            return CONN_OK;
        case WAIT_READY:
            if (!PQconsumeInput(conn->pg))
                return CONN_LOST;
            break;
        }
        notice = PQnotifies(conn->pg);
    }
    *ret_noticed = true;
    *ret_number = strtoull(notice->extra, NULL, 10);
    PQfreemem(notice);
    return CONN_OK;
}
