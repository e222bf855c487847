/* Everything worth observing goes through here once; the log and the metrics each decide what to make of it. */
#ifndef API_OBSERVE_OBSERVE_H
#define API_OBSERVE_OBSERVE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "api/http/request.h"

enum event {
#define EVENT(id, name, level) EVENT_##id,
#include "api/observe/events.def"
#undef EVENT
    EVENT_COUNT
};

enum log_level { LEVEL_INFO = 0, LEVEL_WARN, LEVEL_ERROR, LEVEL_COUNT };

const char *event_name(enum event event);
enum log_level event_level(enum event event);

/* One figure or text of an event. Never a key, never a password. */
struct event_field {
    const char *name; /* constant, a plain JSON name */
    const char *text; /* NULL: the number counts */
    double number;
};

/* One request, when it is over. */
struct request_record {
    enum http_method method;
    size_t route_index;                         /* in the route table; its size for what no route answered */
    const char *route;                          /* the template, never the path */
    int status;                                 /* 0: the client went away before there was one */
    bool aborted;                               /* the reply did not get through */
    uint64_t nanoseconds;                       /* from the end of its headers to the end of the reply */
    uint64_t bytes_in, bytes_out;               /* of the bodies */
    const char *request_id, *trace_id, *client; /* trace_id "" when there is none */
    uint64_t catalog_version;                   /* 0: the request did not use the catalog */
};

struct log;
struct metrics;

/* Either may be NULL. */
struct observer {
    const struct log *log;
    struct metrics *metrics;
};

void observe_event(const struct observer *observer, enum event event, const struct event_field *fields, size_t count);
void observe_request(const struct observer *observer, const struct request_record *record);

#endif
