/* RFC 8785 over a jansson document. */
#include "api/json/canonical.h"

#include <math.h>
#include <openssl/sha.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "api/json/members.h"
#include "api/json/put.h"

enum {
    NUMBER_BYTES = 40,
    MAX_DIGITS = 17, /* enough for any double */
    LONGEST_PLAIN = 21,
    SMALLEST_PLAIN = -6, /* ECMA-262, Number::toString: exponents between these are written out */
};

#define LARGEST_EXACT 9007199254740992 /* 2^53: up to here integers are doubles */

/* A positive double as 0.d1d2..dk x 10^point, with the fewest digits that read back as the same double. */
struct decimal {
    char digits[MAX_DIGITS + 1];
    int count, point;
};

static struct decimal
shortest_decimal(double value)
{
    struct decimal decimal;
    char text[NUMBER_BYTES];
    /* Up to 15 digits survive the way through a normal double, so fewer need not be tried: zeros are cut instead. */
    int digits = isnormal(value) ? 15 : 1;

    for (;; digits++) {
        snprintf(text, sizeof text, "%.*e", digits - 1, value);
        if (digits == MAX_DIGITS || strtod(text, NULL) == value)
            break;
    }
    decimal.count = 0;
    for (const char *at = text; *at != 'e'; at++)
        if (*at != '.')
            decimal.digits[decimal.count++] = *at;
    while (decimal.count > 1 && decimal.digits[decimal.count - 1] == '0')
        decimal.count--;
    decimal.point = 1 + (int)strtol(strchr(text, 'e') + 1, NULL, 10);
    return decimal;
}

static char *
put_zeros(char *at, int count)
{
    memset(at, '0', (size_t)count);
    return at + count;
}

/* ECMA-262 Number::toString(x), steps 6 to 10; there is room for NUMBER_BYTES. */
static char *
put_decimal(char *at, const struct decimal *decimal)
{
    size_t count = (size_t)decimal->count;
    int exponent = decimal->point - 1;

    if (decimal->count <= decimal->point && decimal->point <= LONGEST_PLAIN) {
        at = put_bytes(at, decimal->digits, count);
        return put_zeros(at, decimal->point - decimal->count);
    }
    if (0 < decimal->point && decimal->point <= LONGEST_PLAIN) {
        at = put_bytes(at, decimal->digits, (size_t)decimal->point);
        *at++ = '.';
        return put_bytes(at, decimal->digits + decimal->point, count - (size_t)decimal->point);
    }
    if (SMALLEST_PLAIN < decimal->point && decimal->point <= 0) {
        at = put_bytes(at, "0.", 2);
        at = put_zeros(at, -decimal->point);
        return put_bytes(at, decimal->digits, count);
    }
    *at++ = decimal->digits[0];
    if (count > 1) {
        *at++ = '.';
        at = put_bytes(at, decimal->digits + 1, count - 1);
    }
    *at++ = 'e';
    *at++ = exponent < 0 ? '-' : '+';
    return put_u64(at, (uint64_t)abs(exponent));
}

static void
write_real(double value, struct buffer *out)
{
    struct decimal decimal;
    char *at;

    if (!buffer_reserve(out, NUMBER_BYTES))
        return;
    at = out->bytes + out->size;
    if (value < 0)
        *at++ = '-';
    value = fabs(value);
    if (value < LARGEST_EXACT && value == floor(value)) {
        at = put_u64(at, (uint64_t)value);
    } else {
        decimal = shortest_decimal(value);
        at = put_decimal(at, &decimal);
    }
    out->size = (size_t)(at - out->bytes);
}

static void
write_text(const char *text, struct buffer *out)
{
    char *at;

    if (!buffer_reserve(out, 2 + PUT_TEXT_BYTES * strlen(text)))
        return;
    at = out->bytes + out->size;
    *at++ = '"';
    at = put_text(at, text);
    *at++ = '"';
    out->size = (size_t)(at - out->bytes);
}

static void
write_object(const json_t *object, struct buffer *out)
{
    struct members members;

    if (!members_take(object, &members)) {
        out->failed = true;
        return;
    }
    buffer_append(out, "{", 1);
    for (size_t i = 0; i < members.count; i++) {
        if (i > 0)
            buffer_append(out, ",", 1);
        write_text(members.items[i].name, out);
        buffer_append(out, ":", 1);
        canonical_write(members.items[i].value, out);
    }
    buffer_append(out, "}", 1);
    members_done(&members);
}

static void
write_array(const json_t *array, struct buffer *out)
{
    buffer_append(out, "[", 1);
    for (size_t i = 0; i < json_array_size(array); i++) {
        if (i > 0)
            buffer_append(out, ",", 1);
        canonical_write(json_array_get(array, i), out);
    }
    buffer_append(out, "]", 1);
}

void
canonical_write(const json_t *value, struct buffer *out)
{
    switch (json_typeof(value)) {
    case JSON_OBJECT:
        write_object(value, out);
        return;
    case JSON_ARRAY:
        write_array(value, out);
        return;
    case JSON_STRING:
        write_text(json_string_value(value), out);
        return;
    case JSON_INTEGER:
        write_real((double)json_integer_value(value), out);
        return;
    case JSON_REAL:
        write_real(json_real_value(value), out);
        return;
    case JSON_TRUE:
        buffer_append(out, "true", 4);
        return;
    case JSON_FALSE:
        buffer_append(out, "false", 5);
        return;
    case JSON_NULL:
        buffer_append(out, "null", 4);
        return;
    }
}

void
request_digest(const json_t *body, char ret_hex[REQUEST_DIGEST_SIZE])
{
    static const char hex[] = "0123456789abcdef";
    unsigned char digest[SHA256_DIGEST_LENGTH];
    struct buffer *canonical = buffer_take();

    ret_hex[0] = '\0';
    if (!canonical)
        return;
    canonical_write(body, canonical);
    if (!canonical->failed) {
        SHA256((const unsigned char *)canonical->bytes, canonical->size, digest);
        for (size_t i = 0; i < sizeof digest; i++) {
            ret_hex[2 * i] = hex[digest[i] >> 4];
            ret_hex[2 * i + 1] = hex[digest[i] & 15];
        }
        ret_hex[REQUEST_DIGEST_SIZE - 1] = '\0';
    }
    buffer_give(canonical);
}
