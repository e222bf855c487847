/* One row a parameter that every list has; columns of the list are parameters, too. */
#include "api/handlers/catalog_query.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "api/handlers/catalog_vocabulary.h"
#include "api/http/etag.h"
#include "api/json/catalog_json.h"
#include "service/base/text.h"

enum {
    NAME_SIZE = 64,
    MAX_KNOWN_NAMES = 3 * MAX_CATALOG_COLUMNS + 8,
};

struct reading {
    const struct catalog_list *list;
    const struct catalog *catalog;
    struct catalog_query *query;
    struct fault *fault;
};

static void
refuse(struct reading *reading, enum fault_code code, const char *parameter, const char *value, const char *expected,
       const char *suggestion)
{
    struct fault_item *item = fault_add(reading->fault, code, parameter, value, expected, suggestion);

    if (item)
        item->is_parameter = true;
}

/* --- values --- */

static void
read_limit(struct reading *reading, const char *name, const char *value)
{
    char *end;
    unsigned long long limit = strtoull(value, &end, 10);

    if (*end || *value < '0' || *value > '9' || limit == 0) {
        refuse(reading, FAULT_BAD_PARAMETER, name, value, "integer 1..200", NULL);
        return;
    }
    reading->query->limit = limit > SIZE_MAX ? SIZE_MAX : (size_t)limit;
    if (reading->query->media == MEDIA_JSON && limit > MAX_LIMIT)
        reading->query->limit = MAX_LIMIT; /* cut, not refused: zalando/restful-api-guidelines, rule 160 */
}

static void
read_words(struct reading *reading, const char *name, const char *value)
{
    (void)name;
    reading->query->words = value;
}

static void
read_cursor(struct reading *reading, const char *name, const char *value)
{
    (void)name;
    reading->query->cursor = value;
}

static void
read_format(struct reading *reading, const char *name, const char *value)
{
    if (reading->query->media == MEDIA_NONE)
        refuse(reading, FAULT_BAD_PARAMETER, name, value, "one of json|csv|ndjson", NULL);
}

/* A name that is no column of the list (or none that can be sorted by). */
static void
refuse_column(struct reading *reading, const char *parameter, const char *word, bool scalar_only)
{
    const struct catalog_list *list = reading->list;
    const char *names[MAX_CATALOG_COLUMNS];
    char expected[FAULT_TEXT_SIZE] = "one of ";
    size_t count = 0;

    for (size_t i = 0; i < list->column_count; i++) {
        if (!scalar_only || catalog_column_is_scalar(&list->columns[i]))
            names[count++] = list->columns[i].name;
    }
    for (size_t i = 0; i < count; i++) {
        size_t used = strlen(expected);

        if (used + strlen(names[i]) + sizeof "||..." > sizeof expected) {
            text_copy(expected + used, sizeof expected - used, "|...");
            break;
        }
        text_format(expected + used, sizeof expected - used, i > 0 ? "|%s" : "%s", names[i]);
    }
    refuse(reading, FAULT_BAD_PARAMETER, parameter, word, expected, text_nearest(word, names, count));
}

/* The next of several names with commas between; false at the end. */
static bool
next_name(const char **rest, char name[NAME_SIZE])
{
    size_t length;

    if (!*rest)
        return false;
    length = strcspn(*rest, ",");
    text_format(name, NAME_SIZE, "%.*s", (int)(length < NAME_SIZE ? length : NAME_SIZE), *rest);
    *rest = (*rest)[length] ? *rest + length + 1 : NULL;
    return true;
}

static void
read_sort(struct reading *reading, const char *name, const char *value)
{
    struct catalog_query *query = reading->query;
    const char *rest = value;
    char word[NAME_SIZE];

    while (next_name(&rest, word)) {
        bool descending = word[0] == '-';
        const char *column_name = word + (descending || word[0] == '+' || word[0] == ' '); /* "+" may come decoded */
        const struct catalog_column *column = catalog_column_find(reading->list, column_name);

        if (!column || !catalog_column_is_scalar(column))
            refuse_column(reading, name, column_name, true);
        else if (query->sort_count == MAX_SORT_COLUMNS)
            refuse(reading, FAULT_BAD_PARAMETER, name, word, "at most 4", NULL);
        else
            query->sort[query->sort_count++] = (struct catalog_sort){ column, descending };
    }
}

static void
read_fields(struct reading *reading, const char *name, const char *value)
{
    struct column_choice *choice = &reading->query->choice;
    const char *rest = value;
    char word[NAME_SIZE];

    choice->count = 0;
    while (next_name(&rest, word)) {
        const struct catalog_column *column = catalog_column_find(reading->list, word);
        bool twice = false;

        for (size_t i = 0; i < choice->count; i++)
            twice = twice || choice->columns[i] == column;
        if (!column)
            refuse_column(reading, name, word, false);
        else if (!twice && choice->count < MAX_CATALOG_COLUMNS)
            choice->columns[choice->count++] = column;
    }
}

