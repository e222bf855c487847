/* Operations over pace and activations over bandwidth, three times forward in all. */
#include "service/speed/generic_time.h"

#include "service/memory/optimizer.h"
#include "service/parallel/collective.h"
#include "service/speed/pace.h"

/* Bytes a sample leaves for backward are convolution and normalisation outputs in 16 bit: two tensors of two bytes for
 * each element a convolution makes. */
static const double kept_bytes_per_element = 4;

/* A filter for each channel is no matrix product: it runs beside the matrix units, and waits for memory. */
static double
depthwise_pace(const struct gpu *gpu, const struct rates *rates)
{
    return peak_flop_per_second(gpu, PRECISION_FP32) * rates->training_depthwise_share;
}

/* Forward and backward of all micro-batches of a step. */
static void
add_passes(const struct training_setup *setup, const struct pace *pace, struct training_time *time)
{
    const struct model_arch *arch = setup->arch;
    const struct rates *rates = setup->rates;
    double passes = setup->accumulation_steps, samples = passes * setup->micro_batch_size;
    double products = arch->flop_per_sample - arch->depthwise_flop_per_sample, linear = pace->linear, gap;
    double elements = arch->activation_bytes_per_sample / kept_bytes_per_element;
    double bytes = rates->training_convolution_passes * precision_element_bytes(setup->job->precision) * elements;

    if (setup->job->precision == PRECISION_TF32)
        linear *= rates->training_convolution_tf32_share / rates->training_tf32_share;
    time->linear = samples * 3 *
                   (products / linear + arch->depthwise_flop_per_sample / depthwise_pace(setup->machine->gpu, rates));
    time->elementwise = samples * 3 * bytes / pace->memory;
    gap = passes * rates->training_pass_floor_seconds - time->linear - time->elementwise;
    time->launch_gaps = gap > 0 ? gap : 0;
    /* all GPUs of a node are fed by one host */
    time->input = rates->training_input_seconds * samples * setup->machine->gpus_per_node;
}

void
generic_time_of(const struct training_setup *setup, const struct machine *machine, struct training_time *ret_time,
                struct exposed *ret_reduction)
{
    const struct rates *rates = setup->rates;
    struct pace pace = pace_of(machine->gpu, rates, setup->job);
    double parameters = (double)setup->params->total;
    double states = state_bytes_of(rates, setup->job->precision, setup->job->optimizer, FRAMEWORK_FSDP).states;
    struct link_seconds ring;

    *ret_time = (struct training_time){ 0 };
    *ret_reduction = (struct exposed){ 0, false, 0 };
    add_passes(setup, &pace, ret_time);
    ret_time->optimizer = (rates->training_optimizer_bytes + 2 * states) * parameters / pace.memory;
    if (setup->plan.sharding >= SHARDING_ZERO1)
        ret_time->optimizer /= setup->plan.data;
    if (setup->plan.data <= 1)
        return;
    ring = collective_link_seconds(machine, rates, 4 * parameters, setup->plan.data, 1);
    ret_time->data_communication = rates->training_exposed_data * 2 * link_seconds_longer(ring);
    *ret_reduction = (struct exposed){ ret_time->data_communication, ring.across > ring.inside, 2 * ring.across };
}
