/* Operations over pace and activations over bandwidth, three times forward in all. */
#include "service/speed/generic_time.h"

#include "service/memory/gathered.h"
#include "service/memory/optimizer.h"
#include "service/parallel/collective.h"

/* Bytes a sample leaves for backward are convolution and normalisation outputs in 16 bit: two tensors of two bytes for
 * each element a convolution makes. */
static const double kept_bytes_per_element = 4;

struct generic_rates
generic_rates_of(const struct training_setup *setup, const struct pace *pace)
{
    const struct rates *rates = setup->rates;
    struct generic_rates found = {
        .products = pace->linear,
        /* a filter for each channel is no matrix product: it runs beside the matrix units, and waits for memory */
        .depthwise = peak_flop_per_second(setup->machine->gpu, PRECISION_FP32) * rates->training_depthwise_share,
    };

    if (setup->job->precision == PRECISION_TF32)
        found.products *= rates->training_convolution_tf32_share / rates->training_tf32_share;
    return found;
}

double
generic_trained_parameters(const struct training_setup *setup)
{
    const struct training_job *job = setup->job;

    return method_is_adapter(job->method) ? (double)lora_params_count(setup->arch, job->lora_targets, job->lora_rank)
                                          : (double)setup->params->total;
}

double
generic_product_passes(const struct training_setup *setup)
{
    return method_is_adapter(setup->job->method) ? 2 : 3;
}

double
generic_output_bytes(const struct training_setup *setup)
{
    return setup->arch->activation_bytes_per_sample / kept_bytes_per_element *
           precision_element_bytes(setup->job->precision);
}

/* Forward and backward of all micro-batches of a step. */
static void
add_passes(const struct training_setup *setup, const struct pace *pace, struct training_time *time)
{
    const struct model_arch *arch = setup->arch;
    const struct rates *rates = setup->rates;
    struct generic_rates found = generic_rates_of(setup, pace);
    double passes = setup->accumulation_steps, samples = passes * setup->micro_batch_size, gap;

    time->linear = samples * generic_product_passes(setup) *
                   ((arch->flop_per_sample - arch->depthwise_flop_per_sample) / found.products +
                    arch->depthwise_flop_per_sample / found.depthwise);
    time->elementwise = samples * 3 * rates->training_convolution_passes * generic_output_bytes(setup) / pace->memory;
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
    double parameters = generic_trained_parameters(setup);
    double states = state_bytes_of(rates, setup->job->precision, setup->job->optimizer, FRAMEWORK_FSDP).states;
    struct link_seconds ring;

    *ret_time = (struct training_time){ 0 };
    *ret_reduction = (struct exposed){ 0 };
    add_passes(setup, &pace, ret_time);
    ret_time->optimizer = (rates->training_optimizer_bytes + 2 * states) * parameters / pace.memory;
    if (setup->plan.sharding >= SHARDING_ZERO1)
        ret_time->optimizer /= setup->plan.data;
    if (setup->job->offload != OFFLOAD_NONE)
        ret_time->optimizer = 0; /* the host's: offload_seconds_of() */
    if (setup->plan.data <= 1)
        return;
    ring = collective_link_seconds(machine, rates, 4 * parameters, setup->plan.data, 1);
    ret_time->data_communication = rates->training_exposed_data * 2 * link_seconds_longer(ring);
    *ret_reduction = (struct exposed){ ret_time->data_communication, ring.across > ring.inside,
                                       2 * link_seconds_longer(ring), 2 * ring.across };
}
