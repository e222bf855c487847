/* A blocking client that reads byte by byte where it must not read too far. */
#include "tests/support/wire.h"

#include <arpa/inet.h>
#include <check.h>
#include <netinet/in.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

int
wire_try_open(uint16_t port)
{
    struct sockaddr_in address = {
        .sin_family = AF_INET,
        .sin_port = htons(port),
        .sin_addr.s_addr = htonl(INADDR_LOOPBACK),
    };
    static const struct timeval limit = { .tv_sec = 10 };
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

    ck_assert_int_ge(fd, 0);
    setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit);
    if (connect(fd, (const struct sockaddr *)&address, sizeof address) == 0)
        return fd;
    close(fd);
    return -1;
}

int
wire_open(uint16_t port)
{
    int fd = wire_try_open(port);

    ck_assert_int_ge(fd, 0);
    return fd;
}

bool
wire_send_bytes(int fd, const char *bytes, size_t size)
{
    while (size > 0) {
        ssize_t sent = send(fd, bytes, size, MSG_NOSIGNAL);

        if (sent <= 0)
            return false;
        bytes += sent;
        size -= (size_t)sent;
    }
    return true;
}

bool
wire_send(int fd, const char *text)
{
    return wire_send_bytes(fd, text, strlen(text));
}

static bool
read_head(int fd, char *head)
{
    size_t size = 0;

    head[0] = '\0';
    while (size + 1 < WIRE_HEAD_SIZE) {
        if (recv(fd, head + size, 1, 0) != 1)
            return false;
        head[++size] = '\0';
        if (size >= 4 && strcmp(head + size - 4, "\r\n\r\n") == 0)
            return true;
    }
    return false;
}

/* Reads `size` bytes (SIZE_MAX: to the end of the connection) and keeps what there is room for. */
static bool
read_body(int fd, size_t size, struct wire_reply *reply)
{
    char scrap[4096];

    while (size > 0) {
        ssize_t got = recv(fd, scrap, size < sizeof scrap ? size : sizeof scrap, 0);
        size_t room = WIRE_BODY_SIZE - 1 - reply->body_size, kept;

        if (got <= 0)
            return size == SIZE_MAX;
        kept = (size_t)got < room ? (size_t)got : room;
        memcpy(reply->body + reply->body_size, scrap, kept);
        reply->body_size += kept;
        if (size != SIZE_MAX)
            size -= (size_t)got;
    }
    return true;
}

void
wire_read(int fd, bool head_only, struct wire_reply *ret_reply)
{
    const char *length;
    int status;

    ret_reply->status = 0;
    ret_reply->body_size = 0;
    ret_reply->body[0] = '\0';
    if (!read_head(fd, ret_reply->head) || sscanf(ret_reply->head, "HTTP/1.%*d %d", &status) != 1)
        return;
    length = wire_header(ret_reply, "Content-Length");
    if (!head_only && status >= 200 && status != 204 && status != 304 &&
        !read_body(fd, length ? strtoull(length, NULL, 10) : SIZE_MAX, ret_reply))
        return;
    ret_reply->body[ret_reply->body_size] = '\0';
    ret_reply->status = status;
}

void
wire_ask(uint16_t port, const char *request, struct wire_reply *ret_reply)
{
    int fd = wire_open(port);

    wire_send(fd, request);
    wire_read(fd, strncmp(request, "HEAD ", 5) == 0, ret_reply);
    close(fd);
}

const char *
wire_header(const struct wire_reply *reply, const char *name)
{
    static _Thread_local char value[1024];
    size_t size = strlen(name);

    for (const char *line = strstr(reply->head, "\r\n"); line; line = strstr(line + 2, "\r\n"))
        if (strncasecmp(line + 2, name, size) == 0 && line[2 + size] == ':') {
            const char *from = line + 3 + size;

            from += strspn(from, " ");
            (void)snprintf(value, sizeof value, "%.*s", (int)strcspn(from, "\r"), from);
            return value;
        }
    return NULL;
}

bool
wire_is_closed(int fd)
{
    struct pollfd wait = { .fd = fd, .events = POLLIN };
    char byte;

    return poll(&wait, 1, 1000) == 1 && recv(fd, &byte, 1, MSG_PEEK) <= 0;
}
