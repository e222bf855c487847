/* The part of README.md that says how good estimates are. */
#ifndef TESTS_ACCURACY_README_H
#define TESTS_ACCURACY_README_H

#include "tests/accuracy/left_out_file.h"
#include "tests/accuracy/score.h"

/* The Markdown of that part: what a source left out of the fit is met within, the table of measured slices, the table
 * of questions that hold or do not, and which of them this version does not answer. `score` holds all slices as `make
 * accuracy` prints them. */
void readme_print(const struct score *score, const struct left_out_table *left_out, FILE *to);

/* `text` with what stands between its two lines "<!-- accuracy ... -->" and "<!-- /accuracy -->" replaced (the caller
 * frees); NULL when it has no such lines. */
char *readme_replaced(const char *text, const char *part);

/* Writes README.md anew with the part above; ends the program with 2 when that fails. */
void readme_write(const struct score *score);

#endif
