#include "tests/accuracy/left_out_file.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const char path[] = PROJECT_ROOT "/tests/accuracy/left_out.csv";

FILE *
left_out_file_start(void)
{
    FILE *file = fopen(path, "we");

    if (!file) {
        perror(path);
        exit(2);
    }
    fputs("left_out,slice,rows,median,nine_in_ten,bias,in_band\n", file);
    return file;
}

void
left_out_file_add(FILE *file, const char *left_out, const struct score *by_slice)
{
    for (size_t i = 0; i < by_slice->count; i++) {
        struct figures figures = tally_figures(&by_slice->items[i]);

        fprintf(file, "%s,%s,%zu,%.4f,%.4f,%.4f,%.4f\n", left_out, by_slice->items[i].name, figures.count,
                figures.median, figures.most, figures.bias, figures.covered);
    }
}

static bool
read_row(char *line, struct left_out_row *ret_row)
{
    const char *cells[7] = { 0 };
    size_t count = 0;

    line[strcspn(line, "\n")] = '\0';
    for (char *cell = line; cell && count < 7; cells[count++] = strsep(&cell, ","))
        ;
    if (count < 7 || strcmp(cells[0], "left_out") == 0)
        return false;
    snprintf(ret_row->left_out, sizeof ret_row->left_out, "%s", cells[0]);
    snprintf(ret_row->slice, sizeof ret_row->slice, "%s", cells[1]);
    ret_row->figures = (struct figures){ .count = strtoul(cells[2], NULL, 10),
                                         .median = strtod(cells[3], NULL),
                                         .most = strtod(cells[4], NULL),
                                         .bias = strtod(cells[5], NULL),
                                         .covered = strtod(cells[6], NULL),
                                         .width = NAN };
    return true;
}

void
left_out_file_read(struct left_out_table *ret_table)
{
    FILE *file = fopen(path, "re");
    char *line = NULL;
    size_t capacity = 0;

    ret_table->count = 0;
    if (!file)
        return;
    while (getline(&line, &capacity, file) > 0 && ret_table->count < MAX_LEFT_OUT_ROWS)
        ret_table->count += read_row(line, &ret_table->rows[ret_table->count]);
    free(line);
    fclose(file);
}

const struct figures *
left_out_figures(const struct left_out_table *table, const char *left_out, const char *slice)
{
    for (size_t i = 0; i < table->count; i++)
        if (strcmp(table->rows[i].left_out, left_out) == 0 && strcmp(table->rows[i].slice, slice) == 0)
            return &table->rows[i].figures;
    return NULL;
}
