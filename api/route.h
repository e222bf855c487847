/* Which handler answers which method and path: one table. */
#ifndef API_ROUTE_H
#define API_ROUTE_H

#include <stdbool.h>
#include <stddef.h>

#include "api/http/request.h"
#include "api/http/response.h"
#include "service/base/result.h"
#include "service/catalog/catalog.h"

/* What a handler may know of the running program beside its request. */
struct service_state {
    const char *version;           /* of sizer */
    const struct catalog *catalog; /* the snapshot of this request, lent; NULL only where the route does not need one */
    struct catalog_slot *slot;     /* for pinned versions */
    /* The rest is filled in for routes with ROUTE_STATE. */
    bool draining;
    bool database_configured, database_connected;
    double snapshot_age_seconds; /* since the snapshot was last known to be the current one; -1: there is none */
    double uptime_seconds;
    unsigned connection_count, running_count; /* open connections; requests under way */
    struct metrics *metrics;
};

/* Answers a complete request. On STATUS_FAULT the caller renders the problem; the response is then untouched or is
 * discarded. */
typedef enum status handler(const struct request *request, const struct service_state *state,
                            struct response *ret_response, struct fault *ret_fault);

enum route_flag {
    ROUTE_PROSE = 1,     /* its replies hold sentences: they say their language and vary by it */
    ROUTE_CACHEABLE = 2, /* a reply may be kept if it is asked about each time (ETag); else it may not be kept */
    ROUTE_HEALTH = 4,    /* for probes: neither rate nor running requests are limited */
    ROUTE_STATE = 8,     /* wants the whole struct service_state, and the catalog when there is one */
};

struct route {
    enum http_method method; /* GET also answers HEAD */
    const char *path;        /* "/catalog/gpus" or "/catalog/gpus/{id}": {id} matches the rest of the path */
    handler *handle;
    size_t max_body_bytes; /* POST; 0: what the settings allow */
    bool needs_catalog;
    const char *operation_id; /* in openapi.yaml */
    unsigned flags;           /* of enum route_flag */
    unsigned produces;        /* MEDIA_BITs that Accept chooses from; 0: it always answers in its own type */
};

extern const struct route routes[];
extern const size_t route_count;

/* The route of a path and method. When the path is known but not the method, NULL and *ret_allow is filled with the
 * Allow header ("GET, HEAD, OPTIONS"); when the path is unknown, NULL and "" in it. *ret_tail is what {id} matched. */
const struct route *
route_find(enum http_method method, const char *path, char *ret_allow, size_t allow_size, const char **ret_tail);

/* The same in any table. */
const struct route *route_match(const struct route *table, size_t count, enum http_method method, const char *path,
                                char *ret_allow, size_t allow_size, const char **ret_tail);

#endif
