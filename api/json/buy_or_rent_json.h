/* The "buy_or_rent" section of a recommendation. */
#ifndef API_JSON_BUY_OR_RENT_JSON_H
#define API_JSON_BUY_OR_RENT_JSON_H

#include "api/http/request.h"
#include "api/json/writer.h"
#include "service/recommend/recommend.h"

/* Nothing when no GPU that can be had both ways does the job. */
void buy_or_rent_encode(struct json_writer *writer, const struct recommend_request *request,
                        const struct recommendation *all, const struct rates *rates, enum language language);

#endif
