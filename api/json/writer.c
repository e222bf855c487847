/* Writes JSON without printf: reals and integers by their own digit loops, text by runs of plain bytes. */
#include "api/json/writer.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "api/json/put.h"

enum {
    NUMBER_BYTES = 32,     /* the longest number and its sign */
    NAME_BYTES = 4,        /* comma, quotes, colon */
    SIGNIFICANT_DIGITS = 6 /* of a real */
};

static const double powers_of_ten[] = { 1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11 };
static const uint64_t whole_powers_of_ten[] = {
    1, 10, 100, 1000, 10000, 100000, 1000000, 10000000, 100000000, 1000000000, 10000000000, 100000000000,
};

void
writer_init(struct json_writer *writer, struct buffer *out)
{
    writer->out = out;
    writer->depth = 0;
    writer->first[0] = true;
}

/* Comma and name of the next value, and room for `size` bytes of it: where to write, NULL when memory is out. */
static char *
begin(struct json_writer *writer, const char *name, size_t size)
{
    size_t name_size = name ? strlen(name) : 0;
    struct buffer *out = writer->out;
    char *at;

    if (!buffer_reserve(out, name_size + NAME_BYTES + size))
        return NULL;
    at = out->bytes + out->size;
    if (writer->depth > 0 && !writer->first[writer->depth])
        *at++ = ',';
    writer->first[writer->depth] = false;
    if (name) {
        *at++ = '"';
        memcpy(at, name, name_size);
        at += name_size;
        *at++ = '"';
        *at++ = ':';
    }
    return at;
}

static void
finish(struct json_writer *writer, const char *at)
{
    writer->out->size = (size_t)(at - writer->out->bytes);
}

static void
open_container(struct json_writer *writer, const char *name, char bracket)
{
    char *at = begin(writer, name, 1);

    if (!at)
        return;
    *at++ = bracket;
    finish(writer, at);
    if (writer->depth + 1 == WRITER_MAX_DEPTH) {
        writer->out->failed = true; /* a mistake of ours: no reply nests that deep */
        return;
    }
    writer->first[++writer->depth] = true;
}

static void
close_container(struct json_writer *writer, char bracket)
{
    if (writer->depth > 0)
        writer->depth--;
    buffer_append(writer->out, &bracket, 1);
}

void
writer_object(struct json_writer *writer, const char *name)
{
    open_container(writer, name, '{');
}

void
writer_end_object(struct json_writer *writer)
{
    close_container(writer, '}');
}

void
writer_array(struct json_writer *writer, const char *name)
{
    open_container(writer, name, '[');
}

void
writer_end_array(struct json_writer *writer)
{
    close_container(writer, ']');
}

void
writer_text(struct json_writer *writer, const char *name, const char *text)
{
    char *at;

    if (!text) {
        writer_null(writer, name);
        return;
    }
    at = begin(writer, name, 2 + PUT_TEXT_BYTES * strlen(text));
    if (!at)
        return;
    *at++ = '"';
    at = put_text(at, text);
    *at++ = '"';
    finish(writer, at);
}

void
writer_u64(struct json_writer *writer, const char *name, uint64_t value)
{
    char *at = begin(writer, name, NUMBER_BYTES);

    if (!at)
        return;
    finish(writer, put_u64(at, u64_min(value, INT64_MAX)));
}

void
writer_id(struct json_writer *writer, const char *name, uint64_t value)
{
    char text[PUT_U64_BYTES + 1];

    *put_u64(text, value) = '\0';
    writer_text(writer, name, text);
}

void
writer_i64(struct json_writer *writer, const char *name, int64_t value)
{
    char *at = begin(writer, name, NUMBER_BYTES);

    if (!at)
        return;
    if (value < 0)
        *at++ = '-';
    finish(writer, put_u64(at, value < 0 ? 0 - (uint64_t)value : (uint64_t)value));
}

void
writer_bool(struct json_writer *writer, const char *name, bool value)
{
    char *at = begin(writer, name, 5);

    if (!at)
        return;
    finish(writer, value ? put_bytes(at, "true", 4) : put_bytes(at, "false", 5));
}

void
writer_null(struct json_writer *writer, const char *name)
{
    char *at = begin(writer, name, 4);

    if (!at)
        return;
    finish(writer, put_bytes(at, "null", 4));
}

