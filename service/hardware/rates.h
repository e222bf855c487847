/* Measured constants by name: what hardware and software really reach. The rows live in the catalog (rates table). */
#ifndef SERVICE_HARDWARE_RATES_H
#define SERVICE_HARDWARE_RATES_H

#include <stdbool.h>
#include <stddef.h>

/* Every constant is listed once, in rates.def: RATE(member, "row.name"). */
struct rates {
#define RATE(member, name) double member;
#include "service/hardware/rates.def"
#undef RATE
};

/* How many constants there are, and the row name of the i-th. */
size_t rates_count(void);
const char *rates_name(size_t i);

/* The i-th constant of a set, for filling and listing. */
double *rates_at(struct rates *rates, size_t i);

/* Sets the constant of this row name; false when the program knows none of that name. */
bool rates_set(struct rates *rates, const char *name, double value);

#endif
