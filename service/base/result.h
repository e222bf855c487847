/* What went wrong and where, for whoever speaks to the user: codes and figures, no prose. */
#ifndef SERVICE_BASE_RESULT_H
#define SERVICE_BASE_RESULT_H

#include <stdbool.h>
#include <stddef.h>

enum status {
    STATUS_OK = 0,
    STATUS_FAULT, /* the caller's mistake or an unmet need: `struct fault` says which */
};

/* One code a kind of mistake; api/http/problem.c gives each its HTTP status, api/i18n its sentence.
 * The first group is about the request as a whole, the second about one member of it. */
enum fault_code {
    FAULT_NONE = 0,
#define FAULT(id, name, http_status) FAULT_##id,
#include "service/base/faults.def"
#undef FAULT
    FAULT_COUNT
};

/* Its stable name, as replies carry it ("unknown_member"). */
const char *fault_code_name(enum fault_code code);

enum {
    MAX_FAULT_ITEMS = 64,
    FAULT_POINTER_SIZE = 160,
    FAULT_TEXT_SIZE = 96,
};

struct fault_item {
    enum fault_code code;
    bool is_parameter;                /* pointer names a query parameter or header instead of a place in the body */
    char pointer[FAULT_POINTER_SIZE]; /* RFC 6901, into the request body */
    char value[FAULT_TEXT_SIZE];      /* what was there, cut; "" when it does not help */
    char
        expected[FAULT_TEXT_SIZE]; /* names and numbers of what was expected, no prose: "integer 1..64", "fits|tight" */
    char suggestion[FAULT_TEXT_SIZE]; /* what was probably meant; "" when nothing is near */
};

struct fault {
    enum fault_code code; /* the first one: it decides the HTTP status */
    size_t item_count;
    size_t more_count; /* faults beyond MAX_FAULT_ITEMS */
    struct fault_item items[MAX_FAULT_ITEMS];
};

/* Starts empty (writes no item memory: a fault is large). */
void fault_clear(struct fault *fault);

/* Adds an item; the first also sets the code. NULL texts are "". Beyond MAX_FAULT_ITEMS only counts. Returns the item
 * (or NULL when it was only counted) so that rare members can be set. */
struct fault_item *fault_add(struct fault *fault, enum fault_code code, const char *pointer, const char *value,
                             const char *expected, const char *suggestion);

static inline bool
fault_any(const struct fault *fault)
{
    return fault->code != FAULT_NONE;
}

#define TRY(call)                        \
    do {                                 \
        enum status try_status = (call); \
        if (try_status != STATUS_OK)     \
            return try_status;           \
    } while (0)

#endif
