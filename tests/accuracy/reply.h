/* A reply held against what was expected of it.
 *
 * An expectation is {"at": JSON pointer, and one of "is": [values], "equals": value, "near": truth with "within":
 * relative error, "min" and/or "max", "has": code of an item of a list}. A range is read at its "expected". */
#ifndef TESTS_ACCURACY_REPLY_H
#define TESTS_ACCURACY_REPLY_H

#include <jansson.h>
#include <stdbool.h>

/* What a measured figure came to; only "near" expectations of figures that are in the reply give one. */
struct reading {
    double error; /* (expected - truth) / truth */
    bool banded;  /* the reply gives a band around the figure */
    bool covered; /* and the truth is in it */
    double width; /* (high - low) / expected */
};

/* A reading of a figure with its band; low and high NAN: no band. */
struct reading reading_of(double truth, double low, double expected, double high);

/* The value at a JSON pointer (RFC 6901 without escapes, which no expectation uses); NULL when absent. */
const json_t *reply_value(const json_t *reply, const char *pointer);

/* Whether the reply is as expected. *ret_measured: *ret_reading was written. */
bool reply_holds(const json_t *reply, const json_t *expectation, bool *ret_measured, struct reading *ret_reading);

#endif
