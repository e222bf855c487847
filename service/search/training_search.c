/* Each split is bounded before it is searched: by the least memory that it needs, and by the least time it can take. */
#include "service/search/training_search.h"

#include <string.h>

#include "service/base/quantity.h"
#include "service/parallel/plan.h"

/* Rates that differ by less are the same. */
static const double same_rate = 1.005;

static const int verdict_order[] = {
    [VERDICT_UNKNOWN] = 0, [VERDICT_FITS] = 0, [VERDICT_TIGHT] = 1, [VERDICT_DOES_NOT_FIT] = 2
};

/* Order of preference among two estimates of one job: negative when a goes first. */
static int
prefer(const struct training_estimate *a, const struct training_estimate *b)
{
    int by_verdict = verdict_order[a->memory.verdict] - verdict_order[b->memory.verdict];
    double rate_a, rate_b;

    /* 1. what fits with room before what is tight, and that before what does not fit */
    if (by_verdict)
        return by_verdict;
    /* 2. among what does not fit, what needs least; the same where there is no time to compare */
    if (a->memory.verdict == VERDICT_DOES_NOT_FIT || !a->timed) {
        if (a->memory.required_bytes < b->memory.required_bytes)
            return -1;
        return a->memory.required_bytes > b->memory.required_bytes;
    }
    /* 3. the faster */
    rate_a = training_samples_per_second(a);
    rate_b = training_samples_per_second(b);
    if (rate_a > rate_b * same_rate)
        return -1;
    if (rate_b > rate_a * same_rate)
        return 1;
    /* 4. the simpler: less sharding, then fewer pieces of the model */
    if (a->setup.plan.sharding != b->setup.plan.sharding)
        return a->setup.plan.sharding < b->setup.plan.sharding ? -1 : 1;
    return (int)(a->setup.plan.tensor * a->setup.plan.pipeline) - (int)(b->setup.plan.tensor * b->setup.plan.pipeline);
}

static void
keep_if_better(struct training_search *search)
{
    struct training_choice *best = search->best;

    if (search->any && prefer(&search->trial, &best->estimate) >= 0)
        return;
    best->job = search->trial_job;
    best->estimate = search->trial;
    best->estimate.setup.job = &best->job;
    search->any = true;
}

static void
set_recompute(struct training_search *search, enum recompute recompute)
{
    search->trial.setup.recompute = search->trial_job.recompute = recompute;
}

static enum verdict
weigh_trial(struct training_search *search)
{
    struct training_estimate *trial = &search->trial;

    search->best->searched++;
    training_memory(&trial->setup, &trial->memory);
    return trial->memory.verdict;
}

static double
samples_per_step(const struct training_setup *setup)
{
    return (double)setup->micro_batch_size * setup->accumulation_steps * setup->plan.data;
}

/* The time of what does not fit matters only if nothing does. */
static enum verdict
try_weighed(struct training_search *search)
{
    struct training_estimate *trial = &search->trial;
    enum verdict verdict = trial->memory.verdict;

    if (trial->timed && verdict != VERDICT_DOES_NOT_FIT) {
        struct training_time time;

        trial->speed.step_seconds = training_step_seconds(&trial->setup, &time);
        trial->speed.samples_per_step = samples_per_step(&trial->setup);
    }
    keep_if_better(search);
    return verdict;
}

static enum verdict
try_trial(struct training_search *search)
{
    (void)weigh_trial(search);
    return try_weighed(search);
}

/* Whether the best so far runs more samples a second than `rate`, with a verdict as good as `verdict`. */
static bool
is_below_best(const struct training_search *search, enum verdict verdict, double rate)
{
    const struct training_estimate *best = &search->best->estimate;

    return search->any && best->memory.verdict != VERDICT_DOES_NOT_FIT &&
           verdict_order[verdict] >= verdict_order[best->memory.verdict] &&
           rate * same_rate < training_samples_per_second(best);
}

/* Larger micro-batches and interleaved stages need no less memory than what was tried first under the same split, and
 * so no less recompute to fit; which matters where nothing that is only tight can win. */
static void
set_least_recompute(const struct training_search *search, enum recompute least, struct training_setup *setup)
{
    bool fits = search->any && search->best->estimate.memory.verdict == VERDICT_FITS;

    setup->recompute = least;
    setup->recompute_share = 0;
    if (least != RECOMPUTE_NONE || !fits || search->least_share <= 0)
        return;
    setup->recompute = RECOMPUTE_FULL;
    setup->recompute_share = search->least_share < 1 ? search->least_share : 0;
}

/* Whether nothing under the trial's split, micro-batch and schedule can win, though all were left as it is without
 * recompute, in `chunks` interleaved stages, its head shared out evenly, with a verdict as good as `verdict`. */
