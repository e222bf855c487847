/* The constants that are fitted: rows of the seed's rates that state a range. */
#ifndef TESTS_ACCURACY_CONSTANTS_H
#define TESTS_ACCURACY_CONSTANTS_H

#include <stdbool.h>
#include <stddef.h>

#include "service/hardware/rates.h"

enum { MAX_CONSTANTS = 256, CONSTANT_NAME_SIZE = 64 };

/* A constant is searched by its logarithm, from -1 to 1 around the middle of its range. */
struct constant {
    char name[CONSTANT_NAME_SIZE];
    size_t index;     /* into struct rates */
    double low, high; /* the row's range */
    double middle;    /* geometric */
    double reach;     /* half the logarithm of what is searched */
    double least, most;
};

struct constants {
    struct constant items[MAX_CONSTANTS];
    size_t count;
};

/* The rows of a group ("training.", "serving.") with a low and a high bound, but for those that are no constants of
 * nature: bands, and what a program's defaults or conventions settle (see the list in the source).
 *
 * Ranges are narrow where a former fit was sure, which would lead a new fit by the hand: at least `least_reach` (a
 * logarithm) is searched to each side. What lies on one side of 1 stays there: a share stays a share. */
void constants_read(struct constants *constants, const char *group, double least_reach);

/* Value at a place -1..1 of the search, cut to what the constant may be. */
double constant_value(const struct constant *constant, double place);

/* The place of a value, cut to -1..1. */
double constant_place(const struct constant *constant, double value);

/* Index by row name; constants->count when it is not among them. */
size_t constants_find(const struct constants *constants, const char *name);

#endif
