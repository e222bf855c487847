/* Looking into rows by their columns. */
#include "api/json/catalog_columns.h"

#include <string.h>

const struct catalog_list *const catalog_lists[] = {
    &gpus_list,    &instances_list, &servers_list,   &prices_list, &models_list,
    &storage_list, &networks_list,  &providers_list, &fx_list,
};
const size_t catalog_list_count = COUNT_OF(catalog_lists);

const struct catalog_list *
catalog_list_find(const char *name)
{
    for (size_t i = 0; i < catalog_list_count; i++) {
        if (strcmp(catalog_lists[i]->name, name) == 0)
            return catalog_lists[i];
    }
    return NULL;
}

const void *
catalog_row(const struct catalog_list *list, const struct catalog *catalog, size_t i)
{
    size_t count;

    return (const char *)list->rows(catalog, &count) + i * list->row_size;
}

const char *
catalog_row_id(const void *row)
{
    const char *id;

    memcpy(&id, row, sizeof id);
    return id;
}

size_t
catalog_list_size(const struct catalog_list *list, const struct catalog *catalog)
{
    size_t count, belonging = 0;

    (void)list->rows(catalog, &count);
    if (!list->belongs)
        return count;
    for (size_t i = 0; i < count; i++)
        belonging += list->belongs(catalog_row(list, catalog, i));
    return belonging;
}

/* Lists are sorted by id, but for prices (by offer first): there every row is looked at. */
const void *
catalog_row_find(const struct catalog_list *list, const struct catalog *catalog, const char *id)
{
    size_t first = 0, end;

    (void)list->rows(catalog, &end);
    if (list->price) {
        for (; first < end; first++) {
            if (strcmp(catalog_row_id(catalog_row(list, catalog, first)), id) == 0)
                return catalog_row(list, catalog, first);
        }
        return NULL;
    }
    while (first < end) {
        size_t middle = first + (end - first) / 2;
        const void *row = catalog_row(list, catalog, middle);
        int order = strcmp(catalog_row_id(row), id);

        if (order == 0)
            return list->belongs && !list->belongs(row) ? NULL : row;
        if (order < 0)
            first = middle + 1;
        else
            end = middle;
    }
    return NULL;
}

size_t
catalog_spelling_count(const struct catalog_list *list, const struct catalog *catalog)
{
    return list->spellings ? list->spellings(catalog).count : 0;
}

const char *
catalog_row_spelling(const struct catalog_list *list, const struct catalog *catalog, const void *row, size_t i)
{
    const struct alias *alias = &list->spellings(catalog).aliases[i];

    return catalog_row(list, catalog, alias->index) == row ? alias->alias : NULL;
}

const struct catalog_column *
catalog_column_find(const struct catalog_list *list, const char *name)
{
    for (size_t i = 0; i < list->column_count; i++) {
        if (strcmp(list->columns[i].name, name) == 0)
            return &list->columns[i];
    }
    return NULL;
}

bool
catalog_column_is_scalar(const struct catalog_column *column)
{
    return column->kind != COLUMN_ALIASES && column->kind != COLUMN_PRICES;
}

bool
catalog_column_is_number(const struct catalog_column *column)
{
    switch (column->kind) {
    case COLUMN_U32:
    case COLUMN_U64:
    case COLUMN_REAL:
    case COLUMN_RATE:
    case COLUMN_MONEY:
        return true;
    case COLUMN_OF:
        return column->read_kind == COLUMN_IS_NUMBER;
    case COLUMN_TEXT:
    case COLUMN_BOOL:
    case COLUMN_FLAG:
    case COLUMN_LETTER:
    case COLUMN_CURRENCY:
    case COLUMN_ALIASES:
    case COLUMN_PRICES:
        return false;
    }
    return false;
}

bool
catalog_column_is_truth(const struct catalog_column *column)
{
    return column->kind == COLUMN_BOOL || column->kind == COLUMN_FLAG ||
           (column->kind == COLUMN_OF && column->read_kind == COLUMN_IS_TRUTH);
}

struct catalog_value
catalog_text(const char *text)
{
    if (!text || !*text)
        return (struct catalog_value){ .kind = VALUE_NONE };
    return (struct catalog_value){ .kind = VALUE_TEXT, .text = text };
}

static struct catalog_value
whole_value(uint64_t whole)
{
    return whole ? (struct catalog_value){ .kind = VALUE_WHOLE, .whole = whole } : (struct catalog_value){ VALUE_NONE };
}

static struct catalog_value
real_value(double real)
{
    return real != 0 ? (struct catalog_value){ .kind = VALUE_REAL, .real = real }
                     : (struct catalog_value){ VALUE_NONE };
}

static struct catalog_value
truth_value(int flag)
{
    return flag >= 0 ? (struct catalog_value){ .kind = VALUE_TRUTH, .truth = flag > 0 }
                     : (struct catalog_value){ VALUE_NONE };
}

/* Letters as texts of one character. */
static struct catalog_value
letter_value(char letter)
{
    static const char *const letters[] = { "A", "B", "C" };

    return letter >= 'A' && letter <= 'C' ? catalog_text(letters[letter - 'A']) : catalog_text(NULL);
}

struct catalog_value
catalog_value(const struct catalog_view *view, const struct catalog_column *column, const void *row)
{
    const void *cell = (const char *)row + column->offset;

    switch (column->kind) {
    case COLUMN_TEXT:
        return catalog_text(*(const char *const *)cell);
    case COLUMN_U32:
        return whole_value(*(const uint32_t *)cell);
    case COLUMN_U64:
        return whole_value(*(const uint64_t *)cell);
    case COLUMN_REAL:
    case COLUMN_RATE:
        return real_value(*(const double *)cell);
    case COLUMN_BOOL:
        return truth_value(*(const bool *)cell);
    case COLUMN_FLAG:
        return truth_value(*(const int *)cell);
    case COLUMN_LETTER:
        return letter_value(*(const char *)cell);
    case COLUMN_CURRENCY:
        return catalog_text(currency_code(*(const enum currency *)cell));
    case COLUMN_MONEY:
        if (((const struct money *)cell)->currency == CURRENCY_UNSAID)
            return catalog_text(NULL);
        return (struct catalog_value){ .kind = VALUE_MONEY, .money = *(const struct money *)cell };
    case COLUMN_OF:
        return column->read(view, row);
    case COLUMN_ALIASES:
    case COLUMN_PRICES:
        break;
    }
    return catalog_text(NULL);
}

bool
price_holds(const struct catalog_view *view, const struct price *price)
{
    return strcmp(price->valid_from, view->date) <= 0 && (!price->valid_to || strcmp(view->date, price->valid_to) < 0);
}

/* The first price of an offer or of any that comes after it. */
static size_t
first_price_of(const struct catalog *catalog, const char *offer_id)
{
    size_t first = 0, end = catalog->price_count;

    while (first < end) {
        size_t middle = first + (end - first) / 2;

        if (strcmp(catalog->prices[middle].offer_id, offer_id) < 0)
            first = middle + 1;
        else
            end = middle;
    }
    return first;
}

const struct price *
offer_prices(const struct catalog_view *view, const struct offer *offer, size_t *ret_count)
{
    const struct catalog *catalog = view->catalog;
    size_t first, end;

    if (view->is_current) {
        *ret_count = offer->price_count;
        return offer->prices;
    }
    first = end = first_price_of(catalog, offer->id);
    while (end < catalog->price_count && strcmp(catalog->prices[end].offer_id, offer->id) == 0)
        end++;
    *ret_count = end - first;
    return catalog->prices + first;
}
