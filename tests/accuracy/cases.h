/* Published measurements and questions, read from files and asked in process (no HTTP).
 *
 * A case is one JSON object a line: {"id", "slice", "source", "path", "request", "expect": [expectation, ...]}; see
 * reply.h for expectations. */
#ifndef TESTS_ACCURACY_CASES_H
#define TESTS_ACCURACY_CASES_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

#include "service/base/result.h"

enum { CASE_NAME_SIZE = 96 };

/* Texts are lent by `row`. */
struct accuracy_case {
    json_t *row;
    const char *id, *slice, *path;
    const char *gpu, *engine;    /* "" where the request names none */
    char source[CASE_NAME_SIZE]; /* who published it, see case_source */
    const json_t *request, *expect;
};

struct cases {
    struct accuracy_case *items;
    size_t count, capacity;
};

/* Adds the cases of a JSON Lines file. What cannot be read ends the program with 2 and a message. Start from { 0 }. */
void cases_read(struct cases *cases, const char *path);

/* Adds tests/data/accuracy/<name>.jsonl. */
void cases_read_named(struct cases *cases, const char *name);

void cases_done(struct cases *cases);

/* The repository ("owner/name") that a source is in, whichever of its pages is meant; a fork counts as what it is a
 * fork of. Other sources are taken as they are, cut. */
void case_source(const char *source, char ret_name[CASE_NAME_SIZE]);

/* The reply of the compiled-in catalog (the caller decrefs), or NULL with the fault. *ret_broken: the program itself
 * failed (5xx, or bytes that are no JSON). */
json_t *case_ask(const struct accuracy_case *asked, struct fault *ret_fault, bool *ret_broken);

#endif
