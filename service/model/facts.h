/* A config.json as a flat list of facts, so that model readers need no JSON. */
#ifndef SERVICE_MODEL_FACTS_H
#define SERVICE_MODEL_FACTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum fact_kind {
    FACT_NULL = 0,
    FACT_BOOL,
    FACT_INTEGER,
    FACT_REAL,
    FACT_TEXT,
    FACT_LIST,   /* an array; integer is its length, its elements follow as facts of their own */
    FACT_OBJECT, /* likewise an object */
};

enum { MAX_FACTS = 16384, FACT_PATH_SIZE = 128 };

struct fact {
    const char *path; /* RFC 6901, from the root of the config: "/text_config/hidden_size", "/layer_types/0" */
    enum fact_kind kind;
    int64_t integer; /* FACT_BOOL: 0 or 1. FACT_REAL with an integral value is stored as FACT_INTEGER */
    double real;     /* also set for FACT_INTEGER */
    const char *text;
};

/* The list, sorted by path (strcmp). `used[i]` is set by readers, so that what nobody read can be told. All lent. */
struct facts {
    const struct fact *items;
    size_t count;
    bool *used;
};

/* The fact at a path, NULL when absent. Marks it used. null counts as absent. */
const struct fact *facts_get(const struct facts *facts, const char *path);

/* The same, but null is found too, for keys where null says something else than leaving them out. */
const struct fact *facts_find(const struct facts *facts, const char *path);

/* The same without marking it. */
const struct fact *facts_peek(const struct facts *facts, const char *path);

#endif
