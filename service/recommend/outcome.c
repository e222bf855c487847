#include "service/recommend/recommend.h"

#include <math.h>

#include "service/base/quantity.h"
#include "service/speed/pace.h"

struct machine
offer_machine(const struct offer *offer, uint32_t count)
{
    struct hardware_ask hardware = { .present = true, .offer = offer, .offer_count = count };

    return hardware_machine(&hardware);
}

static void
keep_fuller(struct outcome *outcome, const struct footprint *footprint)
{
    double share = footprint->usable_bytes > 0 ? footprint->required_bytes / footprint->usable_bytes : 0;

    if (outcome->usable_bytes > 0 && share <= outcome->required_bytes / outcome->usable_bytes)
        return;
    outcome->required_bytes = footprint->required_bytes;
    outcome->usable_bytes = footprint->usable_bytes;
    outcome->reserved_bytes = footprint->reserved_bytes;
}

static void
find_training(const struct recommend_request *request, const struct catalog *catalog, const struct machine *machine,
              struct outcome *outcome)
{
    struct training_ask ask = { request->job.arch, request->job.params, machine, &catalog->rates,
                                &request->job.training };
    struct training_choice choice;
    struct fault fault;

    if (!precision_is_native(machine->gpu, request->job.training.precision)) {
        outcome->no_kernel = true;
        return;
    }
    fault_clear(&fault);
    if (training_plan_choose(&ask, &choice, NULL, &fault) != STATUS_OK) {
        outcome->training_verdict = VERDICT_DOES_NOT_FIT;
        return;
    }
    outcome->plans += choice.searched;
    outcome->training_verdict = choice.estimate.memory.verdict;
    outcome->samples_per_second = training_samples_per_second(&choice.estimate);
    outcome->has_hours = training_duration_hours(&choice.estimate, request->job.dataset.samples,
                                                 request->job.dataset.tokens, &outcome->hours);
    keep_fuller(outcome, &choice.estimate.memory);
    outcome->offload_host_bytes = training_offload_host_bytes(&choice.estimate.setup);
    if (training_exceeds_host(&choice.estimate.setup)) {
        outcome->required_bytes = outcome->offload_host_bytes;
        outcome->usable_bytes = machine->host_bytes;
        outcome->short_of_host = true;
    }
}

static double
load_of(const struct serving_choice *choice)
{
    const struct serving_job *job = &choice->job;
    const struct serving_estimate *estimate = &choice->estimate;
    double replicas = estimate->setup.replicas;

    if (job->requests_per_second > 0 && estimate->speed.saturation_requests_per_second > 0)
        return job->requests_per_second / (estimate->speed.saturation_requests_per_second * replicas);
    if (job->concurrency && estimate->memory.max_concurrency > 0)
        return job->concurrency / (estimate->memory.max_concurrency * replicas);
    return 0;
}

static void
find_serving(const struct recommend_request *request, const struct catalog *catalog, const struct machine *machine,
             struct outcome *outcome)
{
    struct serving_ask ask = { request->job.arch, request->job.params, machine, &catalog->rates,
                               &request->job.serving };
    struct notices notices = { 0 };
    struct serving_choice choice;
    struct fault fault;

    fault_clear(&fault);
    if (serving_plan_choose(&ask, &choice, NULL, &notices, &fault) != STATUS_OK) {
        outcome->no_kernel = fault.code == FAULT_NO_KERNEL_FOR_PRECISION;
        outcome->serving_verdict = VERDICT_DOES_NOT_FIT;
        return;
    }
    outcome->plans += choice.searched;
    outcome->serving_verdict = choice.estimate.memory.footprint.verdict;
    outcome->serving_load = load_of(&choice);
    outcome->ttft_p95_ms = choice.estimate.speed.ttft_p95_ms.expected;
    outcome->tpot_p95_ms = choice.estimate.speed.tpot_p95_ms.expected;
    outcome->output_tokens_per_second = choice.estimate.speed.output_tokens_per_second.expected;
    outcome->overloaded = choice.estimate.speed.overloaded;
    keep_fuller(outcome, &choice.estimate.memory.footprint);
}

void
outcome_find(const struct recommend_request *request, const struct catalog *catalog, const struct machine *machine,
             struct outcome *ret_outcome)
{
    *ret_outcome = (struct outcome){ .training_verdict = VERDICT_UNKNOWN, .serving_verdict = VERDICT_UNKNOWN };
    /* TPUs, Trainium and their like run none of the frameworks and engines that an estimate is for unchanged */
    ret_outcome->no_kernel = machine->gpu->family == GPU_FAMILY_OTHER;
    if (ret_outcome->no_kernel)
        return;
    if (request->job.has_training)
        find_training(request, catalog, machine, ret_outcome);
    if (request->job.has_serving && !ret_outcome->no_kernel)
        find_serving(request, catalog, machine, ret_outcome);
}

enum status
candidate_detail(const struct recommend_request *request, const struct catalog *catalog,
                 const struct candidate *candidate, struct answer *ret_answer, struct fault *ret_fault)
{
    struct training_ask training = { request->job.arch, request->job.params, &ret_answer->machine, &catalog->rates,
                                     &request->job.training };
    struct serving_ask serving = { request->job.arch, request->job.params, &ret_answer->machine, &catalog->rates,
                                   &request->job.serving };

    ret_answer->has_training = ret_answer->has_serving = false;
    ret_answer->notices.count = ret_answer->assumptions.count = 0;
    ret_answer->machine = offer_machine(candidate->offer, candidate->count);
    if (request->job.has_training) {
        TRY(training_plan_choose(&training, &ret_answer->training, NULL, ret_fault));
        ret_answer->has_training = true;
        ret_answer->has_duration = training_duration_hours(&ret_answer->training.estimate, request->job.dataset.samples,
                                                           request->job.dataset.tokens, &ret_answer->duration_hours);
    }
    if (request->job.has_serving) {
        TRY(serving_plan_choose(&serving, &ret_answer->serving, NULL, &ret_answer->notices, ret_fault));
        ret_answer->has_serving = true;
    }
    return STATUS_OK;
}
