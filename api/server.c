/* Starts, drains and stops the server. */
#include "api/server.h"

#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/sysinfo.h>
#include <unistd.h>

#include "api/server_internal.h"
#include "service/base/quantity.h"

enum {
    /* What libmicrohttpd is told: above what it is ever given, for it counts a closed connection a moment longer. */
    CONNECTIONS_A_WORKER_AT_MOST = CONNECTIONS_A_WORKER + 4,
    MIN_WORKERS = 8,
    DESCRIPTORS_A_WORKER = 3,
    OTHER_DESCRIPTORS = 32, /* log, listener, database, files of /proc */
};

static unsigned
choose_workers(void)
{
    int processors = get_nprocs();

    return processors > MIN_WORKERS ? (unsigned)processors : MIN_WORKERS;
}

/* Raises the limit of file descriptors as far as allowed; fewer connections when that is not enough. */
static void
fit_descriptors(struct server_settings *settings)
{
    rlim_t others = (rlim_t)settings->workers * DESCRIPTORS_A_WORKER + OTHER_DESCRIPTORS;
    rlim_t wanted = settings->connections + others;
    struct rlimit limit;
    struct event_field fields[] = { { .name = "wanted_descriptors", .number = (double)wanted },
                                    { .name = "connections" } };

    if (getrlimit(RLIMIT_NOFILE, &limit) != 0 || limit.rlim_cur >= wanted)
        return;
    limit.rlim_cur = limit.rlim_max;
    if (setrlimit(RLIMIT_NOFILE, &limit) == 0 && limit.rlim_cur >= wanted)
        return;
    (void)getrlimit(RLIMIT_NOFILE, &limit);
    settings->connections = limit.rlim_cur > others ? (unsigned)(limit.rlim_cur - others) : 1;
    fields[1].number = settings->connections;
    observe_event(settings->observer, EVENT_LIMIT_LOWERED, fields, COUNT_OF(fields));
}

static void
choose_settings(struct server_settings *settings)
{
    if (settings->workers == 0)
        settings->workers = choose_workers();
    if (settings->connections == 0 || settings->connections > settings->workers * CONNECTIONS_A_WORKER)
        settings->connections = settings->workers * CONNECTIONS_A_WORKER;
    if (settings->max_running == 0)
        settings->max_running = settings->workers;
    if (settings->rate_burst <= 0)
        settings->rate_burst = 2 * settings->rate_per_second;
    fit_descriptors(settings);
}

/* Leaves percent-encoding in the path and in parameters alone: %00 would cut them short, and what is malformed must be
 * told from what is not. */
static size_t
keep_escapes(void *server, struct MHD_Connection *connection, char *text)
{
    size_t size = 0;

    (void)server;
    (void)connection;
    while (text[size])
        size++;
    return size;
}

/* libmicrohttpd 0.9.75 takes some 64 bytes of the connection's memory for each parameter, and when that is used up it
 * neither answers nor closes: the caller would wait until the connection is idle for too long. It calls this before it
 * takes the query apart, on text of its own that may be written; what stands after one too many becomes part of it,
 * and the request is refused for having too many. */
static void *
limit_parameters(void *server, const char *uri, struct MHD_Connection *connection)
{
    char *at = uri ? strchr(uri, '?') : NULL;

    (void)server;
    (void)connection;
    for (unsigned count = 1; at && (at = strchr(at + 1, '&')); count++)
        if (count > MAX_QUERY_PARAMETERS)
            *at = '+';
    return NULL; /* no exchange yet */
}

static struct MHD_Daemon *
start_daemon(struct server *server)
{
    const struct server_settings *settings = &server->settings;

    return MHD_start_daemon(MHD_USE_EPOLL_INTERNAL_THREAD | MHD_USE_ITC | MHD_USE_NO_LISTEN_SOCKET, 0, NULL, NULL,
                            exchange_step, server, MHD_OPTION_THREAD_POOL_SIZE, settings->workers,
                            MHD_OPTION_CONNECTION_LIMIT, settings->workers * CONNECTIONS_A_WORKER_AT_MOST,
                            MHD_OPTION_CONNECTION_MEMORY_LIMIT, settings->connection_memory_bytes,
                            MHD_OPTION_CONNECTION_TIMEOUT, settings->idle_seconds, MHD_OPTION_UNESCAPE_CALLBACK,
                            keep_escapes, server, MHD_OPTION_URI_LOG_CALLBACK, limit_parameters, server,
                            MHD_OPTION_NOTIFY_COMPLETED, exchange_done, server, MHD_OPTION_NOTIFY_CONNECTION,
                            client_notify, server, MHD_OPTION_END);
}

/* libmicrohttpd found itself in a state it cannot go on from. */
static void
panic(void *observer, const char *file, unsigned line, const char *reason)
{
    const struct event_field fields[] = {
        { .name = "file", .text = file },
        { .name = "line", .number = line },
        { .name = "why", .text = reason },
    };

    observe_event(observer, EVENT_LIBRARY_PANIC, fields, COUNT_OF(fields));
    abort();
}

static enum status
refuse_start(const char *what, struct fault *ret_fault)
{
    (void)fault_add(ret_fault, FAULT_INTERNAL, "", "", what, NULL);
    return STATUS_FAULT;
}

static enum status
start(struct server *server, struct fault *ret_fault)
{
    const struct server_settings *settings = &server->settings;

    server->open_of_worker = calloc(settings->workers, sizeof *server->open_of_worker);
    if (!server->open_of_worker)
        return refuse_start("memory", ret_fault);
    if (settings->rate_per_second > 0) {
        server->rate_limit = rate_limit_create(settings->rate_per_second, settings->rate_burst);
        if (!server->rate_limit)
            return refuse_start("memory", ret_fault);
    }
    TRY(accept_listen(server, ret_fault));
    MHD_set_panic_func(panic, (void *)settings->observer);
    server->daemon = start_daemon(server);
    if (!server->daemon)
        return refuse_start("threads of libmicrohttpd", ret_fault);
    if (!accept_start(server))
        return refuse_start("a thread that accepts", ret_fault);
    return STATUS_OK;
}

enum status
server_start(const struct server_settings *settings, struct server **ret_server, struct fault *ret_fault)
{
    struct server *server = calloc(1, sizeof *server);
    enum status status;

    fault_clear(ret_fault);
    if (!server)
        return refuse_start("memory", ret_fault);
    server->settings = *settings;
    server->listen_fd = server->stop_fd = -1;
    server->started = now_nanoseconds();
    choose_settings(&server->settings);
    status = start(server, ret_fault);
    if (status == STATUS_OK)
        *ret_server = server;
    else
        server_stop(server);
    return status;
}

uint16_t
server_port(const struct server *server)
{
    return server->port;
}

void
server_drain(struct server *server)
{
    atomic_store(&server->draining, true);
    accept_stop(server);
}

bool
server_is_idle(const struct server *server)
{
    return atomic_load(&server->under_way) == 0;
}

void
server_stop(struct server *server)
{
    if (!server)
        return;
    accept_stop(server);
    if (server->daemon)
        MHD_stop_daemon(server->daemon);
    rate_limit_free(server->rate_limit);
    free(server->open_of_worker);
    free(server);
}
