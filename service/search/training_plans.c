#include "service/search/training_plans.h"

#include <string.h>

#include "service/base/quantity.h"
#include "service/parallel/plan.h"
#include "service/search/legal_plans.h"

/* One search under way: `trial` is estimated again and again, `best` keeps the winner. */
struct search {
    const struct training_ask *ask;
    struct training_choice *best;
    struct training_job trial_job;
    struct training_estimate trial;
    bool any;
    bool memory_only;
};

static bool
is_fine_tuning(const struct training_job *job)
{
    return job->method != METHOD_PRETRAIN;
}

/* Order of preference among two estimates of one job: negative when a goes first. */
static int
prefer(const struct training_estimate *a, const struct training_estimate *b)
{
    static const int order[] = {
        [VERDICT_UNKNOWN] = 0, [VERDICT_FITS] = 0, [VERDICT_TIGHT] = 1, [VERDICT_DOES_NOT_FIT] = 2
    };
    int by_verdict = order[a->memory.verdict] - order[b->memory.verdict];

    /* 1. what fits with room before what is tight, and that before what does not fit */
    if (by_verdict)
        return by_verdict;
    /* 2. among what does not fit, what needs least; the same where there is no time to compare */
    if (a->memory.verdict == VERDICT_DOES_NOT_FIT || !a->timed) {
        if (a->memory.required_bytes < b->memory.required_bytes)
            return -1;
        return a->memory.required_bytes > b->memory.required_bytes;
    }
    /* 3. the faster; half a per cent is no difference */
    double rate_a = training_samples_per_second(a), rate_b = training_samples_per_second(b);

    if (rate_a > rate_b * 1.005)
        return -1;
    if (rate_b > rate_a * 1.005)
        return 1;
    /* 4. the simpler: less sharding, then fewer pieces of the model */
    if (a->setup.plan.sharding != b->setup.plan.sharding)
        return a->setup.plan.sharding < b->setup.plan.sharding ? -1 : 1;
    return (int)(a->setup.plan.tensor * a->setup.plan.pipeline) - (int)(b->setup.plan.tensor * b->setup.plan.pipeline);
}

static void
keep_if_better(struct search *search)
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
estimate_trial(struct search *search)
{
    struct training_estimate *trial = &search->trial;

    search->best->searched++;
    training_memory(&trial->setup, &trial->memory);
    trial->timed = !search->memory_only && trial->setup.machine->gpu != NULL;
    /* the time of what does not fit matters only if nothing does: training_plan_choose adds it then */
    if (trial->timed && trial->memory.verdict != VERDICT_DOES_NOT_FIT)
        training_speed(&trial->setup, &trial->speed);
    keep_if_better(search);
}

/* Recomputing fewer layers is faster: where full recompute has room, only as many as must are recomputed. */
static void
try_partial_recompute(struct search *search)
{
    struct training_setup *setup = &search->trial.setup;

    if (search->trial_job.framework != FRAMEWORK_MEGATRON || search->trial.memory.verdict == VERDICT_DOES_NOT_FIT)
        return;
    setup->recompute_share = training_recompute_share(setup);
    estimate_trial(search);
    setup->recompute_share = 0;
}

/* What is not searched: the stated form; decoders are fine-tuned with full recompute, as the usual trainers do by
 * default (not Megatron); encoders and networks known by their work alone are trained without. UNSAID: to be searched.
 */
static enum recompute
settled_recompute(const struct search *search)
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
needs_no_more_recompute(const struct search *search)
{
    enum verdict verdict = search->trial.memory.verdict;

    return verdict == VERDICT_FITS || (!search->ask->arch->causal && verdict == VERDICT_TIGHT);
}

/* none, selective, full: the first that fits is taken, because each later one is slower. */
static void
try_recomputes(struct search *search)
{
    struct training_setup *setup = &search->trial.setup;
    bool has_selective =
        search->trial_job.framework == FRAMEWORK_MEGATRON || search->trial_job.framework == FRAMEWORK_FSDP;
    enum recompute settled = settled_recompute(search);

    if (settled) {
        search->trial_job.recompute = setup->recompute = settled;
        estimate_trial(search);
        return;
    }
    for (int level = RECOMPUTE_NONE; level <= RECOMPUTE_FULL; level++) {
        if (level == RECOMPUTE_SELECTIVE && !has_selective)
            continue;
        setup->recompute = (enum recompute)level;
        search->trial_job.recompute = setup->recompute;
        estimate_trial(search);
        if (needs_no_more_recompute(search) && level < RECOMPUTE_FULL)
            return;
    }
    try_partial_recompute(search);
}

