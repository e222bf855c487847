/* What is alive at the worst moment of the backward pass beside the model's states. */
#include "service/memory/backward.h"

#include "service/memory/activation.h"
#include "service/memory/gathered.h"
#include "service/memory/logits.h"
#include "service/memory/model_states.h"
#include "service/memory/workspace.h"

static const char activation_source[] = "arXiv:2205.05198 section 4, for RMSNorm, grouped heads and SwiGLU";

static void
add_activations(const struct activation_bytes *activation, bool with_work, struct footprint *footprint)
{
    double work = with_work ? activation->work : 0;
    double each = activation->kept + activation->checkpoints * activation->checkpoint;
    struct part *part = footprint_add(footprint, PART_ACTIVATIONS,
                                      activation->tokens * (activation->in_flight * each + activation->input + work));
    bool mixed = activation->checkpoints > 0 && activation->kept > 0;

    part->formula = mixed
                        ? "{0} tokens x ({1} micro batches in flight x ({2} bytes kept by the layers + {5} checkpoints "
                          "x {6} bytes) + {3} bytes of embedding + {4} bytes of the layer at work)"
                    : activation->checkpoints > 0
                        ? "{0} tokens x ({1} micro batches in flight x {5} checkpoints x {6} bytes + {3} bytes of "
                          "embedding + {4} bytes of the layer at work)"
                        : "{0} tokens x ({1} micro batches in flight x {2} bytes kept by the layers + {3} bytes of "
                          "embedding + {4} bytes of the layer at work)";
    part->source = activation_source;
    part->values[0] = activation->tokens;
    part->values[1] = activation->in_flight;
    part->values[2] = activation->kept;
    part->values[3] = activation->input;
    part->values[4] = work;
    part->values[5] = activation->checkpoints;
    part->values[6] = activation->checkpoint;
}

/* Scores live and die before the first layer is worked on again, so only the larger of both counts. Returns the bytes
 * of a packed base that are unpacked at that moment. */
static double
add_kept(const struct training_setup *setup, const struct stage *stage, struct footprint *footprint)
{
    struct activation_bytes activation;
    bool scores = stage->last && network_has_scores(setup->arch, setup->job->method);
    double per_entry = 0, logits = 0, hidden = setup->arch->hidden_size, work;
    double unpacked = packed_base_unpacked_bytes(setup, stage);
    double unpacked_before = setup->recompute == RECOMPUTE_FULL ? 0 : unpacked;

    activation_bytes_of(setup, stage, &activation);
    work = activation.tokens * activation.work + unpacked - unpacked_before;
    if (scores) {
        per_entry = logit_bytes_per_entry(setup);
        logits = activation.tokens * (per_entry * setup->arch->vocabulary_size / stage->tensor + 2 * hidden);
    }
    add_activations(&activation, work > logits, footprint);
    if (logits < work || logits <= 0)
        return unpacked;

    struct part *part = footprint_add(footprint, PART_LOGITS, logits);

    part->formula = "{0} tokens x ({1} bytes x {2} vocabulary entries / {3} tensor ranks + 2 x {4} hidden)";
    part->source = "copies that the loss makes of its scores, as its code has them";
    part->values[0] = activation.tokens;
    part->values[1] = per_entry;
    part->values[2] = setup->arch->vocabulary_size;
    part->values[3] = stage->tensor;
    part->values[4] = hidden;
    return unpacked_before;
}

static const char *
gathering_formula(enum gathering rule)
{
    switch (rule) {
    case GATHERING_NONE:
        break;
    case GATHERING_FSDP_FROZEN:
        return "2 blocks x {0} parameters x {1} bytes + {5} bytes x {2} of embedding and head";
    case GATHERING_FSDP_TRAINED:
        return "2 blocks x {0} parameters x {1} bytes + {5} bytes x {2} of embedding and head + {5} bytes x ({0} + "
               "{3}) "
               "gradients waiting";
    case GATHERING_ZERO3:
        return "{1} bytes x min({0} parameters, {4} live at most) + {5} bytes x {2} of embedding and head";
    case GATHERING_ZERO2:
        return "2 buckets x {5} bytes x {4} parameters";
    case GATHERING_AUTOCAST:
        return "2 bytes x {0} parameters";
    }
    return "";
}

