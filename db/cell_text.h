/* Whether a cell's text is what its kind asks for, and the number in it. */
#ifndef DB_CELL_TEXT_H
#define DB_CELL_TEXT_H

#include <stdbool.h>
#include <stdint.h>

/* Words of a-z and 0-9 joined by single '-' or '.' */
bool cell_is_slug(const char *text);

/* YYYY-MM-DD, a day that the Gregorian calendar has; with `partial` also YYYY-MM and YYYY. */
bool cell_is_date(const char *text, bool partial);

/* Two capital letters (ISO 3166-1 alpha-2 in form). */
bool cell_is_country(const char *text);

/* Digits only. false: it is none, or does not fit. */
bool cell_whole_number(const char *text, uint64_t *ret_value);

/* A decimal number in ASCII ("1.5", "-2", "3e8"), finite. */
bool cell_decimal_number(const char *text, double *ret_value);

/* true, t, false, f */
bool cell_truth(const char *text, bool *ret_value);

#endif
