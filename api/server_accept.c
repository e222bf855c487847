/* The listening socket and the thread that accepts. libmicrohttpd could listen itself, but in 0.9.75 its
 * MHD_quiesce_daemon() and its workers may both take the socket out of the same epoll set, and the loser aborts the
 * process; and the socket could not be closed before the last connection is. */
#include <errno.h>
#include <fcntl.h>
#include <netdb.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include "api/server_internal.h"

enum {
    BACKLOG = 1024,
    FULL_WAIT_MS = 5,    /* until it is looked again whether a connection has ended */
    ERROR_WAIT_MS = 100, /* after accept failed, mostly for want of file descriptors */
};

static struct addrinfo *
resolve(const struct server_settings *settings, int *ret_error)
{
    struct addrinfo hints = {
        .ai_family = AF_UNSPEC,
        .ai_socktype = SOCK_STREAM,
        .ai_flags = AI_PASSIVE | AI_NUMERICSERV,
    };
    struct addrinfo *addresses = NULL;
    char port[8];

    (void)snprintf(port, sizeof port, "%u", settings->port);
    *ret_error = getaddrinfo(settings->host[0] ? settings->host : NULL, port, &hints, &addresses);
    return *ret_error == 0 ? addresses : NULL;
}

/* A socket that listens on one address, or -1 with errno. */
static int
listen_on(const struct addrinfo *address)
{
    int fd = socket(address->ai_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, address->ai_protocol);
    int yes = 1, no = 0, error;

    if (fd < 0)
        return -1;
    (void)setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
    if (address->ai_family == AF_INET6) /* "::" serves IPv4 too */
        (void)setsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, &no, sizeof no);
    if (bind(fd, address->ai_addr, address->ai_addrlen) == 0 && listen(fd, BACKLOG) == 0)
        return fd;
    error = errno;
    (void)close(fd);
    errno = error;
    return -1;
}

static uint16_t
bound_port(int fd)
{
    struct sockaddr_storage address;
    socklen_t size = sizeof address;

    memset(&address, 0, sizeof address);
    if (getsockname(fd, (struct sockaddr *)&address, &size) != 0)
        return 0;
    if (address.ss_family == AF_INET6)
        return ntohs(((const struct sockaddr_in6 *)&address)->sin6_port);
    return ntohs(((const struct sockaddr_in *)&address)->sin_port);
}

static enum status
refuse_address(const struct server_settings *settings, const char *why, struct fault *ret_fault)
{
    char address[FAULT_TEXT_SIZE];
    struct fault_item *item;

    (void)snprintf(address, sizeof address, "%.64s:%u", settings->host, settings->port);
    item = fault_add(ret_fault, FAULT_BAD_PARAMETER, "SIZER_LISTEN", address, why, NULL);
    if (item)
        item->is_parameter = true;
    return STATUS_FAULT;
}

enum status
accept_listen(struct server *server, struct fault *ret_fault)
{
    char why[FAULT_TEXT_SIZE];
    int error, fd = -1;
    struct addrinfo *addresses = resolve(&server->settings, &error);

    if (!addresses)
        return refuse_address(&server->settings, gai_strerror(error), ret_fault);
    for (const struct addrinfo *address = addresses; address && fd < 0; address = address->ai_next)
        fd = listen_on(address);
    error = errno;
    freeaddrinfo(addresses);
    if (fd < 0)
        return refuse_address(&server->settings, strerror_r(error, why, sizeof why), ret_fault);
    server->listen_fd = fd;
    server->port = bound_port(fd);
    return STATUS_OK;
}

/* Waits for a connection, or `wait_ms` when there is no room for one. false: accepting is to end. */
static bool
wait_for_connection(const struct server *server, bool room, int wait_ms)
{
    struct pollfd fds[] = {
        { .fd = server->stop_fd, .events = POLLIN },
        { .fd = server->listen_fd, .events = POLLIN },
    };

    while (poll(fds, room ? 2 : 1, room ? -1 : wait_ms) < 0)
        if (errno != EINTR)
            break;
    return fds[0].revents == 0;
}

