#include "service/search/answer.h"

#include "service/base/text.h"
#include "service/memory/training_memory_band.h"
#include "service/parallel/plan.h"
#include "service/speed/pace.h"
#include "service/speed/training_measured.h"

void
machine_notices(const struct estimate_request *request, const struct machine *machine, uint32_t tensor,
                const char *pointer, struct notices *notices)
{
    const struct hardware_ask *hardware = &request->hardware;

    if (!gpu_family_is_measured(machine->gpu->family))
        notice_text(notices, NOTICE_GPU_NOT_MEASURED, "/hardware/gpu", machine->gpu->id);
    if (hardware->gpus_per_node > machine->gpu_count ||
        (hardware->gpus_per_node && machine->gpu_count % hardware->gpus_per_node))
        notice_add(notices, NOTICE_GPUS_PER_NODE_UNUSUAL, "/hardware/gpus_per_node");
    if (machine->gpu->nvlink_kind == NVLINK_BRIDGE && machine->gpu_count > 1 && hardware->intranode != INTRANODE_NVLINK)
        notice_text(notices, NOTICE_NVLINK_BRIDGE_NOT_COUNTED, "/hardware/intranode", machine->gpu->id);
    if (tensor > machine->gpus_per_node)
        notice_add(notices, NOTICE_TENSOR_ACROSS_NODES, pointer);
    else if (tensor > 1 && !machine->has_nvlink)
        notice_add(notices, NOTICE_TENSOR_ACROSS_PCIE, pointer);
}

/* The stage below the chosen one that fits as well: sharding more than needed only costs traffic. */
static void
note_lower_sharding(const struct answer *answer, struct notices *notices)
{
    const struct training_estimate *estimate = &answer->training.estimate;
    struct training_setup setup = estimate->setup;
    struct footprint lower;

    if (setup.plan.sharding != SHARDING_ZERO3 || estimate->memory.verdict == VERDICT_DOES_NOT_FIT ||
        setup.job->framework == FRAMEWORK_MEGATRON)
        return;
    setup.plan.sharding = SHARDING_ZERO2;
    training_memory(&setup, &lower);
    if (lower.verdict == VERDICT_FITS && lower.allocated_bytes <= estimate->memory.allocated_bytes)
        notice_text(notices, NOTICE_LOWER_SHARDING_IS_ENOUGH, "/training/parallelism/sharding",
                    sharding_names[SHARDING_ZERO2]);
}

/* "7B needs 60 GB" is 8 bytes a parameter, true of pure 16-bit training alone: people take it for any. */
static void
note_rule_of_thumb(const struct answer *answer, struct notices *notices)
{
    const struct training_estimate *estimate = &answer->training.estimate;
    enum training_method method = estimate->setup.job->method;
    double rule = 8 * (double)answer->params->total / (double)plan_gpu_count(&estimate->setup.plan);

    if ((method == METHOD_FULL || method == METHOD_PRETRAIN) && !answer->arch->generic &&
        estimate->memory.allocated_bytes > 1.5 * rule)
        notice_numbers(notices, NOTICE_RULE_OF_THUMB_MEMORY, "/training", rule, estimate->memory.allocated_bytes);
}

/* What no published run stands behind, and so makes bands wider. */
static void
note_unmeasured(const struct training_setup *setup, struct notices *notices)
{
    const struct gpu *gpu = setup->machine->gpu;
    const char *recipe = setup->arch->generic ? NULL : training_recipe_unmeasured(setup);
    struct training_measured measured;
    struct notice *notice;

    if (recipe != NULL)
        notice_text(notices, NOTICE_RECIPE_NOT_MEASURED, "/training", recipe);
    if (gpu == NULL)
        return;
    measured = training_measured_of(setup);
    if (!measured.device)
        notice_text(notices, NOTICE_GPU_NOT_MEASURED, "/hardware/gpu", gpu->id);
    if (!measured.scale)
        notice_numbers(notices, NOTICE_SCALE_NOT_MEASURED, "/hardware/gpus", setup->machine->gpu_count,
                       measured.most_gpus);
    if (measured.software || !gpu_family_is_measured(gpu->family))
        return;
    notice = notice_add(notices, NOTICE_FRAMEWORK_NOT_MEASURED, "/training/framework");
    text_copy(notice->text[0], NOTE_TEXT_SIZE, framework_names[setup->job->framework]);
    text_copy(notice->text[1], NOTE_TEXT_SIZE, gpu->id);
}

