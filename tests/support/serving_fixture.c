#include "tests/support/serving_fixture.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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
