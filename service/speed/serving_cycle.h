/* From passes to requests: the cycle of a closed loop, and the prompts that ride in it. */
#ifndef SERVICE_SPEED_SERVING_CYCLE_H
#define SERVICE_SPEED_SERVING_CYCLE_H

#include "service/hardware/rates.h"
#include "service/speed/serving_pass.h"

/* One replica under load. All lent. */
struct serving_flow {
    const struct rates *rates;
    const struct engine_traits *traits;
    const struct serving_pass *model;
    double input_tokens, output_tokens; /* of a request, at least 1 */
    double most_sequences;              /* that its cache holds at once, at least 1 */
    double stages;                      /* pipeline stages that work on as many batches at once */
    double start_seconds;               /* from arrival to the first scheduling */
    double saturation;                  /* requests a second above which a queue only grows */
};

struct serving_pace {
    double first_token_seconds;
    double first_token_p95_seconds;
    double token_seconds; /* between output tokens of one request */
    double token_p95_seconds;
    double requests_per_second;
    double running_sequences;
    struct serving_time spent; /* in one cycle, or a second of a queue: what holds it back */
};

/* Prompt tokens that passes are filled with: each group of attention data parallelism has its own. */
double serving_pass_room(const struct serving_flow *flow);

/* Seconds of GPU time for one prompt when passes are filled up to `fill_tokens` with such prompts; `time` may be NULL.
 * A prompt longer than a pass holds costs the host once more for each further chunk. */
double serving_prompt_seconds(const struct serving_flow *flow, double fill_tokens, struct serving_time *time);

/* Decode steps of a request: every token but the first. */
double serving_decode_steps(const struct serving_flow *flow);

/* Sequences that share one decode step when `running` are spread over the pipeline's stages. */
double serving_step_sequences(const struct serving_flow *flow, double running);

/* Closed loop: each of `concurrency` clients sends its next request when the last is answered. While one request
 * decodes, each other is prefilled once:
 *   C = B t_prompt + (out - 1) t_decode                          prompts first
 *   C = k t_mixed + (out - 1 - k) t_decode                       prompts in chunks that ride on k decode steps
 * and B = min(concurrency, what the cache holds) requests are answered a cycle (Little's law). A first token waits for
 * t_1 B^gamma of prompts; what it does not wait for lands between the tokens. Of the B - 1 prompts that do, a request
 * meets by chance more or fewer than the mean: its slowest of twenty. A request of one token is answered with the last
 * prompt of its cycle. */
void serving_closed_loop(const struct serving_flow *flow, double concurrency, struct serving_pace *ret_pace);

/* z of the standard normal distribution below which 95 in 100 lie: by it a count of mean n is taken to rise to
 * n + z sqrt(n), as of Poisson's distribution. */
#define SERVING_P95_Z 1.645

/* Seconds until the last of `requests` that arrive at once has its first token. */
double serving_burst_seconds(const struct serving_flow *flow, double requests);

#endif
