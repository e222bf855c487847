#include "service/search/serving_plans.h"

#include "service/base/quantity.h"
#include "service/base/text.h"
#include "service/parallel/plan.h"

static bool
tensor_divides(const struct model_arch *arch, uint32_t tensor)
{
    for (uint32_t i = 0; i < arch->kind_count; i++)
        if (arch->kinds[i].attention != ATTENTION_NONE && arch->kinds[i].head_count % tensor)
            return false;
    return true;
}

static uint32_t
widest_tensor(const struct model_arch *arch, uint32_t gpus)
{
    for (uint32_t tensor = gpus; tensor > 1; tensor--)
        if (gpus % tensor == 0 && tensor_divides(arch, tensor))
            return tensor;
    return 1;
}

static struct parallelism
usual_plan(const struct model_arch *arch, const struct machine *machine, enum engine engine)
{
    struct parallelism plan = { .virtual_stages = 1,
                                .data = 1,
                                .context = 1,
                                .expert = 1,
                                .sharding = SHARDING_NONE,
                                .sequence_parallel = FLAG_NO };
    uint32_t in_node = machine->gpu_count < machine->gpus_per_node ? machine->gpu_count : machine->gpus_per_node;

    if (in_node > 8) /* an NVLink domain of 72 is split in eights: wider tensor splits gain nothing */
        in_node = 8;
    plan.tensor = engine == ENGINE_LLAMA_CPP ? 1 : widest_tensor(arch, in_node);
    plan.pipeline = machine->gpu_count / plan.tensor;
    if (plan.pipeline > 1 && engine != ENGINE_LLAMA_CPP && machine->gpu_count <= in_node)
        plan.pipeline = 1; /* heads that do not divide: replicas instead */
    if (plan.pipeline > arch->layer_count && arch->layer_count)
        plan.pipeline = arch->layer_count;
    plan.data = machine->gpu_count / (plan.tensor * plan.pipeline);
    return plan;
}

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

static enum status
settle_plan(const struct serving_ask *ask, struct serving_choice *choice, struct assumptions *assumptions,
            struct fault *ret_fault)
{
    struct serving_setup *setup = &choice->estimate.setup;
    const struct machine *machine = ask->machine;

    if (!ask->job->has_parallelism) {
        setup->plan = usual_plan(ask->arch, machine, choice->job.engine);
        if (machine->gpu_count > 1)
            assume_number(assumptions, "serving_parallelism", "/serving/parallelism", setup->plan.tensor);
    } else {
        setup->plan = plan_filled(ask->job->parallelism, machine->gpu_count);
        setup->plan.sharding = SHARDING_NONE;
        TRY(plan_check(&setup->plan, ask->arch, machine, "/serving/parallelism", ret_fault));
    }
    choice->gpus_per_replica = serving_gpus_per_replica(&setup->plan);
    setup->replicas = machine->gpu_count / choice->gpus_per_replica;
    if (!setup->replicas)
        setup->replicas = 1;
    return STATUS_OK;
}

/* An unstated share of the card is raised to what engines still start with, when only that is missing. */
static void
settle_utilization(const struct serving_setup *setup, struct serving_job *job, struct serving_memory *ret_memory)
{
    double usual = job->memory_utilization, highest = setup->rates->serving_highest_utilization;

    serving_memory(setup, ret_memory);
    if (!setup->utilization_assumed || ret_memory->footprint.verdict != VERDICT_DOES_NOT_FIT || highest <= usual)
        return;
    job->memory_utilization = highest;
    serving_memory(setup, ret_memory);
    if (ret_memory->footprint.verdict != VERDICT_DOES_NOT_FIT)
        return;
    job->memory_utilization = usual;
    serving_memory(setup, ret_memory);
}

enum status
serving_plan_choose(const struct serving_ask *ask, struct serving_choice *ret_choice, struct assumptions *assumptions,
                    struct notices *notices, struct fault *ret_fault)
{
    struct serving_setup *setup = &ret_choice->estimate.setup;

    ret_choice->job = *ask->job;
    serving_job_complete(&ret_choice->job, ask->arch, ask->machine, assumptions);
    TRY(settle_format(ask, &ret_choice->job, assumptions, notices, ret_fault));
    *setup = (struct serving_setup){
        .arch = ask->arch,
        .params = ask->params,
        .machine = ask->machine,
        .rates = ask->rates,
        .job = &ret_choice->job,
        .utilization_assumed = !(ask->job->memory_utilization > 0),
    };
    TRY(settle_plan(ask, ret_choice, assumptions, ret_fault));
    ret_choice->searched = 1;
    struct serving_setup settled = *setup;

    settle_utilization(&settled, &ret_choice->job, &ret_choice->estimate.memory);
    if (settled.utilization_assumed)
        assume_number(assumptions, "memory_utilization", "/serving/memory_utilization",
                      ret_choice->job.memory_utilization);
    serving_estimate_run(&settled, &ret_choice->estimate);
    return STATUS_OK;
}

void
serving_choice_copy(struct serving_choice *to, const struct serving_choice *from)
{
    *to = *from;
    to->estimate.setup.job = &to->job;
}

static bool
runs_on(const struct serving_ask *ask, struct serving_job job, uint32_t gpu_count)
{
    struct machine machine = *ask->machine;
    struct serving_setup setup = {
        .arch = ask->arch,
        .params = ask->params,
        .machine = &machine,
        .rates = ask->rates,
        .job = &job,
        .utilization_assumed = !(ask->job->memory_utilization > 0),
    };
    struct serving_memory memory;

    machine.gpu_count = gpu_count;
    machine.gpus_per_node = gpu_count < machine.gpu->gpus_per_node ? gpu_count : machine.gpu->gpus_per_node;
    machine.nodes = (uint32_t)u64_ceil_div(gpu_count, machine.gpus_per_node);
    setup.plan = usual_plan(ask->arch, &machine, job.engine);
    setup.replicas = gpu_count / serving_gpus_per_replica(&setup.plan);
    settle_utilization(&setup, &job, &memory);
    return memory.footprint.verdict != VERDICT_DOES_NOT_FIT;
}

uint32_t
serving_minimum_gpus(const struct serving_ask *ask)
{
    struct serving_job job = *ask->job;
    const struct gpu *gpu = ask->machine->gpu;

    if (!gpu)
        return 0;
    serving_job_complete(&job, ask->arch, ask->machine, NULL);
    for (uint32_t count = 1; count <= 512; count += count < gpu->gpus_per_node ? 1 : gpu->gpus_per_node)
        if (runs_on(ask, job, count))
            return count;
    return 0;
}
