/* Filtering, searching and sorting rows by their columns. */
#include "api/handlers/catalog_select.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

enum { MAX_TEXTS = 4, MAX_WORD_SIZE = 128 };

/* --- filters --- */

/* Whether a text is the wanted one, or one of several wanted with commas between; ASCII case does not matter. */
static bool
text_fits(const char *text, const char *wanted)
{
    size_t size = strlen(text);

    if (strcasecmp(text, wanted) == 0)
        return true;
    while (*wanted) {
        size_t length = strcspn(wanted, ",");

        if (length == size && strncasecmp(wanted, text, size) == 0)
            return true;
        wanted += length + (wanted[length] == ',');
    }
    return false;
}

static double
number_of(struct catalog_value value)
{
    switch (value.kind) {
    case VALUE_WHOLE:
        return (double)value.whole;
    case VALUE_REAL:
        return value.real;
    case VALUE_MONEY:
        return money_amount(value.money);
    case VALUE_TRUTH:
    case VALUE_TEXT:
    case VALUE_NONE:
        break;
    }
    return 0;
}

/* What is not known fits no filter. */
static bool
filter_fits(const struct catalog_filter *filter, struct catalog_value value)
{
    double number = number_of(value);

    if (value.kind == VALUE_NONE)
        return false;
    if (value.kind == VALUE_TEXT)
        return text_fits(value.text, filter->text);
    if (value.kind == VALUE_TRUTH)
        return value.truth == filter->truth;
    switch (filter->relation) {
    case FILTER_EQUAL:
        return number == filter->number;
    case FILTER_MIN:
        return number >= filter->number;
    case FILTER_MAX:
        return number <= filter->number;
    }
    return false;
}

/* A parameter that stands several times is met by any of its values. */
static bool
filters_fit(const struct catalog_query *query, const void *row)
{
    for (size_t i = 0; i < query->filter_count; i++) {
        const struct catalog_filter *filter = &query->filters[i];
        struct catalog_value value = catalog_value(&query->view, filter->column, row);
        bool fits = false;

        for (size_t j = 0; j < query->filter_count && !fits; j++) {
            const struct catalog_filter *same = &query->filters[j];

            if (same->column == filter->column && same->relation == filter->relation)
                fits = filter_fits(same, value);
        }
        if (!fits)
            return false;
    }
    return true;
}

/* --- words --- */

static unsigned char
lower(char c)
{
    return (unsigned char)(c >= 'A' && c <= 'Z' ? c - 'A' + 'a' : c);
}

static bool
holds_word(const char *text, const char *word, size_t size)
{
    for (; *text; text++) {
        size_t i = 0;

        while (i < size && text[i] && lower(text[i]) == lower(word[i]))
            i++;
        if (i == size)
            return true;
    }
    return false;
}

static bool
row_holds_word(const struct catalog_query *query, const struct catalog_list *list, const void *row, const char *word,
               size_t size)
{
    const char *texts[MAX_TEXTS] = { NULL };
    size_t spellings = catalog_spelling_count(list, query->view.catalog);

    list->texts(row, texts);
    for (size_t i = 0; i < MAX_TEXTS; i++) {
        if (texts[i] && holds_word(texts[i], word, size))
            return true;
    }
    for (size_t i = 0; i < spellings; i++) {
        const char *spelling = catalog_row_spelling(list, query->view.catalog, row, i);

        if (spelling && holds_word(spelling, word, size))
            return true;
    }
    return false;
}

/* Every word stands somewhere in the row's names. */
static bool
words_fit(const struct catalog_query *query, const struct catalog_list *list, const void *row)
{
    const char *word = query->words;

    while (word && *word) {
        size_t size = strcspn(word, " ");

        if (size > 0 && !row_holds_word(query, list, row, word, size))
            return false;
        word += size + (word[size] == ' ');
    }
    return true;
}

/* --- order --- */

static int
number_order(double a, double b)
{
    return (a > b) - (a < b);
}

