/* tests/accuracy/left_out.csv: the left-out figures of the last complete fit, for the README. */
#ifndef TESTS_ACCURACY_LEFT_OUT_FILE_H
#define TESTS_ACCURACY_LEFT_OUT_FILE_H

#include "tests/accuracy/score.h"

enum { MAX_LEFT_OUT_ROWS = 128 };

struct left_out_row {
    char left_out[24], slice[48]; /* key ("source"), slice without "accuracy_" */
    struct figures figures;       /* but for the width */
};

struct left_out_table {
    struct left_out_row rows[MAX_LEFT_OUT_ROWS];
    size_t count;
};

/* The file begun anew with its heading; ends the program with 2 when it cannot be written. */
FILE *left_out_file_start(void);
void left_out_file_add(FILE *file, const char *left_out, const struct score *by_slice);

/* All rows; none when there is no file. */
void left_out_file_read(struct left_out_table *ret_table);

/* The figures of a slice with something left out; NULL when there are none. */
const struct figures *left_out_figures(const struct left_out_table *table, const char *left_out, const char *slice);

#endif
