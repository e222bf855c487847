#include "api/json/recommend_json.h"

#include <string.h>

#include "service/base/quantity.h"
#include "service/base/text.h"

static const char *const acquisition_names[] = { "rent", "buy" };
static const char *const price_type_bits[] = { NULL, "on_demand", "spot", "reserved", "subscription", "purchase" };

#define LIMIT(member) offsetof(struct constraints_members, limits.member)
#define LIST(member_name)                                                                                      \
    {                                                                                                          \
        .name = #member_name, .kind = FIELD_TEXTS, .offset = offsetof(struct constraints_members, member_name) \
    }

static const struct field constraints_fields[] = {
    { .name = "budget", .kind = FIELD_MONEY, .offset = LIMIT(budget) },
    { .name = "budget_scope",
      .kind = FIELD_ENUM,
      .offset = LIMIT(budget_scope),
      .names = budget_scope_names,
      .name_count = COUNT_OF(budget_scope_names) },
    { .name = "deadline_hours", .kind = FIELD_REAL, .offset = LIMIT(deadline_hours), .min = 0.001, .max = 1e7 },
    LIST(providers),
    LIST(excluded_providers),
    LIST(regions),
    LIST(countries),
    { .name = "acquisition",
      .kind = FIELD_ENUMS,
      .offset = LIMIT(acquisition),
      .names = acquisition_names,
      .name_count = COUNT_OF(acquisition_names) },
    { .name = "price_types",
      .kind = FIELD_ENUMS,
      .offset = LIMIT(price_types),
      .names = price_type_bits,
      .name_count = COUNT_OF(price_type_bits) },
    { .name = "spot", .kind = FIELD_BOOL, .offset = LIMIT(spot) },
    LIST(vendors),
    LIST(gpus),
    { .name = "max_gpus", .kind = FIELD_U32, .offset = LIMIT(max_gpus), .min = 1, .max = 100000 },
    { .name = "max_power_watts", .kind = FIELD_U32, .offset = LIMIT(max_power_watts), .min = 1, .max = 100000000 },
    LIST(compliance),
    { .name = "headroom_ratio", .kind = FIELD_REAL, .offset = LIMIT(headroom_ratio), .min = 0, .max = 0.9 },
    { .name = "price_max_age_days", .kind = FIELD_REAL, .offset = LIMIT(price_max_age_days), .min = 0, .max = 100000 },
};
const struct field_table constraints_table = { "Constraints", constraints_fields, COUNT_OF(constraints_fields) };

/* The whole body in one struct, so that one table reads it. */
#define SHARED(member) offsetof(struct recommend_decoded, shared.members.member)
#define OWN(member) offsetof(struct recommend_decoded, members.member)

static const struct field recommend_fields[] = {
    { .name = "model", .kind = FIELD_ANY, .offset = SHARED(model) },
    { .name = "training",
      .kind = FIELD_OBJECT,
      .offset = SHARED(request.training),
      .table = &training_table,
      .present_offset = SHARED(request.has_training) },
    { .name = "serving",
      .kind = FIELD_OBJECT,
      .offset = SHARED(request.serving),
      .table = &serving_table,
      .present_offset = SHARED(request.has_serving) },
    { .name = "dataset",
      .kind = FIELD_OBJECT,
      .offset = SHARED(request.dataset),
      .table = &dataset_table,
      .present_offset = SHARED(request.dataset.present) },
    { .name = "checkpoint",
      .kind = FIELD_OBJECT,
      .offset = SHARED(request.checkpoint),
      .table = &checkpoint_table,
      .present_offset = SHARED(request.checkpoint.present) },
    { .name = "hardware",
      .kind = FIELD_OBJECT,
      .offset = SHARED(hardware),
      .table = &hardware_table,
      .present_offset = SHARED(hardware.ask.present) },
    { .name = "observed",
      .kind = FIELD_OBJECT,
      .offset = SHARED(request.observed),
      .table = &observed_table,
      .present_offset = SHARED(request.observed.present) },
    { .name = "cost",
      .kind = FIELD_OBJECT,
      .offset = SHARED(cost),
      .table = &cost_table,
      .present_offset = SHARED(has_cost) },
    { .name = "catalog_version", .kind = FIELD_TEXT, .offset = SHARED(catalog_version), .max = 32 },
    { .name = "constraints",
      .kind = FIELD_OBJECT,
      .offset = OWN(constraints),
      .table = &constraints_table,
      .present_offset = SIZE_MAX },
    { .name = "objective",
      .kind = FIELD_ENUM,
      .offset = OWN(objective),
      .names = objective_names,
      .name_count = COUNT_OF(objective_names) },
    { .name = "horizon_months", .kind = FIELD_REAL, .offset = OWN(horizon_months), .min = 0.1, .max = 600 },
    { .name = "utilization_ratio", .kind = FIELD_REAL, .offset = OWN(utilization_ratio), .min = 0.001, .max = 1 },
    { .name = "limit", .kind = FIELD_U32, .offset = OWN(limit), .min = 1, .max = MAX_CANDIDATES },
    { .name = "maturity",
      .kind = FIELD_ENUM,
      .offset = OWN(maturity),
      .names = maturity_names,
      .name_count = COUNT_OF(maturity_names) },
};
const struct field_table recommend_table = { "RecommendRequest", recommend_fields, COUNT_OF(recommend_fields) };

_Static_assert((int)MAX_LIST == (int)MAX_LIST_TEXTS, "lists are copied whole");

static void
take_list(const struct text_list *from, struct name_list *to)
{
    to->count = from->count;
    memcpy(to->items, from->items, from->count * sizeof from->items[0]);
}