/* --- time --- */

static bool
digits_at(const char *text, const char *form)
{
    for (; *form; form++, text++) {
        if (*form == '0' ? *text < '0' || *text > '9' : *text != *form)
            return false;
    }
    return true;
}

/* A day, or a time of it in UTC. Only the day counts: prices change by the day. */
static bool
is_day_or_time(const char *text)
{
    const char *end = text + strlen("0000-00-00");

    if (!digits_at(text, "0000-00-00") || strncmp(text + 5, "00", 2) == 0 || strncmp(text + 5, "12", 2) > 0 ||
        strncmp(text + 8, "00", 2) == 0 || strncmp(text + 8, "31", 2) > 0)
        return false;
    if (!*end)
        return true;
    if (!digits_at(end, "T00:00:00"))
        return false;
    end += strlen("T00:00:00");
    if (*end == '.')
        end += 1 + strspn(end + 1, "0123456789");
    return strcmp(end, "Z") == 0;
}

static bool
has_prices(const struct catalog_list *list)
{
    return list->price || catalog_column_find(list, "prices");
}

/* Only prices say from when to when they hold; what else stood in the catalog on a day of the past is not known. */
static void
read_as_of(struct reading *reading, const char *name, const char *value)
{
    struct catalog_view *view = &reading->query->view;
    char expected[NAME_SIZE], day[sizeof view->date];

    text_copy(day, sizeof day, value);
    text_format(expected, sizeof expected, "%s or later", reading->catalog->as_of);
    if (!is_day_or_time(value)) {
        refuse(reading, FAULT_BAD_PARAMETER, name, value, "YYYY-MM-DD | YYYY-MM-DDThh:mm:ssZ", NULL);
    } else if (!has_prices(reading->list) && strcmp(day, view->date) < 0) {
        refuse(reading, FAULT_BAD_PARAMETER, name, value, expected, NULL);
    } else if (strcmp(day, view->date) != 0) {
        text_copy(view->date, sizeof view->date, day);
        view->is_current = false;
    }
}

/* --- filters --- */

static const struct {
    const char *ending;
    int relation;
} relations[] = { { "", FILTER_EQUAL }, { "_min", FILTER_MIN }, { "_max", FILTER_MAX } };

/* The column and relation that a parameter filters by: "vendor", "gpu_count_min". */
static bool
filter_of(const struct catalog_list *list, const char *parameter, struct catalog_filter *ret_filter)
{
    size_t size = strlen(parameter);

    for (size_t i = 0; i < COUNT_OF(relations); i++) {
        size_t ending = strlen(relations[i].ending);
        char name[NAME_SIZE];
        const struct catalog_column *column;

        if (size <= ending || size >= NAME_SIZE || strcmp(parameter + size - ending, relations[i].ending) != 0)
            continue;
        text_format(name, sizeof name, "%.*s", (int)(size - ending), parameter);
        column = catalog_column_find(list, name);
        if (column && catalog_column_is_scalar(column) && (ending == 0 || catalog_column_is_number(column))) {
            *ret_filter = (struct catalog_filter){ .column = column };
            ret_filter->relation = relations[i].relation;
            return true;
        }
    }
    return false;
}

static bool
read_number(const char *text, double *ret_number)
{
    char *end;

    if (!*text || text[strspn(text, "0123456789+-.eE")])
        return false;
    *ret_number = strtod(text, &end);
    return !*end && isfinite(*ret_number);
}

/* Each of several words must be one that the column can hold. */
static void
check_words(struct reading *reading, const struct query_parameter *parameter, const char *column)
{
    const char *rest = parameter->value, *nearest = NULL;
    char word[NAME_SIZE], expected[FAULT_TEXT_SIZE];

    while (next_name(&rest, word)) {
        if (word[0] && !vocabulary_has(reading->catalog, column, word, expected, &nearest))
            refuse(reading, FAULT_BAD_PARAMETER, parameter->name, word, expected, nearest);
    }
}

static void
read_filter(struct reading *reading, const struct query_parameter *parameter, struct catalog_filter filter)
{
    struct catalog_query *query = reading->query;
    const char *value = parameter->value;

    filter.text = value;
    if (catalog_column_is_number(filter.column) && !read_number(value, &filter.number)) {
        refuse(reading, FAULT_BAD_PARAMETER, parameter->name, value, "number", NULL);
        return;
    }
    if (catalog_column_is_truth(filter.column)) {
        filter.truth = strcmp(value, "true") == 0;
        if (!filter.truth && strcmp(value, "false") != 0) {
            refuse(reading, FAULT_BAD_PARAMETER, parameter->name, value, "one of true|false", NULL);
            return;
        }
    }
    if (filter.relation == FILTER_EQUAL)
        check_words(reading, parameter, filter.column->name);
    query->filters[query->filter_count++] = filter;
}

/* --- parameters --- */

