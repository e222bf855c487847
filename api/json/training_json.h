/* The "training" section of a reply. */
#ifndef API_JSON_TRAINING_JSON_H
#define API_JSON_TRAINING_JSON_H

#include "api/http/request.h"
#include "api/json/writer.h"
#include "service/search/answer.h"

void training_encode(struct json_writer *writer, const struct answer *answer, enum language language);

/* Parts that a candidate of /recommend carries too. */
void training_plan_encode(struct json_writer *writer, const struct training_choice *choice, enum language language);
void training_throughput_encode(struct json_writer *writer, const struct training_estimate *estimate);
void footprint_encode(struct json_writer *writer, const struct footprint *footprint);

#endif
