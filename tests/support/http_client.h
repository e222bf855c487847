/* Sends HTTP requests to the program under test, over a real socket. */
#ifndef TESTS_SUPPORT_HTTP_CLIENT_H
#define TESTS_SUPPORT_HTTP_CLIENT_H

#include <jansson.h>
#include <stddef.h>

struct http_request {
    const char *method; /* NULL: GET, or POST with a body */
    const char *url;
    const char *body;           /* NULL: none. Sent as application/json unless `headers` say otherwise */
    const char *const *headers; /* "Name: value", ended by NULL; NULL: none */
};

struct http_reply {
    long status;
    char *body; /* NUL-terminated, never NULL */
    size_t body_size;
    char *header_lines; /* of the final reply, "Name: value\r\n" each */
};

/* Sends and waits for the whole reply (at most 60 s). Prints why and aborts when none comes. The reply is ended with
 * http_reply_done. */
void http_send(const struct http_request *request, struct http_reply *ret_reply);
void http_reply_done(struct http_reply *reply);

/* The value of a header, whatever its case, in a buffer that the next call in the same thread reuses; NULL when
 * absent. */
const char *http_reply_header(const struct http_reply *reply, const char *name);

/* The body as JSON, of which the caller ends the reference. Prints it and aborts when it is none. */
json_t *http_reply_json(const struct http_reply *reply);

#endif
