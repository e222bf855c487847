/* Puts passes, cycles and queues of all replicas together. */
#include "service/speed/serving_speed.h"

#include <math.h>
#include <string.h>

#include "service/speed/serving_bands.h"
#include "service/speed/serving_queue.h"
#include "service/speed/serving_replica.h"

static const double milliseconds = 1000;

static struct range
banded(double expected, struct serving_band band)
{
    return (struct range){ expected * band.low, expected, expected * band.high };
}

/* No more is answered than arrives; less only where the band of what is served at most reaches below it. */
static struct range
answered(double arriving, double most, struct serving_band band)
{
    return (struct range){ fmin(arriving, most * band.low), fmin(arriving, most), fmin(arriving, most * band.high) };
}

static struct range
scaled(struct range range, double factor)
{
    return (struct range){ range.low * factor, range.expected * factor, range.high * factor };
}

/* Nineteen in twenty wait no shorter than the mean does. */
static struct range
not_below(struct range p95, struct range mean)
{
    return (struct range){ fmax(p95.low, mean.low), fmax(p95.expected, mean.expected), fmax(p95.high, mean.high) };
}

static void
set_figures(const struct serving_setup *setup, const struct serving_replica *replica, const struct serving_pace *pace,
            bool full, bool hosted, struct serving_speed *speed)
{
    const struct engine_traits *traits = &replica->traits;
    struct serving_band first = serving_band_of(setup, traits, SERVING_FIRST_TOKEN, full, hosted);
    struct serving_band rate = serving_band_of(setup, traits, SERVING_THROUGHPUT, full, hosted);
    double replicas = fmax(1, setup->replicas);
    bool random = setup->job->arrival == ARRIVAL_POISSON && setup->job->requests_per_second > 0;

    speed->ttft_ms = banded(pace->first_token_seconds * milliseconds, first);
    speed->ttft_p95_ms = banded(pace->first_token_p95_seconds * milliseconds,
                                serving_band_of(setup, traits, SERVING_FIRST_TOKEN_P95, full, hosted));
    speed->tpot_ms =
        banded(pace->token_seconds * milliseconds, serving_band_of(setup, traits, SERVING_TOKEN, full, hosted));
    speed->tpot_p95_ms =
        banded(pace->token_p95_seconds * milliseconds, serving_band_of(setup, traits, SERVING_TOKEN_P95, full, hosted));
    speed->ttft_p95_ms = not_below(speed->ttft_p95_ms, speed->ttft_ms);
    speed->tpot_p95_ms = not_below(speed->tpot_p95_ms, speed->tpot_ms);
    speed->requests_per_second =
        random ? answered(setup->job->requests_per_second, replica->flow.saturation * replicas, rate)
               : banded(pace->requests_per_second * replicas, rate);
    speed->output_tokens_per_second = scaled(speed->requests_per_second, setup->job->output_tokens);
    speed->running_sequences = pace->running_sequences;
    speed->bottleneck = serving_bottleneck(&pace->spent);
}

void
serving_speed(const struct serving_setup *setup, const struct serving_memory *memory, struct serving_speed *ret_speed)
{
    const struct serving_job *job = setup->job;
    double replicas = fmax(1, setup->replicas), clients = ceil(fmax(1, job->concurrency) / replicas);
    bool random = job->arrival == ARRIVAL_POISSON && job->requests_per_second > 0;
    struct serving_replica replica;
    const struct serving_flow *flow = &replica.flow;
    struct serving_pace pace;

    memset(ret_speed, 0, sizeof(*ret_speed));
    serving_replica_make(setup, memory, &replica);
    ret_speed->overloaded =
        !serving_replica_pace(&replica, random ? ARRIVAL_POISSON : ARRIVAL_CLOSED_LOOP,
                              (random ? job->requests_per_second : job->concurrency) / replicas, &pace);
    set_figures(setup, &replica, &pace, clients > flow->most_sequences, memory->offload.used, ret_speed);
    ret_speed->concurrency = serving_replica_requests(&replica, &pace) * replicas;
    ret_speed->saturation_requests_per_second = flow->saturation;
    ret_speed->burst_ttft_ms = serving_replica_burst_seconds(&replica, clients) * milliseconds;
    if (!random) /* clients that start together and ask alike stay together: tgarg01/silybench-data, vLLM 0.30 */
        ret_speed->ttft_p95_ms.high = fmax(ret_speed->ttft_p95_ms.high, ret_speed->burst_ttft_ms);
    ret_speed->one_prefill_ms =
        (flow->start_seconds + serving_prompt_seconds(flow, flow->input_tokens, NULL)) * milliseconds;
}