/* Interleaved stages (arXiv:2104.04473 2.2) shrink the bubble; tried only where the schedule was left open. */
static void
try_virtual_stages(struct search *search)
{
    const struct training_job *asked = search->ask->job;
    struct training_setup *setup = &search->trial.setup;
    uint32_t stage_layers = plan_stage_layers(&setup->plan, search->ask->arch);
    bool open = setup->plan.pipeline > 1 && search->trial_job.framework == FRAMEWORK_MEGATRON &&
                !asked->micro_batch_size && !asked->parallelism.virtual_stages;

    if (!open) {
        try_recomputes(search);
        return;
    }
    for (uint32_t stages = 1; stages <= stage_layers; stages++) {
        if (stage_layers % stages)
            continue;
        setup->plan.virtual_stages = stages;
        try_recomputes(search);
    }
}

static void
try_micro_batch(struct search *search, uint32_t micro_batch)
{
    const struct training_job *asked = search->ask->job;
    struct training_setup *setup = &search->trial.setup;
    uint64_t per_pass = u64_mul_sat(micro_batch, setup->plan.data);

    setup->micro_batch_size = micro_batch;
    setup->accumulation_steps =
        asked->global_batch_size ? (uint32_t)u64_ceil_div(asked->global_batch_size, per_pass) : 1;
    search->trial_job.micro_batch_size = micro_batch;
    try_virtual_stages(search);
}

/* The largest micro-batch that is tried: a rank's share of the global batch; where nothing is said 1 sequence, or as
 * many samples as convolution networks are usually measured with. */
static uint64_t
largest_micro_batch(const struct search *search, const struct parallelism *plan)
{
    const struct training_job *asked = search->ask->job;
    uint64_t most = search->ask->arch->generic ? 256 : 32;

    if (!asked->global_batch_size)
        return search->ask->arch->generic ? most : 1;
    return u64_min(most, asked->global_batch_size / (plan->data ? plan->data : 1));
}

/* Micro-batches: the stated one, else powers of two that divide the global batch. */
static void
visit_plan(void *context, enum framework framework, const struct parallelism *plan)
{
    struct search *search = context;
    const struct training_job *asked = search->ask->job;
    uint64_t largest = largest_micro_batch(search, plan);

    search->trial_job.framework = framework;
    search->trial_job.loss = asked->loss ? asked->loss : loss_usual(framework);
    search->trial.setup.plan = *plan;
    if (asked->micro_batch_size) {
        try_micro_batch(search, asked->micro_batch_size);
        return;
    }
    try_micro_batch(search, 1);
    for (uint32_t micro = 2; micro <= largest; micro *= 2)
        if (asked->global_batch_size % ((uint64_t)micro * plan->data) == 0)
            try_micro_batch(search, micro);
}

