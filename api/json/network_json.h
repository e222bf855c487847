/* The network section of replies. */
#ifndef API_JSON_NETWORK_JSON_H
#define API_JSON_NETWORK_JSON_H

#include "api/json/writer.h"
#include "service/search/answer.h"

/* Writes "network" for a training job on more than one node; nothing else. */
void network_encode(struct json_writer *writer, const struct answer *answer);

#endif
