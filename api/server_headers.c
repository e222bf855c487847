/* One pass over a request's headers. */
#include <string.h>
#include <strings.h>

#include "api/server_internal.h"
#include "service/base/quantity.h"

#define HEADER(text, member)                                               \
    {                                                                      \
        text, sizeof(text) - 1, offsetof(struct headers, member), SIZE_MAX \
    }
#define HEADER_ONCE(text, member)                                                                          \
    {                                                                                                      \
        text, sizeof(text) - 1, offsetof(struct headers, member), offsetof(struct headers, member##_twice) \
    }

/* The usual ones first. */
static const struct {
    const char *name;
    size_t size, offset;
    size_t twice_offset; /* of what tells that there were two; SIZE_MAX: it does not matter */
} wanted[] = {
    HEADER_ONCE("Host", host),
    HEADER("Accept", accept),
    HEADER("Content-Type", content_type),
    HEADER_ONCE("Content-Length", content_length),
    HEADER("Accept-Encoding", accept_encoding),
    HEADER("Accept-Language", accept_language),
    HEADER("X-Request-Id", request_id),
    HEADER("traceparent", traceparent),
    HEADER("X-Forwarded-For", forwarded_for),
    HEADER("Origin", origin),
    HEADER("If-None-Match", if_none_match),
    HEADER_ONCE("Transfer-Encoding", transfer_encoding),
    HEADER("Content-Encoding", content_encoding),
    HEADER("Expect", expect),
    HEADER("Access-Control-Request-Method", requested_method),
};

/* Whether a name is a token (RFC 9110, section 5.6.2). A blank before the colon is what smugglers write. */
static bool
name_is_token(const char *name, size_t size)
{
    for (size_t i = 0; i < size; i++)
        if (name[i] <= ' ' || name[i] == 0x7F || strchr("\"(),/:;<=>?@[\\]{}", name[i]))
            return false;
    return size > 0;
}

static enum MHD_Result
read_header(void *headers, enum MHD_ValueKind kind, const char *name, size_t name_size, const char *value,
            size_t value_size)
{
    struct headers *to = headers;

    (void)kind;
    (void)value_size;
    if (!name_is_token(name, name_size))
        to->bad_name = true;
    for (size_t i = 0; i < COUNT_OF(wanted); i++) {
        const char **place = (const char **)(void *)((char *)headers + wanted[i].offset);

        if (name_size != wanted[i].size || strncasecmp(name, wanted[i].name, name_size) != 0)
            continue;
        if (*place && wanted[i].twice_offset != SIZE_MAX)
            *(bool *)((char *)headers + wanted[i].twice_offset) = true;
        if (!*place)
            *place = value ? value : "";
        break;
    }
    return MHD_YES;
}

void
headers_read(struct MHD_Connection *connection, struct headers *ret_headers)
{
    MHD_get_connection_values_n(connection, MHD_HEADER_KIND, read_header, ret_headers);
}
