/* What an offer costs for some hours of use, as money with the lines it is made of. */
#ifndef SERVICE_COST_COST_H
#define SERVICE_COST_COST_H

#include <stdbool.h>

#include "service/catalog/catalog.h"

#define HOURS_PER_MONTH 730.0 /* 8760 hours a year / 12 */

/* What costs depend on beside the price. Not said: 0, or below 0 where 0 can be meant; recommend_complete fills in. */
struct cost_terms {
    enum currency currency; /* of all results */
    double horizon_months;  /* of owning, and of serving without an end */
    double utilization_ratio;
    double electricity_per_kwh; /* in `currency`; below 0: not said */
    double pue;
    double residual_ratio; /* below 0: not said */
    double hours;          /* of use; 0: no end is known (serving): horizon x utilization */
    bool has_total;
};

enum { MAX_COST_LINES = 4 };

struct cost_line {
    const char *code; /* rent, subscription, reserved_term, depreciation, electricity */
    double quantity;
    const char *unit; /* hour, month, kWh */
    struct money unit_price, amount;
    const struct price *price; /* NULL: no row of the catalog (electricity) */
};

struct cost {
    struct money per_hour, per_month;   /* while it runs; middle of a range */
    struct money total;                 /* of terms.hours; only when has_total */
    struct money total_low, total_high; /* ends of a price range; equal to total for a point */
    struct money purchase;              /* price of what is bought; micros 0 when rented */
    struct money per_million_tokens;    /* micros 0: not asked or not known */
    bool has_total;
    struct cost_line lines[MAX_COST_LINES];
    uint32_t line_count;
    const struct exchange_rate *exchanged; /* NULL: the price is in the asked currency */
};

/* Costs `count` units of an offer at one of its prices. `watts` is the power of all units under load (purchase).
 * on_demand and spot: hours x price. reserved: hourly over its whole term. subscription: whole months of 730 h.
 * purchase: depreciation over the horizon at its utilization, plus electricity x PUE. false: no exchange rate. */
bool cost_of(const struct catalog *catalog, const struct price *price, uint32_t count, double watts,
             const struct cost_terms *terms, struct cost *ret_cost);

/* A price's middle converted to a currency. */
bool
price_middle(const struct catalog *catalog, const struct price *price, enum currency currency, struct money *ret_money);

#endif
