/* Lines of Prometheus's text format, and the figures about its own process that every exporter gives. */
#ifndef API_OBSERVE_EXPOSITION_H
#define API_OBSERVE_EXPOSITION_H

#include <stdint.h>

#include "api/json/buffer.h"

/* Begins a metric: its HELP and TYPE lines. `help` has neither line ends nor backslashes. */
void exposition_family(struct buffer *out, const char *name, const char *type, const char *help);

/* One sample; the series (name and labels) is made like printf's text. */
void
exposition_count(struct buffer *out, uint64_t value, const char *series, ...) __attribute__((format(printf, 3, 4)));
void exposition_real(struct buffer *out, double value, const char *series, ...) __attribute__((format(printf, 3, 4)));

/* process_*: processor time, memory, file descriptors, start time, by the names of
 * https://prometheus.io/docs/instrumenting/writing_clientlibs/#process-metrics */
void exposition_process(struct buffer *out);

#endif
