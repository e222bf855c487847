#include "service/recommend/judge.h"

#include <math.h>

#include "service/base/quantity.h"
#include "service/base/text.h"

enum { MAX_UNITS = 16, DEFAULT_MAX_GPUS = 128 };

/* Of what a slot is found by, and of nothing that another process has otherwise: the plans that a search looks at are
 * part of its reply. */
static size_t
slot_hash(const struct catalog *catalog, const struct machine *machine, double network)
{
    uint64_t hash = (uint64_t)(machine->gpu - catalog->gpus);

    hash = (hash ^ machine->gpu_count * 0x9E3779B97F4A7C15u) * 0xFF51AFD7ED558CCDu;
    hash = (hash ^ machine->gpus_per_node ^ (uint64_t)network) * 0xC4CEB9FE1A85EC53u;
    return (size_t)(hash >> 32) % OUTCOME_SLOTS;
}

/* Offers by the hundred are the same machine: each is estimated once. */
static const struct outcome *
outcome_of(struct judge *judge, const struct machine *machine)
{
    struct outcome_cache *cache = judge->cache;
    enum intranode link = machine->has_nvlink ? INTRANODE_NVLINK : INTRANODE_PCIE;
    double network = machine->nodes > 1 ? machine->network_bytes_per_second : 0;
    double host = judge->request->job.training.offload > OFFLOAD_NONE ? machine->host_bytes : 0;
    size_t at = slot_hash(judge->catalog, machine, network);

    for (;; at = (at + 1) % OUTCOME_SLOTS) {
        struct outcome_slot *slot = &cache->slots[at];

        if (slot->gpu == machine->gpu && slot->per_node == machine->gpus_per_node &&
            slot->count == machine->gpu_count && slot->intranode == link && slot->network == network &&
            slot->host == host)
            return &slot->outcome;
        if (!slot->gpu || cache->used == OUTCOME_SLOTS - 1) {
            cache->used += !slot->gpu;
            *slot = (struct outcome_slot){ .gpu = machine->gpu,
                                           .per_node = machine->gpus_per_node,
                                           .count = machine->gpu_count,
                                           .intranode = link,
                                           .network = network,
                                           .host = host };
            outcome_find(judge->request, judge->catalog, machine, &slot->outcome);
            judge->plans += slot->outcome.plans;
            return &slot->outcome;
        }
    }
}

double
offer_watts(const struct offer *offer, uint32_t count, const struct rates *rates)
{
    if (offer->max_power_watts)
        return (double)offer->max_power_watts * count;
    return offer->gpu_count * offer->gpu->tdp_watts * count * rates->cost_node_power_ratio;
}

static struct reason
reason(enum reason_code code, double required, double actual)
{
    return (struct reason){ .code = code, .required = required, .actual = actual };
}

/* The figures with what they are of: requests at the peak, first token, or time between tokens. */
static struct reason
target_missed(const char *what, double required, double actual, const char *unit)
{
    struct reason missed = reason(REASON_SLO_MISSED, required, actual);

    text_format(missed.required_text, sizeof missed.required_text, "%s%.4g %s", what, required, unit);
    text_format(missed.actual_text, sizeof missed.actual_text, "%s%.4g %s", what, actual, unit);
    return missed;
}

/* Memory, kernels, deadline, service level: what the machine itself must meet. */
static struct reason
judge_outcome(const struct recommend_request *request, const struct outcome *outcome)
{
    const struct constraints *constraints = &request->constraints;
    const struct serving_job *serving = &request->job.serving;

    if (outcome->no_kernel)
        return reason(REASON_NO_KERNEL_FOR_PRECISION, 0, 0);
    if (outcome->training_verdict == VERDICT_DOES_NOT_FIT || outcome->serving_verdict == VERDICT_DOES_NOT_FIT)
        return reason(REASON_DOES_NOT_FIT, outcome->required_bytes, outcome->usable_bytes);
    if (constraints->headroom_ratio > 0 &&
        outcome->reserved_bytes > (1 - constraints->headroom_ratio) * outcome->usable_bytes &&
        !request->job.has_serving) /* engines take their pool whatever they need */
        return reason(REASON_DOES_NOT_FIT, outcome->reserved_bytes,
                      (1 - constraints->headroom_ratio) * outcome->usable_bytes);
    if (constraints->deadline_hours > 0 && outcome->has_hours && outcome->hours.expected > constraints->deadline_hours)
        return reason(REASON_OVER_DEADLINE, constraints->deadline_hours, outcome->hours.expected);
    if (request->job.has_serving) {
        double peak = serving->peak_factor > 0 ? serving->peak_factor : 1.5;

        if (outcome->overloaded || (serving->requests_per_second > 0 && outcome->serving_load * peak > 1))
            return target_missed("", serving->requests_per_second * peak,
                                 outcome->serving_load > 0 ? serving->requests_per_second / outcome->serving_load : 0,
                                 "req/s");
        if (serving->slo_ttft_p95_ms > 0 && outcome->ttft_p95_ms > serving->slo_ttft_p95_ms)
            return target_missed("TTFT ", serving->slo_ttft_p95_ms, outcome->ttft_p95_ms, "ms");
        if (serving->slo_tpot_p95_ms > 0 && outcome->tpot_p95_ms > serving->slo_tpot_p95_ms)
            return target_missed("TPOT ", serving->slo_tpot_p95_ms, outcome->tpot_p95_ms, "ms");
    }
    return reason(REASON_NONE, 0, 0);
}