static bool
is_beaten(const struct training_search *search, enum verdict verdict, enum recompute least, uint32_t chunks)
{
    struct training_setup setup = search->trial.setup;
    struct training_time time;
    double seconds;

    if (!search->trial.timed || !is_below_best(search, verdict, 0))
        return false;
    set_least_recompute(search, least, &setup);
    seconds = training_step_seconds(&setup, &time);
    seconds -= time.bubble * (1 - 1.0 / chunks) + time.head * (1 - 1.0 / setup.plan.pipeline);
    return is_below_best(search, verdict, samples_per_step(&setup) / seconds);
}

static bool
is_fine_tuning(const struct training_job *job)
{
    return job->method != METHOD_PRETRAIN;
}

/* What is not searched: the stated form; decoders are fine-tuned with full recompute, as the usual trainers do by
 * default (not Megatron); encoders and networks known by their work alone are trained without. UNSAID: to be searched.
 */
static enum recompute
settled_recompute(const struct training_search *search)
{
    const struct training_job *asked = search->ask->job;
    const struct model_arch *arch = search->ask->arch;

    if (asked->recompute)
        return asked->recompute;
    if (arch->generic || (is_fine_tuning(asked) && !arch->causal))
        return RECOMPUTE_NONE;
    return is_fine_tuning(asked) && search->trial_job.framework != FRAMEWORK_MEGATRON ? RECOMPUTE_FULL
                                                                                      : RECOMPUTE_UNSAID;
}

/* Nobody recomputes in an encoder what is only tight without: its batches are made to fill the card. */
static bool
needs_no_more_recompute(const struct training_search *search, enum verdict verdict)
{
    return verdict == VERDICT_FITS || (!search->ask->arch->causal && verdict == VERDICT_TIGHT);
}

/* All layers, or in Megatron only as many as must be: recomputing fewer is faster. */
static enum verdict
try_full_recompute(struct training_search *search)
{
    struct training_setup *setup = &search->trial.setup;
    enum verdict verdict;

    set_recompute(search, RECOMPUTE_FULL);
    if (search->trial_job.framework == FRAMEWORK_MEGATRON && !search->memory_only) {
        double share = training_recompute_share(setup, &search->trial.memory);

        search->best->searched++;
        setup->recompute_share = share < 1 ? share : 0;
        if (setup->plan.virtual_stages <= 1)
            search->least_share = share;
        verdict = try_weighed(search);
    } else {
        verdict = try_trial(search);
    }
    setup->recompute_share = 0;
    return verdict;
}

/* none, selective, full: the first that fits is taken, because each later one is slower. Returns the best verdict. What
 * is found not to fit is not tried again with more chunks: *least_level remembers. */
static enum verdict
try_recomputes(struct training_search *search, enum recompute *least_level)
{
    /* Megatron's leaves out what a fused kernel never keeps */
    bool has_selective =
        search->trial_job.framework == FRAMEWORK_FSDP ||
        (search->trial_job.framework == FRAMEWORK_MEGATRON && search->trial_job.attention == ATTENTION_KERNEL_EAGER);
    enum recompute settled = settled_recompute(search);
    enum verdict verdict = VERDICT_DOES_NOT_FIT, full;

    if (settled) {
        set_recompute(search, settled);
        return try_trial(search);
    }
    for (int level = RECOMPUTE_NONE; level <= RECOMPUTE_SELECTIVE; level++) {
        if (level < (int)*least_level || (level == RECOMPUTE_SELECTIVE && !has_selective))
            continue;
        set_recompute(search, (enum recompute)level);
        verdict = try_trial(search);
        if (needs_no_more_recompute(search, verdict))
            return verdict;
        if (verdict == VERDICT_DOES_NOT_FIT)
            *least_level = (enum recompute)(level + 1);
    }
    full = try_full_recompute(search);
    return verdict_order[full] < verdict_order[verdict] ? full : verdict;
}

/* Interleaved stages (arXiv:2104.04473 2.2) shrink the bubble; tried only where the schedule was left open. 1: not. */
static uint32_t
most_virtual_stages(const struct training_search *search)
{
    const struct training_job *asked = search->ask->job;
    const struct parallelism *plan = &search->trial.setup.plan;
    bool open = plan->pipeline > 1 && search->trial_job.framework == FRAMEWORK_MEGATRON && !asked->micro_batch_size &&
                !asked->parallelism.virtual_stages;

    return open ? plan_stage_layers(plan, search->ask->arch) : 1;
}

