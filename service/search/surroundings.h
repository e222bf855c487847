/* What surrounds the GPUs of an answer: data, host, storage and power. */
#ifndef SERVICE_SEARCH_SURROUNDINGS_H
#define SERVICE_SEARCH_SURROUNDINGS_H

#include "service/search/answer.h"

/* Fills in feed, power and tiers of an answer whose jobs are estimated, and slows a training down that its data holds
 * back: its step, its bottleneck, its duration. */
void answer_surroundings(const struct estimate_request *request, const struct catalog *catalog, struct answer *answer);

#endif
