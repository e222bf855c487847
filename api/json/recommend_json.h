/* POST /recommend: the request read, the recommendation written. */
#ifndef API_JSON_RECOMMEND_JSON_H
#define API_JSON_RECOMMEND_JSON_H

#include "api/json/estimate_json.h"
#include "service/recommend/recommend.h"

extern const struct field_table recommend_table, constraints_table;

struct constraints_members {
    struct constraints limits;
    struct text_list providers, excluded_providers, regions, countries, vendors, gpus, compliance;
};

/* The members of /estimate stand in `shared`, what is /recommend's own beside them. */
struct recommend_decoded {
    struct estimate_decoded shared;
    struct recommend_members {
        struct constraints_members constraints;
        enum objective objective;
        enum maturity maturity;
        double horizon_months, utilization_ratio;
        uint32_t limit;
    } members;
    struct recommend_request request;
};

/* Reads an open body (estimate_open of `shared`); all faults at once. A currency that is not said is the budget's, else
 * `usual_currency`, as an assumption. */
enum status
recommend_decode(const struct catalog *catalog, enum currency usual_currency, struct recommend_decoded *decoded,
                 struct assumptions *assumptions, struct notices *notices, struct fault *fault);

/* `scratch` is room for the details of one candidate at a time. */
void
recommend_encode(const struct recommend_request *request, const struct recommendation *recommendation,
                 const struct provenance *provenance, const struct assumptions *assumptions,
                 const struct notices *notices, enum language language, struct answer *scratch, struct buffer *body);

#endif