static void
search_begin(struct search *search, const struct training_ask *ask, struct training_choice *best, bool memory_only)
{
    const struct training_job *asked = ask->job;

    memset(search, 0, sizeof *search);
    search->ask = ask;
    search->best = best;
    search->memory_only = memory_only;
    search->trial_job = best->job; /* completed by the caller */
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

static void
search_open_plans(struct search *search)
{
    const struct training_ask *ask = search->ask;
    const struct training_job *job = &search->best->job;
    struct training_job asked = *job;

    asked.framework = ask->job->framework;
    if (asked.framework != FRAMEWORK_MEGATRON)
        legal_plans_data_parallel(&asked, ask->machine->gpu_count, visit_plan, search);
    bool fits = search->any && search->best->estimate.memory.verdict != VERDICT_DOES_NOT_FIT;
    bool megatron = asked.framework == FRAMEWORK_MEGATRON ||
                    (!asked.framework && asked.method == METHOD_PRETRAIN && ask->arch->causal);

    if (ask->arch->generic || (ask->machine->gpu_count == 1 && search->any))
        return;
    if (megatron || !fits)
        legal_plans_model_parallel(&asked, ask->arch, ask->machine, visit_plan, search);
    if (!search->any) /* Megatron was stated for a network it cannot split */
        legal_plans_data_parallel(&asked, ask->machine->gpu_count, visit_plan, search);
}

static void
tell_choice(const struct training_ask *ask, const struct training_choice *choice, struct assumptions *assumptions)
{
    const struct training_job *asked = ask->job, *job = &choice->job;
    const struct training_setup *setup = &choice->estimate.setup;
    bool generic = ask->arch->generic;

    if (!asked->framework)
        assume_text(assumptions, "framework", "/training/framework", framework_names[job->framework]);
    if (!asked->loss && !generic)
        assume_text(assumptions, "loss", "/training/loss", loss_kernel_names[job->loss]);
    if (!asked->recompute && !generic)
        assume_text(assumptions, "recompute", "/training/recompute", recompute_names[job->recompute]);
    if (!asked->micro_batch_size)
        assume_number(assumptions, "micro_batch_size", "/training/micro_batch_size", setup->micro_batch_size);
    if (!asked->global_batch_size)
        assume_number(assumptions, "global_batch_size", "/training/global_batch_size",
                      (double)setup->micro_batch_size * setup->plan.data * setup->accumulation_steps);
    if (ask->machine->gpu_count > 1 && asked->has_parallelism && !asked->parallelism.sharding)
        assume_text(assumptions, "sharding", "/training/parallelism/sharding", sharding_names[setup->plan.sharding]);
    if (ask->machine->gpu_count > 1 && !asked->has_parallelism)
        assume_text(assumptions, "parallelism", "/training/parallelism", sharding_names[setup->plan.sharding]);
}

enum status
training_plan_choose(const struct training_ask *ask, struct training_choice *ret_choice,
                     struct assumptions *assumptions, struct fault *ret_fault)
{
    struct search search;

    ret_choice->searched = 0;
    ret_choice->job = *ask->job;
    training_job_complete(&ret_choice->job, ask->arch, ask->machine, assumptions);
    search_begin(&search, ask, ret_choice, false);
    if (ask->job->has_parallelism) {
        struct parallelism stated = plan_filled(ask->job->parallelism, ask->machine->gpu_count);
        struct training_job job = ret_choice->job;

        TRY(plan_check(&stated, ask->arch, ask->machine, "/training/parallelism", ret_fault));
        legal_plans_stated(&job, ask->machine->gpu_count, visit_plan, &search);
        ret_choice->rule = PLAN_STATED;
    } else {
        search_open_plans(&search);
        ret_choice->rule = ret_choice->estimate.memory.verdict == VERDICT_DOES_NOT_FIT ? PLAN_NEAREST_TO_FITTING
                                                                                       : PLAN_FASTEST_THAT_FITS;
    }
    if (ret_choice->estimate.memory.verdict == VERDICT_DOES_NOT_FIT && ret_choice->estimate.timed)
        training_speed(&ret_choice->estimate.setup, &ret_choice->estimate.speed);
    tell_choice(ask, ret_choice, assumptions);
    return STATUS_OK;
}

void
training_choice_copy(struct training_choice *to, const struct training_choice *from)
{
    *to = *from;
    to->estimate.setup.job = &to->job;
}

/* Whether any plan on that many GPUs runs the job at all, memory alone. */
static bool
some_plan_runs(const struct training_ask *ask, const struct training_job *job, uint32_t gpu_count)
{
    struct machine machine = *ask->machine;
    struct training_ask smaller = { ask->arch, ask->params, &machine, ask->rates, job };
    struct training_choice choice = { .job = *job };
    struct search search;

    machine.gpu_count = gpu_count;
    if (machine.gpus_per_node > gpu_count || machine.nodes == 1)
        machine.gpus_per_node = gpu_count < machine.gpu->gpus_per_node ? gpu_count : machine.gpu->gpus_per_node;
    machine.nodes = (uint32_t)u64_ceil_div(gpu_count, machine.gpus_per_node);
    search_begin(&search, &smaller, &choice, true);
    search_open_plans(&search);
    return search.any && choice.estimate.memory.verdict != VERDICT_DOES_NOT_FIT;
}

uint32_t
training_minimum_gpus(const struct training_ask *ask)
{
    struct training_job job = *ask->job;
    uint32_t node;

    if (!ask->machine->gpu)
        return 0;
    training_job_complete(&job, ask->arch, ask->machine, NULL);
    job.has_parallelism = false;
    job.parallelism = (struct parallelism){ 0 };
    job.global_batch_size = 0;
    job.recompute = ask->arch->generic ? RECOMPUTE_NONE : RECOMPUTE_FULL;
    if (!job.micro_batch_size)
        job.micro_batch_size = 1;
    node = ask->machine->nodes > 1 ? ask->machine->gpus_per_node : ask->machine->gpu->gpus_per_node;
    for (uint32_t count = 1; count <= MINIMUM_GPUS_LIMIT; count += count < node ? 1 : node)
        if (some_plan_runs(ask, &job, count))
            return count;
    return 0;
}
