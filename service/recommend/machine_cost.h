/* What an estimate's own machine costs, when it is named by an offer of the catalog. */
#ifndef SERVICE_RECOMMEND_MACHINE_COST_H
#define SERVICE_RECOMMEND_MACHINE_COST_H

#include "service/recommend/recommend.h"

struct machine_cost_ask {
    struct cost_terms terms; /* what was said; hours and has_total are filled in from the answer */
    enum price_type price_type;
    const char *region; /* "" or NULL: any */
    enum currency usual_currency;
};

/* At the asked type of price, else on demand, by subscription, reserved or spot, whichever is first known; a server is
 * bought. false: hardware is not named by an offer, or no price of it may be used. What was filled in is told. */
bool machine_cost(const struct estimate_request *request, const struct answer *answer, const struct catalog *catalog,
                  const struct machine_cost_ask *ask, struct cost *ret_cost, struct assumptions *assumptions,
                  struct notices *notices);

#endif
