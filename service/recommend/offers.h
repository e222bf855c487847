/* Which offers and prices the constraints let in, before anything is estimated. */
#ifndef SERVICE_RECOMMEND_OFFERS_H
#define SERVICE_RECOMMEND_OFFERS_H

#include "service/recommend/recommend.h"

/* Whether an offer is searched at all: of the GPUs, vendors and kind of acquisition that were asked for. */
bool offer_is_searched(const struct recommend_request *request, const struct offer *offer);

/* false: the offer is out, with why: its provider, its device, its proof of compliance. */
bool offer_is_allowed(const struct recommend_request *request, const struct offer *offer, struct reason *ret_reason);

/* The price of one type to reckon with: of those that the constraints let in, documented ones (A and B) before weak
 * ones (C), the cheapest an hour among them. Which type is the cheapest depends on how long the job takes: judge each.
 * NULL with why: none known, too old, of another region or type. */
const struct price *offer_price(const struct recommend_request *request, const struct catalog *catalog,
                                const struct offer *offer, enum price_type type, struct reason *ret_reason);

#endif
