/* The runs that constants were fitted on, as rows: tests/data/accuracy/train.jsonl. */
#include "service/speed/training_measured.h"

#include "service/base/quantity.h"
#include "service/base/text.h"

static const char *const devices[] = { "a100-pcie-40gb", "a100-pcie-80gb", "a100-sxm-40gb", "a100-sxm-80gb",
                                       "b200-sxm-180gb", "gb200-186gb",    "h100-sxm-80gb", "rtx-3090-24gb",
                                       "rtx-4090-24gb",  "rtx-a6000-48gb", "v100-sxm-16gb", "v100-sxm-32gb" };

/* Decoders: InternEvo's runs are counted as DeepSpeed's, whose stages it has. */
static const struct {
    enum framework framework;
    enum gpu_family family;
    uint32_t most_gpus;
} decoders[] = {
    { FRAMEWORK_MEGATRON, GPU_FAMILY_AMPERE, 3072 },   { FRAMEWORK_MEGATRON, GPU_FAMILY_HOPPER, 6144 },
    { FRAMEWORK_MEGATRON, GPU_FAMILY_BLACKWELL, 256 }, { FRAMEWORK_FSDP, GPU_FAMILY_AMPERE, 64 },
    { FRAMEWORK_FSDP, GPU_FAMILY_HOPPER, 512 },        { FRAMEWORK_DEEPSPEED, GPU_FAMILY_AMPERE, 1024 },
    { FRAMEWORK_HF_TRAINER, GPU_FAMILY_AMPERE, 1 },
};

static const struct {
    enum gpu_family family;
    uint32_t most_gpus;
} encoders[] = {
    { GPU_FAMILY_VOLTA, 16 },
    { GPU_FAMILY_AMPERE, 8 },
    { GPU_FAMILY_GDDR, 1 },
    { GPU_FAMILY_HOPPER, 1 },
};

static uint32_t
most_gpus_measured(const struct training_setup *setup)
{
    enum gpu_family family = setup->machine->gpu->family;

    if (setup->arch->generic || !setup->arch->causal) {
        for (size_t i = 0; i < COUNT_OF(encoders); i++)
            if (encoders[i].family == family)
                return encoders[i].most_gpus;
        return 0;
    }
    for (size_t i = 0; i < COUNT_OF(decoders); i++)
        if (decoders[i].framework == setup->job->framework && decoders[i].family == family)
            return decoders[i].most_gpus;
    return 0;
}

struct training_measured
training_measured_of(const struct training_setup *setup)
{
    struct training_measured measured = { .device = false, .most_gpus = most_gpus_measured(setup) };

    for (size_t i = 0; i < COUNT_OF(devices); i++)
        measured.device = measured.device || text_equal(devices[i], setup->machine->gpu->id);
    measured.software = measured.most_gpus > 0;
    measured.scale = !measured.software || setup->machine->gpu_count <= 2 * measured.most_gpus;
    return measured;
}
