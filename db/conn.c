/* Opening a connection, host by host. */
#include "db/conn.h"

#include <poll.h>
#include <stdlib.h>
#include <string.h>

#include "db/wait.h"
#include "service/base/quantity.h"
#include "service/base/text.h"

enum { MAX_KEYWORDS = 64, MAX_HOSTS = 16, VALUE_SIZE = 512 };

/* What a connection string may leave out. A server that vanished without a word is noticed within half a minute. */
static const struct {
    const char *keyword, *value;
} defaults[] = {
    { "fallback_application_name", "sizer" }, { "keepalives_idle", "10" },
    { "keepalives_interval", "5" },           { "keepalives_count", "3" },
    { "tcp_user_timeout", "20000" },
};

struct keywords {
    const char *names[MAX_KEYWORDS + 1], *values[MAX_KEYWORDS + 1]; /* ends with NULL, as libpq wants it */
    size_t count;
};

static void
set_keyword(struct keywords *keywords, const char *name, const char *value)
{
    size_t i = 0;

    while (i < keywords->count && strcmp(keywords->names[i], name) != 0)
        i++;
    if (i == MAX_KEYWORDS)
        return;
    keywords->names[i] = name;
    keywords->values[i] = value;
    if (i == keywords->count)
        keywords->count++;
    keywords->names[keywords->count] = NULL;
    keywords->values[keywords->count] = NULL;
}

static const char *
option_value(const PQconninfoOption *options, const char *keyword)
{
    for (; options->keyword != NULL; options++) {
        if (strcmp(options->keyword, keyword) == 0)
            return options->val;
    }
    return NULL;
}

/* The i-th part of a list with commas; of a list with one part, that one. NULL when there is no list. */
static const char *
list_part(const char *list, size_t i, char *part, size_t size)
{
    if (list == NULL)
        return NULL;
    if (strchr(list, ',') != NULL) {
        for (; i > 0 && list != NULL; i--) {
            list = strchr(list, ',');
            list = list != NULL ? list + 1 : NULL;
        }
    }
    if (list == NULL)
        return NULL;
    text_format(part, size, "%.*s", (int)strcspn(list, ","), list);
    return part;
}

static size_t
list_length(const char *list)
{
    size_t length = 1;

    for (; list != NULL && *list != '\0'; list++)
        length += *list == ',';
    return length;
}

bool
conn_url_is_readable(const char *url)
{
    PQconninfoOption *options = PQconninfoParse(url, NULL);

    PQconninfoFree(options);
    return options != NULL;
}

/* The last clause of the first line ("Connection refused"), with what it quotes left out. */
static void
reason_of(const PGconn *pg, char *why, size_t size)
{
    const char *message = PQerrorMessage(pg), *clause = message;
    size_t length = 0, line = strcspn(message, "\n");
    bool quoted = false;

    for (size_t i = 0; i + 2 < line; i++) {
        if (message[i] == ':' && message[i + 1] == ' ')
            clause = message + i + 2;
    }
    for (; clause < message + line && length + 4 < size; clause++) {
        if (*clause == '"') {
            quoted = !quoted;
            if (quoted) {
                memcpy(why + length, "...", 3);
                length += 3;
            }
        } else if (!quoted && (length > 0 || *clause != ' ')) {
            why[length++] = *clause;
        }
    }
    why[length] = '\0';
    if (length == 0)
        text_copy(why, size, "no reason given");
}

static void
ignore_notice(void *context, const PGresult *result)
{
    (void)context;
    (void)result;
}

static enum conn_result
finish_connecting(struct conn *conn, char *why, size_t why_size)
{
    double deadline = clock_seconds() + conn->timeout_seconds;
    PostgresPollingStatusType next = PGRES_POLLING_WRITING;

    if (PQstatus(conn->pg) == CONNECTION_BAD)
        next = PGRES_POLLING_FAILED;
    while (next != PGRES_POLLING_OK && next != PGRES_POLLING_FAILED) {
        short events = next == PGRES_POLLING_READING ? POLLIN : POLLOUT;

        switch (wait_for(PQsocket(conn->pg), events, conn->stop_fd, deadline)) {
        case WAIT_STOPPED:
            return CONN_STOPPED;
        case WAIT_TIMEOUT:
            text_copy(why, why_size, "the server did not answer in time");
            return CONN_LOST;
        case WAIT_READY:
            next = PQconnectPoll(conn->pg);
            break;
        }
    }
    if (next == PGRES_POLLING_OK)
        return CONN_OK;
    reason_of(conn->pg, why, why_size);
    return CONN_LOST;
}

static enum conn_result
open_host(struct conn *conn, const PQconninfoOption *options, size_t host, const char *attributes, char *why,
          size_t why_size)
{
    static const char *const lists[] = { "host", "hostaddr", "port" };
    char parts[COUNT_OF(lists)][VALUE_SIZE];
    struct keywords keywords = { .count = 0 };
    enum conn_result result;

    for (size_t i = 0; i < COUNT_OF(defaults); i++)
        set_keyword(&keywords, defaults[i].keyword, defaults[i].value);
    for (const PQconninfoOption *option = options; option->keyword != NULL; option++) {
        if (option->val != NULL)
            set_keyword(&keywords, option->keyword, option->val);
    }
    for (size_t i = 0; i < COUNT_OF(lists); i++) {
        const char *part = list_part(option_value(options, lists[i]), host, parts[i], sizeof(parts[i]));

        if (part != NULL)
            set_keyword(&keywords, lists[i], part);
    }
    if (attributes != NULL)
        set_keyword(&keywords, "target_session_attrs", attributes);
    set_keyword(&keywords, "client_encoding", "UTF8");

    conn->pg = PQconnectStartParams(keywords.names, keywords.values, 0);
    if (conn->pg == NULL) {
        text_copy(why, why_size, "out of memory");
        return CONN_LOST;
    }
    (void)PQsetNoticeReceiver(conn->pg, ignore_notice, NULL);
    result = finish_connecting(conn, why, why_size);
    if (result != CONN_OK)
        conn_close(conn);
    return result;
}

static enum conn_result
open_any(struct conn *conn, const PQconninfoOption *options, const char *attributes, char *why, size_t why_size)
{
    size_t hosts = list_length(option_value(options, "host")),
           addresses = list_length(option_value(options, "hostaddr"));
    size_t count = hosts > addresses ? hosts : addresses;
    enum conn_result result = CONN_LOST;

    for (size_t i = 0; i < count && i < MAX_HOSTS && result == CONN_LOST; i++)
        result = open_host(conn, options, i, attributes, why, why_size);
    return result;
}

enum conn_result
conn_open(struct conn *conn, const char *url, char *why, size_t why_size)
{
    PQconninfoOption *options = PQconninfoParse(url, NULL);
    enum conn_result result = CONN_LOST;
    const char *attributes;

    if (options == NULL) {
        text_copy(why, why_size, "the connection string cannot be read");
        return CONN_LOST;
    }
    attributes = option_value(options, "target_session_attrs");
    if (attributes != NULL && strcmp(attributes, "prefer-standby") == 0) {
        result = open_any(conn, options, "standby", why, why_size); /* its two rounds go over all hosts, not over one */
        attributes = "any";
    }
    if (result == CONN_LOST)
        result = open_any(conn, options, attributes, why, why_size);
    PQconninfoFree(options);
    return result;
}

void
conn_close(struct conn *conn)
{
    PQfinish(conn->pg);
    conn->pg = NULL;
}
