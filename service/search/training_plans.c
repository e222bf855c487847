#include "service/search/training_plans.h"

#include "service/base/quantity.h"
#include "service/memory/gathered.h"
#include "service/memory/optimizer.h"
#include "service/parallel/plan.h"
#include "service/search/legal_plans.h"
#include "service/search/training_search.h"

/* Decoders are pre-trained in it; experts are trained in it, too, as trainers of whole layers run them one by one from
 * Python. It has no 4-bit weights. */
static bool
is_at_home_in_megatron(const struct training_ask *ask, const struct training_job *job)
{
    bool experts = ask->params->active < ask->params->total && job->method != METHOD_QLORA;

    return ask->arch->causal && (job->method == METHOD_PRETRAIN || experts);
}

static void
search_open_plans(struct training_search *search)
{
    const struct training_ask *ask = search->ask;
    const struct training_job *job = &search->best->job;
    struct training_job asked = *job;

    asked.framework = ask->job->framework;
    if (asked.framework != FRAMEWORK_MEGATRON)
        legal_plans_data_parallel(&asked, ask->machine->gpu_count, training_search_visit, search);
    bool fits = search->any && search->best->estimate.memory.verdict != VERDICT_DOES_NOT_FIT;
    bool megatron = asked.framework == FRAMEWORK_MEGATRON || (!asked.framework && is_at_home_in_megatron(ask, &asked));
    bool splits = !ask->arch->generic && (ask->machine->gpu_count > 1 || !search->any);

    if (splits && (megatron || !fits))
        legal_plans_model_parallel(&asked, ask->arch, ask->machine, training_search_visit, search);
    if (!search->any) /* Megatron was stated for a network it cannot split */
        legal_plans_data_parallel(&asked, ask->machine->gpu_count, training_search_visit, search);
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

static enum plan_rule
rule_of(const struct training_estimate *chosen)
{
    if (!chosen->timed)
        return PLAN_LEAST_MEMORY;
    return chosen->memory.verdict == VERDICT_DOES_NOT_FIT ? PLAN_NEAREST_TO_FITTING : PLAN_FASTEST_THAT_FITS;
}

const char *
plan_rule_name(enum plan_rule rule)
{
    static const char *const names[] = { [PLAN_STATED] = "stated",
                                         [PLAN_FASTEST_THAT_FITS] = "fastest_that_fits",
                                         [PLAN_NEAREST_TO_FITTING] = "nearest_to_fitting",
                                         [PLAN_LEAST_MEMORY] = "least_memory" };

    return names[rule];
}

enum status
training_plan_choose(const struct training_ask *ask, struct training_choice *ret_choice,
                     struct assumptions *assumptions, struct fault *ret_fault)
{
    struct training_search search;

    ret_choice->searched = 0;
    ret_choice->job = *ask->job;
    training_job_complete(&ret_choice->job, ask->arch, ask->machine, assumptions);
    training_search_begin(&search, ask, ret_choice, false);
    if (ask->job->has_parallelism) {
        struct parallelism stated = plan_filled(ask->job->parallelism, ask->machine->gpu_count);
        struct training_job job = ret_choice->job;

        TRY(plan_check(&stated, ask->arch, ask->machine, true, "/training/parallelism", ret_fault));
        legal_plans_stated(&job, ask->machine->gpu_count, training_search_visit, &search);
        ret_choice->rule = PLAN_STATED;
    } else {
        search_open_plans(&search);
        ret_choice->rule = rule_of(&ret_choice->estimate);
    }
    if (ret_choice->estimate.timed)
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
some_plan_runs(const struct training_ask *ask, const struct training_job *job, uint32_t gpu_count, uint32_t node)
{
    struct machine machine = *ask->machine;
    struct training_ask smaller = { ask->arch, ask->params, &machine, ask->rates, job };
    struct training_choice choice = { .job = *job };
    struct training_search search;

    machine.gpu_count = gpu_count;
    machine.gpus_per_node = gpu_count < node ? gpu_count : node;
    machine.nodes = (uint32_t)u64_ceil_div(gpu_count, machine.gpus_per_node);
    training_search_begin(&search, &smaller, &choice, true);
    search_open_plans(&search);
    return search.any && choice.estimate.memory.verdict != VERDICT_DOES_NOT_FIT;
}

/* Bytes that all GPUs together cannot do without, however the job is split: one copy of what it keeps. */
static double
least_bytes(const struct training_ask *ask, const struct training_job *job)
{
    double parameters = (double)ask->params->total, least = 0;

    if (job->offload != OFFLOAD_NONE)
        return 0;
    if (job->method == METHOD_QLORA)
        return parameters * QLORA_BITS / 8;
    if (job->method == METHOD_LORA || job->method == METHOD_FREEZE)
        return parameters * 2;
    for (int framework = FRAMEWORK_MEGATRON; framework <= FRAMEWORK_HF_TRAINER; framework++) {
        struct state_bytes state =
            state_bytes_of(ask->rates, job->precision, job->optimizer, (enum framework)framework);
        double bytes = state.weight + state.master + state.states; /* gradients may be gone with the backward pass */

        if (job->framework && job->framework != (enum framework)framework)
            continue;
        least = least <= 0 || bytes < least ? bytes : least;
    }
    return parameters * least;
}

uint32_t
training_minimum_gpus(const struct training_ask *ask)
{
    struct training_job job = *ask->job;
    double least;
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
    if (node == 0)
        node = 1;
    least = least_bytes(ask, &job) / (double)ask->machine->gpu->usable_bytes;
    for (uint32_t count = 1; count <= MINIMUM_GPUS_LIMIT; count += count < node ? 1 : node)
        if (count >= least && some_plan_runs(ask, &job, count, node))
            return count;
    return 0;
}
