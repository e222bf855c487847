#include "service/recommend/machine_cost.h"

#include <string.h>

#include "service/recommend/judge.h"
#include "service/recommend/notices.h"
#include "service/recommend/offers.h"

static void
complete_terms(struct recommend_request *request, const struct offer *offer, const struct machine_cost_ask *ask,
               const struct catalog *catalog, struct assumptions *assumptions)
{
    struct cost_terms *terms = &request->terms;
    struct assumptions *told = offer->is_server || request->job.has_serving ? assumptions : NULL;

    *terms = ask->terms;
    request->price_type = ask->price_type;
    request->objective = OBJECTIVE_COST; /* neither these matter here */
    request->limit = 1;
    request->constraints.acquisition = offer->is_server ? ACQUIRE_BUY : ACQUIRE_RENT;
    if (ask->region && ask->region[0]) {
        request->constraints.regions.count = 1;
        request->constraints.regions.items[0] = ask->region;
    }
    if (!terms->currency) {
        terms->currency = ask->usual_currency;
        assume_text(assumptions, "currency", "/cost/currency", currency_code(terms->currency));
    }
    if (!(terms->horizon_months > 0)) {
        terms->horizon_months = catalog->rates.cost_horizon_months;
        assume_number(told, "horizon_months", "/cost/horizon_months", terms->horizon_months);
    }
    if (!(terms->utilization_ratio > 0)) {
        terms->utilization_ratio = catalog->rates.cost_utilization_ratio;
        assume_number(told, "utilization_ratio", "/cost/hours_per_day", terms->utilization_ratio);
    }
    recommend_complete(request, &catalog->rates, catalog, assumptions);
}

static const struct price *
price_of(const struct recommend_request *request, const struct offer *offer, const struct catalog *catalog)
{
    static const enum price_type order[] = { PRICE_ON_DEMAND, PRICE_PURCHASE, PRICE_SUBSCRIPTION, PRICE_RESERVED,
                                             PRICE_SPOT };
    const struct price *price = NULL;
    struct reason unused;

    for (size_t i = 0; i < sizeof order / sizeof *order && !price; i++)
        price = offer_price(request, catalog, offer, order[i], &unused);
    return price;
}

/* Tokens of all GPUs in a second: those a training reads or a service writes; 0: not known. */
static double
tokens_per_second(const struct answer *answer)
{
    if (answer->has_training)
        return training_tokens_per_second(&answer->training.estimate);
    if (answer->has_serving && answer->serving.estimate.timed)
        return answer->serving.estimate.speed.output_tokens_per_second.expected;
    return 0;
}

bool
machine_cost(const struct estimate_request *request, const struct answer *answer, const struct catalog *catalog,
             const struct machine_cost_ask *ask, struct cost *ret_cost, struct assumptions *assumptions,
             struct notices *notices)
{
    const struct offer *offer = request->hardware.offer;
    uint32_t count = request->hardware.offer_count ? request->hardware.offer_count : 1;
    struct recommend_request owned;
    const struct price *price;
    double rate = tokens_per_second(answer);

    if (!offer)
        return false;
    memset(&owned, 0, sizeof owned);
    owned.job.has_serving = answer->has_serving;
    complete_terms(&owned, offer, ask, catalog, assumptions);
    price = price_of(&owned, offer, catalog);
    if (!price)
        return false;
    owned.terms.hours = answer->has_duration ? answer->duration_hours.expected : 0;
    owned.terms.has_total = answer->has_duration || (answer->has_serving && !answer->has_training);
    if (!cost_of(catalog, price, count, offer_watts(offer, count, &catalog->rates), &owned.terms, ret_cost))
        return false;
    if (!ask->price_type && !offer->is_server)
        assume_text(assumptions, "price_type", "/cost/price_type", price_type_names[price->type]);
    if (rate > 0)
        ret_cost->per_million_tokens =
            money_from_amount(money_amount(ret_cost->per_hour) / (rate * 3600) * 1e6, owned.terms.currency);
    price_notices(price, ret_cost, notices);
    return true;
}
