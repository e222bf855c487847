#include "service/recommend/market.h"

#include "service/base/text.h"
#include "service/recommend/offers.h"

static struct market *
market_of(struct recommendation *all, const struct gpu *gpu)
{
    for (size_t i = 0; i < all->market_count; i++)
        if (all->markets[i].gpu == gpu)
            return &all->markets[i];
    if (all->market_count == MAX_MARKETS)
        return NULL;
    all->markets[all->market_count] = (struct market){ .gpu = gpu };
    return &all->markets[all->market_count++];
}

/* Kept in order, so that the middle one is found at once. */
static void
add_rent(struct market *market, double per_gpu_hour)
{
    size_t at;

    if (market->rent_count == MAX_RENTS)
        return;
    for (at = market->rent_count++; at > 0 && market->rents[at - 1] > per_gpu_hour; at--)
        market->rents[at] = market->rents[at - 1];
    market->rents[at] = per_gpu_hour;
}

void
market_add(struct recommendation *all, const struct recommend_request *request, const struct catalog *catalog,
           const struct candidate *candidate)
{
    const struct offer *offer = candidate->offer;
    struct market *market = market_of(all, offer->gpu);
    struct reason unused;
    struct money hour;

    if (!market)
        return;
    if (offer->is_server) {
        double each = money_amount(candidate->cost.purchase) / candidate->gpus;

        if (each > 0 && (!(market->purchase_per_gpu > 0) || each < market->purchase_per_gpu)) {
            market->purchase_per_gpu = each;
            market->buy_gpus = candidate->gpus;
            market->buy_watts = candidate->watts;
        }
        return;
    }
    if (text_equal(offer->provider->kind, "marketplace"))
        return;

    const struct price *price = offer_price(request, catalog, offer, PRICE_ON_DEMAND, &unused);

    if (price && price->unit == PRICE_PER_HOUR && price_middle(catalog, price, request->terms.currency, &hour))
        add_rent(market, money_amount(hour) / offer->gpu_count);
}

bool
market_compare(const struct recommendation *all, const struct recommend_request *request, const struct rates *rates,
               struct buy_or_rent *ret_result)
{
    const struct market *best = NULL;
    double rent;

    for (size_t i = 0; i < all->market_count; i++) {
        const struct market *market = &all->markets[i];

        if (market->rent_count && market->purchase_per_gpu > 0 &&
            (!best || market->purchase_per_gpu * market->buy_gpus < best->purchase_per_gpu * best->buy_gpus))
            best = market;
    }
    if (!best)
        return false;
    rent = (best->rents[(best->rent_count - 1) / 2] + best->rents[best->rent_count / 2]) / 2;
    *ret_result = buy_or_rent_of(rent * best->buy_gpus, best->purchase_per_gpu * best->buy_gpus, best->buy_watts,
                                 &request->terms, rates);
    if (request->maturity == MATURITY_EXPLORING && ret_result->verdict == VERDICT_BUY)
        ret_result->verdict = VERDICT_HYBRID; /* nobody knows yet how steady the load will be */
    return true;
}
