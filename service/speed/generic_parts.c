/* Samples times work over rates. */
#include "service/speed/generic_parts.h"

#include "service/memory/optimizer.h"
#include "service/speed/generic_time.h"
#include "service/speed/pace.h"

static void
add_passes(const struct training_setup *setup, const struct training_time *time, const struct pace *pace,
           struct step_parts *parts)
{
    const struct rates *rates = setup->rates;
    double passes = setup->accumulation_steps, samples = passes * setup->micro_batch_size;
    double thin = setup->arch->depthwise_flop_per_sample;
    struct generic_rates pace_of_products = generic_rates_of(setup, pace);
    struct step_part *part = step_parts_add(parts, "matrix_products", time->linear);

    part->formula =
        thin > 0 ? "{0} samples x {5} x ({1} FLOPs / {2} a second + {3} FLOPs of one channel each / {4} a second)"
                 : "{0} samples x {5} x {1} FLOPs / {2} a second";
    part->values[5] = generic_product_passes(setup);
    part->source = "forward once, backward twice, or once where weights are frozen; rates training.matmul_share, "
                   "training.depthwise_share";
    part->values[0] = samples;
    part->values[1] = setup->arch->flop_per_sample - thin;
    part->values[2] = pace_of_products.products;
    part->values[3] = thin;
    part->values[4] = pace_of_products.depthwise;

    part = step_parts_add(parts, "elementwise", time->elementwise);
    part->formula = "{0} samples x 3 x {1} passes x {2} bytes / {3} a second";
    part->source = "outputs of convolutions, read and written by what stands between; rate training.convolution_passes";
    part->values[0] = samples;
    part->values[1] = rates->training_convolution_passes;
    part->values[2] = generic_output_bytes(setup);
    part->values[3] = pace->memory;

    part = step_parts_add(parts, "launch_gaps", time->launch_gaps);
    part->formula = "{0} micro batches x {1} seconds - {2} seconds of work";
    part->source = "rate training.pass_floor_seconds";
    part->values[0] = passes;
    part->values[1] = rates->training_pass_floor_seconds;
    part->values[2] = time->linear + time->elementwise;

    part = step_parts_add(parts, "input_wait", time->input);
    part->formula = "{0} seconds x {1} samples x {2} GPUs of a node";
    part->source = "rate training.input_seconds";
    part->values[0] = rates->training_input_seconds;
    part->values[1] = samples;
    part->values[2] = setup->machine->gpus_per_node;
}

void
generic_parts_add(const struct training_setup *setup, const struct training_time *time, struct step_parts *parts)
{
    const struct rates *rates = setup->rates;
    struct pace pace = pace_of(setup->machine->gpu, rates, setup->job);
    double states = state_bytes_of(rates, setup->job->precision, setup->job->optimizer, FRAMEWORK_FSDP).states;
    struct step_part *part;

    add_passes(setup, time, &pace, parts);
    part = step_parts_add(parts, "optimizer", time->optimizer);
    part->formula = "{0} parameters x {1} bytes / {2} shards / {3} a second";
    part->source = "arXiv:1910.02054 section 3.1";
    part->values[0] = generic_trained_parameters(setup);
    part->values[1] = rates->training_optimizer_bytes + 2 * states;
    part->values[2] = setup->plan.sharding >= SHARDING_ZERO1 ? setup->plan.data : 1;
    part->values[3] = pace.memory;

    part = step_parts_add(parts, "data_communication", time->data_communication);
    part->formula = "{0} in view x {1} seconds on the links";
    part->source = "rings (arXiv:2104.04473 section 3.2); rates link.*, training.exposed.data";
    part->values[0] = rates->training_exposed_data;
    part->values[1] = time->data_communication / rates->training_exposed_data;
}
