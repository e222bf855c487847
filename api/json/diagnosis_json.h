/* The "diagnosis" section of a reply. */
#ifndef API_JSON_DIAGNOSIS_JSON_H
#define API_JSON_DIAGNOSIS_JSON_H

#include "api/http/request.h"
#include "api/json/writer.h"
#include "service/advice/diagnosis.h"

void diagnosis_encode(struct json_writer *writer, const struct diagnosis *diagnosis, enum language language);

#endif
