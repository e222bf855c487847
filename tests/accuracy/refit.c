#include "tests/accuracy/refit.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const double huber_knee = 0.14; /* ln 1.15: 1.345 deviations, of which half of all rows are within 0.7 */
/* What a row is off by chance: bytes are counted, time is not. */
static const double chance_bytes = 0.05, chance_time = 0.15;
/* Of a constant at the end of its search: as if nine in ten of all such constants lay within, 1.645 deviations; and n
 * rows of one source and slice were as sure as the root of n independent ones: 1.645^2 / 2 x chance_time^2. */
static const double prior_weight = 0.03;
static const double missing_error = 3; /* a factor of 20: a figure that was measured but is not told */

enum {
    STRIDES = 4,   /* further steps in a direction that helped, each longer */
    SCAN_EVERY = 3 /* sweeps */
};

struct search {
    const struct refit_ask *ask;
    const struct reach *reach;
    struct rates rates;
    double *weights;         /* of each target; 0: left out */
    double *losses, *trials; /* of each run: as it stands, and as tried */
    double places[MAX_CONSTANTS], steps[MAX_CONSTANTS];
};

static double
huber(double error)
{
    error = fabs(error);
    return error < huber_knee ? error * error / 2 : huber_knee * (error - huber_knee / 2);
}

static double
target_loss(const struct target *target, double expected)
{
    if (!(expected > 0))
        return huber(missing_error);
    if (target->truth > 0)
        return huber(log(expected / target->truth));
    if (expected > target->most)
        return huber(log(expected / target->most)) / 2;
    return expected < target->least ? huber(log(target->least / expected)) / 2 : 0;
}

static bool
counts_bytes(enum figure figure)
{
    return figure == FIGURE_TRAINING_ALLOCATED || figure == FIGURE_TRAINING_RESERVED ||
           figure == FIGURE_SERVING_ALLOCATED || figure == FIGURE_SERVING_RESERVED;
}

/* 1 / sqrt(rows that take part of the same source and slice), more where rows are less off by chance. */
static void
weigh(struct search *search)
{
    const struct runs *runs = search->ask->runs;
    const bool *left_out = search->ask->left_out;

    for (size_t i = 0; i < runs->target_count; i++) {
        const struct accuracy_case *from = runs->targets[i].from;
        size_t peers = 0;

        for (size_t j = 0; j < runs->target_count; j++) {
            const struct accuracy_case *other = runs->targets[j].from;

            peers += !(left_out && left_out[j]) && strcmp(other->slice, from->slice) == 0 &&
                     strcmp(other->source, from->source) == 0;
        }
        search->weights[i] = left_out && left_out[i] ? 0 : 1 / sqrt((double)peers);
        if (counts_bytes(runs->targets[i].figure))
            search->weights[i] *= pow(chance_time / chance_bytes, 2);
    }
}

static double
run_loss(const struct search *search, size_t run_index)
{
    const struct runs *runs = search->ask->runs;
    const struct run *run = &runs->items[run_index];
    struct range figures[FIGURE_COUNT];
    bool estimated = false;
    double loss = 0;

    for (size_t i = run->first; i < run->first + run->count; i++) {
        const struct target *target = &runs->targets[i];

        if (!(search->weights[i] > 0))
            continue;
        if (!estimated)
            run_estimate(run, &search->rates, figures);
        estimated = true;
        loss += search->weights[i] * target_loss(target, figures[target->figure].expected);
    }
    return loss;
}

static void
place(struct search *search, size_t constant, double at)
{
    const struct constant *item = &search->ask->constants->items[constant];

    search->places[constant] = at;
    *rates_at(&search->rates, item->index) = constant_value(item, at);
}

static double
whole_loss(struct search *search)
{
    double loss = 0;

    for (size_t i = 0; i < search->ask->runs->count; i++)
        loss += search->losses[i] = run_loss(search, i);
    for (size_t i = 0; i < search->ask->constants->count; i++)
        loss += prior_weight * search->places[i] * search->places[i];
    return loss;
}

/* Moves a constant when that lowers the loss; returns by how much it did, 0: it stays. */
static double
try_place(struct search *search, size_t constant, double to)
{
    const bool *moves = search->reach->moves + constant * search->reach->run_count;
    double from = search->places[constant], change;

    to = fmin(1, fmax(-1, to));
    if (to == from)
        return 0;
    change = prior_weight * (to * to - from * from);
    place(search, constant, to);
    for (size_t i = 0; i < search->reach->run_count; i++) {
        if (!moves[i])
            continue;
        search->trials[i] = run_loss(search, i);
        change += search->trials[i] - search->losses[i];
    }
    if (change >= -1e-9) {
        place(search, constant, from);
        return 0;
    }
    for (size_t i = 0; i < search->reach->run_count; i++)
        if (moves[i])
            search->losses[i] = search->trials[i];
    return -change;
}

