/* The "training", "serving", "dataset", "checkpoint", "observed" and "cost" members of a request, as field tables. */
#ifndef API_JSON_JOB_JSON_H
#define API_JSON_JOB_JSON_H

#include "api/json/field.h"
#include "service/cost/cost.h"
#include "service/job/job.h"
#include "service/search/request.h"

struct cost_members {
    enum currency currency;
    uint32_t price_type; /* enum price_type */
    char region[64];
    double horizon_months, hours_per_day, electricity_per_kwh, pue, depreciation_years, residual_ratio,
        failure_ratio_per_year, interruptions_per_hour;
};

/* What of the cost terms was said. */
struct cost_terms cost_terms_said(const struct cost_members *members);

extern const struct field_table training_table, serving_table, dataset_table, checkpoint_table, observed_table,
    cost_table, lora_table, training_parallelism_table, serving_parallelism_table, slo_table;

/* ISO 4217 codes by enum currency; [0] is NULL. */
extern const char *const currency_names[CURRENCY_COUNT];

#endif
