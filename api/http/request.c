/* What is read out of the texts of a request: method, percent-encoding, identifiers. */
#include "api/http/request.h"

#include <string.h>

#include "service/base/quantity.h"

enum {
    REQUEST_ID_MIN = 8,
    TRACE_VERSION_SIZE = 2,
    TRACE_PARENT_SIZE = 55, /* "00-" 32 hex "-" 16 hex "-" 2 hex */
    TRACE_ID_AT = 3,
    SPAN_ID_AT = 36,
    SPAN_ID_SIZE = 16,
    FLAGS_AT = 53,
};

static const char *const method_names[] = {
    [HTTP_GET] = "GET",     [HTTP_HEAD] = "HEAD", [HTTP_POST] = "POST",     [HTTP_OPTIONS] = "OPTIONS",
    [HTTP_PATCH] = "PATCH", [HTTP_PUT] = "PUT",   [HTTP_DELETE] = "DELETE", [HTTP_UNKNOWN] = "OTHER",
};

enum http_method
method_from_name(const char *name)
{
    for (size_t i = 0; i < HTTP_UNKNOWN; i++)
        if (strcmp(name, method_names[i]) == 0)
            return (enum http_method)i;
    return HTTP_UNKNOWN;
}

const char *
method_name(enum http_method method)
{
    return method_names[method];
}

const char *
request_query(const struct request *request, const char *name)
{
    for (size_t i = 0; i < request->query_count; i++)
        if (strcmp(request->query[i].name, name) == 0)
            return request->query[i].value;
    return NULL;
}

/* Length of the UTF-8 sequence at `at` of which `left` bytes are there; 0 when it is malformed. */
static size_t
utf8_sequence(const unsigned char *at, size_t left)
{
    unsigned char low = 0x80, high = 0xBF; /* bounds of the second byte: RFC 3629, section 4 */
    size_t size;

    if (at[0] < 0x80)
        return 1;
    if (at[0] >= 0xC2 && at[0] <= 0xDF)
        size = 2;
    else if (at[0] >= 0xE0 && at[0] <= 0xEF)
        size = 3;
    else if (at[0] >= 0xF0 && at[0] <= 0xF4)
        size = 4;
    else
        return 0;
    if (at[0] == 0xE0)
        low = 0xA0;
    else if (at[0] == 0xED)
        high = 0x9F;
    else if (at[0] == 0xF0)
        low = 0x90;
    else if (at[0] == 0xF4)
        high = 0x8F;
    if (left < size || at[1] < low || at[1] > high)
        return 0;
    for (size_t i = 2; i < size; i++)
        if ((at[i] & 0xC0) != 0x80)
            return 0;
    return size;
}

bool
utf8_valid(const char *bytes, size_t size)
{
    size_t i = 0;

    while (i < size) {
        size_t step = utf8_sequence((const unsigned char *)bytes + i, size - i);

        if (step == 0)
            return false;
        i += step;
    }
    return true;
}

static int
hex_digit(char digit)
{
    if (digit >= '0' && digit <= '9')
        return digit - '0';
    if (digit >= 'a' && digit <= 'f')
        return digit - 'a' + 10;
    if (digit >= 'A' && digit <= 'F')
        return digit - 'A' + 10;
    return -1;
}

ptrdiff_t
percent_decode(char *to, const char *raw)
{
    char *at = to;

    for (; *raw; raw++) {
        if (*raw == '%') {
            int high = hex_digit(raw[1]);
            int low = high < 0 ? -1 : hex_digit(raw[2]);

            if (low < 0 || high * 16 + low == 0)
                return -1;
            *at++ = (char)(high * 16 + low);
            raw += 2;
        } else {
            *at++ = *raw;
        }
    }
    *at = '\0';
    return utf8_valid(to, (size_t)(at - to)) ? at - to : -1;
}

bool
request_id_valid(const char *id)
{
    size_t size = strspn(id, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789._-");

    return id[size] == '\0' && size >= REQUEST_ID_MIN && size < REQUEST_ID_SIZE;
}

/* Whether `size` lower-case hexadecimal digits stand at `at`, not all of them 0 unless zero_allowed. */
static bool
hex_field(const char *at, size_t size, bool zero_allowed)
{
    return strspn(at, "0123456789abcdef") >= size && (zero_allowed || strspn(at, "0") < size);
}

void
trace_id_read(const char *traceparent, char ret_trace_id[TRACE_ID_SIZE])
{
    size_t size = strlen(traceparent);
    bool longer_allowed = strncmp(traceparent, "00", TRACE_VERSION_SIZE) != 0; /* a later version may add fields */

    ret_trace_id[0] = '\0';
    if (size < TRACE_PARENT_SIZE || (size > TRACE_PARENT_SIZE && !(longer_allowed && traceparent[55] == '-')))
        return;
    if (!hex_field(traceparent, TRACE_VERSION_SIZE, true) || strncmp(traceparent, "ff", TRACE_VERSION_SIZE) == 0)
        return;
    if (traceparent[TRACE_ID_AT - 1] != '-' || !hex_field(traceparent + TRACE_ID_AT, TRACE_ID_SIZE - 1, false))
        return;
    if (traceparent[SPAN_ID_AT - 1] != '-' || !hex_field(traceparent + SPAN_ID_AT, SPAN_ID_SIZE, false))
        return;
    if (traceparent[FLAGS_AT - 1] != '-' || !hex_field(traceparent + FLAGS_AT, 2, true))
        return;
    memcpy(ret_trace_id, traceparent + TRACE_ID_AT, TRACE_ID_SIZE - 1);
    ret_trace_id[TRACE_ID_SIZE - 1] = '\0';
}
