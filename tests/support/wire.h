/* HTTP by hand over a socket: what a client library would put right has to go out as it is. */
#ifndef TESTS_SUPPORT_WIRE_H
#define TESTS_SUPPORT_WIRE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { WIRE_HEAD_SIZE = 8192, WIRE_BODY_SIZE = 65536 };

struct wire_reply {
    int status; /* 0: the connection ended before a whole reply came */
    char head[WIRE_HEAD_SIZE];
    char body[WIRE_BODY_SIZE]; /* NUL-terminated; what is longer is cut */
    size_t body_size;
};

/* A connection to 127.0.0.1, its reads limited to ten seconds; fails the test when there is none. */
int wire_open(uint16_t port);

/* The same, -1 when the connection is refused. */
int wire_try_open(uint16_t port);

/* Sends all of `text`; false when the other end is gone. */
bool wire_send(int fd, const char *text);
bool wire_send_bytes(int fd, const char *bytes, size_t size);

/* Reads the next reply, 100 Continue too. `head_only`: it is to a HEAD request. Reads not a byte further, so that the
 * next of pipelined replies can be read. */
void wire_read(int fd, bool head_only, struct wire_reply *ret_reply);

/* Sends a request on a connection of its own and reads the reply. */
void wire_ask(uint16_t port, const char *request, struct wire_reply *ret_reply);

/* The value of a header of a reply, NULL when absent. Lent until the thread's next call. */
const char *wire_header(const struct wire_reply *reply, const char *name);

/* Whether the other end has closed the connection; waits a second for it. */
bool wire_is_closed(int fd);

#endif
