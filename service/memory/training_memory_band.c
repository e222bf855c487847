/* Classes of readings by what published memory there is of them. */
#include "service/memory/training_memory_band.h"

static struct memory_band
band_of_class(const struct training_setup *setup)
{
    const struct rates *rates = setup->rates;
    bool one_node = setup->machine->nodes <= 1 && setup->plan.virtual_stages <= 1;

    if (setup->job->offload != OFFLOAD_NONE || setup->arch->generic)
        return (struct memory_band){ rates->training_memory_band_untested_low,
                                     rates->training_memory_band_untested_high };
    if (setup->job->method == METHOD_QLORA)
        return (struct memory_band){ rates->training_memory_band_qlora_low, rates->training_memory_band_qlora_high };
    switch (setup->job->framework) {
    case FRAMEWORK_MEGATRON:
        if (one_node && setup->job->precision == PRECISION_BF16_MIXED)
            return (struct memory_band){ rates->training_memory_band_megatron_low,
                                         rates->training_memory_band_megatron_high };
        return (struct memory_band){ rates->training_memory_band_cluster_low,
                                     rates->training_memory_band_cluster_high };
    case FRAMEWORK_FSDP:
        return (struct memory_band){ rates->training_memory_band_fsdp_low, rates->training_memory_band_fsdp_high };
    case FRAMEWORK_DEEPSPEED:
        return (struct memory_band){ rates->training_memory_band_deepspeed_low,
                                     rates->training_memory_band_deepspeed_high };
    case FRAMEWORK_UNSAID:
    case FRAMEWORK_HF_TRAINER:
        break;
    }
    return (struct memory_band){ rates->training_memory_band_hf_trainer_low,
                                 rates->training_memory_band_hf_trainer_high };
}

static bool
has_experts(const struct model_arch *arch)
{
    for (uint32_t i = 0; i < arch->kind_count; i++)
        if (arch->kinds[i].mlp == MLP_EXPERTS)
            return true;
    return false;
}

const char *
training_recipe_unmeasured(const struct training_setup *setup)
{
    const struct training_job *job = setup->job;
    bool adamw = job->optimizer == OPTIMIZER_ADAMW || job->optimizer == OPTIMIZER_ADAMW_8BIT ||
                 job->optimizer == OPTIMIZER_ADAMW_8BIT_PAGED;

    if (!adamw && job->optimizer)
        return optimizer_names[job->optimizer];
    if (job->method == METHOD_FREEZE)
        return training_method_names[METHOD_FREEZE];
    if (job->precision == PRECISION_FP32 || job->precision == PRECISION_TF32)
        return training_precision_names[job->precision];
    if (job->framework && job->framework != FRAMEWORK_MEGATRON && has_experts(setup->arch))
        return framework_names[job->framework];
    return NULL;
}

struct memory_band
training_memory_band_of(const struct training_setup *setup)
{
    const struct rates *rates = setup->rates;
    struct memory_band band = band_of_class(setup);

    if (setup->sequence_or_recompute_assumed) {
        band.low *= rates->training_memory_band_assumed_low;
        band.high *= rates->training_memory_band_assumed_high;
    }
    if (!setup->arch->generic && training_recipe_unmeasured(setup) != NULL) {
        band.low *= rates->training_memory_band_recipe_low;
        band.high *= rates->training_memory_band_recipe_high;
    }
    return band;
}
