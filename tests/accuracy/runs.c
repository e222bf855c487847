#include "tests/accuracy/runs.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "api/json/estimate_json.h"
#include "service/search/serving_plans.h"
#include "service/search/training_plans.h"

const char *const figure_pointers[FIGURE_COUNT] = {
    [FIGURE_NONE] = "",
    [FIGURE_TOKENS_PER_GPU] = "/training/throughput/tokens_per_second_per_gpu",
    [FIGURE_SAMPLES_PER_SECOND] = "/training/throughput/samples_per_second",
    [FIGURE_STEP_SECONDS] = "/training/throughput/step_seconds",
    [FIGURE_TFLOPS_PER_GPU] = "/training/throughput/tflops_per_gpu",
    [FIGURE_TRAINING_ALLOCATED] = "/training/memory_per_gpu/allocated_bytes",
    [FIGURE_TRAINING_RESERVED] = "/training/memory_per_gpu/reserved_bytes",
    [FIGURE_TTFT_MS] = "/serving/latency/ttft_ms",
    [FIGURE_TPOT_MS] = "/serving/latency/tpot_ms",
    [FIGURE_OUTPUT_TOKENS] = "/serving/throughput/output_tokens_per_second",
    [FIGURE_SERVING_ALLOCATED] = "/serving/memory_per_gpu/allocated_bytes",
    [FIGURE_SERVING_RESERVED] = "/serving/memory_per_gpu/reserved_bytes",
};

static enum figure
figure_at(const char *pointer)
{
    for (int i = FIGURE_NONE + 1; i < FIGURE_COUNT; i++)
        if (strcmp(figure_pointers[i], pointer) == 0)
            return (enum figure)i;
    return FIGURE_NONE;
}

/* A number of an expectation, `otherwise` where it has none. */
static double
number_or(const json_t *expectation, const char *name, double otherwise)
{
    const json_t *number = json_object_get(expectation, name);

    return json_is_number(number) ? json_number_value(number) : otherwise;
}

static struct estimate_decoded *
decode(const struct accuracy_case *from, const struct catalog *catalog)
{
    struct estimate_decoded *decoded = malloc(sizeof *decoded);
    char *text = json_dumps(from->request, JSON_COMPACT);
    struct request request = { .method = HTTP_POST, .path = "/estimate", .body = text };
    struct assumptions assumptions = { .count = 0 };
    struct notices notices = { .count = 0 };
    struct fault fault;

    if (!decoded || !text)
        abort();
    request.body_size = strlen(text);
    fault_clear(&fault);
    if (estimate_open(&request, decoded, &notices, &fault) != STATUS_OK ||
        estimate_decode(catalog, decoded, &assumptions, &notices, &fault) != STATUS_OK) {
        fprintf(stderr, "%s is refused: %s at %s\n", from->id, fault_code_name(fault.code), fault.items[0].pointer);
        exit(2);
    }
    free(text);
    return decoded;
}

static const struct estimate_decoded *
decoded_of(const struct run *run)
{
    return run->decoded;
}

/* The run of a request: an equal one that was read before, or a new one. */
static size_t
run_of(struct runs *runs, const struct accuracy_case *from)
{
    struct estimate_decoded *decoded = decode(from, runs->catalog);

    for (size_t i = 0; i < runs->count; i++) {
        if (strcmp(decoded_of(&runs->items[i])->digest, decoded->digest) == 0) {
            estimate_decoded_done(decoded);
            free(decoded);
            return i;
        }
    }
    runs->items[runs->count].decoded = decoded;
    return runs->count++;
}

static void
add_targets(struct runs *runs, const struct accuracy_case *from)
{
    size_t run = run_of(runs, from), i;
    const json_t *expectation;

    json_array_foreach(from->expect, i, expectation)
    {
        enum figure figure = figure_at(json_string_value(json_object_get(expectation, "at")));

        if (figure)
            runs->targets[runs->target_count++] = (struct target){ run,
                                                                   figure,
                                                                   number_or(expectation, "near", 0),
                                                                   number_or(expectation, "min", 0),
                                                                   number_or(expectation, "max", INFINITY),
                                                                   from };
    }
}

static int
by_run(const void *a, const void *b)
{
    const struct target *x = a, *y = b;

    return (x->run > y->run) - (x->run < y->run);
}

