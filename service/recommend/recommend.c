#include "service/recommend/recommend.h"

#include <math.h>
#include <string.h>

#include "service/base/quantity.h"
#include "service/recommend/judge.h"
#include "service/recommend/market.h"
#include "service/recommend/offers.h"

const char *const budget_scope_names[4] = { NULL, "total", "per_month", "purchase" };
const char *const objective_names[5] = { NULL, "cost", "time", "balanced", "headroom" };
const char *const maturity_names[3] = { NULL, "exploring", "steady" };

static const char *const reason_names[REASON_COUNT] = {
    [REASON_NONE] = "none",
    [REASON_DOES_NOT_FIT] = "does_not_fit",
    [REASON_OVER_BUDGET] = "over_budget",
    [REASON_OVER_DEADLINE] = "over_deadline",
    [REASON_SLO_MISSED] = "slo_missed",
    [REASON_NO_PRICE] = "no_price",
    [REASON_PRICE_TOO_OLD] = "price_too_old",
    [REASON_REGION_EXCLUDED] = "region_excluded",
    [REASON_PROVIDER_EXCLUDED] = "provider_excluded",
    [REASON_SPOT_EXCLUDED] = "spot_excluded",
    [REASON_COMPLIANCE_UNKNOWN] = "compliance_unknown",
    [REASON_OVER_POWER] = "over_power",
    [REASON_OVER_GPU_LIMIT] = "over_gpu_limit",
    [REASON_NO_KERNEL_FOR_PRECISION] = "no_kernel_for_precision",
    [REASON_DEVICE_UNKNOWN] = "device_unknown",
    [REASON_POWER_UNKNOWN] = "power_unknown",
    [REASON_NO_EXCHANGE_RATE] = "no_exchange_rate",
};

const char *
reason_code_name(enum reason_code code)
{
    return reason_names[code];
}

static double
power_price(const struct recommend_request *request, const struct rates *rates, const struct catalog *catalog)
{
    struct money money = money_from_amount(rates->cost_electricity_cny_per_kwh, CURRENCY_CNY), converted;

    if (catalog_exchange(catalog, money, request->terms.currency, &converted, NULL))
        return money_amount(converted);
    return 0;
}

/* What owning costs; told only where buying is looked at. */
static void
complete_ownership(struct recommend_request *request, const struct rates *rates, const struct catalog *catalog,
                   struct assumptions *assumptions)
{
    struct cost_terms *terms = &request->terms;
    unsigned acquisition = request->constraints.acquisition;
    struct assumptions *told = !acquisition || (acquisition & ACQUIRE_BUY) ? assumptions : NULL;

    if (!(terms->residual_ratio >= 0)) {
        terms->residual_ratio = rates->cost_residual_ratio;
        assume_number(told, "residual_ratio", "/cost/residual_ratio", terms->residual_ratio);
    }
    if (!(terms->electricity_per_kwh >= 0)) {
        terms->electricity_per_kwh = power_price(request, rates, catalog);
        assume_number(told, "electricity_per_kwh", "/cost/electricity_per_kwh", terms->electricity_per_kwh);
    }
    if (!(terms->pue > 0)) {
        terms->pue = rates->cost_pue;
        assume_number(told, "pue", "/cost/pue", terms->pue);
    }
}

void
recommend_complete(struct recommend_request *request, const struct rates *rates, const struct catalog *catalog,
                   struct assumptions *assumptions)
{
    struct cost_terms *terms = &request->terms;
    struct constraints *constraints = &request->constraints;

    if (!request->objective) {
        request->objective = OBJECTIVE_COST;
        assume_text(assumptions, "objective", "/objective", objective_names[OBJECTIVE_COST]);
    }
    if (!request->limit) {
        request->limit = 10;
        assume_number(assumptions, "limit", "/limit", 10);
    }
    if (!(terms->horizon_months > 0)) {
        terms->horizon_months = rates->cost_horizon_months;
        assume_number(assumptions, "horizon_months", "/horizon_months", terms->horizon_months);
    }
    if (!(terms->utilization_ratio > 0)) {
        terms->utilization_ratio = rates->cost_utilization_ratio;
        assume_number(assumptions, "utilization_ratio", "/utilization_ratio", terms->utilization_ratio);
    }
    if (constraints->budget.currency != CURRENCY_UNSAID && !constraints->budget_scope) {
        constraints->budget_scope = BUDGET_TOTAL;
        assume_text(assumptions, "budget_scope", "/constraints/budget_scope", budget_scope_names[BUDGET_TOTAL]);
    }
    if (constraints->budget_scope == BUDGET_PURCHASE && !constraints->acquisition)
        constraints->acquisition = ACQUIRE_BUY;
    complete_ownership(request, rates, catalog, assumptions);
}

/* Keeps the best `limit`, in order. */
static void
keep(struct recommendation *all, const struct candidate *candidate, const struct recommend_request *request)
{
    size_t limit = request->limit < MAX_CANDIDATES ? request->limit : MAX_CANDIDATES;
    size_t at = all->count;

    all->feasible_offers++;
    if (all->count == limit) {
        if (candidate_compare(candidate, &all->candidates[limit - 1], request->objective) >= 0)
            return;
        at = limit - 1;
    } else {
        all->count++;
    }
    while (at > 0 && candidate_compare(candidate, &all->candidates[at - 1], request->objective) < 0) {
        all->candidates[at] = all->candidates[at - 1];
        at--;
    }
    all->candidates[at] = *candidate;
}

