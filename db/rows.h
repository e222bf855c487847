/* A table as rows of named text cells: what the loader reads, wherever they come from. */
#ifndef DB_ROWS_H
#define DB_ROWS_H

#include <stdbool.h>
#include <stddef.h>

enum { NO_COLUMN = -1 };

/* One table, read whole. `content` belongs to the supplier and is given back by rows_done. */
struct rows {
    size_t row_count, column_count;
    const char *(*column_name)(const void *content, size_t column);
    const char *(*cell)(const void *content, size_t row, size_t column); /* NULL: the cell is empty */
    void (*free_content)(void *content);
    void *content;
};

/* Supplies tables by name. false: the table cannot be had, `why` says in a few words of English. */
struct row_source {
    bool (*read_table)(void *context, const char *table, struct rows *ret_rows, char *why, size_t why_size);
    void *context;
};

/* The number of a column, NO_COLUMN when there is none of this name. */
int rows_column(const struct rows *rows, const char *name);

/* The text of a cell, lent until rows_done; NULL when it is empty or `column` is NO_COLUMN. */
const char *rows_text(const struct rows *rows, size_t row, int column);

void rows_done(struct rows *rows);

#endif
