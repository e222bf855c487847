/* The log: one JSON object a line, each line one write(2). */
#ifndef API_OBSERVE_LOG_H
#define API_OBSERVE_LOG_H

#include <stdbool.h>
#include <stdint.h>

#include "api/observe/observe.h"

struct log {
    int fd;               /* lent */
    enum log_level level; /* lines below it are left out */
};

/* Writes an event with its fields. false: the line is lost, for it could not be written. */
bool log_event(const struct log *log, enum event event, const struct event_field *fields, size_t count);

/* Writes a request's line: level error for 500, warn for other 5xx, else info. false: it is lost. */
bool log_request(const struct log *log, const struct request_record *record);

enum { LOG_TIME_SIZE = 25 }; /* "2026-01-31T23:59:59.123Z" */

/* RFC 3339 UTC with milliseconds. Cheap within one second: the calling thread keeps the date. */
void log_time(char ret_text[LOG_TIME_SIZE], int64_t seconds, long nanoseconds);

/* "info", "warn", "error". */
const char *log_level_name(enum log_level level);

#endif
