/* Fixed point of load and speed under random arrivals. */
#include "service/speed/serving_queue.h"

#include <math.h>
#include <string.h>

enum { SETTLING_STEPS = 25 }; /* each halves what is left of the error */
enum { QUANTILE_STEPS = 12 };

static const double beyond_p95 = 0.05;

/* What one arrival rate makes of a replica at a running batch. */
struct queue {
    double rate, running, prompt_load; /* prompt_load: share of the time that prompts take */
    double one_prompt, token_seconds;
    struct serving_time step;
};

/* Time that one prompt takes from decoding: a pass of its own, or what it adds to a step it rides on. */
static double
prompt_intrusion(const struct serving_flow *flow, const struct queue *queue)
{
    bool rides = !flow->traits->prefill_first && serving_decode_steps(flow) > 0;
    double hidden = rides ? flow->rates->serving_prefill_overlap : 0;
    struct serving_load load = { .sequences = serving_step_sequences(flow, queue->running),
                                 .prompt_tokens = flow->input_tokens,
                                 .prompts = 1 };

    if (!rides)
        return queue->one_prompt;
    struct serving_time mixed = serving_pass_time(flow->model, &load);
    return hidden * (serving_pass_seconds(&mixed) - serving_pass_seconds(&queue->step)) +
           (1 - hidden) * queue->one_prompt;
}

static void
settle(const struct serving_flow *flow, struct queue *queue)
{
    double steps = serving_decode_steps(flow), highest = flow->rates->serving_highest_prompt_load;

    for (int i = 0; i < SETTLING_STEPS; i++) {
        queue->running = fmin(flow->most_sequences, fmax(1, queue->rate * steps * queue->token_seconds));
        queue->step = serving_pass_time(
            flow->model, &(struct serving_load){ .sequences = serving_step_sequences(flow, queue->running) });
        queue->prompt_load = fmin(highest, queue->rate / flow->stages * prompt_intrusion(flow, queue));
        queue->token_seconds =
            0.5 * queue->token_seconds + 0.5 * serving_pass_seconds(&queue->step) / (1 - queue->prompt_load);
    }
}

/* Share of the time that a prompt finds others before it. */
static double
prompts_ahead(const struct serving_flow *flow, const struct queue *queue)
{
    return fmin(flow->rates->serving_highest_prompt_load, queue->rate / flow->stages * queue->one_prompt);
}

/* Pollaczek and Khinchine: service times that a prompt waits. */
static double
mean_wait(double load)
{
    return load / (1 - load) / 2;
}

static double
first_token(const struct serving_flow *flow, const struct queue *queue)
{
    double step = serving_pass_seconds(&queue->step), ahead = prompts_ahead(flow, queue);
    double busy = fmin(1, queue->rate * serving_decode_steps(flow) * queue->token_seconds);
    double joining = 0.5 * queue->token_seconds + (flow->traits->prefill_first ? 0 : 0.5 * step);

    return flow->start_seconds + queue->one_prompt + busy * joining + mean_wait(ahead) * queue->one_prompt;
}

/* Both the sequences that run beside one and the prompts that arrive while it decodes are counts of mean n. */
static double
token_p95(const struct serving_flow *flow, const struct queue *queue)
{
    double steps = serving_decode_steps(flow), beside = queue->rate * steps * queue->token_seconds;
    double spread = SERVING_P95_Z * sqrt(fmin(beside, flow->most_sequences));
    double crowded = serving_step_sequences(flow, fmin(flow->most_sequences, queue->running + spread));
    struct serving_time step = serving_pass_time(flow->model, &(struct serving_load){ .sequences = crowded });
    double slower = serving_pass_seconds(&step) / serving_pass_seconds(&queue->step);

    if (steps < 1)
        return queue->token_seconds;
    return queue->token_seconds * fmax(1, slower) + spread * prompt_intrusion(flow, queue) / steps;
}

/* Wait that 95 of 100 stay below in an M/D/1 queue, in service times: P(W > x) = C e^(-z x) with z of
 * rho (e^z - 1) = z and C = (1 - rho) / (rho e^z - 1) (Cramer and Lundberg's tail; H. C. Tijms, A First Course in
 * Stochastic Models, 9.2). Newton's steps come down to z from above. */
static double
wait_p95(double load)
{
    double decay = fmin(2 * (1 - load) / load, 1.5 - 2 * log(load));

    if (load <= beyond_p95) /* fewer than these wait at all */
        return 0;
    for (int i = 0; i < QUANTILE_STEPS; i++)
        decay -= (load * expm1(decay) - decay) / (load * exp(decay) - 1);
    return fmax(0, log((1 - load) / (load * exp(decay) - 1) / beyond_p95) / decay);
}

bool
serving_poisson(const struct serving_flow *flow, double requests_per_second, struct serving_pace *ret_pace)
{
    struct queue queue = { .rate = requests_per_second };
    double saturation = serving_saturation(flow), ahead;
    bool served = requests_per_second <= saturation;
    struct serving_time prompt;

    memset(ret_pace, 0, sizeof(*ret_pace));
    queue.step = serving_pass_time(flow->model, &(struct serving_load){ .sequences = 1 });
    queue.token_seconds = serving_pass_seconds(&queue.step);
    queue.one_prompt = serving_prompt_seconds(flow, flow->input_tokens, &prompt);
    settle(flow, &queue);
    ahead = prompts_ahead(flow, &queue);

    ret_pace->running_sequences = queue.running;
    ret_pace->token_seconds = queue.token_seconds;
    ret_pace->token_p95_seconds = token_p95(flow, &queue);
    ret_pace->requests_per_second = served ? requests_per_second : saturation;
    ret_pace->first_token_seconds = first_token(flow, &queue);
    if (!served)
        ret_pace->first_token_seconds += flow->rates->serving_overload_seconds * (requests_per_second / saturation - 1);
    ret_pace->first_token_p95_seconds = ret_pace->first_token_seconds + serving_pass_seconds(&queue.step) +
                                        fmax(0, wait_p95(ahead) - mean_wait(ahead)) * queue.one_prompt;
    serving_pass_add(&ret_pace->spent, &prompt, queue.prompt_load / queue.one_prompt);
    serving_pass_add(&ret_pace->spent, &queue.step, (1 - queue.prompt_load) / serving_pass_seconds(&queue.step));
    return served;
}

double
serving_saturation(const struct serving_flow *flow)
{
    struct serving_pace full;

    serving_closed_loop(flow, flow->most_sequences, &full);
    return full.requests_per_second;
}
