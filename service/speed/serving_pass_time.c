/* Seconds of a pass under a load, from what its parts take. */
#include "service/speed/serving_pass.h"

#include <math.h>

/* Adds a product to the side that takes longer of its two: bytes or operations. */
static void
add_product(const struct serving_pass *model, double bytes, double flop, struct serving_time *time)
{
    double longer = bytes > flop ? bytes : flop, shorter = bytes > flop ? flop : bytes;

    if (!(longer > 0))
        return;
    longer *= pow(1 + pow(shorter / longer, model->roofline_power), 1 / model->roofline_power);
    if (bytes > flop)
        time->memory += longer;
    else
        time->compute += longer;
}

static void
add_products(const struct serving_pass *model, const struct serving_load *load, struct serving_time *time)
{
    double tokens = load->sequences + load->prompt_tokens, heads = load->sequences + load->prompts;

    add_product(model, model->linear_bytes_seconds,
                model->linear_flop_seconds * fmax(tokens / model->groups, model->tile_rows), time);
    add_product(model, model->head_bytes_seconds,
                model->head_flop_seconds * fmax(heads / model->groups, model->tile_rows), time);
    if (model->expert_bytes_seconds > 0) { /* of E experts, T tokens that take k each meet E (1 - (1 - k/E)^T) */
        double hit = 1 - pow(model->expert_missed, tokens);
        double rows = model->expert_tile_rows * hit / (1 - model->expert_missed); /* a tile for each that is met */

        add_product(model, model->expert_bytes_seconds * hit, model->expert_flop_seconds * fmax(tokens, rows), time);
    }
}

/* Seconds that the host computes its layers for some tokens. */
static double
host_layers(const struct serving_pass *model, double tokens)
{
    double hit = 1 - pow(model->expert_missed, tokens);

    return fmax(model->host_bytes_seconds + hit * model->host_expert_seconds, tokens * model->host_flop_seconds);
}

static void
add_host_layers(const struct serving_pass *model, const struct serving_load *load, struct serving_time *time)
{
    double computed, sent;

    if (load->sequences > 0)
        time->host += host_layers(model, load->sequences);
    if (!(load->prompt_tokens > 0 && model->host_stream_seconds > 0))
        return;
    computed = host_layers(model, load->prompt_tokens);
    sent = model->host_stream_seconds * fmax(1, load->prompt_tokens / model->host_batch_tokens);
    if (computed < sent)
        time->host += computed;
    else
        time->link += sent;
}

struct serving_time
serving_pass_time(const struct serving_pass *model, const struct serving_load *load)
{
    struct serving_time time = { 0 };
    double tokens = (load->sequences + load->prompt_tokens) / model->groups;
    double sequences = load->sequences / model->groups, least;

    if (!(tokens > 0))
        return time;
    add_products(model, load, &time);
    if (model->latent_seconds > model->cache_seconds)
        time.compute += sequences * model->latent_seconds;
    else if (sequences > 0)
        time.memory += fmax(model->lone_cache_seconds, sequences * model->cache_seconds);
    time.compute += load->prompt_tokens / model->groups * model->prompt_seconds;
    time.memory += load->prompt_tokens / model->groups * model->moved_seconds;
    time.link = model->link_wait_seconds + tokens * model->link_seconds;
    time.network = model->network_wait_seconds + tokens * model->network_seconds;
    time.host = model->step_seconds + sequences * model->sequence_seconds;
    add_host_layers(model, load, &time);
    if (load->prompt_tokens > 0)
        time.host += model->eager_seconds;
    least = fmax(model->minimum_seconds, sequences * model->handed_out_seconds);
    time.host += fmax(0, least - serving_pass_seconds(&time));
    return time;
}

double
serving_pass_seconds(const struct serving_time *time)
{
    return time->memory + time->compute + time->link + time->network + time->host;
}

void
serving_pass_add(struct serving_time *sum, const struct serving_time *more, double times)
{
    sum->memory += more->memory * times;
    sum->compute += more->compute * times;
    sum->link += more->link * times;
    sum->network += more->network * times;
    sum->host += more->host * times;
}
