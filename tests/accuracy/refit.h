/* Constants fitted to measured runs: coordinate search on a robust loss.
 *
 * Loss: the logarithm of expected over truth, squared up to a factor of 1.15 and linear beyond (P. Huber, Robust
 * estimation of a location parameter, 1964), so that single odd rows do not rule; a bound counts only where it is
 * broken, and half. A row weighs 1 / sqrt(rows of its source in its slice), so that long tables do not drown short
 * ones; rows of memory, which is counted, weigh more than rows of time. A pull towards the middle of its range, as
 * strong as a prior that its range is nine in ten of, holds each constant unless several rows speak against it. */
#ifndef TESTS_ACCURACY_REFIT_H
#define TESTS_ACCURACY_REFIT_H

#include <stdbool.h>
#include <stddef.h>

#include "tests/accuracy/constants.h"
#include "tests/accuracy/runs.h"

/* Which runs a constant moves at all: searching it estimates only those again. */
struct reach {
    size_t constant_count, run_count;
    bool *moves; /* [constant * run_count + run] */
};

struct refit_ask {
    const struct runs *runs;
    const struct constants *constants;
    const struct rates *rates; /* all other constants */
    const bool *left_out;      /* of each target; NULL: none */
    double start;              /* place -1..1 where all constants start; 0: the middle of their ranges */
    int sweeps;                /* over all constants, at most */
};

/* Found at the middle of all ranges, between the ends of each constant's search. Ended with reach_done. */
void reach_find(struct reach *reach, const struct refit_ask *ask);
void reach_done(struct reach *reach);
size_t reach_count(const struct reach *reach, size_t constant);

/* The fitted constants among the others. `reach` is of the same runs and constants. Targets that are left out are never
 * estimated. Returns the loss. */
double refit(const struct refit_ask *ask, const struct reach *reach, struct rates *ret_rates);

#endif
