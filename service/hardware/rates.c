/* The list of constants, by name and by place in struct rates. */
#include "service/hardware/rates.h"

#include <string.h>

static const struct {
    const char *name;
    size_t offset;
} known[] = {
#define RATE(member, name) { name, offsetof(struct rates, member) },
#include "service/hardware/rates.def"
#undef RATE
    { NULL, 0 }, /* the list may be empty, an array may not */
};

enum { KNOWN_COUNT = sizeof(known) / sizeof(known[0]) - 1 };

size_t
rates_count(void)
{
    return KNOWN_COUNT;
}

const char *
rates_name(size_t i)
{
    return known[i].name;
}

double *
rates_at(struct rates *rates, size_t i)
{
    return (double *)(void *)((char *)rates + known[i].offset);
}

bool
rates_set(struct rates *rates, const char *name, double value)
{
    size_t count = rates_count();

    for (size_t i = 0; i < count; i++) {
        if (strcmp(known[i].name, name) == 0) {
            *rates_at(rates, i) = value;
            return true;
        }
    }
    return false;
}
