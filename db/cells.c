/* One walk over a table's rows and columns; each kind of cell has its reader. */
#include "db/cells.h"

#include <stdlib.h>
#include <string.h>
#include <talloc.h>

#include "db/cell_text.h"
#include "service/base/text.h"

enum { MAX_CELLS = 48 };

bool
loader_refuse(struct loader *loader, const char *table, const char *key, const char *column, const char *why)
{
    struct db_event *refusal = loader->refusal;

    text_copy(refusal->table, sizeof(refusal->table), table);
    text_copy(refusal->key, sizeof(refusal->key), key);
    text_copy(refusal->column, sizeof(refusal->column), column);
    text_copy(refusal->why, sizeof(refusal->why), why);
    return false;
}

void *
loader_array(struct loader *loader, size_t count, size_t size)
{
    void *array = talloc_zero_size(loader->tree, (count > 0 ? count : 1) * size);

    if (array == NULL)
        loader_refuse(loader, NULL, NULL, NULL, "out of memory");
    return array;
}

/* Why the text is not what the kind of text asks for, NULL when it is. */
static const char *
text_unsound(const struct cell *cell, const char *text)
{
    switch (cell->kind) {
    case CELL_SLUG:
        return cell_is_slug(text) ? NULL : "not words of a-z and 0-9 joined by '-' or '.'";
    case CELL_PATH:
        return text[0] == '/' ? NULL : "does not begin with '/'";
    case CELL_DATE:
        return cell_is_date(text, false) ? NULL : "not a date (YYYY-MM-DD)";
    case CELL_PARTIAL_DATE:
        return cell_is_date(text, true) ? NULL : "not a date (YYYY, YYYY-MM or YYYY-MM-DD)";
    case CELL_COUNTRY:
        return cell_is_country(text) ? NULL : "not a country code of two capital letters";
    case CELL_NAME:
        for (size_t i = 0; i < cell->name_count; i++) {
            if (strcmp(cell->names[i], text) == 0)
                return NULL;
        }
        return "not one of the known names";
    case CELL_TEXT:
    case CELL_U32:
    case CELL_U64:
    case CELL_REAL:
    case CELL_MICROS:
    case CELL_BOOL:
    case CELL_FLAG:
    case CELL_ENUM:
    case CELL_CURRENCY:
    case CELL_LETTER:
    case CELL_PROVIDER:
    case CELL_GPU:
    case CELL_MODEL:
        return NULL;
    }
    return NULL;
}

static const char *
read_text(struct loader *loader, const struct cell *cell, const char *text, void *target)
{
    const char *why = text_unsound(cell, text), *kept;

    if (why != NULL)
        return why;
    kept = texts_keep(&loader->texts, text);
    if (kept == NULL)
        return "out of memory";
    memcpy(target, &kept, sizeof(kept));
    if ((cell->flags & CELL_DATES_ROW) != 0 && cell_is_date(text, false) && strcmp(text, loader->newest_date) > 0)
        text_copy(loader->newest_date, sizeof(loader->newest_date), text);
    return NULL;
}

static const char *
read_whole(const struct cell *cell, const char *text, void *target)
{
    uint64_t value;

    if (!cell_whole_number(text, &value))
        return "not a whole number";
    if ((double)value < cell->min || (double)value > cell->max)
        return "out of range";
    if (cell->kind == CELL_U32)
        *(uint32_t *)target = (uint32_t)value;
    else
        *(uint64_t *)target = value;
    return NULL;
}

static const char *
read_decimal(const struct cell *cell, const char *text, void *target)
{
    double value;

    if (!cell_decimal_number(text, &value))
        return "not a finite number";
    if (value < cell->min || value > cell->max)
        return "out of range";
    *(double *)target = value;
    return NULL;
}

static const char *
read_micros(const struct cell *cell, const char *text, void *target)
{
    int64_t micros;

    if (!money_parse(text, &micros))
        return "not an amount with at most 6 decimals";
    if ((double)micros < cell->min * 1e6 || (double)micros > cell->max * 1e6)
        return "out of range";
    *(int64_t *)target = micros;
    return NULL;
}

static const char *
read_truth(const struct cell *cell, const char *text, void *target)
{
    bool yes;

    if (!cell_truth(text, &yes))
        return "neither true nor false";
    if (cell->kind == CELL_BOOL)
        *(bool *)target = yes;
    else
        *(int *)target = yes;
    return NULL;
}

/* Enums and currencies are kept as the int that they are the size of. */
static const char *
read_enum(const struct cell *cell, const char *text, void *target)
{
    for (size_t i = 0; i < cell->name_count; i++) {
        int value = (int)i;

        if (cell->names[i] != NULL && strcmp(cell->names[i], text) == 0) {
            memcpy(target, &value, sizeof(value));
            return NULL;
        }
    }
    return "not one of the known names";
}

static const char *
read_currency(const char *text, void *target)
{
    enum currency currency = currency_from_code(text);

    if (currency == CURRENCY_UNSAID)
        return "not a currency that the program knows";
    memcpy(target, &currency, sizeof(currency));
    return NULL;
}

static const char *
read_letter(const char *text, void *target)
{
    if (strlen(text) != 1 || strchr("ABC", text[0]) == NULL)
        return "not A, B or C";
    *(char *)target = text[0];
    return NULL;
}

