/* Fixed point of load and speed under random arrivals. */
#include "service/speed/serving_queue.h"

#include <math.h>
#include <string.h>

enum { SETTLING_STEPS = 25 }; /* each halves what is left of the error */

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

static double
first_token(const struct serving_flow *flow, const struct queue *queue)
{
    double step = serving_pass_seconds(&queue->step), ahead = prompts_ahead(flow, queue);
    double busy = fmin(1, queue->rate * serving_decode_steps(flow) * queue->token_seconds);
    double joining = 0.5 * queue->token_seconds + (flow->traits->prefill_first ? 0 : 0.5 * step);

    return flow->start_seconds + queue->one_prompt + busy * joining + ahead / (1 - ahead) * queue->one_prompt / 2;
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
    ret_pace->requests_per_second = served ? requests_per_second : saturation;
    ret_pace->first_token_seconds = first_token(flow, &queue);
    if (!served)
        ret_pace->first_token_seconds += flow->rates->serving_overload_seconds * (requests_per_second / saturation - 1);
    ret_pace->first_token_p95_seconds =
        ret_pace->first_token_seconds * (1 + flow->rates->serving_p95_queue_factor * sqrt(ahead / (1 - ahead))) +
        serving_pass_seconds(&queue.step);
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
