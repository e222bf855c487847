/* A complete request, as handlers see it. */
#ifndef API_HTTP_REQUEST_H
#define API_HTTP_REQUEST_H

#include <stdbool.h>
#include <stddef.h>

enum language { LANGUAGE_EN = 0, LANGUAGE_ZH_CN, LANGUAGE_COUNT };
enum media_type { MEDIA_JSON = 0, MEDIA_CSV, MEDIA_NDJSON, MEDIA_PROBLEM, MEDIA_TEXT, MEDIA_YAML, MEDIA_NONE };
enum http_method { HTTP_GET = 0, HTTP_HEAD, HTTP_POST, HTTP_OPTIONS, HTTP_PATCH, HTTP_PUT, HTTP_DELETE, HTTP_UNKNOWN };

enum { MAX_QUERY_PARAMETERS = 48, REQUEST_ID_SIZE = 33 };

struct query_parameter {
    const char *name, *value; /* decoded, valid UTF-8 without NUL; value "" when there is no '=' */
};

/* All texts are lent until the handler returns. */
struct request {
    enum http_method method;
    const char *path;      /* decoded */
    const char *path_tail; /* what a route's trailing {id} matched, decoded; NULL when the route has none */
    const char *body;      /* NUL-terminated for convenience; may hold NULs */
    size_t body_size;
    struct query_parameter query[MAX_QUERY_PARAMETERS];
    size_t query_count;
    const char *if_none_match; /* NULL when absent */
    const char *host;          /* for absolute links; NULL when absent */
    enum language language;    /* by Accept-Language */
    enum media_type accept;    /* the first of JSON, CSV, NDJSON that Accept allows (JSON without Accept) */
    char request_id[REQUEST_ID_SIZE];
};

/* The value of a query parameter, NULL when absent. */
const char *request_query(const struct request *request, const char *name);

#endif
