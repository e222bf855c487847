/* Latency and throughput of serving: passes, the cycle they form, and the queue before them. */
#ifndef SERVICE_SPEED_SERVING_SPEED_H
#define SERVICE_SPEED_SERVING_SPEED_H

#include "service/base/quantity.h"
#include "service/memory/serving_memory.h"
#include "service/speed/bottleneck.h"

/* Figures of one deployment (all replicas on the machine). Bands are around expected. */
struct serving_speed {
    struct range ttft_ms;                  /* from arrival, queueing included */
    struct range ttft_p95_ms;              /* high: of clients that arrive at once again and again, too */
    struct range tpot_ms;                  /* mean time between output tokens of one request, without the first */
    struct range tpot_p95_ms;              /* of the request that is slower than 95 of 100 */
    struct range output_tokens_per_second; /* all GPUs */
    struct range requests_per_second;
    double running_sequences;              /* at once in one replica */
    double concurrency;                    /* requests under way in all replicas, those that wait included */
    double saturation_requests_per_second; /* of one replica: more than this arrives only to queue */
    double burst_ttft_ms;                  /* last first token when `concurrency` requests arrive at once */
    double one_prefill_ms;
    bool overloaded; /* more arrives than can be served: first token has no bound */
    enum bottleneck bottleneck;
};

/* `memory` is serving_memory() of the same setup. */
void
serving_speed(const struct serving_setup *setup, const struct serving_memory *memory, struct serving_speed *ret_speed);

#endif
