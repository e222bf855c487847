#include "tests/support/serving_fixture.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "service/base/quantity.h"
#include "service/job/defaults.h"
#include "service/parallel/plan.h"
#include "tests/support/model_rows.h"
#include "tests/support/seed_rates.h"

static void
read_model(const char *name, struct model_arch *arch)
{
    static struct notices notices;
    static struct fault fault;
    const struct model_row *row = model_row_of(name);
    bool used[MODEL_ROW_FACTS] = { false };
    struct facts facts = model_row_facts(row->facts, row->fact_count, used);

    memset(&notices, 0, sizeof(notices));
    fault_clear(&fault);
    if (model_arch_read(&facts, "", arch, &notices, &fault) != STATUS_OK) {
        (void)fprintf(stderr, "%s is not read: %s\n", name, fault_code_name(fault.code));
        abort();
    }
}

void
serving_fixture_make(struct serving_fixture *fixture, const char *model, const char *gpu, uint32_t gpus,
                     const struct serving_job *job)
{
    struct parallelism plan = { .tensor = gpus, .data = 1 };

    memset(fixture, 0, sizeof(*fixture));
    read_model(model, &fixture->arch);
    fixture->params = model_params_count(&fixture->arch);
    fixture->rates = seed_rates();
    if (gpu != NULL)
        fixture->gpu = seed_gpu(gpu);
    fixture->machine = machine_of(gpu != NULL ? &fixture->gpu : NULL, gpus, 0, 0, INTRANODE_UNSAID);
    fixture->job = *job;
    serving_job_complete(&fixture->job, &fixture->arch, &fixture->machine, NULL);
    if (job->has_parallelism)
        plan = job->parallelism;
    plan = plan_filled(plan, gpus);
    fixture->setup = (struct serving_setup){
        .arch = &fixture->arch,
        .params = &fixture->params,
        .machine = &fixture->machine,
        .rates = &fixture->rates,
        .job = &fixture->job,
        .plan = plan,
        .replicas = gpus / serving_gpus_per_replica(&plan),
        .utilization_assumed = !(job->memory_utilization > 0),
    };
}

void
serving_fixture_run(const struct serving_fixture *fixture, struct serving_memory *ret_memory,
                    struct serving_speed *ret_speed)
{
    serving_memory(&fixture->setup, ret_memory);
    serving_speed(&fixture->setup, ret_memory, ret_speed);
}

static const struct {
    const char *model, *gpu;
    uint32_t gpus;
    enum weight_format format;
} machines[] = {
    { "llama-3-8b", "h100-sxm-80gb", 1, WEIGHT_BF16 },         { "llama-3-8b", "rtx-4090-24gb", 2, WEIGHT_INT4_AWQ },
    { "llama-3-70b", "h100-sxm-80gb", 8, WEIGHT_FP8 },         { "mixtral-8x7b", "a100-sxm-80gb", 4, WEIGHT_BF16 },
    { "deepseek-v3", "h200-sxm-141gb", 16, WEIGHT_FP8 },       { "qwen3-235b-a22b", "b200-sxm-180gb", 4, WEIGHT_NVFP4 },
    { "qwen2.5-72b", "mi300x-192gb", 2, WEIGHT_FP16 },         { "gemma-3-4b", "l4-24gb", 1, WEIGHT_BF16 },
    { "llama-3-8b", "rtx-3090-24gb", 1, WEIGHT_Q4_K_M },       { "qwen2.5-7b", "v100-sxm-32gb", 4, WEIGHT_FP16 },
    { "mamba-2.8b-hf", "a10-24gb", 1, WEIGHT_BF16 },           { "whisper-small", "t4-16gb", 1, WEIGHT_FP16 },
    { "llama-3.1-405b", "ascend-910b-64gb", 32, WEIGHT_BF16 }, { "qwen3-8b", "h20-96gb", 1, WEIGHT_BF16 },
    { "qwen3-235b-a22b", "h20-96gb", 8, WEIGHT_FP8 },          { "qwen2.5-14b", "l40s-48gb", 1, WEIGHT_Q4_K_M },
};

/* From `low` to `high`, each order of magnitude as often. */
static double
spread(struct random *random, double low, double high)
{
    return low * pow(high / low, random_unit(random));
}

void
serving_fixture_random(struct random *random, bool poisson, struct serving_fixture *fixture)
{
    size_t i = random_below(random, COUNT_OF(machines));
    struct serving_job job = {
        .engine = (enum engine)(1 + random_below(random, 6)),
        .precision = machines[i].format,
        .input_tokens = (uint32_t)spread(random, 1, 30000),
        .output_tokens = (uint32_t)spread(random, 16, 4000),
        .concurrency = poisson ? 0 : (uint32_t)spread(random, 1, 2000),
        .requests_per_second = poisson ? spread(random, 0.01, 100) : 0,
        .has_parallelism = true,
        .parallelism = { .tensor = machines[i].gpus, .pipeline = 1, .data = 1, .expert = 1 },
    };

    if (random_below(random, 4) == 0)
        job.parallelism = (struct parallelism){ .tensor = 1, .pipeline = machines[i].gpus, .data = 1, .expert = 1 };
    serving_fixture_make(fixture, machines[i].model, machines[i].gpu, machines[i].gpus, &job);
}
