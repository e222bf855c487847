/* A request by hand: no client library is wanted for one line. */
#include "api/probe.h"

#include <netdb.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

enum { PROBE_SECONDS = 2, REPLY_START_SIZE = 16 };

static bool
is_every_address(const char *host)
{
    return host[0] == '\0' || strcmp(host, "0.0.0.0") == 0 || strcmp(host, "::") == 0;
}

static int
connect_to(const struct config_address *address)
{
    static const struct timeval timeout = { .tv_sec = PROBE_SECONDS };
    const struct addrinfo hints = { .ai_family = AF_UNSPEC, .ai_socktype = SOCK_STREAM, .ai_flags = AI_NUMERICSERV };
    struct addrinfo *found;
    char port[8];
    int fd;

    (void)snprintf(port, sizeof port, "%u", (unsigned)(address->port & 0xFFFF));
    if (getaddrinfo(is_every_address(address->host) ? "127.0.0.1" : address->host, port, &hints, &found) != 0)
        return -1;
    fd = socket(found->ai_family, SOCK_STREAM | SOCK_CLOEXEC, found->ai_protocol);
    if (fd >= 0 && (setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &timeout, sizeof timeout) != 0 ||
                    setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &timeout, sizeof timeout) != 0 ||
                    connect(fd, found->ai_addr, found->ai_addrlen) != 0)) {
        (void)close(fd);
        fd = -1;
    }
    freeaddrinfo(found);
    return fd;
}

bool
probe_livez(const struct config_address *address)
{
    static const char request[] = "GET /livez HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n";
    static const char expected[] = "HTTP/1.1 200 ";
    char reply[REPLY_START_SIZE];
    size_t size = 0;
    ssize_t got = 1;
    int fd = connect_to(address);

    if (fd < 0)
        return false;
    if (send(fd, request, sizeof request - 1, MSG_NOSIGNAL) == (ssize_t)sizeof request - 1)
        while (size < sizeof expected - 1 && got > 0) {
            got = recv(fd, reply + size, sizeof reply - size, 0);
            size += got > 0 ? (size_t)got : 0;
        }
    (void)close(fd);
    return size >= sizeof expected - 1 && memcmp(reply, expected, sizeof expected - 1) == 0;
}
