/* Fixed point of load and speed under random arrivals. */
#include "service/speed/serving_queue.h"

#include <math.h>
#include <string.h>

enum { SETTLING_ROUNDS = 40 };
enum { QUANTILE_STEPS = 12 };

static const double beyond_p95 = 0.05;
static const double fullest = 0.99; /* share of its places that a cache is taken to be full at most */
static const double parting_steps = 8;
static const double settled_share = 1e-9; /* of itself that a figure still moves by */

/* What one arrival rate makes of a replica at a running batch. */
struct queue {
    double rate, running, prompts; /* prompts: that come in the time of a step */
    double prompt_load;            /* share of the time that they take */
    double one_prompt, token_seconds;
    struct serving_time step;
};

/* Time that one prompt takes from decoding when those that arrive in the time of a step share the next pass: a share of
 * a pass of prompts, or of what they add to a step they ride on. */
static double
prompt_intrusion(const struct serving_flow *flow, const struct queue *queue)
{
    bool rides = !flow->traits->prefill_first && serving_decode_steps(flow) > 0;
    double hidden = rides ? flow->rates->serving_prefill_overlap : 0;
    double room = fmax(1, serving_pass_room(flow) / flow->input_tokens);
    double prompts = fmin(room, fmax(1, queue->prompts)), tokens = prompts * flow->input_tokens;
    double alone = prompts > 1 ? serving_prompt_seconds(flow, tokens, NULL) : queue->one_prompt;
    struct serving_load load = { .sequences = serving_step_sequences(flow, queue->running),
                                 .prompt_tokens = tokens,
                                 .prompts = prompts };

    if (!rides)
        return alone;
    struct serving_time mixed = serving_pass_time(flow->model, &load);
    return hidden * (serving_pass_seconds(&mixed) - serving_pass_seconds(&queue->step)) / prompts +
           (1 - hidden) * alone;
}

/* Sets the queue by how many sequences run and prompts come between two tokens: seconds from one to the next. */
static double
token_of(const struct serving_flow *flow, double running, double arrived, struct queue *queue)
{
    double highest = flow->rates->serving_highest_prompt_load, step, prompts;
    struct serving_load load = { .sequences = serving_step_sequences(flow, running) };

    queue->running = fmax(1, running);
    queue->step = serving_pass_time(flow->model, &load);
    queue->prompts = arrived / flow->stages;
    step = serving_pass_seconds(&queue->step);
    prompts = fmin(queue->prompts * prompt_intrusion(flow, queue), step * highest / (1 - highest));
    queue->prompt_load = prompts / (step + prompts);
    return step + prompts;
}

/* Never shorter when tokens take longer: more sequences then run, and more prompts come between two tokens. */
static double
token_after(const struct serving_flow *flow, double token_seconds, struct queue *queue)
{
    double steps = serving_decode_steps(flow), arrived = queue->rate * token_seconds;

    if (steps > 0)
        arrived = fmin(arrived, flow->most_sequences / steps); /* who is not let in brings no prompt */
    queue->token_seconds = token_of(flow, arrived * steps, arrived, queue);
    return queue->token_seconds;
}

static bool
is_settled(double token_seconds, double after)
{
    return fabs(after - token_seconds) <= settled_share * token_seconds;
}

/* How far beyond the last of three values, each of which the one before leads to, they lead (Aitken's delta squared);
 * some way where they part ever more. */
static double
lead(double first, double second, double third)
{
    double before = second - first, last = third - second;

    return last < before ? last * last / (before - last) : parting_steps * last;
}

/* The lowest fixed point: approached from below, where time leads to longer time; never beyond a value that leads
 * back. */
static void
settle(const struct serving_flow *flow, struct queue *queue)
{
    double low = token_after(flow, 0, queue), high = HUGE_VAL, after = token_after(flow, low, queue);

    for (int i = 0; i < SETTLING_ROUNDS && !is_settled(low, after); i++) {
        double third = token_after(flow, after, queue), next = third + lead(low, after, third);

        if (next >= high)
            next = (third + high) / 2;
        low = after;
        after = token_after(flow, next, queue);
        if (after >= next || is_settled(next, after)) {
            low = next;
        } else {
            high = next;
            after = token_after(flow, low, queue);
        }
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
    for (int i = 0; i < QUANTILE_STEPS; i++) {
        double step = (load * expm1(decay) - decay) / (load * exp(decay) - 1);

        decay -= step;
        if (fabs(step) <= settled_share * decay)
            break;
    }
    return fmax(0, log((1 - load) / (load * exp(decay) - 1) / beyond_p95) / decay);
}

/* Requests that hold their places in the cache as long as they decode are served by as many servers as there are
 * places: probability that one waits, and mean wait of those that do (H. Sakasegawa, Ann. Inst. Statist. Math. 29,
 * 1977; half of what it is with exponential service: lengths are alike). */
static double
place_wait(const struct serving_flow *flow, const struct queue *queue, double *ret_chance)
{
    double places = flow->most_sequences, held = serving_decode_steps(flow) * queue->token_seconds;
    double load = fmin(fullest, queue->rate * held / places);

    *ret_chance = pow(load, sqrt(2 * (places + 1)) - 1);
    return held / (2 * places * (1 - load));
}

bool
serving_poisson(const struct serving_flow *flow, double requests_per_second, struct serving_pace *ret_pace)
{
    struct queue queue = { .rate = requests_per_second };
    bool served = requests_per_second <= flow->saturation;
    double ahead, place, chance;
    struct serving_time prompt;

    memset(ret_pace, 0, sizeof(*ret_pace));
    queue.one_prompt = serving_prompt_seconds(flow, flow->input_tokens, &prompt);
    settle(flow, &queue);
    ahead = prompts_ahead(flow, &queue);
    place = place_wait(flow, &queue, &chance);

    ret_pace->running_sequences = queue.running;
    ret_pace->token_seconds = queue.token_seconds;
    ret_pace->token_p95_seconds = token_p95(flow, &queue);
    ret_pace->requests_per_second = served ? requests_per_second : flow->saturation;
    ret_pace->first_token_seconds = first_token(flow, &queue) + chance * place;
    if (!served)
        ret_pace->first_token_seconds +=
            flow->rates->serving_overload_seconds * (requests_per_second / flow->saturation - 1);
    ret_pace->first_token_p95_seconds = ret_pace->first_token_seconds + serving_pass_seconds(&queue.step) +
                                        fmax(0, wait_p95(ahead) - mean_wait(ahead)) * queue.one_prompt +
                                        place * fmax(0, log(chance / beyond_p95) - chance);
    serving_pass_add(&ret_pace->spent, &prompt, queue.prompt_load / queue.one_prompt);
    serving_pass_add(&ret_pace->spent, &queue.step, (1 - queue.prompt_load) / serving_pass_seconds(&queue.step));
    return served;
}

double
serving_closed_saturation(const struct serving_flow *flow)
{
    struct serving_pace full;

    serving_closed_loop(flow, flow->most_sequences, &full);
    return full.requests_per_second;
}

double
serving_poisson_saturation(const struct serving_flow *flow)
{
    struct queue queue = { .one_prompt = serving_prompt_seconds(flow, flow->input_tokens, NULL) };
    double steps = serving_decode_steps(flow), closed = serving_closed_saturation(flow), most;

    if (steps < 1)
        return closed;
    most = flow->most_sequences / steps;
    return fmin(closed, most / token_of(flow, flow->most_sequences, most, &queue));
}
