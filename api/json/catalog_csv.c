/* Cells, quoted where they must be. */
#include "api/json/catalog_csv.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

enum { NUMBER_SIZE = 40 };

static void
append_text(struct buffer *out, const char *text)
{
    buffer_append(out, text, strlen(text));
}

/* A formula starts with one of these, for one spreadsheet or another. */
static bool
looks_like_formula(const char *text)
{
    return *text && strchr("=+-@\t\r", *text);
}

static void
append_cell(struct buffer *out, const char *text)
{
    bool guarded = looks_like_formula(text), quoted = strpbrk(text, "\",\r\n") != NULL;

    if (quoted)
        append_text(out, "\"");
    if (guarded)
        append_text(out, "'");
    while (*text) {
        size_t plain = strcspn(text, "\"");

        buffer_append(out, text, plain);
        text += plain;
        if (*text) {
            append_text(out, "\"\"");
            text++;
        }
    }
    if (quoted)
        append_text(out, "\"");
}

void
catalog_csv_header(struct buffer *out, const struct column_choice *choice)
{
    append_text(out, "\xEF\xBB\xBF");
    for (size_t i = 0; i < choice->count; i++) {
        if (i > 0)
            append_text(out, ",");
        append_text(out, choice->columns[i]->name);
    }
    append_text(out, "\r\n");
}

static void
append_number(struct buffer *out, double value)
{
    char text[NUMBER_SIZE];

    (void)snprintf(text, sizeof text, value == (double)(int64_t)value ? "%.0f" : "%.10g", value);
    append_text(out, text);
}

static bool
shows_currency(const struct column_choice *choice)
{
    for (size_t i = 0; i < choice->count; i++) {
        if (choice->columns[i]->kind == COLUMN_CURRENCY)
            return true;
    }
    return false;
}

static void
append_value(struct buffer *out, const struct column_choice *choice, struct catalog_value value)
{
    char text[NUMBER_SIZE];

    switch (value.kind) {
    case VALUE_NONE:
        break;
    case VALUE_TEXT:
        append_cell(out, value.text);
        break;
    case VALUE_WHOLE:
        (void)snprintf(text, sizeof text, "%" PRIu64, value.whole);
        append_text(out, text);
        break;
    case VALUE_REAL:
        append_number(out, value.real);
        break;
    case VALUE_TRUTH:
        append_text(out, value.truth ? "true" : "false");
        break;
    case VALUE_MONEY:
        money_text(value.money, text);
        append_text(out, text);
        if (!shows_currency(choice)) {
            append_text(out, " ");
            append_text(out, currency_code(value.money.currency));
        }
        break;
    }
}

static void
join(struct buffer *joined, const char *text)
{
    if (joined->size > 0)
        append_text(joined, "; ");
    append_text(joined, text);
}

static void
join_aliases(struct buffer *joined, const struct catalog_view *view, const struct catalog_list *list, const void *row)
{
    size_t count = catalog_spelling_count(list, view->catalog);

    for (size_t i = 0; i < count; i++) {
        const char *spelling = catalog_row_spelling(list, view->catalog, row, i);

        if (spelling)
            join(joined, spelling);
    }
}

/* "on_demand cn-mainland 8.50 CNY/hour": enough to see; /catalog/prices has the rows. */
static void
join_price(struct buffer *joined, const struct price *price)
{
    static const char *const units[] = {
        [PRICE_PER_HOUR] = "hour", [PRICE_PER_MONTH] = "month", [PRICE_PER_UNIT] = "unit"
    };
    char low[MONEY_TEXT_SIZE], high[MONEY_TEXT_SIZE];

    money_text(price->low, low);
    money_text(price->high, high);
    join(joined, price_type_names[price->type]);
    append_text(joined, " ");
    append_text(joined, price->region);
    append_text(joined, " ");
    append_text(joined, low);
    if (strcmp(low, high) != 0) {
        append_text(joined, "..");
        append_text(joined, high);
    }
    append_text(joined, " ");
    append_text(joined, currency_code(price->low.currency));
    append_text(joined, "/");
    append_text(joined, units[price->unit]);
}

static void
join_prices(struct buffer *joined, const struct catalog_view *view, const void *row)
{
    size_t count;
    const struct price *prices = offer_prices(view, row, &count);

    for (size_t i = 0; i < count; i++) {
        if (price_holds(view, &prices[i]))
            join_price(joined, &prices[i]);
    }
}

static void
append_array(struct buffer *out, const struct catalog_view *view, const struct catalog_list *list,
             const struct catalog_column *column, const void *row)
{
    struct buffer *joined = buffer_take();

    if (!joined) {
        out->failed = true;
        return;
    }
    joined->size = 0;
    if (column->kind == COLUMN_ALIASES)
        join_aliases(joined, view, list, row);
    else
        join_prices(joined, view, row);
    buffer_append(joined, "", 1);
    if (joined->failed)
        out->failed = true;
    else
        append_cell(out, joined->bytes);
    buffer_give(joined);
}

void
catalog_csv_row(struct buffer *out, const struct catalog_view *view, const struct catalog_list *list,
                const struct column_choice *choice, const void *row)
{
    for (size_t i = 0; i < choice->count; i++) {
        const struct catalog_column *column = choice->columns[i];

        if (i > 0)
            append_text(out, ",");
        if (!catalog_column_is_scalar(column))
            append_array(out, view, list, column, row);
        else
            append_value(out, choice, catalog_value(view, column, row));
    }
    append_text(out, "\r\n");
}
