/* What the query string of a catalog request asks for. */
#ifndef API_HANDLERS_CATALOG_QUERY_H
#define API_HANDLERS_CATALOG_QUERY_H

#include "api/http/request.h"
#include "api/json/catalog_columns.h"
#include "service/base/result.h"

enum { MAX_SORT_COLUMNS = 4, DEFAULT_LIMIT = 50, MAX_LIMIT = 200 };

struct catalog_filter {
    const struct catalog_column *column;
    enum { FILTER_EQUAL = 0, FILTER_MIN, FILTER_MAX } relation;
    const char *text; /* as given: one word, or several with commas between, one of which is to fit */
    double number;
    bool truth;
};

struct catalog_sort {
    const struct catalog_column *column;
    bool descending;
};

struct catalog_query {
    enum media_type media;
    size_t filter_count;
    struct catalog_filter filters[MAX_QUERY_PARAMETERS];
    size_t sort_count;
    struct catalog_sort sort[MAX_SORT_COLUMNS];
    struct column_choice choice;
    const char *words;        /* q, NULL when absent */
    size_t limit;             /* rows a page; SIZE_MAX: all */
    const char *cursor;       /* NULL when absent */
    struct catalog_view view; /* its catalog, and the day whose prices are meant */
    uint64_t shape;           /* fingerprint of all that decides which rows come in which order */
};

/* Reads the parameters of a list, or (`one_row`) of one row: there only fields, as_of and format. All faults at once:
 * UNKNOWN_PARAMETER with the nearest known, BAD_PARAMETER with what was expected. Everything is lent by the request
 * and the catalog. */
enum status
catalog_query_read(const struct request *request, const struct catalog_list *list, const struct catalog *catalog,
                   bool one_row, struct catalog_query *ret_query, struct fault *ret_fault);

/* The media type that a request asks for: by format=, else by Accept. MEDIA_NONE: format= is none of them. */
enum media_type catalog_media(const struct request *request);

#endif
