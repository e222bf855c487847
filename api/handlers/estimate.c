#include "api/handlers/estimate.h"

#include "api/handlers/pinned.h"
#include "api/json/estimate_json.h"

/* What the machine costs; the cost that was asked for and cannot be told is named. */
static void
price_machine(const struct estimate_decoded *decoded, struct answer *answer, const struct catalog *catalog,
              enum language language, struct estimate_remarks *remarks)
{
    const struct cost_members *said = &decoded->members.cost;
    struct machine_cost_ask ask = { cost_terms_said(said), (enum price_type)said->price_type, said->region,
                                    language == LANGUAGE_ZH_CN ? CURRENCY_CNY : CURRENCY_USD };

    remarks->has_cost = machine_cost(&decoded->members.request, answer, catalog, &ask, &remarks->cost,
                                     &answer->assumptions, &answer->notices);
    notice_unanswered(&answer->notices, decoded->members.has_cost && !remarks->has_cost, "/cost");
}

static enum status
answer_opened(struct estimate_decoded *decoded, struct answer *answer, const struct request *request,
              const struct service_state *state, const struct catalog *catalog, struct response *response,
              struct fault *fault)
{
    struct provenance provenance = { state->version, catalog, decoded->digest };
    struct estimate_remarks remarks;

    TRY(estimate_decode(catalog, decoded, &answer->assumptions, &answer->notices, fault));
    TRY(answer_run(&decoded->members.request, catalog, answer, fault));
    diagnose(&decoded->members.request, answer, &catalog->rates, &remarks.diagnosis);
    price_machine(decoded, answer, catalog, request->language, &remarks);
    estimate_encode(answer, &remarks, &provenance, request->language, response->body);
    return STATUS_OK;
}

enum status
handle_estimate(const struct request *request, const struct service_state *state, struct response *ret_response,
                struct fault *ret_fault)
{
    struct estimate_decoded decoded;
    struct answer answer;
    const struct catalog *catalog;
    struct snapshot *pinned;
    enum status status;

    answer.notices.count = answer.notices.dropped = 0;
    answer.assumptions.count = 0;
    TRY(estimate_open(request, &decoded, &answer.notices, ret_fault));
    status = pinned_catalog(estimate_version_asked(&decoded), state, &catalog, &pinned, ret_fault);
    if (status == STATUS_OK)
        status = answer_opened(&decoded, &answer, request, state, catalog, ret_response, ret_fault);
    if (pinned)
        catalog_release(pinned);
    estimate_decoded_done(&decoded);
    return status;
}
