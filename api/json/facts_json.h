/* Flattens a config.json into the list of facts that model readers read. */
#ifndef API_JSON_FACTS_JSON_H
#define API_JSON_FACTS_JSON_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

#include "service/base/result.h"
#include "service/model/facts.h"

enum {
    MAX_FACT_DEPTH = 16,     /* containers below it are listed but not opened */
    MAX_FACT_CHILDREN = 512, /* an object of single values that holds more is not opened either: lists of labels */
    MAX_FACT_MODULES = 4096, /* an array, or an object of objects: what quantisation says module by module */
};

/* Owns what a list of facts points to, but for texts, which the document lends. */
struct facts_store {
    struct fact *items;
    size_t count, capacity;
    bool *used;
    struct path_block *paths; /* newest first */
};

void facts_store_init(struct facts_store *store);
void facts_store_done(struct facts_store *store);

/* All facts of `config` (its root is none itself). Paths are cut at FACT_PATH_SIZE. Faults at `pointer`, the place of
 * the config in the request: not an object (wrong_type), more than MAX_FACTS facts (too_many_items). `store` has been
 * initialised and serves one list; the list lives until facts_store_done(). */
enum status facts_flatten(const json_t *config, const char *pointer, struct facts_store *store, struct facts *ret_facts,
                          struct fault *ret_fault);

#endif