static const char *
read_reference(const struct loader *loader, const struct cell *cell, const char *text, void *target)
{
    const void *row = cell->kind == CELL_GPU        ? (const void *)catalog_gpu(loader->catalog, text)
                      : cell->kind == CELL_PROVIDER ? (const void *)catalog_provider(loader->catalog, text)
                                                    : (const void *)catalog_model(loader->catalog, text);

    if (row == NULL)
        return "refers to a row that does not exist";
    memcpy(target, &row, sizeof(row));
    return NULL;
}

/* NULL when the cell is sound, else why not. */
static const char *
read_cell(struct loader *loader, const struct cell *cell, const char *text, void *target)
{
    switch (cell->kind) {
    case CELL_TEXT:
    case CELL_SLUG:
    case CELL_PATH:
    case CELL_DATE:
    case CELL_PARTIAL_DATE:
    case CELL_COUNTRY:
    case CELL_NAME:
        return read_text(loader, cell, text, target);
    case CELL_U32:
    case CELL_U64:
        return read_whole(cell, text, target);
    case CELL_REAL:
        return read_decimal(cell, text, target);
    case CELL_MICROS:
        return read_micros(cell, text, target);
    case CELL_BOOL:
    case CELL_FLAG:
        return read_truth(cell, text, target);
    case CELL_ENUM:
        return read_enum(cell, text, target);
    case CELL_CURRENCY:
        return read_currency(text, target);
    case CELL_LETTER:
        return read_letter(text, target);
    case CELL_PROVIDER:
    case CELL_GPU:
    case CELL_MODEL:
        return read_reference(loader, cell, text, target);
    }
    return "a kind of cell without a reader";
}

static bool
is_known(const struct cell_table *table, const char *column)
{
    for (size_t i = 0; i < table->cell_count; i++) {
        if (strcmp(table->cells[i].column, column) == 0)
            return true;
    }
    return false;
}

/* Where the table's cells stand in the rows. */
static bool
find_columns(struct loader *loader, const struct cell_table *table, const struct rows *rows, int *ret_columns)
{
    for (size_t i = 0; i < table->cell_count; i++) {
        ret_columns[i] = rows_column(rows, table->cells[i].column);
        if (ret_columns[i] == NO_COLUMN)
            return loader_refuse(loader, table->table, NULL, table->cells[i].column, "the column is missing");
    }
    for (size_t i = 0; loader->strict && i < rows->column_count; i++) {
        const char *column = rows->column_name(rows->content, i);

        if (!is_known(table, column))
            return loader_refuse(loader, table->table, NULL, column, "the program knows no such column");
    }
    return true;
}

static bool
read_row(struct loader *loader, const struct cell_table *table, const struct rows *rows, size_t row, const int *columns,
         char *target)
{
    const char *key = rows_text(rows, row, columns[0]);

    for (size_t i = 0; i < table->cell_count; i++) {
        const struct cell *cell = &table->cells[i];
        const char *text = rows_text(rows, row, columns[i]), *why = NULL;

        if (text != NULL && text[0] != '\0')
            why = read_cell(loader, cell, text, target + cell->offset);
        else if ((cell->flags & CELL_REQUIRED) != 0)
            why = "is empty";
        else if (cell->kind == CELL_FLAG)
            *(int *)(void *)(target + cell->offset) = -1;
        if (why != NULL)
            return loader_refuse(loader, table->table, key, cell->column, why);
    }
    return true;
}

static bool
read_rows(struct loader *loader, const struct cell_table *table, const struct rows *rows,
          bool (*finish)(struct loader *, const struct cell_table *, void *), void **ret_rows)
{
    int columns[MAX_CELLS] = { 0 };
    char *array;

    if (!find_columns(loader, table, rows, columns))
        return false;
    if (rows->row_count > table->max_rows)
        return loader_refuse(loader, table->table, NULL, NULL, "too many rows");
    array = loader_array(loader, rows->row_count, table->row_size);
    if (array == NULL)
        return false;
    for (size_t i = 0; i < rows->row_count; i++) {
        if (!read_row(loader, table, rows, i, columns, array + i * table->row_size) ||
            (finish != NULL && !finish(loader, table, array + i * table->row_size)))
            return false;
    }
    *ret_rows = array;
    return true;
}

bool
cells_load(struct loader *loader, const struct cell_table *table,
           bool (*finish)(struct loader *, const struct cell_table *, void *), void **ret_rows, size_t *ret_count)
{
    char why[DB_WHY_SIZE] = "";
    struct rows rows;
    bool sound;

    if (!loader->source->read_table(loader->source->context, table->table, &rows, why, sizeof(why))) {
        loader->not_read = true;
        return loader_refuse(loader, table->table, NULL, NULL, why);
    }
    sound = read_rows(loader, table, &rows, finish, ret_rows);
    *ret_count = rows.row_count;
    rows_done(&rows);
    return sound;
}

static const char *
key_at(const void *row)
{
    const char *key;

    memcpy(&key, row, sizeof(key));
    return key;
}

static int
by_key(const void *a, const void *b)
{
    return strcmp(key_at(a), key_at(b));
}

bool
cells_sort(struct loader *loader, const struct cell_table *table, void *rows, size_t count)
{
    const char *bytes = rows;

    qsort(rows, count, table->row_size, by_key);
    for (size_t i = 1; i < count; i++) {
        const char *key = key_at(bytes + i * table->row_size);

        if (strcmp(key_at(bytes + (i - 1) * table->row_size), key) == 0)
            return loader_refuse(loader, table->table, key, table->cells[0].column, "stands twice");
    }
    return true;
}
