#include "service/search/serving_plans.h"

#include <math.h>

#include "service/base/quantity.h"
#include "service/base/text.h"
#include "service/memory/serving_cache.h"
#include "service/memory/serving_split.h"
#include "service/parallel/plan.h"
#include "service/search/serving_splits.h"
#include "service/speed/serving_replica.h"

enum weight_format
serving_native_format(const struct gpu *gpu)
{
    return gpu && !(gpu->bf16_flop_per_second > 0) ? WEIGHT_FP16 : WEIGHT_BF16;
}

/* A format without a kernel is refused with one that has; bf16 left unsaid becomes fp16 where there is no bf16. */
static enum status
settle_format(const struct serving_ask *ask, struct serving_job *job, struct assumptions *assumptions,
              struct notices *notices, struct fault *ret_fault)
{
    const struct gpu *gpu = ask->machine->gpu;
    bool weight_only = false;

    if (!gpu)
        return STATUS_OK;
    if (!ask->job->precision && job->precision == WEIGHT_BF16 && serving_native_format(gpu) == WEIGHT_FP16) {
        job->precision = WEIGHT_FP16;
        job->kv_cache_precision = ask->job->kv_cache_precision ? job->kv_cache_precision : KV_FP16;
        assume_text(assumptions, "serving_precision", "/serving/precision", weight_format_name(WEIGHT_FP16));
        text_copy(notice_add(notices, NOTICE_NO_BF16_ON_GPU, "/serving/precision")->text[0], NOTE_TEXT_SIZE, gpu->id);
    }
    if (!serving_format_runs(gpu, job->precision, &weight_only)) {
        const char *instead = job->precision == WEIGHT_BF16 ? "fp16" : "int4_awq";

        fault_add(ret_fault, FAULT_NO_KERNEL_FOR_PRECISION, "/serving/precision", weight_format_name(job->precision),
                  gpu->id, instead);
        return STATUS_FAULT;
    }
    if (weight_only && job->precision == WEIGHT_FP8)
        text_copy(notice_add(notices, NOTICE_FP8_IS_WEIGHT_ONLY, "/serving/precision")->text[0], NOTE_TEXT_SIZE,
                  gpu->id);
    return STATUS_OK;
}

/* One split tried. */
struct attempt {
    struct serving_choice choice;
    double missed; /* how far the worst target is missed, as a factor; 1: none is */
};

/* All that a job leaves open about its load follows from a rate of requests. */
static bool
is_rated(const struct serving_job *job)
{
    return job->requests_per_second > 0 && !job->concurrency;
}

/* Random arrivals of as many as would be there at once. */
static bool
is_crowd(const struct serving_job *job)
{
    return job->arrival == ARRIVAL_POISSON && !(job->requests_per_second > 0);
}

/* Clients of a closed loop that make the rate, or saturate the deployment. */
static uint32_t
clients_of_rate(const struct serving_setup *setup, const struct serving_memory *memory)
{
    struct serving_replica replica;
    struct serving_pace pace;
    double low = 0, high;

    serving_replica_make(setup, memory, &replica);
    high = ceil(replica.flow.most_sequences);
    if (!replica.generates) /* and those that are handed in meanwhile */
        high += ceil(replica.flow.saturation * replica.flow.start_seconds);
    while (high - low > 1) {
        double middle = floor((low + high) / 2);

        (void)serving_replica_pace(&replica, ARRIVAL_CLOSED_LOOP, middle, &pace);
        if (pace.requests_per_second * setup->replicas < setup->job->requests_per_second)
            low = middle;
        else
            high = middle;
    }
    return (uint32_t)fmin(high * setup->replicas, UINT32_MAX);
}

/* Requests a second that so many clients make, each sending its next one when the last is answered; no more than random
 * arrivals are served. */
static double
rate_of_clients(const struct serving_setup *setup, const struct serving_memory *memory)
{
    double replicas = fmax(1, setup->replicas);
    struct serving_replica replica;
    struct serving_pace pace;

    serving_replica_make(setup, memory, &replica);
    (void)serving_replica_pace(&replica, ARRIVAL_CLOSED_LOOP, setup->job->concurrency / replicas, &pace);
    return fmin(pace.requests_per_second, replica.flow.saturation) * replicas;
}

/* Sequences of the asked context on all replicas with which the deployment still fits well; `one` is the memory of one
 * on each. */
static double
fitting_sequences(const struct serving_setup *setup, const struct serving_memory *one)
{
    double usable = setup->rates->serving_fitting_share * one->footprint.usable_bytes, each;
    double groups = serving_cache_groups(setup) * fmax(1, setup->replicas);
    struct serving_job job = *setup->job;
    struct serving_setup fuller = *setup;
    struct serving_memory two;

    job.concurrency = (uint32_t)(2 * groups);
    fuller.job = &job;
    serving_memory(&fuller, &two);
    each = two.footprint.required_bytes - one->footprint.required_bytes;
    return each > 0 ? floor(1 + (usable - one->footprint.required_bytes) / each) * groups : HUGE_VAL;
}