/* Money of several currencies is compared in dollars; where no rate is known, by its number. */
static double
comparable(const struct catalog *catalog, struct catalog_value value)
{
    struct money dollars;

    if (value.kind == VALUE_MONEY && catalog_exchange(catalog, value.money, CURRENCY_USD, &dollars, NULL))
        return money_amount(dollars);
    return number_of(value);
}

static int
value_order(const struct catalog *catalog, struct catalog_value a, struct catalog_value b)
{
    if (a.kind == VALUE_TEXT && b.kind == VALUE_TEXT)
        return strcmp(a.text, b.text);
    if (a.kind == VALUE_TRUTH && b.kind == VALUE_TRUTH)
        return (int)a.truth - (int)b.truth;
    return number_order(comparable(catalog, a), comparable(catalog, b));
}

struct order {
    const struct catalog_query *query;
};

/* What is not known comes last whichever way is sorted; the id decides at last, so that the order is total. */
static int
row_order(const void *a, const void *b, void *context)
{
    const struct catalog_query *query = ((const struct order *)context)->query;
    const void *left = *(const void *const *)a, *right = *(const void *const *)b;

    for (size_t i = 0; i < query->sort_count; i++) {
        const struct catalog_sort *sort = &query->sort[i];
        struct catalog_value of_left = catalog_value(&query->view, sort->column, left);
        struct catalog_value of_right = catalog_value(&query->view, sort->column, right);
        int order;

        if (of_left.kind == VALUE_NONE || of_right.kind == VALUE_NONE)
            order = (of_left.kind == VALUE_NONE) - (of_right.kind == VALUE_NONE);
        else
            order = value_order(query->view.catalog, of_left, of_right) * (sort->descending ? -1 : 1);
        if (order != 0)
            return order;
    }
    return strcmp(catalog_row_id(left), catalog_row_id(right));
}

/* --- page --- */

static bool
fits(const struct catalog_query *query, const struct catalog_list *list, const void *row)
{
    if (list->belongs && !list->belongs(row))
        return false;
    if (list->price && !price_holds(&query->view, list->price(row)))
        return false;
    return filters_fit(query, row) && words_fit(query, list, row);
}

static bool
find_page(struct catalog_selection *selection, const char *after_id, size_t limit)
{
    size_t first = 0;

    if (after_id) {
        while (first < selection->count && strcmp(catalog_row_id(selection->rows[first]), after_id) != 0)
            first++;
        if (first == selection->count)
            return false;
        first++;
    }
    selection->first = first;
    selection->end = limit < selection->count - first ? first + limit : selection->count;
    return true;
}

enum status
catalog_select(const struct catalog_query *query, const struct catalog_list *list, const char *after_id,
               struct catalog_selection *ret_selection, struct fault *ret_fault)
{
    struct catalog_selection selection = { .count = 0 };
    struct order order = { query };
    size_t total;

    (void)list->rows(query->view.catalog, &total);
    selection.rows = malloc((total ? total : 1) * sizeof *selection.rows);
    if (!selection.rows) {
        fault_add(ret_fault, FAULT_OVERLOADED, "", NULL, NULL, NULL);
        return STATUS_FAULT;
    }
    for (size_t i = 0; i < total; i++) {
        const void *row = catalog_row(list, query->view.catalog, i);

        if (fits(query, list, row))
            selection.rows[selection.count++] = row;
    }
    if (query->sort_count > 0 || list->price) /* all but prices stand in the order of their ids */
        qsort_r(selection.rows, selection.count, sizeof *selection.rows, row_order, &order);
    if (!find_page(&selection, after_id, query->limit)) {
        struct fault_item *item = fault_add(ret_fault, FAULT_CURSOR_INVALID, "cursor", query->cursor, NULL, NULL);

        if (item)
            item->is_parameter = true;
        catalog_selection_done(&selection);
        return STATUS_FAULT;
    }
    *ret_selection = selection;
    return STATUS_OK;
}

void
catalog_selection_done(struct catalog_selection *selection)
{
    free(selection->rows);
}
