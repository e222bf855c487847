#include "service/search/fitting.h"

#include "service/base/quantity.h"
#include "service/search/serving_plans.h"
#include "service/search/training_plans.h"

static enum verdict
worse(enum verdict a, enum verdict b)
{
    return a > b ? a : b;
}

static enum verdict
training_verdict(const struct estimate_request *request, const struct machine *machine, const struct rates *rates)
{
    struct training_job job = request->training;
    struct training_ask ask = { request->arch, request->params, machine, rates, &job };
    struct training_choice choice;
    struct fault fault;

    fault_clear(&fault);
    if (machine->gpu->bf16_flop_per_second <= 0 &&
        (job.precision == PRECISION_BF16_MIXED || job.precision == PRECISION_BF16_PURE))
        return VERDICT_DOES_NOT_FIT;
    job.has_parallelism = false;
    if (training_plan_choose(&ask, &choice, NULL, &fault) != STATUS_OK)
        return VERDICT_DOES_NOT_FIT;
    return choice.estimate.memory.verdict;
}

static enum verdict
serving_verdict(const struct estimate_request *request, const struct machine *machine, const struct rates *rates)
{
    struct serving_job job = request->serving;
    struct serving_ask ask = { request->arch, request->params, machine, rates, &job };
    struct serving_choice choice;
    struct notices notices = { 0 };
    struct fault fault;

    fault_clear(&fault);
    job.has_parallelism = false;
    if (serving_plan_choose(&ask, &choice, NULL, &notices, &fault) != STATUS_OK)
        return VERDICT_DOES_NOT_FIT;
    return choice.estimate.memory.footprint.verdict;
}

static enum verdict
request_verdict(const struct estimate_request *request, const struct machine *machine, const struct rates *rates)
{
    enum verdict verdict = VERDICT_UNKNOWN;

    if (request->has_training)
        verdict = worse(verdict, training_verdict(request, machine, rates));
    if (request->has_serving && verdict != VERDICT_DOES_NOT_FIT)
        verdict = worse(verdict, serving_verdict(request, machine, rates));
    return verdict;
}

void
fitting_gpus(const struct estimate_request *request, const struct catalog *catalog, struct fitting_gpus *ret_fitting)
{
    ret_fitting->count = 0;
    for (size_t i = 0; i < catalog->gpu_count && ret_fitting->count < MAX_FITTING_GPUS; i++) {
        const struct gpu *gpu = &catalog->gpus[i];

        if (!(gpu->fp16_flop_per_second > 0))
            continue;
        for (uint32_t gpus = 1; gpus <= 8; gpus *= 2) {
            struct machine machine = machine_of(gpu, gpus, 0, 0, INTRANODE_UNSAID);
            enum verdict verdict = request_verdict(request, &machine, &catalog->rates);

            if (verdict == VERDICT_DOES_NOT_FIT)
                continue;
            ret_fitting->items[ret_fitting->count++] = (struct fitting_gpu){ gpu, gpus, verdict };
            break;
        }
    }
}

/* Networks that people mean by "the largest model": decoders, not encoders or convolutions. */
static bool
is_decoder(const struct model_arch *arch)
{
    if (arch->generic || !arch->causal)
        return false;
    for (uint32_t i = 0; i < arch->kind_count; i++)
        if (arch->kinds[i].encoder)
            return false;
    return true;
}

/* Bytes a parameter that no plan gets below: spares the search of what cannot fit anyway. */
static double
least_bytes_per_parameter(const struct capability *capability)
{
    if (!capability->is_training)
        return 0.9 * weight_format_bits(capability->format) / 8;
    switch (capability->method) {
    case METHOD_LORA:
        return 2; /* the frozen 16-bit weights */
    case METHOD_QLORA:
        return 0.5; /* 4-bit storage */
    case METHOD_PRETRAIN:
    case METHOD_FULL:
    case METHOD_FREEZE:
    case METHOD_UNSAID:
        break;
    }
    return capability->precision == PRECISION_BF16_PURE ? 8 : 16; /* arXiv:1910.02054 3.1 */
}

static void
largest_model(const struct machine *machine, const struct catalog *catalog, struct capability *capability)
{
    double room = (double)machine->gpu->usable_bytes * machine->gpu_count;
    double least = least_bytes_per_parameter(capability);

    for (size_t i = 0; i < catalog->model_count; i++) {
        const struct model_preset *model = &catalog->models[i];
        struct estimate_request request = { .arch = &model->arch,
                                            .params = &model->params,
                                            .has_training = capability->is_training,
                                            .has_serving = !capability->is_training };

        if (!is_decoder(&model->arch) || (double)model->params.total * least > room ||
            (capability->largest && model->params.total <= capability->largest->params.total))
            continue;
        request.training.method = capability->method;
        request.training.precision = capability->precision;
        request.serving.precision = capability->format;

        enum verdict verdict = request_verdict(&request, machine, &catalog->rates);

        if (verdict == VERDICT_DOES_NOT_FIT)
            continue;
        capability->largest = model;
        capability->verdict = verdict;
    }
}

void
capabilities_of(const struct machine *machine, const struct catalog *catalog, struct capabilities *ret_capabilities)
{
    static const struct {
        enum training_method method;
        enum training_precision precision;
    } trainings[] = { { METHOD_FULL, PRECISION_BF16_MIXED },
                      { METHOD_FULL, PRECISION_BF16_PURE },
                      { METHOD_LORA, PRECISION_BF16_MIXED },
                      { METHOD_QLORA, PRECISION_BF16_MIXED } };
    static const enum weight_format formats[] = { WEIGHT_BF16, WEIGHT_FP8, WEIGHT_INT8, WEIGHT_INT4_AWQ,
                                                  WEIGHT_Q4_K_M };
    bool bf16 = machine->gpu->bf16_flop_per_second > 0;

    ret_capabilities->count = 0;
    for (size_t i = 0; i < COUNT_OF(trainings); i++) {
        struct capability *added = &ret_capabilities->items[ret_capabilities->count];
        bool pure = trainings[i].precision == PRECISION_BF16_PURE;

        if (pure && !bf16)
            continue;
        *added = (struct capability){ .is_training = true,
                                      .method = trainings[i].method,
                                      .precision = bf16 ? trainings[i].precision : PRECISION_FP16_MIXED,
                                      .verdict = VERDICT_DOES_NOT_FIT };
        largest_model(machine, catalog, added);
        ret_capabilities->count++;
    }
    for (size_t i = 0; i < COUNT_OF(formats); i++) {
        struct capability *added = &ret_capabilities->items[ret_capabilities->count];
        enum weight_format format = formats[i] == WEIGHT_BF16 ? serving_native_format(machine->gpu) : formats[i];
        bool weight_only;

        if (!serving_format_runs(machine->gpu, format, &weight_only))
            continue;
        *added = (struct capability){ .format = format, .verdict = VERDICT_DOES_NOT_FIT };
        largest_model(machine, catalog, added);
        ret_capabilities->count++;
    }
}
