#include "service/search/legal_plans.h"

#include "service/job/defaults.h"
#include "service/parallel/plan.h"

/* The framework that would run this split: the stated one, or the usual one. */
static enum framework
framework_of(const struct training_job *job, const struct parallelism *plan, uint32_t gpu_count)
{
    return job->framework ? job->framework : framework_usual(job, plan, gpu_count);
}

/* Megatron's distributed optimizer is ZeRO-1; FSDP shards gradients (2) or all (3); DeepSpeed has every stage. */
static enum sharding
lowest_sharding(enum framework framework)
{
    switch (framework) {
    case FRAMEWORK_MEGATRON:
        return SHARDING_ZERO1;
    case FRAMEWORK_FSDP:
    case FRAMEWORK_DEEPSPEED:
    case FRAMEWORK_HF_TRAINER:
    case FRAMEWORK_UNSAID:
        break;
    }
    return SHARDING_NONE;
}

static enum sharding
highest_sharding(enum framework framework)
{
    return framework == FRAMEWORK_MEGATRON ? SHARDING_ZERO1 : SHARDING_ZERO3;
}

static void
visit_shardings(const struct training_job *job, struct parallelism plan, uint32_t gpu_count, plan_visitor *visit,
                void *context)
{
    enum framework framework = framework_of(job, &plan, gpu_count);
    uint32_t sharers = plan.data * plan.context;

    if (sharers <= 1) {
        plan.sharding = SHARDING_NONE;
        visit(context, framework, &plan);
        return;
    }
    for (int stage = (int)lowest_sharding(framework); stage <= (int)highest_sharding(framework); stage++) {
        plan.sharding = (enum sharding)stage;
        visit(context, framework_of(job, &plan, gpu_count), &plan);
    }
}

void
legal_plans_data_parallel(const struct training_job *job, uint32_t gpu_count, plan_visitor *visit, void *context)
{
    struct parallelism plan = { .tensor = 1,
                                .pipeline = 1,
                                .virtual_stages = 1,
                                .data = gpu_count,
                                .context = 1,
                                .expert = 1,
                                .sharding = SHARDING_UNSAID,
                                .sequence_parallel = FLAG_NO };

    visit_shardings(job, plan, gpu_count, visit, context);
}

static uint32_t
greatest_common_divisor(uint32_t a, uint32_t b)
{
    while (b) {
        uint32_t rest = a % b;

        a = b;
        b = rest;
    }
    return a;
}

static bool
tensor_divides_heads(const struct model_arch *arch, uint32_t tensor)
{
    for (uint32_t i = 0; i < arch->kind_count; i++)
        if (arch->kinds[i].attention != ATTENTION_NONE && arch->kinds[i].head_count % tensor)
            return false;
    return true;
}

static void
visit_model_split(const struct training_job *job, const struct model_arch *arch, const struct machine *machine,
                  struct parallelism plan, plan_visitor *visit, void *context)
{
    uint32_t experts = plan_most_experts(arch);

    plan.data = machine->gpu_count / (plan.tensor * plan.pipeline * plan.context);
    plan.expert = experts ? greatest_common_divisor(experts, plan.data * plan.tensor) : 1;
    plan.sequence_parallel = plan.tensor > 1 ? FLAG_YES : FLAG_NO;
    visit_shardings(job, plan, machine->gpu_count, visit, context);
}

/* Whether data ranks alone, which legal_plans_data_parallel visits, are a split of Megatron, too: with experts spread.
 */
static bool
splits_data_alone(const struct training_job *job, const struct model_arch *arch)
{
    return job->framework == FRAMEWORK_MEGATRON || (!job->framework && plan_most_experts(arch) > 0);
}

void
legal_plans_model_parallel(const struct training_job *job, const struct model_arch *arch, const struct machine *machine,
                           plan_visitor *visit, void *context)
{
    uint32_t gpus = machine->gpu_count;
    uint32_t most_context = job->sequence_length >= 32768 ? 16 : 1;
    /* transformers' Trainer has no pipeline of its own */
    uint32_t most_pipeline = job->framework == FRAMEWORK_HF_TRAINER ? 1 : arch->layer_count;

    for (uint32_t tensor = 1; tensor <= machine->gpus_per_node && tensor <= 8; tensor *= 2) {
        if (gpus % tensor || !tensor_divides_heads(arch, tensor))
            continue;
        for (uint32_t pipeline = 1; pipeline <= gpus / tensor && pipeline <= most_pipeline; pipeline++) {
            if ((gpus / tensor) % pipeline)
                continue;
            for (uint32_t share = 1; share <= most_context; share *= 2) {
                struct parallelism plan = {
                    .tensor = tensor, .pipeline = pipeline, .virtual_stages = 1, .context = share
                };

                if ((gpus / tensor / pipeline) % share ||
                    (tensor == 1 && pipeline == 1 && share == 1 && !splits_data_alone(job, arch)))
                    continue;
                visit_model_split(job, arch, machine, plan, visit, context);
            }
        }
    }
}

void
legal_plans_stated(const struct training_job *job, uint32_t gpu_count, plan_visitor *visit, void *context)
{
    struct parallelism plan = plan_filled(job->parallelism, gpu_count);
    enum framework framework = framework_of(job, &plan, gpu_count);

    if (!job->parallelism.sequence_parallel)
        plan.sequence_parallel =
            plan.tensor > 1 && framework == FRAMEWORK_MEGATRON && job->attention != ATTENTION_KERNEL_EAGER ? FLAG_YES
                                                                                                           : FLAG_NO;
    if (job->parallelism.sharding)
        visit(context, framework, &plan);
    else
        visit_shardings(job, plan, gpu_count, visit, context);
}
