#include "service/search/answer.h"

#include "service/memory/kv_cache.h"
#include "service/search/surroundings.h"

static enum status
answer_training(const struct estimate_request *request, const struct catalog *catalog, struct answer *answer,
                struct fault *fault)
{
    struct training_ask ask = { request->arch, request->params, &answer->machine, &catalog->rates, &request->training };
    const struct training_estimate *estimate = &answer->training.estimate;

    TRY(training_plan_choose(&ask, &answer->training, &answer->assumptions, fault));
    answer->has_training = true;
    answer->training_minimum_gpus = training_minimum_gpus(&ask);
    answer->offload_host_bytes = training_offload_host_bytes(&estimate->setup);
    answer->checkpoint_bytes = training_checkpoint_bytes(&estimate->setup);

    training_fixes(request, catalog, &answer->training, &answer->training_fixes);
    training_notices(request, answer, &answer->notices);
    return STATUS_OK;
}

static enum status
answer_serving(const struct estimate_request *request, const struct catalog *catalog, struct answer *answer,
               struct fault *fault)
{
    struct serving_ask ask = { request->arch, request->params, &answer->machine, &catalog->rates, &request->serving };

    TRY(serving_plan_choose(&ask, &answer->serving, &answer->assumptions, &answer->notices, fault));
    answer->has_serving = true;
    answer->serving_minimum_gpus = serving_minimum_gpus(&ask);
    answer->serving_fixes.count = 0;
    if (answer->machine.gpu) {
        serving_sizing(&answer->serving, &answer->sizing);
        serving_fixes(request, catalog, &answer->serving, &answer->sizing, answer->serving_minimum_gpus,
                      &answer->serving_fixes);
        serving_launch(&answer->serving, &answer->sizing, answer->launch);
        serving_crossover(&answer->serving.estimate.setup, answer->serving.estimate.speed.running_sequences,
                          &answer->crossover);
    }
    serving_notices(request, answer, &answer->notices);
    return STATUS_OK;
}

static void
assume_hardware(const struct hardware_ask *hardware, const struct machine *machine, struct assumptions *assumptions)
{
    if (!hardware->present || !machine->gpu)
        return;
    if (!hardware->offer && !hardware->gpus)
        assume_number(assumptions, "gpus", "/hardware/gpus", 1);
    if (hardware->offer && !hardware->offer_count)
        assume_number(assumptions, "gpus", "/hardware/count", 1);
    if (machine->gpu_count == 1)
        return;
    if (!hardware->offer && !hardware->gpus_per_node)
        assume_number(assumptions, "gpus_per_node", "/hardware/gpus_per_node", machine->gpus_per_node);
    if (!hardware->intranode)
        assume_text(assumptions, "intranode", "/hardware/intranode", machine->has_nvlink ? "nvlink" : "pcie");
    if (machine->nodes > 1 && !(hardware->internode_bits_per_second > 0) &&
        !(hardware->offer && hardware->offer->network_bits_per_second > 0))
        assume_number(assumptions, "internode_bandwidth", "/hardware/internode_bits_per_second",
                      machine->network_bytes_per_second * 8 * machine->gpus_per_node);
}

static enum status
check_request(const struct estimate_request *request, struct fault *fault)
{
    const struct hardware_ask *hardware = &request->hardware;
    bool job = request->has_training || request->has_serving;

    if (!request->arch && !hardware->present && !request->dataset.present && !request->observed.present)
        fault_add(fault, FAULT_NOTHING_ASKED, "", NULL, "model|hardware|dataset|observed", NULL);
    else if (job && !request->arch)
        fault_add(fault, FAULT_MISSING_MEMBER, "/model", NULL, "model", NULL);
    else if (hardware->offer && !hardware->offer->gpu)
        fault_add(fault, FAULT_DEVICE_UNKNOWN, hardware->offer->is_server ? "/hardware/server" : "/hardware/instance",
                  hardware->offer->id, "gpu", NULL);
    return fault_any(fault) ? STATUS_FAULT : STATUS_OK;
}

enum status
answer_run(const struct estimate_request *request, const struct catalog *catalog, struct answer *ret_answer,
           struct fault *ret_fault)
{
    bool job = request->has_training || request->has_serving;

    TRY(check_request(request, ret_fault));
    ret_answer->has_training = ret_answer->has_serving = false;
    ret_answer->arch = request->arch;
    ret_answer->params = request->params;
    ret_answer->machine = hardware_machine(&request->hardware);
    ret_answer->has_duration = false;
    ret_answer->sizing = (struct serving_sizing){ 0 };
    ret_answer->launch[0] = '\0';
    ret_answer->crossover.known = false;
    assume_hardware(&request->hardware, &ret_answer->machine, &ret_answer->assumptions);
    if (request->arch)
        ret_answer->kv_bytes_per_token = request->arch->generic ? 0 : kv_cache_bytes_per_token(request->arch, 2);
    if (request->has_training)
        TRY(answer_training(request, catalog, ret_answer, ret_fault));
    if (request->has_serving)
        TRY(answer_serving(request, catalog, ret_answer, ret_fault));
    answer_surroundings(request, catalog, ret_answer);
    ret_answer->has_fitting = job && !request->hardware.present;
    if (ret_answer->has_fitting)
        fitting_gpus(request, catalog, &ret_answer->fitting);
    ret_answer->has_capabilities =
        !request->arch && ret_answer->machine.gpu && !request->dataset.present && !request->observed.present;
    if (ret_answer->has_capabilities)
        capabilities_of(&ret_answer->machine, catalog, &ret_answer->capabilities);
    return STATUS_OK;
}
