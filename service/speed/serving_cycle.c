/* Closed form of a closed loop. */
#include "service/speed/serving_cycle.h"

#include <math.h>

static double
least(double a, double b)
{
    return a < b ? a : b;
}

static double
most(double a, double b)
{
    return a > b ? a : b;
}

double
serving_pass_room(const struct serving_flow *flow)
{
    return flow->rates->serving_pass_tokens * most(1, flow->model->groups);
}

double
serving_prompt_seconds(const struct serving_flow *flow, double fill_tokens, struct serving_time *time)
{
    const struct rates *rates = flow->rates;
    double input = flow->input_tokens;
    double tokens = most(input, least(fill_tokens, serving_pass_room(flow)));
    double chunks = ceil(input / rates->serving_chunk_tokens);
    struct serving_time pass =
        serving_pass_time(flow->model, &(struct serving_load){ .prompt_tokens = tokens, .prompts = tokens / input });
    struct serving_time one = { 0 };

    serving_pass_add(&one, &pass, input / tokens);
    one.host += (chunks - 1) * (flow->model->step_seconds + flow->model->sequence_seconds + flow->model->eager_seconds);
    if (time != NULL)
        *time = one;
    return serving_pass_seconds(&one);
}

double
serving_decode_steps(const struct serving_flow *flow)
{
    return flow->output_tokens > 1 ? flow->output_tokens - 1 : 0;
}

double
serving_step_sequences(const struct serving_flow *flow, double running)
{
    return most(1, running / flow->stages);
}

/* One cycle of `batch` sequences, by what it is spent on. */
struct cycle {
    double batch, steps, decode_seconds, seconds, one_prompt, prompt;
    struct serving_time spent;
};

/* Prompts that ride on decode steps, `tokens` a step. */
static struct serving_time
mixed_cycle(const struct serving_flow *flow, const struct cycle *cycle, const struct serving_time *decode)
{
    double prompt_tokens = cycle->batch * flow->input_tokens;
    double mixed = least(cycle->steps, most(1, prompt_tokens / serving_pass_room(flow)));
    struct serving_time pass =
        serving_pass_time(flow->model, &(struct serving_load){ .sequences = cycle->batch,
                                                               .prompt_tokens = prompt_tokens / mixed,
                                                               .prompts = cycle->batch / mixed });
    struct serving_time time = { 0 };

    serving_pass_add(&time, &pass, mixed);
    serving_pass_add(&time, decode, cycle->steps - mixed);
    return time;
}

static struct cycle
cycle_of(const struct serving_flow *flow, double batch)
{
    struct cycle cycle = { .batch = batch, .steps = serving_decode_steps(flow) };
    struct serving_time decode = serving_pass_time(flow->model, &(struct serving_load){ .sequences = batch });
    struct serving_time prompt;
    double hidden = flow->traits->prefill_first ? 0 : flow->rates->serving_prefill_overlap;

    cycle.decode_seconds = serving_pass_seconds(&decode);
    cycle.one_prompt = serving_prompt_seconds(flow, flow->input_tokens, NULL);
    cycle.prompt = serving_prompt_seconds(flow, batch * flow->input_tokens, &prompt);
    if (cycle.steps < 1)
        hidden = 0;
    serving_pass_add(&cycle.spent, &prompt, batch * (1 - hidden));
    serving_pass_add(&cycle.spent, &decode, cycle.steps * (1 - hidden));
    if (hidden > 0) {
        struct serving_time mixed = mixed_cycle(flow, &cycle, &decode);

        serving_pass_add(&cycle.spent, &mixed, hidden);
    }
    cycle.seconds = serving_pass_seconds(&cycle.spent);
    return cycle;
}

/* How the wait for a first token grows with the batch: B^gamma prompts, more where prompts are much of the work. Only
 * the load decides this, not the hardware: slower memory must not look like a shorter queue. */
static double
crowding(const struct serving_flow *flow, double batch)
{
    const struct rates *rates = flow->rates;
    double prompts = batch * flow->input_tokens;
    double share = prompts / (prompts + (rates->serving_queue_ridge_tokens + batch) * flow->output_tokens);
    double exponent = rates->serving_queue_exponent_prompts * share;

    exponent += flow->traits->scheduler == ENGINE_SCHEDULER_SGLANG ? rates->serving_queue_exponent_sglang
                                                                   : rates->serving_queue_exponent;
    return pow(batch, exponent);
}

/* Seconds of prompts before a first token: no more than when all arrive at once and half of the others come first.
 * `*ret_absorbed`: what of a cycle's prompts that is; the rest lands between the tokens. */
static double
prompt_wait(const struct serving_flow *flow, const struct cycle *cycle, double *ret_absorbed)
{
    double at_once = 1 + (cycle->batch - 1) / 2 * cycle->prompt / cycle->one_prompt;
    double prompts = least(crowding(flow, cycle->batch), at_once);

    *ret_absorbed = cycle->prompt * prompts;
    return cycle->decode_seconds / 2 + cycle->one_prompt * prompts;
}

/* A fixed batch: all its prompts are read before the first token of any. */
static double
batch_wait(const struct cycle *cycle, double *ret_absorbed)
{
    *ret_absorbed = cycle->batch * cycle->prompt;
    return *ret_absorbed;
}

/* Between the tokens of a request land the prompts of the others, more of them by chance than the mean. */
static double
token_p95(const struct cycle *cycle, double token)
{
    double between = (token - cycle->decode_seconds) * cycle->steps;

    if (cycle->batch <= 1 || cycle->steps < 1)
        return token;
    return token + SERVING_P95_Z * between / sqrt(cycle->batch - 1) / cycle->steps;
}

void
serving_closed_loop(const struct serving_flow *flow, double concurrency, struct serving_pace *ret_pace)
{
    double clients = most(1, concurrency), running = least(clients, flow->most_sequences), absorbed;
    struct cycle cycle = cycle_of(flow, serving_step_sequences(flow, running));
    double wait = cycle.one_prompt, token = cycle.decode_seconds;

    if (cycle.batch > 1) { /* else no other prompt is in the same stage */
        wait = flow->traits->static_batch ? batch_wait(&cycle, &absorbed) : prompt_wait(flow, &cycle, &absorbed);
        if (cycle.steps > 0)
            token = most(token, (cycle.seconds - absorbed) / cycle.steps);
        else
            wait = most(wait, cycle.seconds);
    }
    *ret_pace = (struct serving_pace){ .token_seconds = token, .running_sequences = running, .spent = cycle.spent };
    ret_pace->token_p95_seconds = token_p95(&cycle, token);
    ret_pace->first_token_seconds = flow->start_seconds + wait;
    ret_pace->requests_per_second = running / (ret_pace->first_token_seconds + cycle.steps * token);
    ret_pace->first_token_seconds += (clients - running) / ret_pace->requests_per_second;
    ret_pace->first_token_p95_seconds = ret_pace->first_token_seconds * flow->rates->serving_p95_closed_factor;
}

double
serving_burst_seconds(const struct serving_flow *flow, double requests)
{
    double running = least(most(1, requests), flow->most_sequences);
    struct cycle cycle = cycle_of(flow, serving_step_sequences(flow, running));
    double waves = floor((most(1, requests) - 1) / running);

    return flow->start_seconds + cycle.one_prompt + (cycle.batch - 1) * cycle.prompt + waves * cycle.seconds;
}
