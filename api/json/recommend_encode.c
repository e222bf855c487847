#include "api/json/recommend_json.h"

#include <math.h>
#include <string.h>

#include "api/i18n/message.h"
#include "api/json/buy_or_rent_json.h"
#include "api/json/cost_json.h"
#include "api/json/serving_json.h"
#include "api/json/training_json.h"
#include "service/base/quantity.h"
#include "service/base/text.h"

enum { SENTENCE_SIZE = 768 };

static void
sentence(struct json_writer *writer, const char *name, const char *id, enum language language,
         const struct message_values *values)
{
    char text[SENTENCE_SIZE];

    message_write(text, sizeof text, id, language, values);
    writer_text(writer, name, text);
}

static void
why(struct json_writer *writer, const char *code, enum language language, const char *text, double number)
{
    struct message_values values = { { text }, { number } };
    char id[64];

    text_format(id, sizeof id, "why.%s", code);
    writer_object(writer, NULL);
    writer_text(writer, "code", code);
    sentence(writer, "text", id, language, &values);
    writer_end_object(writer);
}

/* How the first of a list differs by objective. */
static const char *
first_why(enum objective objective)
{
    switch (objective) {
    case OBJECTIVE_TIME:
        return "fastest";
    case OBJECTIVE_BALANCED:
        return "balanced";
    case OBJECTIVE_HEADROOM:
        return "most_headroom";
    case OBJECTIVE_COST:
    case OBJECTIVE_UNSAID:
        break;
    }
    return "cheapest";
}

static void
whys_encode(struct json_writer *writer, const struct recommend_request *request, const struct catalog *catalog,
            const struct candidate *candidate, size_t rank, enum language language)
{
    const struct price *price = candidate->price;
    bool tight =
        candidate->outcome.training_verdict == VERDICT_TIGHT || candidate->outcome.serving_verdict == VERDICT_TIGHT;

    writer_array(writer, "why");
    if (rank == 1)
        why(writer, first_why(request->objective), language, candidate->offer->id, 0);
    if (tight)
        why(writer, "tight_memory", language, NULL, 0);
    if (candidate->count == 1)
        why(writer, "single_node", language, NULL, candidate->gpus);
    if (price->low.micros != price->high.micros)
        why(writer, "price_is_range", language, NULL, 0);
    if (price->type == PRICE_SPOT)
        why(writer, "spot_interruptions", language, NULL, 0);
    if (price->type == PRICE_PURCHASE && !(candidate->watts > 0))
        why(writer, "power_unknown", language, NULL, 0);
    if (offer_is_host_card(candidate->offer) && candidate->count > 1)
        why(writer, "cards_of_one_host", language, NULL, candidate->count);
    if (price->confidence == 'C')
        why(writer, "price_is_weak", language, price->observed_date, 0);
    else if (price->observed_date && strncmp(price->observed_date, catalog->as_of, 4) < 0)
        why(writer, "price_is_old", language, price->observed_date, 0); /* of an earlier year */
    if (!gpu_family_is_measured(candidate->offer->gpu->family))
        why(writer, "device_not_measured", language, candidate->offer->gpu->id, 0);
    writer_end_array(writer);
}

static void
candidate_training_encode(struct json_writer *writer, const struct answer *detail, enum language language)
{
    const struct training_estimate *estimate = &detail->training.estimate;

    writer_object(writer, "training");
    writer_text(writer, "verdict", verdict_name(estimate->memory.verdict));
    training_plan_encode(writer, &detail->training, language);
    footprint_encode(writer, &estimate->memory);
    training_throughput_encode(writer, estimate);
    if (detail->has_duration)
        writer_range(writer, "duration_hours", detail->duration_hours);
    writer_text(writer, "bottleneck", bottleneck_name(estimate->speed.bottleneck));
    writer_end_object(writer);
}

static void
candidate_serving_encode(struct json_writer *writer, const struct answer *detail)
{
    const struct serving_estimate *estimate = &detail->serving.estimate;

    writer_object(writer, "serving");
    writer_text(writer, "verdict", verdict_name(estimate->memory.footprint.verdict));
    serving_plan_encode(writer, &detail->serving);
    footprint_encode(writer, &estimate->memory.footprint);
    serving_cache_encode(writer, estimate);
    serving_speed_encode(writer, estimate);
    writer_text(writer, "bottleneck", bottleneck_name(estimate->speed.bottleneck));
    writer_end_object(writer);
}

