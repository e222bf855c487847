/* The same recipes of states, with what the caller says of activations. */
#include "service/memory/generic_memory.h"

#include "service/memory/gathered.h"
#include "service/memory/optimizer.h"
#include "service/memory/packed_base.h"

static const char stated[] = "as stated for one sample";

static void
add_state(struct footprint *footprint, enum part_code code, double parameters, double bytes, double shards)
{
    struct part *part;

    if (bytes <= 0)
        return;
    part = footprint_add(footprint, code, parameters * bytes / shards);
    part->formula = "{0} parameters x {1} bytes / {2} shards";
    part->source = "arXiv:1910.02054 sections 3.1 and 5";
    part->values[0] = parameters;
    part->values[1] = bytes;
    part->values[2] = shards;
}

/* Frozen weights in 16 bit, or packed, and adapters with all that trains them. */
static void
add_adapted(const struct training_setup *setup, double parameters, struct footprint *footprint)
{
    const struct training_job *job = setup->job;
    struct state_bytes adapter = adapter_state_bytes_of(setup->rates, job);
    double elements = (double)lora_params_count(setup->arch, job->lora_targets, job->lora_rank);
    double shards = setup->plan.sharding == SHARDING_ZERO3 ? setup->plan.data : 1;
    double frozen = job->method == METHOD_QLORA ? QLORA_BITS / 8 : precision_element_bytes(job->precision);

    add_state(footprint, PART_WEIGHTS, parameters, frozen, shards);
    add_state(footprint, PART_ADAPTER, elements, adapter.weight + adapter.gradient + adapter.states, 1);
}

void
generic_memory_add(const struct training_setup *setup, struct footprint *footprint)
{
    const struct training_job *job = setup->job;
    bool mixed = precision_is_mixed(job->precision), on_host = job->offload != OFFLOAD_NONE;
    enum sharding sharding = setup->plan.sharding;
    double parameters = (double)setup->params->total, ranks = setup->plan.data;
    double wide = mixed || job->precision == PRECISION_BF16_PURE ? 1 : 2; /* stated for 16 bit */
    struct state_bytes bytes = state_bytes_of(setup->rates, job->precision, job->optimizer, FRAMEWORK_FSDP);
    struct part *part;

    if (method_is_adapter(job->method)) {
        add_adapted(setup, parameters, footprint);
    } else {
        add_state(footprint, PART_WEIGHTS, parameters, bytes.weight, sharding == SHARDING_ZERO3 ? ranks : 1);
        add_state(footprint, PART_GRADIENTS, parameters, bytes.gradient, sharding >= SHARDING_ZERO2 ? ranks : 1);
        if (!on_host)
            add_state(footprint, PART_OPTIMIZER_STATES, parameters, bytes.states,
                      sharding >= SHARDING_ZERO1 ? ranks : 1);
        if (mixed)
            add_state(footprint, PART_GATHERED_PARAMETERS, parameters, 2, 1);
    }
    part = footprint_add(footprint, PART_ACTIVATIONS,
                         setup->micro_batch_size * setup->arch->activation_bytes_per_sample * wide);
    part->formula = "{0} samples x {1} bytes x {2}";
    part->source = stated;
    part->values[0] = setup->micro_batch_size;
    part->values[1] = setup->arch->activation_bytes_per_sample;
    part->values[2] = wide;
    part = footprint_add(footprint, PART_WORKSPACE, setup->rates->training_memory_convolution_bytes);
    part->formula = "{0} bytes";
    part->source = "cuDNN: scratch of the fastest algorithms";
    part->values[0] = part->bytes;
}