void
runs_read(struct runs *runs, const struct cases *cases, enum run_kind kind, const struct catalog *catalog)
{
    size_t most = 0;

    for (size_t i = 0; i < cases->count; i++)
        most += json_array_size(cases->items[i].expect);
    *runs = (struct runs){ .catalog = catalog,
                           .items = calloc(cases->count + 1, sizeof *runs->items),
                           .targets = calloc(most + 1, sizeof *runs->targets) };
    if (!runs->items || !runs->targets)
        abort();
    for (size_t i = 0; i < cases->count; i++) {
        const struct accuracy_case *from = &cases->items[i];
        const char *job = kind == RUN_TRAINING ? "training" : "serving";

        if (strncmp(from->slice, "accuracy_", 9) == 0 && json_object_get(from->request, job))
            add_targets(runs, from);
    }
    qsort(runs->targets, runs->target_count, sizeof *runs->targets, by_run);
    for (size_t i = runs->target_count; i-- > 0;) {
        runs->items[runs->targets[i].run].first = i;
        runs->items[runs->targets[i].run].count++;
    }
}

void
runs_done(struct runs *runs)
{
    for (size_t i = 0; i < runs->count; i++) {
        estimate_decoded_done(runs->items[i].decoded);
        free(runs->items[i].decoded);
    }
    free(runs->items);
    free(runs->targets);
    *runs = (struct runs){ 0 };
}

static struct range
banded(double expected, double low, double high)
{
    return (struct range){ expected * low, expected, expected * high };
}

static void
estimate_training(const struct estimate_request *request, const struct machine *machine, const struct rates *rates,
                  struct range *figures)
{
    struct training_ask ask = { request->arch, request->params, machine, rates, &request->training };
    struct training_choice choice;
    struct fault fault;

    fault_clear(&fault);
    if (training_plan_choose(&ask, &choice, NULL, &fault) != STATUS_OK)
        return;
    const struct training_estimate *estimate = &choice.estimate;
    const struct footprint *memory = &estimate->memory;
    const struct training_speed *speed = &estimate->speed;
    const struct parallelism *plan = &estimate->setup.plan;
    double gpus = (double)plan->tensor * plan->pipeline * plan->data * plan->context;

    figures[FIGURE_TRAINING_ALLOCATED] = banded(memory->allocated_bytes, memory->band_low, memory->band_high);
    figures[FIGURE_TRAINING_RESERVED] = banded(memory->reserved_bytes, memory->band_low, memory->band_high);
    if (!estimate->timed)
        return;
    figures[FIGURE_STEP_SECONDS] = banded(speed->step_seconds, 1 / speed->band_high, 1 / speed->band_low);
    figures[FIGURE_TOKENS_PER_GPU] =
        banded(training_tokens_per_second(estimate) / gpus, speed->band_low, speed->band_high);
    figures[FIGURE_SAMPLES_PER_SECOND] =
        banded(training_samples_per_second(estimate), speed->band_low, speed->band_high);
    figures[FIGURE_TFLOPS_PER_GPU] =
        banded(speed->flop_per_step / speed->step_seconds / gpus / 1e12, speed->band_low, speed->band_high);
}

static void
estimate_serving(const struct estimate_request *request, const struct machine *machine, const struct rates *rates,
                 struct range *figures)
{
    struct serving_ask ask = { request->arch, request->params, machine, rates, &request->serving };
    struct serving_choice choice;
    struct notices notices;
    struct fault fault;

    notices.count = notices.dropped = 0;
    fault_clear(&fault);
    if (serving_plan_choose(&ask, &choice, NULL, &notices, &fault) != STATUS_OK)
        return;
    const struct footprint *memory = &choice.estimate.memory.footprint;
    const struct serving_speed *speed = &choice.estimate.speed;

    figures[FIGURE_SERVING_ALLOCATED] = banded(memory->allocated_bytes, memory->band_low, memory->band_high);
    figures[FIGURE_SERVING_RESERVED] = banded(memory->reserved_bytes, memory->band_low, memory->band_high);
    if (!choice.estimate.timed || choice.estimate.memory.capacity_tokens < 1)
        return;
    if (!speed->overloaded)
        figures[FIGURE_TTFT_MS] = speed->ttft_ms;
    figures[FIGURE_TPOT_MS] = speed->tpot_ms;
    figures[FIGURE_OUTPUT_TOKENS] = speed->output_tokens_per_second;
}

void
run_estimate(const struct run *run, const struct rates *rates, struct range ret_figures[FIGURE_COUNT])
{
    const struct estimate_request *request = &decoded_of(run)->members.request;
    struct machine machine = hardware_machine(&request->hardware);

    for (int i = 0; i < FIGURE_COUNT; i++)
        ret_figures[i] = (struct range){ NAN, NAN, NAN };
    if (request->has_training)
        estimate_training(request, &machine, rates, ret_figures);
    else if (request->has_serving)
        estimate_serving(request, &machine, rates, ret_figures);
}
