/* One offer judged: how many of it, at what cost, within which limits. */
#ifndef SERVICE_RECOMMEND_JUDGE_H
#define SERVICE_RECOMMEND_JUDGE_H

#include "service/recommend/recommend.h"

/* One search under way. */
struct judge {
    const struct recommend_request *request;
    const struct catalog *catalog;
    struct outcome_cache *cache;
    uint64_t plans;
};

/* Power of so many units under load: the data sheet's, or the GPUs' with their share of the machine. */
double offer_watts(const struct offer *offer, uint32_t count, const struct rates *rates);

/* The smallest number of units of an offer that does the job within every limit (the fastest one when time is the
 * objective). REASON_NONE: *ret_candidate is filled; else the reason of the number that came nearest. */
struct reason
judge_offer(struct judge *judge, const struct offer *offer, const struct price *price, struct candidate *ret_candidate);

#endif
