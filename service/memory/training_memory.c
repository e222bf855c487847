/* The fuller of the first and the last pipeline stage, what stands beside it on the card, and the verdict. */
#include "service/memory/training_memory.h"

#include <string.h>

#include "service/memory/backward.h"
#include "service/memory/generic_memory.h"
#include "service/memory/model_states.h"
#include "service/memory/training_memory_band.h"

static double
allocator_share(const struct training_setup *setup)
{
    switch (setup->job->framework) {
    case FRAMEWORK_MEGATRON:
        return setup->rates->training_memory_allocator_megatron;
    case FRAMEWORK_FSDP:
        return setup->rates->training_memory_allocator_fsdp;
    case FRAMEWORK_DEEPSPEED:
        return setup->rates->training_memory_allocator_deepspeed;
    case FRAMEWORK_UNSAID:
    case FRAMEWORK_HF_TRAINER:
        break;
    }
    return setup->rates->training_memory_allocator_hf_trainer;
}

/* One communicator for all ranks, one more for the groups that split the model, one for those that spread experts. */
static double
communicators(const struct parallelism *plan)
{
    bool any = (uint64_t)plan->tensor * plan->pipeline * plan->context > 1;

    if (!any && plan->data <= 1)
        return 0;
    return 1.0 + any + (plan->expert > 1);
}

/* What the framework does not allocate: communicators, the driver's context, and the allocator's cache. */
static void
add_surroundings(const struct training_setup *setup, struct footprint *footprint)
{
    const struct rates *rates = setup->rates;
    double count = communicators(&setup->plan), share = allocator_share(setup);
    struct part *part;

    footprint_sum(footprint);
    if (count > 0) {
        part = footprint_add(footprint, PART_COMMUNICATION, count * rates->training_memory_communicator_bytes);
        part->formula = "{0} communicators x {1} bytes";
        part->source = "NCCL: buffers of a communicator";
        part->values[0] = count;
        part->values[1] = rates->training_memory_communicator_bytes;
    }
    part = footprint_add(footprint, PART_RUNTIME,
                         rates->training_memory_context_bytes + rates->training_memory_library_bytes);
    part->formula = "{0} bytes of context + {1} bytes of libraries";
    part->source = "CUDA context, cuBLAS and cuDNN handles with their workspaces";
    part->values[0] = rates->training_memory_context_bytes;
    part->values[1] = rates->training_memory_library_bytes;
    part = footprint_add(footprint, PART_FRAGMENTATION, (share - 1) * footprint->allocated_bytes);
    part->formula = "({0} - 1) x {1} bytes allocated";
    part->source = "pool of the caching allocator over its peak, as published runs show it";
    part->values[0] = share;
    part->values[1] = footprint->allocated_bytes;
    footprint_sum(footprint);
    footprint->required_bytes -= rates->training_memory_library_bytes; /* workspaces give way, the context does not */
}

static void
judge(const struct training_setup *setup, struct footprint *footprint)
{
    struct memory_band band = training_memory_band_of(setup);

    footprint->band_low = band.low;
    footprint->band_high = band.high;
    footprint->usable_bytes = setup->machine->gpu != NULL ? (double)setup->machine->gpu->usable_bytes : 0;
    footprint->verdict = footprint_verdict(footprint);
    if (training_exceeds_host(setup))
        footprint->verdict = VERDICT_DOES_NOT_FIT;
}

static void
stage_memory(const struct training_setup *setup, bool last, struct footprint *footprint)
{
    struct stage stage;

    stage_of(setup, last, &stage);
    model_states_add(setup, &stage, footprint);
    backward_memory_add(setup, &stage, footprint);
    footprint_sum(footprint);
}

void
training_memory(const struct training_setup *setup, struct footprint *ret_footprint)
{
    ret_footprint->part_count = 0;
    if (setup->arch->generic) {
        generic_memory_add(setup, ret_footprint);
    } else {
        stage_memory(setup, false, ret_footprint);
        if (setup->plan.pipeline > 1) {
            struct footprint last;

            last.part_count = 0;
            stage_memory(setup, true, &last);
            if (last.allocated_bytes > ret_footprint->allocated_bytes) {
                ret_footprint->part_count = last.part_count;
                memcpy(ret_footprint->parts, last.parts, last.part_count * sizeof(last.parts[0]));
            }
        }
    }
    add_surroundings(setup, ret_footprint);
    judge(setup, ret_footprint);
}
