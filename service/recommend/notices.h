/* Remarks about a finished search: prices that were converted, given as ranges, undated, or of spot capacity. */
#ifndef SERVICE_RECOMMEND_NOTICES_H
#define SERVICE_RECOMMEND_NOTICES_H

#include "service/recommend/recommend.h"

/* One remark of a kind, whatever the number of candidates; one for each exchange rate that was used. */
void recommend_notices(const struct recommendation *recommendation, struct notices *notices);

/* The same about one price and what it comes to. */
void price_notices(const struct price *price, const struct cost *cost, struct notices *notices);

#endif
