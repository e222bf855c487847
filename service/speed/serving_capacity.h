/* The largest load of one replica that keeps its latency targets, and what stands in the way of more. */
#ifndef SERVICE_SPEED_SERVING_CAPACITY_H
#define SERVICE_SPEED_SERVING_CAPACITY_H

#include "service/memory/serving_memory.h"
#include "service/speed/bottleneck.h"

enum serving_limit {
    SERVING_LIMIT_CACHE = 0,   /* the cache holds no more sequences */
    SERVING_LIMIT_ENGINE,      /* an engine runs no more at once by default */
    SERVING_LIMIT_FIRST_TOKEN, /* beyond it the first token misses its target */
    SERVING_LIMIT_TOKEN,       /* beyond it the time between tokens does */
    SERVING_LIMIT_COUNT
};

struct serving_capacity {
    double requests_per_second, concurrency; /* both 0: not even one request at a time keeps the targets */
    enum serving_limit limit;
    bool memory_binds;          /* a larger cache would serve more: more than half of what it is larger by */
    enum bottleneck bottleneck; /* what the time goes to at that load */
};

/* Under the job's arrival model: closed loops by clients, random arrivals by rate; the other of the two follows
 * (Little's law). Without targets what saturates it. The machine names a GPU; `memory` is of the same setup. */
void serving_capacity(const struct serving_setup *setup, const struct serving_memory *memory,
                      struct serving_capacity *ret_capacity);

/* Whether each target holds for 95 of 100 requests as expected; one that is not set does. */
bool serving_meets_first_token(const struct serving_job *job, double ttft_p95_ms);
bool serving_meets_token(const struct serving_job *job, double tpot_p95_ms);

/* Name of a limit in replies. */
const char *serving_limit_name(enum serving_limit limit);

#endif