/* Sequences of the asked context whose cache is as large as that of the requests that run at once under random
 * arrivals: a state is whole however short the request. More than fit well are a matter of the load, not of the
 * memory: the engine's pool holds what it admits. */
static uint32_t
running_sequences(const struct serving_setup *setup, const struct serving_memory *one)
{
    const struct serving_job *job = setup->job;
    double each = serving_sequence_bytes(setup, (uint64_t)job->input_tokens + job->output_tokens);
    double whole = serving_sequence_bytes(setup, job->context_length), share = whole > 0 ? each / whole : 1;
    double most = fmin(floor(one->max_concurrency) * setup->replicas, fitting_sequences(setup, one));
    struct serving_speed speed;

    serving_speed(setup, one, &speed);
    most = fmin(most, ceil(speed.running_sequences * setup->replicas * share));
    return (uint32_t)fmax(1, fmin(UINT32_MAX, most));
}

double
serving_worst_miss(const struct serving_job *job, const struct serving_speed *speed)
{
    double missed = 1;

    if (job->slo_ttft_p95_ms > 0)
        missed = fmax(missed, speed->ttft_p95_ms.expected / job->slo_ttft_p95_ms);
    if (job->slo_tpot_p95_ms > 0)
        missed = fmax(missed, speed->tpot_p95_ms.expected / job->slo_tpot_p95_ms);
    if (speed->overloaded)
        missed *= job->requests_per_second / speed->requests_per_second.expected;
    return missed;
}

/* Estimates the memory of a split, and as much of its speed as a choice depends on. */
static void
attempt_run(const struct serving_ask *ask, const struct serving_job *job, const struct parallelism *plan,
            struct attempt *attempt)
{
    struct serving_choice *choice = &attempt->choice;
    struct serving_memory *memory = &choice->estimate.memory;
    struct serving_setup setup = {
        .arch = ask->arch,
        .params = ask->params,
        .machine = ask->machine,
        .rates = ask->rates,
        .job = &choice->job,
        .plan = *plan,
        .utilization_assumed = !(ask->job->memory_utilization > 0),
    };

    choice->job = *job;
    choice->gpus_per_replica = serving_gpus_per_replica(plan);
    setup.replicas = (uint32_t)u64_max(1, ask->machine->gpu_count / choice->gpus_per_replica);
    choice->estimate.setup = setup;
    choice->estimate.timed = false;
    attempt->missed = 1;
    serving_memory(&setup, memory);
    if (ask->machine->gpu == NULL || memory->footprint.verdict == VERDICT_DOES_NOT_FIT)
        return;
    if (is_rated(job)) {
        choice->job.concurrency =
            job->arrival == ARRIVAL_POISSON ? running_sequences(&setup, memory) : clients_of_rate(&setup, memory);
        serving_memory(&setup, memory);
    }
    if (is_crowd(job))
        choice->job.requests_per_second = rate_of_clients(&setup, memory);
    if (job->slo_ttft_p95_ms > 0 || job->slo_tpot_p95_ms > 0 || is_rated(job)) {
        serving_estimate_run(&setup, &choice->estimate);
        attempt->missed = serving_worst_miss(&choice->job, &choice->estimate.speed);
    }
}

/* Whether a split goes before another that comes first in the list. */
static bool
is_better(const struct attempt *attempt, const struct attempt *first)
{
    const struct footprint *now = &attempt->choice.estimate.memory.footprint;
    const struct footprint *then = &first->choice.estimate.memory.footprint;

    if (now->verdict != then->verdict)
        return now->verdict < then->verdict; /* fits, tight, does not fit */
    if (now->verdict == VERDICT_DOES_NOT_FIT)
        return now->required_bytes < then->required_bytes;
    return now->verdict == VERDICT_FITS && attempt->missed < first->missed;
}

static void
attempt_copy(struct attempt *to, const struct attempt *from)
{
    serving_choice_copy(&to->choice, &from->choice);
    to->missed = from->missed;
}

static bool
is_enough(const struct attempt *attempt)
{
    enum verdict verdict = attempt->choice.estimate.memory.footprint.verdict;

    return verdict == VERDICT_UNKNOWN || (verdict == VERDICT_FITS && attempt->missed <= 1);
}

/* Leaves the best split of a list in `best`: those that leave no GPU idle come first. */
static void
try_splits(const struct serving_ask *ask, const struct serving_job *job, const struct serving_splits *splits,
           struct attempt *best)
{
    struct attempt attempt;

    attempt_run(ask, job, &splits->items[0], best);
    for (int idle = 0; idle < 2; idle++) {
        for (uint32_t i = 1; i < splits->count && !is_enough(best); i++) {
            bool leaves_some = ask->machine->gpu_count % serving_gpus_per_replica(&splits->items[i]) != 0;

            if (leaves_some != idle)
                continue;
            attempt_run(ask, job, &splits->items[i], &attempt);
            if (is_better(&attempt, best))
                attempt_copy(best, &attempt);
        }
    }
}

static bool
does_not_fit(const struct attempt *attempt)
{
    return attempt->choice.estimate.memory.footprint.verdict == VERDICT_DOES_NOT_FIT;
}