static void
price_encode(struct json_writer *writer, const struct price *price)
{
    writer_object(writer, "price");
    writer_text(writer, "id", price->id);
    writer_money(writer, "low", price->low);
    writer_money(writer, "high", price->high);
    writer_text(writer, "unit",
                price->unit == PRICE_PER_HOUR    ? "hour"
                : price->unit == PRICE_PER_MONTH ? "month"
                                                 : "unit");
    writer_text(writer, "observed_date", price->observed_date);
    if (price->tax_included >= 0)
        writer_bool(writer, "tax_included", price->tax_included == 1);
    writer_text(writer, "confidence", (char[]){ price->confidence, 0 });
    writer_text(writer, "source", price->source);
    writer_end_object(writer);
}

static void
candidate_encode(struct json_writer *writer, const struct recommend_request *request, const struct catalog *catalog,
                 const struct candidate *candidate, size_t rank, enum language language, struct answer *scratch)
{
    const struct offer *offer = candidate->offer;
    struct fault fault;

    fault_clear(&fault);
    if (candidate_detail(request, catalog, candidate, scratch, &fault) != STATUS_OK)
        return; /* it was estimated a moment ago: cannot be */
    writer_object(writer, NULL);
    writer_u64(writer, "rank", rank);
    writer_text(writer, "offer", offer->id);
    writer_u64(writer, "count", candidate->count);
    writer_text(writer, "acquisition", offer->is_server ? "buy" : "rent");
    writer_text(writer, "price_type", price_type_names[candidate->price->type]);
    writer_text(writer, "provider", offer->provider->id);
    writer_text(writer, "region", candidate->price->region);
    writer_text(writer, "gpu", offer->gpu->id);
    writer_u64(writer, "gpus", candidate->gpus);
    if (scratch->has_training)
        candidate_training_encode(writer, scratch, language);
    if (scratch->has_serving)
        candidate_serving_encode(writer, scratch);
    cost_encode(writer, "cost", &candidate->cost);
    price_encode(writer, candidate->price);
    if (candidate->watts > 0)
        writer_real(writer, "power_watts", candidate->watts);
    writer_bool(writer, "pareto", candidate->pareto);
    whys_encode(writer, request, catalog, candidate, rank, language);
    writer_end_object(writer);
}

/* A figure of a reason as people read it: memory in GiB, money in its currency, the rest as a plain number. */
static void
reason_figure(char *text, size_t size, enum reason_code code, double value, enum currency currency)
{
    char money[MONEY_TEXT_SIZE];

    if (code == REASON_DOES_NOT_FIT) {
        text_format(text, size, "%.1f GiB", value / GIB);
    } else if (code == REASON_OVER_BUDGET) {
        money_text(money_from_amount(value, currency), money);
        text_format(text, size, "%s %s", money, currency_code(currency));
    } else {
        text_format(text, size, value >= 1000 ? "%.0f" : "%.4g", value);
    }
}

static void
reason_encode(struct json_writer *writer, const struct reason *reason, enum currency currency, enum language language)
{
    char required[64], actual[64], id[64];
    struct message_values values = { { required, actual }, { reason->required, reason->actual } };

    text_copy(required, sizeof required, reason->required_text);
    text_copy(actual, sizeof actual, reason->actual_text);
    if (!required[0] && !actual[0] && reason->required > 0) {
        reason_figure(required, sizeof required, reason->code, reason->required, currency);
        reason_figure(actual, sizeof actual, reason->code, reason->actual, currency);
    }
    text_format(id, sizeof id, "reason.%s", reason_code_name(reason->code));
    writer_object(writer, NULL);
    writer_text(writer, "code", reason_code_name(reason->code));
    if (reason->required > 0)
        writer_real(writer, "required", reason->required);
    if (reason->actual > 0)
        writer_real(writer, "actual", reason->actual);
    sentence(writer, "text", id, language, &values);
    writer_end_object(writer);
}

static void
rejected_encode(struct json_writer *writer, const struct recommendation *all, enum currency currency,
                enum language language)
{
    writer_object(writer, "rejected");
    writer_u64(writer, "count", all->rejected_count);
    writer_object(writer, "by_reason");
    for (size_t i = 1; i < REASON_COUNT; i++)
        if (all->rejected_by[i])
            writer_u64(writer, reason_code_name((enum reason_code)i), all->rejected_by[i]);
    writer_end_object(writer);
    writer_array(writer, "examples");
    for (size_t i = 0; i < all->example_count; i++) {
        writer_object(writer, NULL);
        writer_text(writer, "offer", all->examples[i].offer->id);
        if (all->examples[i].price)
            writer_text(writer, "price_type", price_type_names[all->examples[i].price->type]);
        writer_array(writer, "reasons");
        reason_encode(writer, &all->examples[i].reason, currency, language);
        writer_end_array(writer);
        writer_end_object(writer);
    }
    writer_end_array(writer);
    writer_end_object(writer);
}

/* What a constraint has to be at least, in digits that people write, rounded up: rounded to the nearest it could be a
 * hair too little. Cents, whole watts, hours with 5 significant digits. */
