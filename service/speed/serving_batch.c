#include "service/speed/serving_batch.h"

#include <math.h>

enum { SETTLING_STEPS = 25 };

static double
pass_seconds(const struct serving_flow *flow, double requests, struct serving_time *time)
{
    *time = serving_pass_time(
        flow->model, &(struct serving_load){ .prompt_tokens = requests * flow->input_tokens, .prompts = requests });
    return serving_pass_seconds(time);
}

bool
serving_batch_closed_loop(const struct serving_flow *flow, double clients, struct serving_pace *ret_pace)
{
    double all = fmax(1, clients), batch = fmin(all, flow->most_sequences), seconds;
    struct serving_time time;

    seconds = pass_seconds(flow, batch, &time);
    *ret_pace = (struct serving_pace){ .running_sequences = batch, .spent = time };
    /* one batch computes while the next is handed in, as far as there are requests for it */
    ret_pace->requests_per_second = fmin(batch / seconds, all / (seconds + flow->start_seconds));
    ret_pace->first_token_seconds = all / ret_pace->requests_per_second;
    ret_pace->first_token_p95_seconds = ret_pace->first_token_seconds + (all > batch ? seconds : 0);
    return true;
}

double
serving_batch_saturation(const struct serving_flow *flow)
{
    struct serving_time time;

    return flow->most_sequences / pass_seconds(flow, flow->most_sequences, &time);
}

bool
serving_batch_poisson(const struct serving_flow *flow, double requests_per_second, struct serving_pace *ret_pace)
{
    double rate = fmin(requests_per_second, flow->saturation);
    double batch = 1, seconds = 0, busy;
    struct serving_time time;

    for (int i = 0; i < SETTLING_STEPS; i++) {
        seconds = pass_seconds(flow, batch, &time);
        batch = fmin(flow->most_sequences, fmax(1, 0.5 * (batch + rate * seconds)));
    }
    busy = fmin(1, rate * seconds / batch);
    *ret_pace = (struct serving_pace){ .running_sequences = batch, .spent = time, .requests_per_second = rate };
    ret_pace->first_token_seconds = flow->start_seconds + seconds * (1 + busy / 2);
    ret_pace->first_token_p95_seconds = flow->start_seconds + seconds * (1 + busy);
    if (requests_per_second > flow->saturation) {
        double late = flow->rates->serving_overload_seconds * (requests_per_second / flow->saturation - 1);

        ret_pace->first_token_seconds += late;
        ret_pace->first_token_p95_seconds += late;
    }
    return requests_per_second <= flow->saturation;
}

double
serving_batch_burst_seconds(const struct serving_flow *flow, double requests)
{
    double all = fmax(1, requests), full = floor(all / flow->most_sequences);
    double rest = all - full * flow->most_sequences;
    struct serving_time time;
    double seconds = flow->start_seconds + full * pass_seconds(flow, flow->most_sequences, &time);

    return rest > 0 ? seconds + pass_seconds(flow, rest, &time) : seconds;
}
