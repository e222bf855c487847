/* Refusals as RFC 9457 problem details: the one place that turns a fault into HTTP. */
#ifndef API_HTTP_PROBLEM_H
#define API_HTTP_PROBLEM_H

#include "api/http/request.h"
#include "api/json/buffer.h"
#include "service/base/result.h"

/* The HTTP status of a fault; 500 for FAULT_NONE, which is nobody's fault but ours. */
int problem_status(enum fault_code code);

/* Writes the application/problem+json body of a fault: type, title, status, detail, code, request_id, and where faults
 * name a place, errors (and more_errors when there were too many). Sentences are in `language`. */
void problem_write(struct buffer *out, const struct fault *fault, enum language language, const char *request_id);

#endif