static double
enough(enum reason_code code, double least)
{
    double step = code == REASON_OVER_BUDGET ? 0.01 : code == REASON_OVER_POWER ? 1 : pow(10, floor(log10(least)) - 4);

    return ceil(least / step) * step;
}

static void
relaxations_encode(struct json_writer *writer, const struct recommend_request *request,
                   const struct recommendation *all, enum language language)
{
    enum currency currency = request->terms.currency;

    writer_array(writer, "relaxations");
    for (size_t i = 0; i < all->relaxation_count && all->count < 3; i++) {
        const struct relaxation *relaxation = &all->relaxations[i];
        double to = enough(relaxation->code, relaxation->to);
        struct message_values values = { { relaxation->offer->id, currency_code(currency) }, { relaxation->from, to } };
        bool budget = relaxation->code == REASON_OVER_BUDGET;
        const char *name = budget                                     ? "budget"
                           : relaxation->code == REASON_OVER_DEADLINE ? "deadline_hours"
                                                                      : "max_power_watts";
        char pointer[48], id[48], from_text[MONEY_TEXT_SIZE], to_text[MONEY_TEXT_SIZE];

        money_text(money_from_amount(relaxation->from, currency), from_text);
        money_text(money_from_amount(to, currency), to_text);
        values.text[2] = from_text;
        values.text[3] = to_text;
        text_format(pointer, sizeof pointer, "/constraints/%s", name);
        text_format(id, sizeof id, "relaxation.%s", name);
        writer_object(writer, NULL);
        writer_text(writer, "pointer", pointer);
        if (budget) {
            writer_money(writer, "from", money_from_amount(relaxation->from, currency));
            writer_money(writer, "to", money_from_amount(to, currency));
        } else {
            writer_real(writer, "from", relaxation->from);
            writer_real(writer, "to", to);
        }
        writer_text(writer, "offer", relaxation->offer->id);
        sentence(writer, "text", id, language, &values);
        writer_end_object(writer);
    }
    writer_end_array(writer);
}

/* What to do first: rent and measure before anything is bought, with rules for what the measurement shows. */
static void
first_step_encode(struct json_writer *writer, const struct recommendation *all, enum language language)
{
    static const char *const rules[] = { "gpu_idle", "memory_full", "slower_than_estimate" };
    const struct candidate *first = all->count ? &all->candidates[0] : NULL;
    struct message_values values = { { first ? first->offer->id : NULL }, { 0 } };
    const char *id = !first                    ? "first_step.no_offer"
                     : first->offer->is_server ? "first_step.buy_after_benchmark"
                                               : "first_step.rent_and_benchmark";

    writer_object(writer, "first_step");
    sentence(writer, "text", id, language, &values);
    writer_array(writer, "metrics");
    writer_text(writer, NULL, "gpu_utilization_ratio");
    writer_text(writer, NULL, "peak_memory_bytes");
    writer_text(writer, NULL, "step_seconds");
    writer_text(writer, NULL, "data_seconds");
    writer_end_array(writer);
    writer_array(writer, "rules");
    for (size_t i = 0; i < COUNT_OF(rules); i++) {
        char name[64];

        writer_object(writer, NULL);
        text_format(name, sizeof name, "rule.%s_if", rules[i]);
        sentence(writer, "if", name, language, &values);
        text_format(name, sizeof name, "rule.%s_then", rules[i]);
        sentence(writer, "then", name, language, &values);
        writer_end_object(writer);
    }
    writer_end_array(writer);
    writer_end_object(writer);
}

void
recommend_encode(const struct recommend_request *request, const struct recommendation *recommendation,
                 const struct provenance *provenance, const struct assumptions *assumptions,
                 const struct notices *notices, enum language language, struct answer *scratch, struct buffer *body)
{
    struct json_writer writer;

    writer_init(&writer, body);
    writer_object(&writer, NULL);
    writer_array(&writer, "candidates");
    for (size_t i = 0; i < recommendation->count; i++)
        candidate_encode(&writer, request, provenance->catalog, &recommendation->candidates[i], i + 1, language,
                         scratch);
    writer_end_array(&writer);
    rejected_encode(&writer, recommendation, request->terms.currency, language);
    relaxations_encode(&writer, request, recommendation, language);
    buy_or_rent_encode(&writer, request, recommendation, &provenance->catalog->rates, language);
    first_step_encode(&writer, recommendation, language);
    assumptions_encode(&writer, assumptions, language);
    notices_encode(&writer, notices, language);
    provenance_encode(&writer, provenance);
    writer_object(&writer, "searched");
    writer_u64(&writer, "offers", recommendation->searched_offers);
    writer_u64(&writer, "feasible_offers", recommendation->feasible_offers);
    writer_u64(&writer, "plans", recommendation->searched_plans);
    writer_end_object(&writer);
    writer_end_object(&writer);
}
