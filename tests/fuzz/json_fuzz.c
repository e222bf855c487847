/* Any bytes as a body: refused with a reason, or an object whose facts are in order and whose canonical form is a form
 * that stays as it is. */
#include <jansson.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "api/json/canonical.h"
#include "api/json/facts_json.h"
#include "api/json/field.h"

enum { MAX_DEPTH = 32 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void
require(bool holds)
{
    if (!holds)
        __builtin_trap();
}

static void
check_facts(const json_t *body, struct fault *fault)
{
    struct facts_store store;
    struct facts facts;

    facts_store_init(&store);
    if (facts_flatten(body, "/model/config", &store, &facts, fault) == STATUS_OK) {
        require(facts.count <= MAX_FACTS);
        for (size_t i = 0; i < facts.count; i++) {
            require(strlen(facts.items[i].path) < FACT_PATH_SIZE);
            require(i == 0 || strcmp(facts.items[i - 1].path, facts.items[i].path) <= 0); /* cut paths may be equal */
        }
    } else {
        require(fault_any(fault));
    }
    facts_store_done(&store);
}

static void
check_canonical(const json_t *body, struct fault *fault)
{
    struct buffer *once = buffer_take(), *twice = buffer_take();
    json_t *again;
    bool nan;

    canonical_write(body, once);
    require(!once->failed);
    again = json_parse(once->bytes, once->size, MAX_DEPTH, &nan, fault);
    if (again) { /* an integer near 2^63 is written as a double, which may then be too large an integer */
        canonical_write(again, twice);
        require(once->size == twice->size && memcmp(once->bytes, twice->bytes, once->size) == 0);
        json_decref(again);
    } else {
        require(fault->code == FAULT_NUMBER_TOO_LARGE);
    }
    buffer_give(once);
    buffer_give(twice);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static struct fault fault;
    char *text = malloc(size > 0 ? size : 1); /* of its own size, so that a read past the end is seen */
    bool nan;
    json_t *body;

    require(text != NULL);
    if (size > 0)
        memcpy(text, data, size);
    fault_clear(&fault);
    body = json_parse(text, size, MAX_DEPTH, &nan, &fault);
    require((body != NULL) != fault_any(&fault));
    if (body) {
        check_facts(body, &fault);
        fault_clear(&fault);
        check_canonical(body, &fault);
    }
    json_decref(body);
    free(text);
    return 0;
}
