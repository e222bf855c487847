/* Recomputes a term's formula as a reader would by hand. */
#ifndef TESTS_SUPPORT_FORMULA_H
#define TESTS_SUPPORT_FORMULA_H

#include <stdbool.h>
#include <stddef.h>

/* Value of a formula of struct part ({0}..{9} stand for `values`; numbers, + - x /, parentheses, min and max count,
 * other words name things). false when it cannot be read. */
bool formula_value(const char *formula, const double *values, size_t count, double *ret_value);

#endif
