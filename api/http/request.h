/* A complete request, as handlers see it. */
#ifndef API_HTTP_REQUEST_H
#define API_HTTP_REQUEST_H

#include <stdbool.h>
#include <stddef.h>

enum language { LANGUAGE_EN = 0, LANGUAGE_ZH_CN, LANGUAGE_COUNT };
enum media_type { MEDIA_JSON = 0, MEDIA_CSV, MEDIA_NDJSON, MEDIA_PROBLEM, MEDIA_TEXT, MEDIA_YAML, MEDIA_NONE };
enum http_method { HTTP_GET = 0, HTTP_HEAD, HTTP_POST, HTTP_OPTIONS, HTTP_PATCH, HTTP_PUT, HTTP_DELETE, HTTP_UNKNOWN };

enum { MAX_QUERY_PARAMETERS = 48, REQUEST_ID_SIZE = 129 };

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
    bool accepts_gzip;         /* by Accept-Encoding */
    char request_id[REQUEST_ID_SIZE];
};

/* The method of a request line's first word (case matters); HTTP_UNKNOWN for any other. */
enum http_method method_from_name(const char *name);

/* Its name as it stands in a request line; "OTHER" for HTTP_UNKNOWN. */
const char *method_name(enum http_method method);

/* The value of a query parameter, NULL when absent. */
const char *request_query(const struct request *request, const char *name);

/* Undoes percent-encoding. `to` has room for strlen(raw) + 1 bytes. Returns the length, or -1 when an escape is cut or
 * not hexadecimal, stands for NUL, or the result is not UTF-8. */
ptrdiff_t percent_decode(char *to, const char *raw);

/* Whether the bytes are well-formed UTF-8: shortest forms, no surrogates, nothing above U+10FFFF (RFC 3629). */
bool utf8_valid(const char *bytes, size_t size);

/* Whether a caller's X-Request-Id may be used as it is: 8 to 128 of A-Z a-z 0-9 . _ - */
bool request_id_valid(const char *id);

enum { TRACE_ID_SIZE = 33 };

/* The trace id of a W3C traceparent header (32 lower-case hex digits); "" when the header is not sound, whose trace
 * then is not joined (https://www.w3.org/TR/trace-context/, section 3.2.2). */
void trace_id_read(const char *traceparent, char ret_trace_id[TRACE_ID_SIZE]);

#endif
