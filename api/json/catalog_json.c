/* One object a row, by the list's columns. */
#include "api/json/catalog_json.h"

#include <stdio.h>

struct column_choice
catalog_columns_all(const struct catalog_list *list)
{
    struct column_choice choice = { .count = list->column_count };

    for (size_t i = 0; i < list->column_count; i++)
        choice.columns[i] = &list->columns[i];
    return choice;
}

/* The writer's reals have six digits, which is too few for an exchange rate. */
static void
write_rate(struct json_writer *writer, const char *name, double rate)
{
    char text[32];
    int size = snprintf(text, sizeof text, "%.10g", rate);

    writer_raw(writer, name, text, (size_t)size);
}

static void
write_value(struct json_writer *writer, const struct catalog_column *column, struct catalog_value value)
{
    switch (value.kind) {
    case VALUE_NONE:
        writer_null(writer, column->name);
        break;
    case VALUE_TEXT:
        writer_text(writer, column->name, value.text);
        break;
    case VALUE_WHOLE:
        writer_u64(writer, column->name, value.whole);
        break;
    case VALUE_REAL:
        if (column->kind == COLUMN_RATE)
            write_rate(writer, column->name, value.real);
        else
            writer_real(writer, column->name, value.real);
        break;
    case VALUE_TRUTH:
        writer_bool(writer, column->name, value.truth);
        break;
    case VALUE_MONEY:
        writer_money(writer, column->name, value.money);
        break;
    }
}

static void
write_aliases(struct json_writer *writer, const struct catalog_view *view, const struct catalog_list *list,
              const void *row)
{
    size_t count = catalog_spelling_count(list, view->catalog);

    writer_array(writer, "aliases");
    for (size_t i = 0; i < count; i++) {
        const char *spelling = catalog_row_spelling(list, view->catalog, row, i);

        if (spelling)
            writer_text(writer, NULL, spelling);
    }
    writer_end_array(writer);
}

static void
write_prices(struct json_writer *writer, const struct catalog_view *view, const void *row)
{
    size_t count;
    const struct price *prices = offer_prices(view, row, &count);

    writer_array(writer, "prices");
    for (size_t i = 0; i < count; i++) {
        if (!price_holds(view, &prices[i]))
            continue;
        writer_object(writer, NULL);
        for (size_t j = 0; j < price_members.column_count; j++) {
            const struct catalog_column *column = &price_members.columns[j];

            write_value(writer, column, catalog_value(view, column, &prices[i]));
        }
        writer_end_object(writer);
    }
    writer_end_array(writer);
}

void
catalog_members_write(struct json_writer *writer, const struct catalog_view *view, const struct catalog_list *list,
                      const struct column_choice *choice, const void *row)
{
    for (size_t i = 0; i < choice->count; i++) {
        const struct catalog_column *column = choice->columns[i];

        if (column->kind == COLUMN_ALIASES)
            write_aliases(writer, view, list, row);
        else if (column->kind == COLUMN_PRICES)
            write_prices(writer, view, row);
        else
            write_value(writer, column, catalog_value(view, column, row));
    }
}

void
catalog_row_write(struct json_writer *writer, const struct catalog_view *view, const struct catalog_list *list,
                  const struct column_choice *choice, const void *row)
{
    writer_object(writer, NULL);
    catalog_members_write(writer, view, list, choice, row);
    writer_end_object(writer);
}