/* Looks far before it steps: a few places over the whole search. */
static double
scan_constant(struct search *search, size_t constant)
{
    static const double places[] = { -0.9, -0.6, -0.3, 0, 0.3, 0.6, 0.9 };
    double gain = 0;

    for (size_t i = 0; i < COUNT_OF(places); i++)
        gain += try_place(search, constant, places[i]);
    return gain;
}

/* Steps of one constant: on while it helps, else the other way, else shorter ones from now on. */
static double
step_constant(struct search *search, size_t constant)
{
    double *step = &search->steps[constant], gain = 0, won;

    for (int stride = 0; stride < STRIDES; stride++) {
        won = try_place(search, constant, search->places[constant] + *step);
        if (!(won > 0) && stride == 0) {
            *step = -*step;
            won = try_place(search, constant, search->places[constant] + *step);
        }
        if (!(won > 0))
            break;
        gain += won;
        *step = fmax(-0.5, fmin(0.5, *step * 1.5));
    }
    if (!(gain > 0))
        *step *= 0.4;
    return gain;
}

static bool
all_steps_small(const struct search *search)
{
    for (size_t i = 0; i < search->ask->constants->count; i++)
        if (fabs(search->steps[i]) > 0.02)
            return false;
    return true;
}

/* Searches until steps are small; the constants stay in search->rates. Returns the loss. */
static double
search_all(struct search *search)
{
    size_t count = search->ask->constants->count;
    double loss = whole_loss(search), gain;

    for (int sweep = 0; sweep < search->ask->sweeps; sweep++) {
        gain = 0;
        for (size_t i = 0; i < count; i++) {
            if (sweep % SCAN_EVERY == SCAN_EVERY - 1)
                gain += scan_constant(search, i);
            gain += step_constant(search, i);
        }
        loss = whole_loss(search); /* what a constant moves only beside others' new values shows here */
        if (sweep >= SCAN_EVERY && (all_steps_small(search) || (sweep > 3 * SCAN_EVERY && gain < 1e-5 * loss)))
            break;
    }
    return loss;
}

double
refit(const struct refit_ask *ask, const struct reach *reach, struct rates *ret_rates)
{
    const struct runs *runs = ask->runs;
    struct search search = { .ask = ask, .reach = reach, .rates = *ask->rates };
    double *room = calloc(runs->target_count + 2 * runs->count + 1, sizeof *room), loss;

    if (!room)
        abort();
    search.losses = room;
    search.trials = room + runs->count;
    search.weights = room + 2 * runs->count;
    weigh(&search);
    for (size_t i = 0; i < ask->constants->count; i++) {
        place(&search, i, ask->start);
        search.steps[i] = 0.3;
    }
    loss = search_all(&search);
    free(room);
    *ret_rates = search.rates;
    return loss;
}

static bool
differ(double a, double b)
{
    return a != b && !(isnan(a) && isnan(b));
}

void
reach_find(struct reach *reach, const struct refit_ask *ask)
{
    const struct runs *runs = ask->runs;
    struct rates rates = *ask->rates;

    *reach = (struct reach){ ask->constants->count, runs->count,
                             calloc(ask->constants->count * runs->count + 1, sizeof *reach->moves) };
    if (!reach->moves)
        abort();
    for (size_t i = 0; i < ask->constants->count; i++)
        *rates_at(&rates, ask->constants->items[i].index) = constant_value(&ask->constants->items[i], 0);
    for (size_t i = 0; i < ask->constants->count; i++) {
        const struct constant *constant = &ask->constants->items[i];
        double *value = rates_at(&rates, constant->index), kept = *value;

        for (size_t r = 0; r < runs->count; r++) {
            const struct run *run = &runs->items[r];
            struct range low[FIGURE_COUNT], high[FIGURE_COUNT], middle[FIGURE_COUNT];
            bool *moves = &reach->moves[i * runs->count + r];

            *value = constant_value(constant, -1);
            run_estimate(run, &rates, low);
            *value = constant_value(constant, 1);
            run_estimate(run, &rates, high);
            *value = kept;
            run_estimate(run, &rates, middle);
            for (size_t t = run->first; t < run->first + run->count; t++) {
                enum figure figure = runs->targets[t].figure;

                *moves |= differ(low[figure].expected, high[figure].expected) ||
                          differ(low[figure].expected, middle[figure].expected);
            }
        }
    }
}

void
reach_done(struct reach *reach)
{
    free(reach->moves);
    *reach = (struct reach){ 0 };
}

size_t
reach_count(const struct reach *reach, size_t constant)
{
    size_t count = 0;

    for (size_t i = 0; i < reach->run_count; i++)
        count += reach->moves[constant * reach->run_count + i];
    return count;
}