static const char *
gathering_source(enum gathering rule)
{
    switch (rule) {
    case GATHERING_NONE:
        break;
    case GATHERING_FSDP_FROZEN:
    case GATHERING_FSDP_TRAINED:
        return "PyTorch FSDP: a block and the one prefetched, the root kept gathered";
    case GATHERING_ZERO3:
        return "DeepSpeed stage 3: max_live_parameters";
    case GATHERING_ZERO2:
        return "DeepSpeed stage 2: reduce_bucket_size, twice with overlap_comm";
    case GATHERING_AUTOCAST:
        return "PyTorch autocast: weight cache";
    }
    return "";
}

static void
add_gathered(const struct gathered *gathered, struct footprint *footprint)
{
    struct part *part;

    if (gathered->rule == GATHERING_NONE)
        return;
    part = footprint_add(footprint, PART_GATHERED_PARAMETERS, gathered->bytes);
    part->formula = gathering_formula(gathered->rule);
    part->source = gathering_source(gathered->rule);
    part->values[0] = gathered->block;
    part->values[1] = gathered->weight_bytes;
    part->values[2] = gathered->root;
    part->values[3] = gathered->head;
    part->values[4] = gathered->limit;
    part->values[5] = gathered->element_bytes;
}

/* Scratch of the layers, and what the optimizer step needs beyond the peak that it comes after. */
static void
add_workspace(const struct training_setup *setup, const struct stage *stage, const struct gathered *gathered,
              double unpacked, struct footprint *footprint)
{
    const struct training_job *job = setup->job;
    bool megatron = job->framework == FRAMEWORK_MEGATRON && !method_is_adapter(job->method);
    double scratch = megatron                      ? dummy_gradient_elements(setup, stage)
                     : job->method == METHOD_QLORA ? largest_matrix_elements(setup, stage) + unpacked / 2
                                                   : 0;
    double copies = megatron && job->precision == PRECISION_FP8_MIXED
                        ? stage->linear / stage->tensor + stage_expert_elements(stage)
                        : 0;
    double step = job->offload == OFFLOAD_NONE ? gathered->step_bytes : 0;
    double gone = footprint_bytes(footprint, PART_ACTIVATIONS) + footprint_bytes(footprint, PART_LOGITS) +
                  footprint_bytes(footprint, PART_GATHERED_PARAMETERS) + unpacked;
    double excess = step > gone ? step - gone : 0, bytes = 2 * scratch + copies + excess;
    struct part *part;

    if (bytes <= 0)
        return;
    part = footprint_add(footprint, PART_WORKSPACE, bytes);
    part->formula = excess > 0 ? "2 bytes x {0} parameters in scratch + {1} bytes of eight bit weights + {2} bytes of "
                                 "the optimizer step - {3} bytes gone by then"
                    : copies > 0 ? "2 bytes x {0} parameters in scratch + {1} bytes of eight bit weights"
                                 : "2 bytes x {0} parameters in scratch";
    part->source = unpacked > 0                  ? "AutoGPTQ: a layer's matrices stay unpacked for its backward pass"
                   : job->method == METHOD_QLORA ? "bitsandbytes: one matrix of the base de-quantised at a time"
                   : megatron                    ? "TransformerEngine: stand-ins for weight gradients, one a shape"
                                                 : "temporary copies of the optimizer step";
    part->values[0] = scratch;
    part->values[1] = copies;
    part->values[2] = step;
    part->values[3] = gone;
}

void
backward_memory_add(const struct training_setup *setup, const struct stage *stage, struct footprint *footprint)
{
    struct gathered gathered;
    double unpacked;

    gathered_of(setup, stage, trained_on_gpu(setup, stage), &gathered);
    add_gathered(&gathered, footprint);
    unpacked = add_kept(setup, stage, footprint);
    add_workspace(setup, stage, &gathered, unpacked, footprint);
}
