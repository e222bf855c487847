/* Classes of runs by what published throughput there is of them. */
#include "service/speed/training_band.h"

#include <math.h>

#include "service/memory/gathered.h"
#include "service/speed/training_measured.h"

static bool
is_mixed_stack(const struct model_arch *arch)
{
    for (uint32_t i = 0; i < arch->kind_count; i++)
        if (arch->kinds[i].mlp == MLP_EXPERTS || arch->kinds[i].attention == ATTENTION_RECURRENT)
            return true;
    return false;
}

static struct throughput_band
band_of_class(const struct training_setup *setup)
{
    const struct rates *rates = setup->rates;
    bool adapter = method_is_adapter(setup->job->method) && setup->job->framework != FRAMEWORK_MEGATRON;

    if (setup->job->offload == OFFLOAD_OPTIMIZER || setup->job->offload == OFFLOAD_ALL)
        return (struct throughput_band){ rates->training_band_offload_low, rates->training_band_offload_high };
    if (setup->arch->generic)
        return (struct throughput_band){ rates->training_band_convolution_low, rates->training_band_convolution_high };
    if (!setup->arch->causal)
        return (struct throughput_band){ rates->training_band_encoder_low, rates->training_band_encoder_high };
    if (adapter || setup->job->framework == FRAMEWORK_HF_TRAINER)
        return (struct throughput_band){ rates->training_band_modules_low, rates->training_band_modules_high };
    if (is_mixed_stack(setup->arch))
        return (struct throughput_band){ rates->training_band_experts_low, rates->training_band_experts_high };
    if (setup->plan_assumed)
        return (struct throughput_band){ rates->training_band_open_low, rates->training_band_open_high };
    return (struct throughput_band){ rates->training_band_stated_low, rates->training_band_stated_high };
}

/* Residuals of runs that were left out of the fit together with all others of their kind are as many times as wide, in
 * logarithms. */
static double
widening(const struct training_setup *setup)
{
    const struct rates *rates = setup->rates;
    struct training_measured measured = training_measured_of(setup);
    double power = measured.device ? 1 : rates->training_band_power_device;

    if (!measured.software)
        power *= rates->training_band_power_software;
    return measured.scale ? power : power * rates->training_band_power_scale;
}

struct throughput_band
throughput_band_of(const struct training_setup *setup)
{
    struct throughput_band band = band_of_class(setup);
    double power;

    if (setup->machine->gpu == NULL)
        return band;
    power = widening(setup);
    if (power > 1)
        band = (struct throughput_band){ pow(band.low, power), pow(band.high, power) };
    if (!gpu_family_is_measured(setup->machine->gpu->family)) {
        band.low *= setup->rates->training_band_unmeasured_low;
        band.high *= setup->rates->training_band_unmeasured_high;
    }
    return band;
}