/* What was asked and cannot be had as it is. */
static void
note_taken_instead(const struct estimate_request *request, const struct training_setup *setup, struct notices *notices)
{
    const struct gpu *gpu = setup->machine->gpu;
    enum training_precision precision = request->training.precision;
    uint32_t asked = request->training.global_batch_size;
    uint64_t taken = (uint64_t)setup->micro_batch_size * setup->accumulation_steps * setup->plan.data;
    struct notice *notice;

    if (asked && taken != asked)
        notice_numbers(notices, NOTICE_GLOBAL_BATCH_ROUNDED, "/training/global_batch_size", asked, (double)taken);
    if (!gpu || precision_is_native(gpu, precision))
        return;
    notice = notice_add(notices, NOTICE_PRECISION_NOT_NATIVE, "/training/precision");
    text_copy(notice->text[0], NOTE_TEXT_SIZE, gpu->id);
    text_copy(notice->text[1], NOTE_TEXT_SIZE, training_precision_names[precision]);
}

/* A loss that was seen to fall may not fall so under another batch, precision, optimizer or method. */
static void
note_convergence(const struct fixes *fixes, struct notices *notices)
{
    static const struct {
        unsigned change;
        const char *pointer;
    } changes[] = { { FIX_CHANGES_BATCH, "/training/global_batch_size" },
                    { FIX_CHANGES_PRECISION, "/training/precision" },
                    { FIX_CHANGES_OPTIMIZER, "/training/optimizer" },
                    { FIX_CHANGES_METHOD, "/training/method" } };

    for (size_t i = 0; i < COUNT_OF(changes); i++)
        for (uint32_t j = 0; j < fixes->count; j++)
            if (fixes->items[j].changes & changes[i].change) {
                notice_text(notices, NOTICE_CONVERGENCE, changes[i].pointer, fix_code_name(fixes->items[j].code));
                break;
            }
}

void
training_notices(const struct estimate_request *request, const struct answer *answer, struct notices *notices)
{
    const struct training_job *job = &answer->training.job;
    const struct training_setup *setup = &answer->training.estimate.setup;
    const struct model_arch *arch = request->arch;

    if (arch->max_context_tokens && job->sequence_length > arch->max_context_tokens)
        notice_numbers(notices, NOTICE_SEQUENCE_ABOVE_MODEL_MAXIMUM, "/training/sequence_length", job->sequence_length,
                       arch->max_context_tokens);
    if (setup->plan.pipeline > 1 && arch->layer_count % setup->plan.pipeline)
        notice_numbers(notices, NOTICE_LAYERS_DO_NOT_DIVIDE, "/training/parallelism/pipeline", arch->layer_count,
                       setup->plan.pipeline);
    if (job->method == METHOD_QLORA &&
        (job->framework == FRAMEWORK_HF_TRAINER || job->framework == FRAMEWORK_DEEPSPEED) &&
        (job->precision == PRECISION_BF16_MIXED || job->precision == PRECISION_FP16_MIXED))
        notice_add(notices, NOTICE_QLORA_UPCASTS, "/training/method");
    note_taken_instead(request, setup, notices);
    note_rule_of_thumb(answer, notices);
    note_unmeasured(setup, notices);
    note_convergence(&answer->training_fixes, notices);
    if (training_exceeds_host(setup))
        notice_numbers(notices, NOTICE_OFFLOAD_EXCEEDS_HOST, "/hardware/ram_bytes", answer->offload_host_bytes,
                       setup->machine->host_bytes);
    else if (answer->offload_host_bytes > 0)
        notice_numbers(notices, NOTICE_HOST_MEMORY_NEEDED, "/training/offload", answer->offload_host_bytes, 0);
    if (answer->machine.gpu) {
        machine_notices(request, &answer->machine, setup->plan.tensor, "/training/parallelism/tensor", notices);
        note_lower_sharding(answer, notices);
    }
}
