/* The "cost" of a machine or a candidate. */
#ifndef API_JSON_COST_JSON_H
#define API_JSON_COST_JSON_H

#include "api/json/writer.h"
#include "service/cost/cost.h"

void cost_encode(struct json_writer *writer, const char *name, const struct cost *cost);

#endif
