#include "service/cost/cost.h"

#include <math.h>

#include "service/base/quantity.h"

/* Both ends and the middle of a price in the asked currency, currency units. */
struct spread {
    double low, middle, high;
};

static bool
spread_of(const struct catalog *catalog, const struct price *price, enum currency currency, struct spread *ret_spread,
          const struct exchange_rate **ret_rate)
{
    struct money low, high;

    if (!catalog_exchange(catalog, price->low, currency, &low, ret_rate) ||
        !catalog_exchange(catalog, price->high, currency, &high, NULL))
        return false;
    ret_spread->low = money_amount(low);
    ret_spread->high = money_amount(high);
    ret_spread->middle = (ret_spread->low + ret_spread->high) / 2;
    return true;
}

bool
price_middle(const struct catalog *catalog, const struct price *price, enum currency currency, struct money *ret_money)
{
    struct spread spread;

    if (!spread_of(catalog, price, currency, &spread, NULL))
        return false;
    *ret_money = money_from_amount(spread.middle, currency);
    return true;
}

static void
add_line(struct cost *cost, const char *code, double quantity, const char *unit, double unit_price,
         enum currency currency, const struct price *price)
{
    struct cost_line *line = &cost->lines[cost->line_count++];

    *line = (struct cost_line){ .code = code, .quantity = quantity, .unit = unit, .price = price };
    line->unit_price = money_from_amount(unit_price, currency);
    line->amount = money_from_amount(unit_price * quantity, currency);
}

/* A total whose low and high ends are in the proportion of the price's. */
static void
set_total(struct cost *cost, double total, const struct spread *spread, double priced_share, enum currency currency)
{
    double priced = total * priced_share, rest = total - priced;

    cost->total = money_from_amount(total, currency);
    cost->total_low = money_from_amount(rest + priced * spread->low / spread->middle, currency);
    cost->total_high = money_from_amount(rest + priced * spread->high / spread->middle, currency);
}

static void
cost_rent(const struct price *price, const struct spread *spread, double count, double hours,
          const struct cost_terms *terms, struct cost *cost)
{
    bool monthly = price->unit == PRICE_PER_MONTH;
    double quantity = monthly ? ceil(hours / HOURS_PER_MONTH - 1e-9) : hours;
    double term = price->term_months * (monthly ? 1.0 : HOURS_PER_MONTH);
    bool bound = price->type == PRICE_RESERVED || price->type == PRICE_SUBSCRIPTION;
    const char *code = price->type == PRICE_RESERVED ? "reserved_term" : monthly ? "subscription" : "rent";
    double per_hour = spread->middle * count / (monthly ? HOURS_PER_MONTH : 1);

    if (monthly && quantity < 1)
        quantity = 1;
    if (bound && term > quantity)
        quantity = term; /* one pays for as long as one is bound */
    cost->per_hour = money_from_amount(per_hour, terms->currency);
    cost->per_month = money_from_amount(per_hour * HOURS_PER_MONTH, terms->currency);
    if (!terms->has_total)
        return;
    add_line(cost, code, quantity * count, monthly ? "month" : "hour", spread->middle, terms->currency, price);
    set_total(cost, quantity * count * spread->middle, spread, 1, terms->currency);
}

static void
cost_purchase(const struct price *price, const struct spread *spread, double count, double watts, double hours,
              const struct cost_terms *terms, struct cost *cost)
{
    double life_hours = terms->horizon_months * HOURS_PER_MONTH * terms->utilization_ratio;
    double depreciation = spread->middle * count * (1 - terms->residual_ratio) / life_hours;
    double kilowatts = watts / 1000 * terms->pue;
    double electricity = kilowatts * terms->electricity_per_kwh;

    cost->purchase = money_from_amount(spread->middle * count, terms->currency);
    cost->per_hour = money_from_amount(depreciation + electricity, terms->currency);
    cost->per_month =
        money_from_amount((depreciation + electricity) * HOURS_PER_MONTH * terms->utilization_ratio, terms->currency);
    if (!terms->has_total)
        return;
    add_line(cost, "depreciation", hours, "hour", depreciation, terms->currency, price);
    if (electricity > 0)
        add_line(cost, "electricity", kilowatts * hours, "kWh", terms->electricity_per_kwh, terms->currency, NULL);
    set_total(cost, (depreciation + electricity) * hours, spread, depreciation / (depreciation + electricity),
              terms->currency);
}

bool
cost_of(const struct catalog *catalog, const struct price *price, uint32_t count, double watts,
        const struct cost_terms *terms, struct cost *ret_cost)
{
    double endless = terms->horizon_months * HOURS_PER_MONTH * terms->utilization_ratio;
    double hours = terms->hours > 0 ? terms->hours : endless;
    struct spread spread;

    *ret_cost = (struct cost){ .has_total = terms->has_total };
    if (!spread_of(catalog, price, terms->currency, &spread, &ret_cost->exchanged))
        return false;
    if (price->low.currency == terms->currency)
        ret_cost->exchanged = NULL;
    if (price->type == PRICE_PURCHASE)
        cost_purchase(price, &spread, count, watts, hours, terms, ret_cost);
    else
        cost_rent(price, &spread, count, hours, terms, ret_cost);
    return true;
}
