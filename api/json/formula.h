/* A term's formula with its numbers put in, so that a reader can recompute it by hand. */
#ifndef API_JSON_FORMULA_H
#define API_JSON_FORMULA_H

#include <stddef.h>

enum { FORMULA_SIZE = 512 };

/* Puts values[0..9] for {0}..{9}: whole numbers exactly, others with 6 significant digits. Always terminated. */
void formula_write(char *text, size_t size, const char *formula, const double *values, size_t value_count);

#endif
