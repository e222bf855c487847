#include "service/cost/buy_or_rent.h"

#include <math.h>

static enum buy_or_rent_verdict
verdict_of(double utilization, double break_even, double margin)
{
    if (utilization > break_even * (1 + margin))
        return VERDICT_BUY;
    return utilization < break_even * (1 - margin) ? VERDICT_RENT : VERDICT_HYBRID;
}

static void
add_series(struct buy_or_rent *result, double rent_a_month, double purchase, double own_a_month,
           const struct cost_terms *terms)
{
    double step = ceil(fmax(1, terms->horizon_months / (MAX_SERIES - 2)));
    double month = 0;

    while (result->series_count < MAX_SERIES) {
        uint32_t at = result->series_count++;

        result->series[at].month = month;
        result->series[at].rent_total = money_from_amount(rent_a_month * month, terms->currency);
        result->series[at].buy_total = money_from_amount(purchase + own_a_month * month, terms->currency);
        if (month >= terms->horizon_months)
            return;
        month = fmin(month + step, terms->horizon_months);
    }
}

struct buy_or_rent
buy_or_rent_of(double rent_per_hour, double purchase, double watts, const struct cost_terms *terms,
               const struct rates *rates)
{
    struct buy_or_rent result = { 0 };
    double hours = HOURS_PER_MONTH, use = terms->utilization_ratio, months = terms->horizon_months;
    double power_per_hour = watts / 1000 * terms->pue * terms->electricity_per_kwh;
    double upkeep = purchase * rates->cost_upkeep_ratio_per_year / 12;
    double saved = (rent_per_hour - power_per_hour) * hours; /* a month of full use */
    double kept = saved * use - upkeep;

    result.break_even_months = kept > 0 ? purchase / kept : 0;
    result.break_even_utilization_ratio =
        saved > 0 ? (purchase * (1 - terms->residual_ratio) / months + upkeep) / saved : INFINITY;
    result.verdict = verdict_of(use, result.break_even_utilization_ratio, rates->cost_hybrid_margin);
    add_series(&result, rent_per_hour * hours * use, purchase, upkeep + power_per_hour * hours * use, terms);
    return result;
}

const char *
buy_or_rent_verdict_name(enum buy_or_rent_verdict verdict)
{
    switch (verdict) {
    case VERDICT_RENT:
        break;
    case VERDICT_BUY:
        return "buy";
    case VERDICT_HYBRID:
        return "hybrid";
    }
    return "rent";
}
