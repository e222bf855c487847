/* Counters of what the program did, and their text for Prometheus. */
#ifndef API_OBSERVE_METRICS_H
#define API_OBSERVE_METRICS_H

#include "api/json/buffer.h"
#include "api/observe/observe.h"
#include "api/route.h"

/* Counters for the routes of a table (lent for life). NULL when memory is out. The caller frees. */
struct metrics *metrics_create(const struct route *table, size_t count);
void metrics_free(struct metrics *metrics);

/* From any thread. */
void metrics_request(struct metrics *metrics, const struct request_record *record);
void metrics_event(struct metrics *metrics, enum event event);

/* Writes all metrics in the text format 0.0.4 (https://prometheus.io/docs/instrumenting/exposition_formats/). What
 * `state` knows is told beside the counters. */
void metrics_write(struct metrics *metrics, const struct service_state *state, struct buffer *out);

#endif