static struct reason
judge_budget(const struct constraints *constraints, const struct cost *cost)
{
    double budget = money_amount(constraints->budget), asked = 0;

    if (constraints->budget.currency == CURRENCY_UNSAID)
        return reason(REASON_NONE, 0, 0);
    switch (constraints->budget_scope) {
    case BUDGET_SCOPE_UNSAID:
    case BUDGET_TOTAL:
        asked = cost->has_total ? money_amount(cost->total) : 0;
        if (money_amount(cost->purchase) > asked) /* what is bought is paid at once */
            asked = money_amount(cost->purchase);
        break;
    case BUDGET_PER_MONTH:
        asked = money_amount(cost->per_month);
        break;
    case BUDGET_PURCHASE:
        asked = money_amount(cost->purchase);
        break;
    }
    return asked > budget ? reason(REASON_OVER_BUDGET, budget, asked) : reason(REASON_NONE, 0, 0);
}

/* Memory is a figure of one GPU, or of one host: where there are several, say of how many. */
static void
tell_each(struct reason *found, const struct machine *machine, bool of_host)
{
    uint32_t count = of_host ? machine->nodes : machine->gpu_count;
    const char *what = of_host ? " RAM" : "";

    if (count <= 1 && !of_host)
        return;
    text_format(found->required_text, sizeof found->required_text, "%u x %.1f GiB%s", count, found->required / GIB,
                what);
    text_format(found->actual_text, sizeof found->actual_text, "%u x %.1f GiB%s", count, found->actual / GIB, what);
}

/* How many units make sense together: cards of one host; machines whose network is known, or that are built for one
 * (whole nodes around an NVLink switch); else one alone. */
static uint32_t
most_units(const struct offer *offer)
{
    bool built_for_it = offer->gpu->nvlink_kind == NVLINK_SWITCH && offer->gpu_count >= 8;

    if (offer_is_host_card(offer))
        return MAX_HOST_CARDS;
    return offer->network_bits_per_second > 0 || built_for_it ? MAX_UNITS : 1;
}

/* One number of units, wholly judged. */
static struct reason
judge_count(struct judge *judge, const struct offer *offer, const struct price *price, uint32_t count,
            struct candidate *candidate)
{
    const struct recommend_request *request = judge->request;
    const struct constraints *constraints = &request->constraints;
    struct machine machine = offer_machine(offer, count);
    struct cost_terms terms = request->terms;
    struct reason found;

    *candidate = (struct candidate){ .offer = offer, .price = price, .count = count, .gpus = machine.gpu_count };
    candidate->watts = offer_watts(offer, count, &judge->catalog->rates);
    if (constraints->max_power_watts && candidate->watts > constraints->max_power_watts)
        return reason(REASON_OVER_POWER, constraints->max_power_watts, candidate->watts);
    if (constraints->max_power_watts && !(candidate->watts > 0))
        return reason(REASON_POWER_UNKNOWN, 0, 0);
    candidate->outcome = *outcome_of(judge, &machine);
    found = judge_outcome(request, &candidate->outcome);
    if (found.code == REASON_DOES_NOT_FIT)
        tell_each(&found, &machine, candidate->outcome.short_of_host);
    if (found.code != REASON_NONE)
        return found;
    terms.hours = request->job.has_serving ? 0 : candidate->outcome.hours.expected;
    terms.has_total = request->job.has_serving || candidate->outcome.has_hours;
    if (!cost_of(judge->catalog, price, count, candidate->watts, &terms, &candidate->cost))
        return reason(REASON_NO_EXCHANGE_RATE, 0, 0);
    return judge_budget(constraints, &candidate->cost);
}

/* More of the same can only help against these. */
static bool
more_may_help(enum reason_code code)
{
    return code == REASON_DOES_NOT_FIT || code == REASON_OVER_DEADLINE || code == REASON_SLO_MISSED ||
           code == REASON_OVER_BUDGET;
}

/* Whether a number of units misses the same limit by more than another. */
static bool
is_farther(const struct reason *reason, const struct reason *other)
{
    bool measured = reason->code == REASON_OVER_BUDGET || reason->code == REASON_OVER_DEADLINE;

    return measured && reason->code == other->code && reason->actual > other->actual;
}

struct reason
judge_offer(struct judge *judge, const struct offer *offer, const struct price *price, struct candidate *ret_candidate)
{
    const struct recommend_request *request = judge->request;
    uint32_t limit = request->constraints.max_gpus ? request->constraints.max_gpus : DEFAULT_MAX_GPUS;
    double gpus = offer->gpu_count >= 1 ? offer->gpu_count : 1;
    struct reason last = reason(REASON_OVER_GPU_LIMIT, limit, gpus);
    bool found = false;

    for (uint32_t count = 1; count <= most_units(offer) && count * gpus <= limit; count *= 2) {
        struct candidate candidate;
        struct reason now = judge_count(judge, offer, price, count, &candidate);

        if (now.code == REASON_NONE) {
            if (!found || candidate_compare(&candidate, ret_candidate, request->objective) < 0)
                *ret_candidate = candidate;
            found = true;
            if (request->objective != OBJECTIVE_TIME && ret_candidate->outcome.training_verdict != VERDICT_TIGHT &&
                ret_candidate->outcome.serving_verdict != VERDICT_TIGHT)
                break;
            continue;
        }
        if (!found && !is_farther(&now, &last))
            last = now;
        if (found || !more_may_help(now.code))
            break;
    }
    return found ? reason(REASON_NONE, 0, 0) : last;
}
