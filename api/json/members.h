/* The members of a JSON object in the order of their names. */
#ifndef API_JSON_MEMBERS_H
#define API_JSON_MEMBERS_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

enum { FEW_MEMBERS = 32 };

struct member {
    const char *name; /* lent by the object, like the value */
    const json_t *value;
};

struct members {
    size_t count;
    struct member *items;
    struct member few[FEW_MEMBERS]; /* most objects need no allocation */
};

/* Lists them by UTF-16 code units of the name, the order of RFC 8785 (section 3.2.3). false: memory is out. Not to be
 * copied: `items` may point into the struct itself. */
bool members_take(const json_t *object, struct members *ret_members);
void members_done(struct members *members);

#endif
