/* What the same GPU costs to rent and to buy, gathered while offers are judged. */
#ifndef SERVICE_RECOMMEND_MARKET_H
#define SERVICE_RECOMMEND_MARKET_H

#include "service/recommend/recommend.h"

/* Counts in an offer that does the job. */
void market_add(struct recommendation *all, const struct recommend_request *request, const struct catalog *catalog,
                const struct candidate *candidate);

/* Compares the cheapest purchase with the usual rent of as many of the same GPUs: the median of what offers that do the
 * job ask on demand, without marketplaces, whose machines are no match for one's own. false: no GPU that can be had
 * both ways does the job. */
bool market_compare(const struct recommendation *all, const struct recommend_request *request,
                    const struct rates *rates, struct buy_or_rent *ret_result);

#endif
