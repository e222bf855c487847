/* A reply in the making: status, headers, and a body that grows in a pooled buffer. */
#ifndef API_HTTP_RESPONSE_H
#define API_HTTP_RESPONSE_H

#include <stdbool.h>
#include <stddef.h>

#include "api/http/request.h"
#include "api/json/buffer.h"

enum { MAX_RESPONSE_HEADERS = 12, RESPONSE_HEADER_SIZE = 512 };

struct response_header {
    const char *name; /* constant text */
    char value[RESPONSE_HEADER_SIZE];
};

struct response {
    int status; /* 200 to begin with */
    enum media_type media;
    struct buffer *body; /* owned; the server takes it when the reply is queued */
    struct response_header headers[MAX_RESPONSE_HEADERS];
    size_t header_count;
};

/* Adds a header; `name` is a constant, `value` is copied. Beyond MAX_RESPONSE_HEADERS nothing is added. */
void response_header(struct response *response, const char *name, const char *value);

/* A media type as Content-Type names it; "" for MEDIA_NONE (no body). */
const char *media_type_name(enum media_type media);

#endif