/* An unstated share of the card is raised to what engines still start with, when only that is missing. */
static void
choose_split(const struct serving_ask *ask, struct serving_job *job, const struct serving_splits *splits,
             struct attempt *best)
{
    double usual = job->memory_utilization, highest = ask->rates->serving_highest_utilization;
    struct attempt raised;

    try_splits(ask, job, splits, best);
    if (ask->job->memory_utilization > 0 || !does_not_fit(best) || highest <= usual)
        return;
    job->memory_utilization = highest;
    try_splits(ask, job, splits, &raised);
    if (!does_not_fit(&raised))
        attempt_copy(best, &raised);
}

static enum status
list_splits(const struct serving_ask *ask, enum engine engine, struct serving_splits *splits, struct fault *ret_fault)
{
    struct parallelism stated = ask->job->parallelism;

    if (!ask->job->has_parallelism) {
        serving_splits(ask->arch, ask->machine, engine, splits);
        return STATUS_OK;
    }
    stated = plan_filled(stated, ask->machine->gpu_count);
    stated.sharding = SHARDING_NONE;
    TRY(plan_check(&stated, ask->arch, ask->machine, false, "/serving/parallelism", ret_fault));
    splits->count = 1;
    splits->items[0] = stated;
    return STATUS_OK;
}

static void
assume_choice(const struct serving_ask *ask, const struct serving_choice *choice, struct assumptions *assumptions)
{
    if (!ask->job->has_parallelism && ask->machine->gpu_count > 1)
        assume_number(assumptions, "serving_parallelism", "/serving/parallelism", choice->gpus_per_replica);
    if (!(ask->job->memory_utilization > 0))
        assume_number(assumptions, "memory_utilization", "/serving/memory_utilization", choice->job.memory_utilization);
    if (choice->job.arrival == ARRIVAL_CLOSED_LOOP && is_rated(ask->job) && choice->job.concurrency)
        assume_number(assumptions, "concurrency_of_rate", "/serving/concurrency", choice->job.concurrency);
    if (is_crowd(ask->job) && choice->job.requests_per_second > 0)
        assume_number(assumptions, "rate_of_concurrency", "/serving/requests_per_second",
                      choice->job.requests_per_second);
}

enum status
serving_plan_choose(const struct serving_ask *ask, struct serving_choice *ret_choice, struct assumptions *assumptions,
                    struct notices *notices, struct fault *ret_fault)
{
    struct serving_job job = *ask->job;
    struct serving_splits splits;
    struct attempt best;

    serving_job_complete(&job, ask->arch, ask->machine, assumptions);
    TRY(settle_format(ask, &job, assumptions, notices, ret_fault));
    TRY(list_splits(ask, job.engine, &splits, ret_fault));
    choose_split(ask, &job, &splits, &best);
    serving_choice_copy(ret_choice, &best.choice);
    ret_choice->searched = splits.count;
    struct serving_setup setup = ret_choice->estimate.setup;

    if (!ret_choice->estimate.timed)
        serving_estimate_run(&setup, &ret_choice->estimate);
    assume_choice(ask, ret_choice, assumptions);
    return STATUS_OK;
}

void
serving_choice_copy(struct serving_choice *to, const struct serving_choice *from)
{
    *to = *from;
    to->estimate.setup.job = &to->job;
}

/* The one split of each tensor width that leaves most memory: all GPUs of a node, whole nodes as stages. */
static bool
runs_on(const struct serving_ask *ask, const struct serving_job *job, uint32_t gpu_count)
{
    struct machine machine = *ask->machine;
    struct serving_ask smaller = *ask;
    struct serving_splits splits;
    struct attempt attempt;

    machine.gpu_count = gpu_count;
    machine.gpus_per_node = gpu_count < machine.gpu->gpus_per_node ? gpu_count : machine.gpu->gpus_per_node;
    machine.nodes = (uint32_t)u64_ceil_div(gpu_count, machine.gpus_per_node);
    smaller.machine = &machine;
    serving_splits(ask->arch, &machine, job->engine, &splits);
    for (uint32_t i = splits.count; i > 0; i--) {
        const struct parallelism *plan = &splits.items[i - 1];

        if (plan->pipeline > 1 && i < splits.count)
            continue; /* fewer stages hold less */
        attempt_run(&smaller, job, plan, &attempt);
        if (!does_not_fit(&attempt))
            return true;
    }
    return false;
}

uint32_t
serving_minimum_gpus(const struct serving_ask *ask)
{
    struct serving_job job = *ask->job;
    const struct gpu *gpu = ask->machine->gpu;

    if (!gpu)
        return 0;
    serving_job_complete(&job, ask->arch, ask->machine, NULL);
    if (!(ask->job->memory_utilization > 0))
        job.memory_utilization = fmax(job.memory_utilization, ask->rates->serving_highest_utilization);
    for (uint32_t count = 1; count <= 512; count += count < gpu->gpus_per_node ? 1 : gpu->gpus_per_node)
        if (runs_on(ask, &job, count))
            return count;
    return 0;
}
