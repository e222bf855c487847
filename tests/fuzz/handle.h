/* Hands any bytes to a handler as the body of a POST and checks what must hold of every answer. */
#ifndef TESTS_FUZZ_HANDLE_H
#define TESTS_FUZZ_HANDLE_H

#include <jansson.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "api/route.h"
#include "tests/support/seed_catalog.h"

/* Traps when a reply is not JSON, or a refusal says nothing. */
static inline void
fuzz_handle(handler *handle, const char *path, const uint8_t *data, size_t size)
{
    static struct fault fault;
    const struct service_state state = { .version = "fuzz", .catalog = seed_catalog(), .slot = seed_catalog_slot() };
    struct response response = { .status = 200, .body = buffer_take() };
    char *body = malloc(size + 1); /* of its own size, so that a read past the end is seen */

    if (body == NULL || response.body == NULL)
        abort();
    memcpy(body, data, size);
    body[size] = '\0';
    struct request request = { .method = HTTP_POST, .path = path, .body = body, .body_size = size };
    fault_clear(&fault);
    if (handle(&request, &state, &response, &fault) == STATUS_OK) {
        json_t *reply = json_loadb(response.body->bytes, response.body->size, JSON_REJECT_DUPLICATES, NULL);
        if (reply == NULL)
            __builtin_trap();
        json_decref(reply);
    } else if (!fault_any(&fault)) {
        __builtin_trap();
    }
    buffer_give(response.body);
    free(body);
}

#endif