/* Names of a list that must be in the catalog. */
static void
resolve_providers(const struct name_list *list, const char *pointer, const struct catalog *catalog, struct fault *fault)
{
    char place[FAULT_POINTER_SIZE];

    for (size_t i = 0; i < list->count; i++) {
        if (catalog_provider(catalog, list->items[i]))
            continue;
        text_format(place, sizeof place, "%s/%zu", pointer, i);
        fault_add(fault, FAULT_UNKNOWN_VALUE, place, list->items[i], "/catalog/providers", NULL);
    }
}

static void
resolve_gpus(const struct text_list *names, const struct catalog *catalog, struct constraints *constraints,
             struct fault *fault)
{
    char place[FAULT_POINTER_SIZE];

    for (size_t i = 0; i < names->count; i++) {
        bool ambiguous;
        const struct gpu *gpu = catalog_gpu_by_name(catalog, names->items[i], &ambiguous);

        if (gpu) {
            constraints->gpus[constraints->gpu_count++] = gpu;
            continue;
        }
        text_format(place, sizeof place, "/constraints/gpus/%zu", i);
        fault_add(fault, FAULT_GPU_UNKNOWN, place, names->items[i], "/catalog/gpus",
                  catalog_nearest_gpu(catalog, names->items[i]));
    }
}

static void
resolve_constraints(const struct constraints_members *members, const struct catalog *catalog,
                    struct constraints *constraints, struct fault *fault)
{
    *constraints = members->limits;
    take_list(&members->providers, &constraints->providers);
    take_list(&members->excluded_providers, &constraints->excluded_providers);
    take_list(&members->regions, &constraints->regions);
    take_list(&members->countries, &constraints->countries);
    take_list(&members->vendors, &constraints->vendors);
    take_list(&members->compliance, &constraints->compliance);
    resolve_providers(&constraints->providers, "/constraints/providers", catalog, fault);
    resolve_providers(&constraints->excluded_providers, "/constraints/excluded_providers", catalog, fault);
    resolve_gpus(&members->gpus, catalog, constraints, fault);
}

static void
resolve_terms(const struct recommend_decoded *decoded, enum currency usual_currency, struct recommend_request *request,
              struct assumptions *assumptions)
{
    const struct cost_members *cost = &decoded->shared.members.cost;
    struct cost_terms *terms = &request->terms;

    *terms = cost_terms_said(cost);
    if (decoded->members.horizon_months > 0)
        terms->horizon_months = decoded->members.horizon_months;
    if (decoded->members.utilization_ratio > 0)
        terms->utilization_ratio = decoded->members.utilization_ratio;
    request->price_type = (enum price_type)cost->price_type;
    if (!terms->currency)
        terms->currency = request->constraints.budget.currency;
    if (!terms->currency) {
        terms->currency = usual_currency;
        assume_text(assumptions, "currency", "/cost/currency", currency_code(usual_currency));
    }
}

static void
check_job(const struct recommend_request *request, struct fault *fault)
{
    const struct estimate_request *job = &request->job;

    if (fault_any(fault))
        return;
    if (!job->arch)
        fault_add(fault, FAULT_MISSING_MEMBER, "/model", NULL, "model", NULL);
    if (!job->has_training && !job->has_serving)
        fault_add(fault, FAULT_NOTHING_ASKED, "", NULL, "training|serving", NULL);
    if (job->arch && job->arch->generic && job->has_serving)
        fault_add(fault, FAULT_CONFLICT, "/serving", NULL, "training", NULL);
}

/* More than the length of an epoch, which the duration of a training is reckoned from. */
static bool
asks_about_data(const struct dataset_ask *dataset)
{
    return dataset->bytes > 0 || dataset->files > 0 || dataset->mean_file_bytes > 0 || dataset->tokens_per_sample > 0 ||
           dataset->format || dataset->growth_per_year > 0 || dataset->uplink_bits_per_second > 0 ||
           dataset->daily_bytes > 0;
}

enum status
recommend_decode(const struct catalog *catalog, enum currency usual_currency, struct recommend_decoded *decoded,
                 struct assumptions *assumptions, struct notices *notices, struct fault *fault)
{
    struct recommend_request *request = &decoded->request;
    struct money asked, converted;

    memset(&decoded->members, 0, sizeof decoded->members);
    memset(request, 0, sizeof *request);
    fields_read(&recommend_table, decoded->shared.document, "", decoded, fault);
    estimate_members_resolve(catalog, &decoded->shared, assumptions, notices, fault);
    notice_unanswered(notices, asks_about_data(&decoded->shared.members.request.dataset), "/dataset");
    notice_unanswered(notices, decoded->shared.members.request.checkpoint.present, "/checkpoint");
    notice_unanswered(notices, decoded->shared.members.request.observed.present, "/observed");
    notice_unanswered(notices, decoded->shared.members.hardware.ask.present, "/hardware");
    notice_unanswered(notices, decoded->members.maturity != MATURITY_UNSAID, "/maturity");
    request->job = decoded->shared.members.request;
    request->objective = decoded->members.objective;
    request->maturity = decoded->members.maturity;
    request->limit = decoded->members.limit;
    resolve_constraints(&decoded->members.constraints, catalog, &request->constraints, fault);
    resolve_terms(decoded, usual_currency, request, assumptions);
    asked = request->constraints.budget;
    if (asked.currency && asked.currency != request->terms.currency) {
        if (!catalog_exchange(catalog, asked, request->terms.currency, &converted, NULL))
            fault_add(fault, FAULT_NO_EXCHANGE_RATE, "/constraints/budget/currency", currency_code(asked.currency),
                      currency_code(request->terms.currency), NULL);
        else
            request->constraints.budget = converted;
    }
    check_job(request, fault);
    if (fault_any(fault))
        return STATUS_FAULT;
    recommend_complete(request, &catalog->rates, catalog, assumptions);
    return STATUS_OK;
}
