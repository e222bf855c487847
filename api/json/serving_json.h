/* The "serving" section of a reply. */
#ifndef API_JSON_SERVING_JSON_H
#define API_JSON_SERVING_JSON_H

#include "api/http/request.h"
#include "api/json/writer.h"
#include "service/search/answer.h"

void serving_encode(struct json_writer *writer, const struct answer *answer, enum language language);

/* Parts that a candidate of /recommend carries too. */
void serving_plan_encode(struct json_writer *writer, const struct serving_choice *choice);
void serving_cache_encode(struct json_writer *writer, const struct serving_estimate *estimate);
void serving_speed_encode(struct json_writer *writer, const struct serving_estimate *estimate);

#endif