/* A few of every reason, so that each is seen. */
static void
keep_example(struct recommendation *all, const struct offer *offer, const struct price *price,
             const struct reason *reason)
{
    size_t most = reason->code == REASON_DOES_NOT_FIT || reason->code == REASON_OVER_BUDGET ? 4 : 2;

    if (all->rejected_by[reason->code] > most || all->example_count == MAX_EXAMPLES)
        return;
    all->examples[all->example_count++] = (struct rejection){ .offer = offer, .price = price, .reason = *reason };
}

/* Whether an offer does once the constraint it broke is as wide as it would take, all others as they are. */
static bool
does_when_relaxed(const struct judge *judge, const struct offer *offer, const struct price *price,
                  const struct reason *reason)
{
    struct recommend_request relaxed = *judge->request;
    struct judge again = { &relaxed, judge->catalog, judge->cache, 0 };
    double wide = reason->actual * (1 + 1e-9) + 1e-6; /* the last digit of money */
    struct candidate candidate;

    if (reason->code == REASON_OVER_BUDGET)
        relaxed.constraints.budget = money_from_amount(wide, relaxed.constraints.budget.currency);
    else if (reason->code == REASON_OVER_DEADLINE)
        relaxed.constraints.deadline_hours = wide;
    else
        relaxed.constraints.max_power_watts = (uint32_t)ceil(wide);
    return judge_offer(&again, offer, price, &candidate).code == REASON_NONE;
}

/* Constraints that a number relaxes: the offer that came nearest, and that would then do, is remembered. */
static void
keep_relaxation(struct recommendation *all, const struct judge *judge, const struct offer *offer,
                const struct price *price, const struct reason *reason)
{
    struct relaxation *known = all->relaxations;
    const struct relaxation *end = known + all->relaxation_count;

    if (reason->code != REASON_OVER_BUDGET && reason->code != REASON_OVER_DEADLINE && reason->code != REASON_OVER_POWER)
        return;
    while (known < end && known->code != reason->code)
        known++;
    if (known == end && all->relaxation_count == MAX_RELAXATIONS)
        return;
    if ((known < end && reason->actual >= known->to) || !does_when_relaxed(judge, offer, price, reason))
        return;
    all->relaxation_count += known == end;
    *known = (struct relaxation){ reason->code, offer, reason->required, reason->actual };
}

static void
reject(struct recommendation *all, const struct offer *offer, const struct price *price, const struct reason *reason)
{
    all->rejected_count++;
    all->rejected_by[reason->code]++;
    keep_example(all, offer, price, reason);
}

/* Whether a reason came nearer to being met than the one known so far. */
static bool
is_nearer(const struct reason *reason, bool priced, const struct reason *known, bool known_priced)
{
    if (priced != known_priced)
        return priced;
    if (reason->code == REASON_OVER_BUDGET && known->code == REASON_OVER_BUDGET)
        return reason->actual < known->actual;
    return known->code == REASON_NO_PRICE;
}

/* An offer at the best of its prices: by the hour for a short job, by the month for a long one. Else the reason of the
 * price that came nearest; *ret_price is that price, NULL when none may be used. */
static struct reason
judge_prices(struct judge *judge, const struct offer *offer, struct candidate *ret_candidate,
             const struct price **ret_price)
{
    struct reason nearest = { .code = REASON_NO_PRICE };
    bool found = false;

    *ret_price = NULL;
    for (unsigned type = PRICE_ON_DEMAND; type < PRICE_TYPE_COUNT; type++) {
        struct candidate candidate;
        struct reason reason;
        const struct price *price = offer_price(judge->request, judge->catalog, offer, (enum price_type)type, &reason);

        if (price)
            reason = judge_offer(judge, offer, price, &candidate);
        if (reason.code == REASON_NONE) {
            if (!found || candidate_compare(&candidate, ret_candidate, judge->request->objective) < 0)
                *ret_candidate = candidate;
            found = true;
        } else if (is_nearer(&reason, price != NULL, &nearest, *ret_price != NULL)) {
            nearest = reason;
            *ret_price = price;
        }
    }
    return found ? (struct reason){ .code = REASON_NONE } : nearest;
}

void
recommend_run(const struct recommend_request *request, const struct catalog *catalog, struct outcome_cache *cache,
              struct recommendation *ret_recommendation)
{
    struct recommendation *all = ret_recommendation;
    struct judge judge = { request, catalog, cache, 0 };

    memset(cache, 0, sizeof *cache);
    memset(all, 0, sizeof *all);
    for (size_t i = 0; i < catalog->offer_count; i++) {
        const struct offer *offer = &catalog->offers[i];
        const struct price *price;
        struct candidate candidate;
        struct reason reason;

        if (!offer_is_searched(request, offer))
            continue;
        all->searched_offers++;
        if (!offer_is_allowed(request, offer, &reason)) {
            reject(all, offer, NULL, &reason);
            continue;
        }
        reason = judge_prices(&judge, offer, &candidate, &price);
        if (reason.code == REASON_NONE) {
            keep(all, &candidate, request);
            market_add(all, request, catalog, &candidate);
            continue;
        }
        reject(all, offer, price, &reason);
        keep_relaxation(all, &judge, offer, price, &reason);
    }
    pareto_mark(all->candidates, all->count);
    all->searched_plans = judge.plans;
}
