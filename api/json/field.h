/* Reads a struct from a JSON object by a table of fields, collecting every fault. */
#ifndef API_JSON_FIELD_H
#define API_JSON_FIELD_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "service/base/result.h"

enum field_kind {
    FIELD_U32,    /* uint32_t; a real with an integral value is a count */
    FIELD_U64,    /* uint64_t */
    FIELD_REAL,   /* double */
    FIELD_BOOL,   /* enum flag: FLAG_NO or FLAG_YES */
    FIELD_ENUM,   /* int-sized enum, value i for names[i]; names[0] is NULL ("unsaid") */
    FIELD_TEXT,   /* char[max], at most max - 1 bytes; longer is out of range */
    FIELD_MONEY,  /* struct money from {"amount", "currency"} */
    FIELD_OBJECT, /* a nested table; `present` (a bool at present_offset) is set when it stands there */
    FIELD_TEXTS,  /* struct text_list: array of strings */
    FIELD_ENUMS,  /* uint32_t bit set: array of names, bit i for names[i] */
    FIELD_ANY,    /* const json_t *, lent: read by code of its own */
};

enum { FIELD_REQUIRED = 1, FIELD_IN_SCHEMA_ONLY = 2 };
enum { MAX_LIST_TEXTS = 64 };

struct text_list {
    size_t count;
    const char *items[MAX_LIST_TEXTS]; /* lent by the JSON document */
};

/* One member. `min` and `max` bound numbers (inclusive); for text `max` is the size of the array. null counts as
 * absent everywhere. */
struct field {
    const char *name;
    enum field_kind kind;
    size_t offset;
    double min, max;
    unsigned flags;
    const char *const *names; /* FIELD_ENUM(S) */
    size_t name_count;
    const struct field_table *table; /* FIELD_OBJECT */
    size_t present_offset;           /* FIELD_OBJECT: of a bool, or SIZE_MAX */
};

struct field_table {
    const char *schema; /* name of the component schema in openapi.yaml that has these properties */
    const struct field *fields;
    size_t count;
};

/* Reads `object` into `target` (zeroed by the caller). Faults: not an object, unknown member (with the nearest known
 * name), missing, wrong type, out of range, unknown value (with the names and the nearest): all of them, at RFC 6901
 * pointers under `pointer` ("" at the root). */
void fields_read(const struct field_table *table, const json_t *object, const char *pointer, void *target,
                 struct fault *fault);

/* Joins a pointer and one more token (escaped). */
void pointer_join(char *to, size_t size, const char *pointer, const char *token);

/* Parses a body: UTF-8, no duplicate members, integers within int64, at most `max_depth` levels, bare NaN/Infinity
 * outside strings read as null (*ret_nan set). Returns a new reference, NULL with a fault otherwise. */
json_t *json_parse(const char *text, size_t size, unsigned max_depth, bool *ret_nan, struct fault *fault);

#endif
