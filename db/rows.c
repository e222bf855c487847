/* Rows of named text cells, the same for every supplier. */
#include "db/rows.h"

#include <string.h>

int
rows_column(const struct rows *rows, const char *name)
{
    for (size_t i = 0; i < rows->column_count; i++) {
        if (strcmp(rows->column_name(rows->content, i), name) == 0)
            return (int)i;
    }
    return NO_COLUMN;
}

const char *
rows_text(const struct rows *rows, size_t row, int column)
{
    if (column < 0)
        return NULL;
    return rows->cell(rows->content, row, (size_t)column);
}

void
rows_done(struct rows *rows)
{
    if (rows->content != NULL)
        rows->free_content(rows->content);
    rows->content = NULL;
}
