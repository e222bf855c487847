#include "service/recommend/offers.h"

#include <stdlib.h>
#include <string.h>

#include "service/base/text.h"

static bool
listed(const struct name_list *list, const char *name)
{
    for (size_t i = 0; i < list->count; i++)
        if (name && strcmp(list->items[i], name) == 0)
            return true;
    return false;
}

/* A vendor people write in any case ("NVIDIA", "nvidia"). */
static bool
vendor_listed(const struct name_list *list, const char *vendor)
{
    char wanted[64], found[64];

    text_normalise(found, sizeof found, vendor ? vendor : "");
    for (size_t i = 0; i < list->count; i++) {
        text_normalise(wanted, sizeof wanted, list->items[i]);
        if (strcmp(wanted, found) == 0)
            return true;
    }
    return false;
}

bool
offer_is_searched(const struct recommend_request *request, const struct offer *offer)
{
    const struct constraints *constraints = &request->constraints;
    unsigned kind = offer->is_server ? ACQUIRE_BUY : ACQUIRE_RENT;

    if (constraints->acquisition && !(constraints->acquisition & kind))
        return false;
    if (constraints->gpu_count) {
        bool found = false;

        for (size_t i = 0; i < constraints->gpu_count; i++)
            found = found || (offer->gpu && text_equal(offer->gpu->id, constraints->gpus[i]->id));
        if (!found)
            return false;
    }
    return !constraints->vendors.count || (offer->gpu && vendor_listed(&constraints->vendors, offer->gpu->vendor));
}

bool
offer_is_allowed(const struct recommend_request *request, const struct offer *offer, struct reason *ret_reason)
{
    const struct constraints *constraints = &request->constraints;

    *ret_reason = (struct reason){ .code = REASON_NONE };
    if ((constraints->providers.count && !listed(&constraints->providers, offer->provider->id)) ||
        listed(&constraints->excluded_providers, offer->provider->id)) {
        ret_reason->code = REASON_PROVIDER_EXCLUDED;
        text_copy(ret_reason->actual_text, sizeof ret_reason->actual_text, offer->provider->id);
    } else if (!offer->gpu) {
        ret_reason->code = REASON_DEVICE_UNKNOWN;
        text_copy(ret_reason->actual_text, sizeof ret_reason->actual_text, offer->gpu_name);
    } else if (constraints->compliance.count) { /* the catalog holds no certificates */
        ret_reason->code = REASON_COMPLIANCE_UNKNOWN;
        text_copy(ret_reason->required_text, sizeof ret_reason->required_text, constraints->compliance.items[0]);
    }
    return ret_reason->code == REASON_NONE;
}

/* Days since 1970-01-01 of a date that starts YYYY, YYYY-MM or YYYY-MM-DD (days from civil, Hinnant 2013). */
static long
day_number(const char *date)
{
    long year = strtol(date, NULL, 10), month = 1, day = 1;

    if (strlen(date) >= 7)
        month = strtol(date + 5, NULL, 10);
    if (strlen(date) >= 10)
        day = strtol(date + 8, NULL, 10);
    year -= month <= 2;

    long era = (year >= 0 ? year : year - 399) / 400, of_era = year - era * 400;
    long of_year = (153 * (month + (month > 2 ? -3 : 9)) + 2) / 5 + day - 1;

    return era * 146097 + of_era * 365 + of_era / 4 - of_era / 100 + of_year - 719468;
}

static bool
region_allowed(const struct constraints *constraints, const struct offer *offer, const struct price *price)
{
    const char *country = price->country ? price->country : offer->provider->country;

    if (constraints->regions.count && !listed(&constraints->regions, price->region))
        return false;
    return !constraints->countries.count || listed(&constraints->countries, country);
}

/* REASON_NONE when a price may be used. */
static enum reason_code
price_fault(const struct recommend_request *request, const struct catalog *catalog, const struct offer *offer,
            const struct price *price, double *ret_age_days)
{
    const struct constraints *constraints = &request->constraints;

    if ((constraints->price_types && !(constraints->price_types & (1u << price->type))) ||
        (request->price_type && price->type != request->price_type))
        return price->type == PRICE_SPOT ? REASON_SPOT_EXCLUDED : REASON_NO_PRICE;
    if (price->type == PRICE_SPOT && constraints->spot == FLAG_NO)
        return REASON_SPOT_EXCLUDED;
    if (!region_allowed(constraints, offer, price))
        return REASON_REGION_EXCLUDED;
    if (constraints->price_max_age_days > 0) {
        const char *date = price->observed_date ? price->observed_date : "1970-01-01";

        *ret_age_days = (double)(day_number(catalog->as_of) - day_number(date));
        if (*ret_age_days > constraints->price_max_age_days)
            return REASON_PRICE_TOO_OLD;
    }
    return REASON_NONE;
}

static double
per_hour(const struct price *price, struct money middle)
{
    double amount = money_amount(middle);

    switch (price->unit) {
    case PRICE_PER_HOUR:
        break;
    case PRICE_PER_MONTH:
        return amount / HOURS_PER_MONTH;
    case PRICE_PER_UNIT:
        return amount; /* only compared with other prices of the same server */
    }
    return amount;
}

static bool
is_better(const struct price *a, double cost_a, const struct price *b, double cost_b)
{
    bool weak_a = a->confidence == 'C', weak_b = b->confidence == 'C';

    return weak_a != weak_b ? weak_b : cost_a < cost_b;
}

const struct price *
offer_price(const struct recommend_request *request, const struct catalog *catalog, const struct offer *offer,
            enum price_type type, struct reason *ret_reason)
{
    const struct price *best = NULL;
    double best_cost = 0, age_days = 0;

    *ret_reason = (struct reason){ .code = REASON_NO_PRICE };
    for (size_t i = 0; i < offer->price_count; i++) {
        const struct price *price = &offer->prices[i];
        enum reason_code fault;
        struct money middle;

        if (price->type != type)
            continue;
        fault = price_fault(request, catalog, offer, price, &age_days);
        if (fault == REASON_NONE && !price_middle(catalog, price, request->terms.currency, &middle))
            fault = REASON_NO_EXCHANGE_RATE;
        if (fault != REASON_NONE) {
            if (ret_reason->code == REASON_NO_PRICE)
                ret_reason->code = fault;
            ret_reason->actual = age_days;
            ret_reason->required = request->constraints.price_max_age_days;
            continue;
        }
        if (best && !is_better(price, per_hour(price, middle), best, best_cost))
            continue;
        best = price;
        best_cost = per_hour(price, middle);
    }
    return best;
}
