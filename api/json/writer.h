/* Streams JSON text into a buffer: names, values, commas and escapes, with fixed decimals for speed. */
#ifndef API_JSON_WRITER_H
#define API_JSON_WRITER_H

#include <stdbool.h>
#include <stdint.h>

#include "api/json/buffer.h"
#include "service/base/money.h"
#include "service/base/quantity.h"

enum { WRITER_MAX_DEPTH = 32 };

struct json_writer {
    struct buffer *out;
    unsigned depth;
    bool first[WRITER_MAX_DEPTH]; /* nothing written yet at this depth */
};

void writer_init(struct json_writer *writer, struct buffer *out);

/* Containers. `name` is NULL for elements of an array and for the root; else a constant ASCII name without escapes. */
void writer_object(struct json_writer *writer, const char *name);
void writer_end_object(struct json_writer *writer);
void writer_array(struct json_writer *writer, const char *name);
void writer_end_array(struct json_writer *writer);

/* Values. Text is any UTF-8 (NULL is written as null). */
void writer_text(struct json_writer *writer, const char *name, const char *text);
/* An integer above 2^63 - 1 is written as that: JSON readers take no larger ones. */
void writer_u64(struct json_writer *writer, const char *name, uint64_t value);
/* A number that is a name, such as a version: written as text, so that no reader rounds it. */
void writer_id(struct json_writer *writer, const char *name, uint64_t value);
void writer_i64(struct json_writer *writer, const char *name, int64_t value);
void writer_bool(struct json_writer *writer, const char *name, bool value);
void writer_null(struct json_writer *writer, const char *name);

/* A real with up to 6 significant decimals as needed (enough digits that a value keeps 6 significant digits); integral
 * values as integers; not finite: null. */
void writer_real(struct json_writer *writer, const char *name, double value);

/* Bytes: a double rounded half up to a whole number, at most 2^63 - 1. */
void writer_bytes(struct json_writer *writer, const char *name, double bytes);

/* {"low", "expected", "high"} */
void writer_range(struct json_writer *writer, const char *name, struct range range);

/* {"amount": "12.34", "currency": "CNY"} */
void writer_money(struct json_writer *writer, const char *name, struct money money);

/* JSON text that is already right, as it is (a rendered part). */
void writer_raw(struct json_writer *writer, const char *name, const char *json, size_t size);

#endif