static bool
has_room(const struct server *server, int fd)
{
    return atomic_load(&server->open_of_worker[worker_of_socket(server, fd)]) < CONNECTIONS_A_WORKER;
}

/* Renumbers a socket until its number leads to a worker that has room, -1 when descriptors run out: a worker that gets
 * more than libmicrohttpd was told deadlocks on its own mutex. Numbers fill up from below, so that connections spread
 * evenly by themselves and this is seldom needed. */
static int
place(const struct server *server, int fd)
{
    while (!has_room(server, fd)) {
        int wanted = fd + 1, next;

        while (wanted < fd + (int)server->settings.workers && !has_room(server, wanted))
            wanted++;
        next = fcntl(fd, F_DUPFD_CLOEXEC, wanted); /* that number or, when it is taken, one above */
        (void)close(fd);
        if (next < 0)
            return -1;
        fd = next;
    }
    return fd;
}

/* Accepts one connection and hands it on. Returns 0 or an error number. */
static int
accept_one(struct server *server)
{
    struct sockaddr_storage address;
    socklen_t size = sizeof address;
    int fd = accept4(server->listen_fd, (struct sockaddr *)&address, &size, SOCK_NONBLOCK | SOCK_CLOEXEC);
    unsigned worker;

    if (fd < 0 || (fd = place(server, fd)) < 0)
        return errno;
    worker = worker_of_socket(server, fd);
    atomic_fetch_add(&server->open, 1);
    atomic_fetch_add(&server->open_of_worker[worker], 1);
    if (MHD_add_connection(server->daemon, fd, (const struct sockaddr *)&address, size) == MHD_YES) /* takes fd */
        return 0;
    atomic_fetch_sub(&server->open, 1);
    atomic_fetch_sub(&server->open_of_worker[worker], 1);
    return 0;
}

static void
report_failure(const struct server *server, int error)
{
    char why[FAULT_TEXT_SIZE];
    const struct event_field fields[] = { { .name = "why", .text = strerror_r(error, why, sizeof why) } };

    observe_event(server->settings.observer, EVENT_ACCEPT_FAILED, fields, 1);
}

static bool
is_passing(int error)
{
    return error == 0 || error == EAGAIN || error == EINTR || error == ECONNABORTED || error == EPROTO;
}

static void
close_listener(struct server *server)
{
    if (server->listen_fd >= 0)
        (void)close(server->listen_fd);
    server->listen_fd = -1;
}

/* Takes in what the kernel has accepted already: closing the socket resets whatever is left, requests and all. In one
 * go, for each moment between the two may bring more. */
static void
accept_rest(struct server *server)
{
    for (int i = 0; i < BACKLOG && atomic_load(&server->open) < server->settings.connections; i++)
        if (accept_one(server) != 0)
            break;
    close_listener(server);
}

static void *
accept_loop(void *of)
{
    struct server *server = of;
    bool failing = false;

    for (;;) {
        bool failed_before = failing;
        bool room = atomic_load(&server->open) < server->settings.connections;
        int error;

        if (!wait_for_connection(server, room && !failing, failing ? ERROR_WAIT_MS : FULL_WAIT_MS)) {
            accept_rest(server);
            return NULL;
        }
        if (!room)
            continue;
        error = accept_one(server);
        failing = !is_passing(error);
        if (failing && !failed_before)
            report_failure(server, error);
    }
}

bool
accept_start(struct server *server)
{
    server->stop_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    if (server->stop_fd < 0)
        return false;
    server->accepting = pthread_create(&server->acceptor, NULL, accept_loop, server) == 0;
    return server->accepting;
}

void
accept_stop(struct server *server)
{
    if (server->accepting) {
        (void)eventfd_write(server->stop_fd, 1);
        pthread_join(server->acceptor, NULL);
        server->accepting = false;
    }
    close_listener(server);
    if (server->stop_fd >= 0)
        (void)close(server->stop_fd);
    server->stop_fd = -1;
}
