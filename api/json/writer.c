/* Writes JSON without printf: reals and integers by their own digit loops, text by runs of plain bytes. */
#include "api/json/writer.h"

#include <math.h>
#include <string.h>

#include "api/json/put.h"

enum {
    NUMBER_BYTES = PUT_REAL_BYTES, /* the longest number and its sign */
    NAME_BYTES = 4,                /* comma, quotes, colon */
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
