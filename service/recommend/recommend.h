/* What to rent or buy: every offer of the catalog, estimated, priced, rejected with a reason or ranked. */
#ifndef SERVICE_RECOMMEND_RECOMMEND_H
#define SERVICE_RECOMMEND_RECOMMEND_H

#include "service/cost/buy_or_rent.h"
#include "service/search/answer.h"

enum budget_scope { BUDGET_SCOPE_UNSAID = 0, BUDGET_TOTAL, BUDGET_PER_MONTH, BUDGET_PURCHASE };
enum objective { OBJECTIVE_UNSAID = 0, OBJECTIVE_COST, OBJECTIVE_TIME, OBJECTIVE_BALANCED, OBJECTIVE_HEADROOM };
enum maturity { MATURITY_UNSAID = 0, MATURITY_EXPLORING, MATURITY_STEADY };

extern const char *const budget_scope_names[4];
extern const char *const objective_names[5];
extern const char *const maturity_names[3];

enum { ACQUIRE_RENT = 1, ACQUIRE_BUY = 2 };
enum { MAX_LIST = 64, MAX_CANDIDATES = 200 };

/* Names that a constraint lists; lent by the request. */
struct name_list {
    size_t count;
    const char *items[MAX_LIST];
};

struct constraints {
    struct money budget; /* currency UNSAID: none */
    enum budget_scope budget_scope;
    double deadline_hours;
    struct name_list providers, excluded_providers, regions, countries, vendors, compliance;
    struct name_list gpu_names; /* as given; gpus are what they mean */
    const struct gpu *gpus[MAX_LIST];
    size_t gpu_count;
    unsigned acquisition; /* set of ACQUIRE_*; 0: both */
    unsigned price_types; /* bit i: enum price_type i; 0: all */
    enum flag spot;       /* FLAG_NO: no spot prices */
    uint32_t max_gpus, max_power_watts;
    double headroom_ratio, price_max_age_days;
};

struct recommend_request {
    struct estimate_request job; /* hardware: what is owned already, answered like an offer without a price */
    struct constraints constraints;
    enum objective objective;
    enum maturity maturity;
    struct cost_terms terms;    /* complete */
    enum price_type price_type; /* cost.price_type: the one to use */
    uint32_t limit;
};

enum reason_code {
    REASON_NONE = 0,
    REASON_DOES_NOT_FIT,
    REASON_OVER_BUDGET,
    REASON_OVER_DEADLINE,
    REASON_SLO_MISSED,
    REASON_NO_PRICE,
    REASON_PRICE_TOO_OLD,
    REASON_REGION_EXCLUDED,
    REASON_PROVIDER_EXCLUDED,
    REASON_SPOT_EXCLUDED,
    REASON_COMPLIANCE_UNKNOWN,
    REASON_OVER_POWER,
    REASON_OVER_GPU_LIMIT,
    REASON_NO_KERNEL_FOR_PRECISION,
    REASON_DEVICE_UNKNOWN,
    REASON_POWER_UNKNOWN,
    REASON_NO_EXCHANGE_RATE,
    REASON_COUNT
};

const char *reason_code_name(enum reason_code code);

enum { REASON_TEXT_SIZE = 64, MAX_EXAMPLES = 20 };

/* One reason with what was required and what was found. Numbers in the unit the code implies: bytes, hours, watts,
 * GPUs, days, ms, or currency units; texts where it is a name. */
struct reason {
    enum reason_code code;
    double required, actual;
    char required_text[REASON_TEXT_SIZE], actual_text[REASON_TEXT_SIZE];
};

struct rejection {
    const struct offer *offer;
    const struct price *price; /* NULL: none may be used, or it was out before its price mattered */
    struct reason reason;
};

/* What the search keeps of an estimate: enough to judge and rank by. */
struct outcome {
    enum verdict training_verdict, serving_verdict; /* UNKNOWN: not asked */
    bool no_kernel;
    double required_bytes, usable_bytes, reserved_bytes; /* of the fuller of both jobs */
    double offload_host_bytes;                           /* of a node; 0: nothing is offloaded */
    bool short_of_host; /* the first two are of the memory of a host, which offload fills */
    bool has_hours;
    struct range hours; /* of training */
    double samples_per_second;
    double serving_load; /* mean load over what it can take; 0: not known */
    double ttft_p95_ms, tpot_p95_ms, output_tokens_per_second;
    bool overloaded;
    uint64_t plans;
};

struct candidate {
    const struct offer *offer;
    const struct price *price;
    uint32_t count; /* units of the offer */
    uint32_t gpus;
    struct outcome outcome;
    struct cost cost;
    double watts;
    bool pareto;
};

/* The smallest change of a constraint that would let an offer in. */
struct relaxation {
    enum reason_code code;
    const struct offer *offer; /* NULL: none */
    double from, to;
};
enum { MAX_RELAXATIONS = 4 };

/* What one GPU costs, of offers that do the job, in the currency of the search. */
enum { MAX_MARKETS = 32, MAX_RENTS = 64 };
struct market {
    const struct gpu *gpu;
    double rents[MAX_RENTS]; /* a GPU-hour on demand, in order */
    size_t rent_count;
    double purchase_per_gpu, buy_watts; /* of the cheapest; 0: none */
    uint32_t buy_gpus;
};

struct recommendation {
    struct candidate candidates[MAX_CANDIDATES]; /* the best `count` of all, in order */
    size_t count;
    size_t feasible_offers; /* all of them, also beyond the limit */
    size_t rejected_count;
    size_t rejected_by[REASON_COUNT];
    struct rejection examples[MAX_EXAMPLES]; /* of every reason some */
    size_t example_count;
    struct relaxation relaxations[MAX_RELAXATIONS];
    size_t relaxation_count;
    struct market markets[MAX_MARKETS];
    size_t market_count;
    size_t searched_offers;
    uint64_t searched_plans;
};

/* Fills in what the request leaves out: objective, horizon, utilization, currency, power price. */
void recommend_complete(struct recommend_request *request, const struct rates *rates, const struct catalog *catalog,
                        struct assumptions *assumptions);

/* Memory of one search: outcomes already found, by machine. Any content to begin with; the caller's. */
enum { OUTCOME_SLOTS = 2048 };
struct outcome_cache {
    size_t used;
    struct outcome_slot {
        const struct gpu *gpu;
        uint32_t per_node, count;
        enum intranode intranode;
        double network;
        double host; /* memory of a node; 0 where nothing is offloaded */
        struct outcome outcome;
    } slots[OUTCOME_SLOTS];
};

/* Searches the whole catalog. Never fails: nothing feasible is an empty list with every reason. */
void recommend_run(const struct recommend_request *request, const struct catalog *catalog, struct outcome_cache *cache,
                   struct recommendation *ret_recommendation);

/* The machine that `count` units of an offer make. */
struct machine offer_machine(const struct offer *offer, uint32_t count);

/* The outcome of the request's jobs on a machine (outcome.c). */
void outcome_find(const struct recommend_request *request, const struct catalog *catalog, const struct machine *machine,
                  struct outcome *ret_outcome);

/* The same estimate again, whole, for showing a candidate. */
enum status candidate_detail(const struct recommend_request *request, const struct catalog *catalog,
                             const struct candidate *candidate, struct answer *ret_answer, struct fault *ret_fault);

/* Whether a goes before b: the numbered ladder of ranking.c. */
int candidate_compare(const struct candidate *a, const struct candidate *b, enum objective objective);

/* Marks those of a ranked list that no other beats in both cost and time (or headroom, where there is no time). */
void pareto_mark(struct candidate *candidates, size_t count);

#endif
