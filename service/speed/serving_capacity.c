/* Halves the load until the targets hold. */
#include "service/speed/serving_capacity.h"

#include <math.h>

#include "service/speed/serving_queue.h"
#include "service/speed/serving_replica.h"

static const double milliseconds = 1000;
static const double most_batches = 1024;    /* that clients wait for at most */
static const double larger = 1.1;           /* a cache that is asked whether it would serve more */
static const double share_of_search = 0.01; /* a rate is found to this share of itself */

static const char *const limit_names[SERVING_LIMIT_COUNT] = {
    [SERVING_LIMIT_CACHE] = "kv_cache",
    [SERVING_LIMIT_ENGINE] = "engine",
    [SERVING_LIMIT_FIRST_TOKEN] = "ttft_p95_ms",
    [SERVING_LIMIT_TOKEN] = "tpot_p95_ms",
};

const char *
serving_limit_name(enum serving_limit limit)
{
    return limit_names[limit];
}

bool
serving_meets_first_token(const struct serving_job *job, double ttft_p95_ms)
{
    return !(job->slo_ttft_p95_ms > 0) || ttft_p95_ms <= job->slo_ttft_p95_ms;
}

bool
serving_meets_token(const struct serving_job *job, double tpot_p95_ms)
{
    return !(job->slo_tpot_p95_ms > 0) || tpot_p95_ms <= job->slo_tpot_p95_ms;
}

/* A replica and the load that is tried on it. */
struct trial {
    const struct serving_job *job;
    struct serving_replica replica;
    double load;
    struct serving_pace pace;
    enum serving_limit missed;
};

static bool
holds(struct trial *trial, double load)
{
    const struct serving_pace *pace = &trial->pace;

    trial->load = load;
    if (!serving_replica_pace(&trial->replica, trial->job->arrival, load, &trial->pace))
        return false;
    if (!serving_meets_first_token(trial->job, pace->first_token_p95_seconds * milliseconds))
        trial->missed = SERVING_LIMIT_FIRST_TOKEN;
    else if (!serving_meets_token(trial->job, pace->token_p95_seconds * milliseconds))
        trial->missed = SERVING_LIMIT_TOKEN;
    else
        return true;
    return false;
}

/* The largest load below `most`, which does not hold; 0 when none does. Clients are whole. */
static double
largest_load(struct trial *trial, double most)
{
    bool clients = trial->job->arrival != ARRIVAL_POISSON;
    double low = clients ? 1 : most * share_of_search * share_of_search, high = most;

    if (!holds(trial, low))
        return 0;
    while (clients ? high - low > 1 : high - low > share_of_search * high) {
        double middle = clients ? floor((low + high) / 2) : (low + high) / 2;

        if (holds(trial, middle))
            low = middle;
        else
            high = middle;
    }
    return low;
}

/* More clients than a cache of this size holds would be served if it were larger, and not only wait elsewhere. */
static bool
memory_binds(struct trial *trial)
{
    struct serving_flow *flow = &trial->replica.flow;
    double now = flow->saturation, then;

    flow->most_sequences *= larger;
    then = serving_replica_saturation(&trial->replica);
    flow->most_sequences /= larger;
    return then > now * (1 + (larger - 1) / 2);
}

/* How many clients take turns in passes that answer them at once is limited by targets alone. */
static double
most_turns(const struct trial *trial, double clients, bool targets)
{
    double batch = trial->replica.flow.most_sequences;

    return targets ? batch * most_batches : fmax(batch, clients);
}

/* Sequences of the asked context, where that is longer than a request: all may grow to it. */
static double
most_clients(const struct trial *trial, const struct serving_memory *memory)
{
    double held = floor(fmax(1, memory->max_concurrency)), most = floor(trial->replica.flow.most_sequences);

    return memory->kv_bytes_per_token > 0 ? fmin(held, most) : most;
}

void
serving_capacity(const struct serving_setup *setup, const struct serving_memory *memory,
                 struct serving_capacity *ret_capacity)
{
    struct trial trial = { .job = setup->job };
    bool targets = setup->job->slo_ttft_p95_ms > 0 || setup->job->slo_tpot_p95_ms > 0, full;
    double most;

    *ret_capacity = (struct serving_capacity){ 0 };
    serving_replica_make(setup, memory, &trial.replica);
    if (setup->job->arrival == ARRIVAL_POISSON)
        most = trial.replica.flow.saturation;
    else if (trial.replica.generates)
        most = most_clients(&trial, memory);
    else
        most = most_turns(&trial, ceil(setup->job->concurrency / fmax(1, setup->replicas)), targets);
    full = holds(&trial, most) || !targets;
    if (full) {
        bool cache = trial.replica.cache_sequences < setup->rates->serving_most_sequences;

        ret_capacity->limit = cache ? SERVING_LIMIT_CACHE : SERVING_LIMIT_ENGINE;
        ret_capacity->memory_binds = cache && memory_binds(&trial);
    } else {
        most = largest_load(&trial, most);
        ret_capacity->limit = trial.missed;
        if (!(most > 0))
            return;
        (void)holds(&trial, most);
    }
    ret_capacity->requests_per_second = trial.pace.requests_per_second;
    ret_capacity->concurrency =
        trial.job->arrival == ARRIVAL_POISSON ? serving_replica_requests(&trial.replica, &trial.pace) : most;
    ret_capacity->bottleneck = serving_bottleneck(&trial.pace.spent);
}