/* A positive real that is not whole, 1e-6 or more and below 1e15, with SIGNIFICANT_DIGITS digits at least. */
static char *
put_decimal(char *at, double value)
{
    unsigned decimals = 0;
    uint64_t digits, fraction;

    while (value * powers_of_ten[decimals] < 1e5 && decimals + 1 < COUNT_OF(powers_of_ten))
        decimals++;
    digits = (uint64_t)(value * powers_of_ten[decimals] + 0.5);
    at = put_u64(at, digits / whole_powers_of_ten[decimals]);
    fraction = digits % whole_powers_of_ten[decimals];
    if (fraction == 0)
        return at;
    while (fraction % 10 == 0) {
        fraction /= 10;
        decimals--;
    }
    *at = '.';
    for (unsigned i = decimals; i > 0; i--) {
        at[i] = (char)('0' + fraction % 10);
        fraction /= 10;
    }
    return at + 1 + decimals;
}

/* A positive real in exponent form, without trailing zeros: 1.5e-09. */
static char *
put_exponent(char *at, double value)
{
    char text[NUMBER_BYTES];
    size_t size = (size_t)snprintf(text, sizeof text, "%.*e", SIGNIFICANT_DIGITS - 1, value);
    const char *exponent = strchr(text, 'e');
    const char *end = exponent;

    while (end[-1] == '0')
        end--;
    if (end[-1] == '.')
        end--;
    at = put_bytes(at, text, (size_t)(end - text));
    return put_bytes(at, exponent, size - (size_t)(exponent - text));
}

/* A finite real; there is room for NUMBER_BYTES. */
static char *
put_real(char *at, double value)
{
    double size = fabs(value);

    if (value < 0)
        *at++ = '-';
    if (size < 9223372036854775808.0 && size == (double)(uint64_t)size) /* 2^63 */
        return put_u64(at, (uint64_t)size);
    if (size >= 1e-6 && size < 1e15)
        return put_decimal(at, size);
    if (size >= 1e15 && size < 1e18)
        return put_u64(at, (uint64_t)(size + 0.5));
    return put_exponent(at, size);
}

static char *
put_real_or_null(char *at, double value)
{
    return isfinite(value) ? put_real(at, value) : put_bytes(at, "null", 4);
}

void
writer_real(struct json_writer *writer, const char *name, double value)
{
    char *at = begin(writer, name, NUMBER_BYTES);

    if (!at)
        return;
    finish(writer, put_real_or_null(at, value));
}

void
writer_bytes(struct json_writer *writer, const char *name, double bytes)
{
    if (isnan(bytes))
        writer_null(writer, name);
    else
        writer_u64(writer, name, u64_from_double(bytes));
}

void
writer_range(struct json_writer *writer, const char *name, struct range range)
{
    char *at = begin(writer, name, (size_t)3 * NUMBER_BYTES + sizeof "{'low':,'expected':,'high':}");

    if (!at)
        return;
    at = put_bytes(at, "{\"low\":", 7);
    at = put_real_or_null(at, range.low);
    at = put_bytes(at, ",\"expected\":", 12);
    at = put_real_or_null(at, range.expected);
    at = put_bytes(at, ",\"high\":", 8);
    at = put_real_or_null(at, range.high);
    *at++ = '}';
    finish(writer, at);
}

void
writer_money(struct json_writer *writer, const char *name, struct money money)
{
    char amount[MONEY_TEXT_SIZE];
    const char *code = currency_code(money.currency);
    char *at = begin(writer, name, MONEY_TEXT_SIZE + sizeof "{'amount':'','currency':'CNY'}");

    if (!at)
        return;
    money_text(money, amount);
    at = put_bytes(at, "{\"amount\":\"", 11);
    at = put_bytes(at, amount, strlen(amount));
    at = put_bytes(at, "\",\"currency\":\"", 14);
    at = put_bytes(at, code, strlen(code));
    at = put_bytes(at, "\"}", 2);
    finish(writer, at);
}

void
writer_raw(struct json_writer *writer, const char *name, const char *json, size_t size)
{
    char *at = begin(writer, name, size);

    if (!at)
        return;
    finish(writer, put_bytes(at, json, size));
}