static const struct common_parameter {
    const char *name;
    void (*read)(struct reading *reading, const char *name, const char *value);
    bool of_one_row; /* also taken where one row is asked for */
    bool shapes;     /* decides which rows come in which order */
} common_parameters[] = {
    { "q", read_words, false, true },       { "sort", read_sort, false, true },
    { "as_of", read_as_of, true, true },    { "fields", read_fields, true, false },
    { "limit", read_limit, false, false },  { "cursor", read_cursor, false, false },
    { "format", read_format, true, false },
};

static const struct common_parameter *
common_parameter_of(const char *name, bool one_row)
{
    for (size_t i = 0; i < COUNT_OF(common_parameters); i++) {
        if (strcmp(common_parameters[i].name, name) == 0 && (!one_row || common_parameters[i].of_one_row))
            return &common_parameters[i];
    }
    return NULL;
}

/* Names the nearest of all parameters that the list has. */
static void
refuse_unknown(struct reading *reading, const char *name, bool one_row)
{
    static const char *const ends[] = { "", "_min", "_max" };
    char texts[MAX_KNOWN_NAMES][NAME_SIZE];
    const char *names[MAX_KNOWN_NAMES];
    size_t count = 0;

    for (size_t i = 0; i < COUNT_OF(common_parameters); i++) {
        if (!one_row || common_parameters[i].of_one_row)
            names[count++] = common_parameters[i].name;
    }
    for (size_t i = 0; i < reading->list->column_count && !one_row; i++) {
        const struct catalog_column *column = &reading->list->columns[i];

        for (size_t j = 0; j < COUNT_OF(ends) && catalog_column_is_scalar(column); j++) {
            if (j > 0 && !catalog_column_is_number(column))
                break;
            text_format(texts[count], NAME_SIZE, "%s%s", column->name, ends[j]);
            names[count] = texts[count];
            count++;
        }
    }
    refuse(reading, FAULT_UNKNOWN_PARAMETER, name, NULL, NULL, text_nearest(name, names, count));
}

static bool
stands_before(const struct request *request, size_t i)
{
    for (size_t j = 0; j < i; j++) {
        if (strcmp(request->query[j].name, request->query[i].name) == 0)
            return true;
    }
    return false;
}

static void
add_to_shape(struct catalog_query *query, const struct query_parameter *parameter)
{
    query->shape = fingerprint(query->shape, parameter->name, strlen(parameter->name) + 1);
    query->shape = fingerprint(query->shape, parameter->value, strlen(parameter->value) + 1);
}

static void
read_parameter(struct reading *reading, const struct request *request, size_t i, bool one_row)
{
    const struct query_parameter *parameter = &request->query[i];
    const struct common_parameter *common = common_parameter_of(parameter->name, one_row);
    struct catalog_filter filter;

    if (common) {
        if (stands_before(request, i))
            refuse(reading, FAULT_BAD_PARAMETER, parameter->name, parameter->value, "at most 1", NULL);
        else if (parameter->value[0])
            common->read(reading, parameter->name, parameter->value);
        if (common->shapes)
            add_to_shape(reading->query, parameter);
    } else if (!one_row && filter_of(reading->list, parameter->name, &filter)) {
        if (parameter->value[0]) /* forms send what was left empty, too */
            read_filter(reading, parameter, filter);
        add_to_shape(reading->query, parameter);
    } else {
        refuse_unknown(reading, parameter->name, one_row);
    }
}

enum media_type
catalog_media(const struct request *request)
{
    const char *format = request_query(request, "format");

    if (!format || !*format)
        return request->accept;
    if (strcmp(format, "json") == 0)
        return MEDIA_JSON;
    if (strcmp(format, "csv") == 0)
        return MEDIA_CSV;
    return strcmp(format, "ndjson") == 0 ? MEDIA_NDJSON : MEDIA_NONE;
}

enum status
catalog_query_read(const struct request *request, const struct catalog_list *list, const struct catalog *catalog,
                   bool one_row, struct catalog_query *ret_query, struct fault *ret_fault)
{
    struct reading reading = { list, catalog, ret_query, ret_fault };

    ret_query->media = catalog_media(request);
    ret_query->filter_count = ret_query->sort_count = 0;
    ret_query->choice = catalog_columns_all(list);
    ret_query->words = ret_query->cursor = NULL;
    ret_query->limit = ret_query->media == MEDIA_JSON ? DEFAULT_LIMIT : SIZE_MAX;
    ret_query->view = (struct catalog_view){ .catalog = catalog, .is_current = true };
    text_copy(ret_query->view.date, sizeof ret_query->view.date, catalog->as_of);
    ret_query->shape = fingerprint(0, list->name, strlen(list->name) + 1);
    for (size_t i = 0; i < request->query_count; i++)
        read_parameter(&reading, request, i, one_row);
    return fault_any(ret_fault) ? STATUS_FAULT : STATUS_OK;
}
