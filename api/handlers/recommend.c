#include "api/handlers/recommend.h"

#include <stdlib.h>

#include "api/handlers/pinned.h"
#include "api/json/recommend_json.h"
#include "service/recommend/notices.h"

/* All that one recommendation needs: too large for a thread's stack. */
struct workspace {
    struct recommend_decoded decoded;
    struct recommendation recommendation;
    struct outcome_cache cache;
    struct answer scratch;
    struct assumptions assumptions;
    struct notices notices;
};

static enum status
recommend_opened(struct workspace *work, const struct request *request, const struct service_state *state,
                 const struct catalog *catalog, struct response *response, struct fault *fault)
{
    struct provenance provenance = { state->version, catalog, work->decoded.shared.digest };
    enum currency usual = request->language == LANGUAGE_ZH_CN ? CURRENCY_CNY : CURRENCY_USD;

    TRY(recommend_decode(catalog, usual, &work->decoded, &work->assumptions, &work->notices, fault));
    recommend_run(&work->decoded.request, catalog, &work->cache, &work->recommendation);
    recommend_notices(&work->recommendation, &work->notices);
    recommend_encode(&work->decoded.request, &work->recommendation, &provenance, &work->assumptions, &work->notices,
                     request->language, &work->scratch, response->body);
    return STATUS_OK;
}

enum status
handle_recommend(const struct request *request, const struct service_state *state, struct response *ret_response,
                 struct fault *ret_fault)
{
    struct workspace *work = malloc(sizeof *work);
    const struct catalog *catalog;
    struct snapshot *pinned;
    enum status status;

    if (!work) {
        fault_add(ret_fault, FAULT_OVERLOADED, "", NULL, NULL, NULL);
        return STATUS_FAULT;
    }
    work->assumptions.count = 0;
    work->notices.count = work->notices.dropped = 0;
    status = estimate_open(request, &work->decoded.shared, &work->notices, ret_fault);
    if (status == STATUS_OK) {
        status = pinned_catalog(estimate_version_asked(&work->decoded.shared), state, &catalog, &pinned, ret_fault);
        if (status == STATUS_OK)
            status = recommend_opened(work, request, state, catalog, ret_response, ret_fault);
        if (pinned)
            catalog_release(pinned);
        estimate_decoded_done(&work->decoded.shared);
    }
    free(work);
    return status;
}
