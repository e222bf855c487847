/* The "host", "storage", "power" and "tiers" sections of a reply. */
#ifndef API_JSON_FEED_JSON_H
#define API_JSON_FEED_JSON_H

#include "api/json/writer.h"
#include "service/search/answer.h"

void feed_encode(struct json_writer *writer, const struct answer *answer);

#endif