/* More chunks need more memory: once they do not fit, even more do not. */
static void
try_virtual_stages(struct training_search *search, enum verdict verdict, enum recompute least, uint32_t most)
{
    struct training_setup *setup = &search->trial.setup;
    uint32_t asked = setup->plan.virtual_stages;
    enum recompute level = RECOMPUTE_NONE;

    for (uint32_t stages = 1; stages <= most; stages++) {
        if (most % stages)
            continue;
        if (most > 1)
            setup->plan.virtual_stages = stages;
        if (most > 1 && is_beaten(search, verdict, least, 1))
            continue;
        if (try_recomputes(search, &level) == VERDICT_DOES_NOT_FIT)
            break;
    }
    setup->plan.virtual_stages = asked;
}

/* The form that needs least: of a stage of one or two layers none may need less than all. */
static enum verdict
weigh_least(struct training_search *search)
{
    enum recompute settled = settled_recompute(search);
    enum verdict verdict;

    set_recompute(search, settled ? settled : RECOMPUTE_FULL);
    verdict = weigh_trial(search);
    if (settled || verdict != VERDICT_DOES_NOT_FIT ||
        plan_stage_layers(&search->trial.setup.plan, search->ask->arch) > 2)
        return verdict;
    keep_if_better(search);
    set_recompute(search, RECOMPUTE_NONE);
    return weigh_trial(search);
}

static void
set_micro_batch(struct training_search *search, uint32_t micro_batch)
{
    const struct training_job *asked = search->ask->job;
    struct training_setup *setup = &search->trial.setup;
    uint64_t per_pass = u64_mul_sat(micro_batch, setup->plan.data);

    setup->micro_batch_size = micro_batch;
    setup->accumulation_steps =
        asked->global_batch_size ? (uint32_t)u64_ceil_div(asked->global_batch_size, per_pass) : 1;
    search->trial_job.micro_batch_size = micro_batch;
    search->trial.timed = !search->memory_only && training_can_be_timed(setup);
}

/* false: it does not fit, and so no larger one will. */
static bool
try_micro_batch(struct training_search *search, uint32_t micro_batch)
{
    enum recompute settled = settled_recompute(search), least = settled ? settled : RECOMPUTE_NONE;
    uint32_t most = most_virtual_stages(search);
    enum verdict verdict;

    set_micro_batch(search, micro_batch);
    if (is_beaten(search, VERDICT_FITS, least, most)) /* whatever memory it takes */
        return true;
    verdict = weigh_least(search);
    if (verdict == VERDICT_DOES_NOT_FIT || search->memory_only) {
        keep_if_better(search);
        return verdict != VERDICT_DOES_NOT_FIT;
    }
    if (!is_beaten(search, verdict, least, most))
        try_virtual_stages(search, verdict, least, most);
    return true;
}

/* The largest micro-batch that is tried: a rank's share of the global batch; where nothing is said 1 sequence, or as
 * many samples as convolution networks are usually measured with. */
static uint64_t
largest_micro_batch(const struct training_search *search, const struct parallelism *plan)
{
    const struct training_job *asked = search->ask->job;
    uint64_t most = search->ask->arch->generic ? 256 : 32;

    if (!asked->global_batch_size)
        return search->ask->arch->generic ? most : 1;
    return u64_min(most, asked->global_batch_size / (plan->data ? plan->data : 1));
}

void
training_search_visit(void *context, enum framework framework, const struct parallelism *plan)
{
    struct training_search *search = context;
    const struct training_job *asked = search->ask->job;
    uint64_t largest = largest_micro_batch(search, plan);
    bool fits;

    if (search->memory_only && search->any && search->best->estimate.memory.verdict != VERDICT_DOES_NOT_FIT)
        return;
    search->trial_job.framework = framework;
    search->trial_job.loss = asked->loss ? asked->loss : loss_usual(framework);
    search->trial.setup.plan = *plan;
    search->least_share = 0;
    if (asked->micro_batch_size) {
        try_micro_batch(search, asked->micro_batch_size);
        return;
    }
    fits = try_micro_batch(search, 1);
    for (uint32_t micro = 2; fits && micro <= largest; micro *= 2)
        if (asked->global_batch_size % ((uint64_t)micro * plan->data) == 0)
            fits = try_micro_batch(search, micro);
}

void
training_search_begin(struct training_search *search, const struct training_ask *ask, struct training_choice *best,
                      bool memory_only)
{
    const struct training_job *asked = ask->job;

    memset(search, 0, sizeof *search);
    search->ask = ask;
    search->best = best;
    search->memory_only = memory_only;
    search->trial_job = best->job;
    search->trial.setup = (struct training_setup){
        .arch = ask->arch,
        .params = ask->params,
        .machine = ask->machine,
        .rates = ask->rates,
        .job = &search->trial_job,
        .sequence_or_recompute_assumed = !ask->arch->generic && (!asked->sequence_length || !asked->recompute),
        .plan_assumed =
            !asked->micro_batch_size || !asked->recompute || (!asked->has_parallelism && ask->machine->gpu_count > 1),
    };
}
