/* Bytes per parameter times parameters, over the ranks that share them. */
#include "service/memory/model_states.h"

#include "service/memory/gathered.h"
#include "service/memory/optimizer.h"

static const char zero_source[] = "arXiv:1910.02054 sections 3.1 and 5";

/* One kind of state of the trained parameters. */
struct state {
    enum part_code code;
    double bytes, other_bytes; /* a parameter: of layers' matrices, of the rest */
    bool shared;               /* over the data ranks */
};

struct elements
trained_elements(const struct training_setup *setup, const struct stage *stage)
{
    struct elements trained = { stage->linear + stage->embedding + stage->head, stage->copied, stage->experts };

    if (method_is_adapter(setup->job->method))
        return (struct elements){ 0, 0, 0 };
    if (setup->job->method == METHOD_FREEZE)
        return (struct elements){ stage->trained_linear, 0, stage->trained_experts };
    return trained;
}

static double
adapter_elements(const struct training_setup *setup, const struct stage *stage)
{
    double all = (double)lora_params_count(setup->arch, setup->job->lora_targets, setup->job->lora_rank);

    return setup->arch->layer_count > 0 ? all * stage->layers / setup->arch->layer_count / stage->tensor : 0;
}

static double
on_gpu(const struct stage *stage, const struct elements *elements)
{
    return elements->split / stage->tensor + elements->copied + elements->experts / stage->expert_ways;
}

double
trained_on_gpu(const struct training_setup *setup, const struct stage *stage)
{
    struct elements trained = trained_elements(setup, stage);

    return method_is_adapter(setup->job->method) ? adapter_elements(setup, stage) : on_gpu(stage, &trained);
}

static void
add_state(const struct stage *stage, const struct elements *elements, const struct state *state,
          struct footprint *footprint)
{
    double shards = state->shared ? stage->shards : 1, expert_shards = state->shared ? stage->expert_shards : 1;
    double bytes = (elements->split / stage->tensor + elements->copied) * state->bytes / shards;
    struct part *part;

    if (state->bytes <= 0 && state->other_bytes <= 0)
        return;
    part = footprint_add(footprint, state->code,
                         bytes + elements->experts / stage->expert_ways * state->bytes / expert_shards);
    part->formula = elements->experts > 0
                        ? "({0} parameters / {1} tensor ranks + {2} copied) x {3} bytes / {4} shards + "
                          "{5} of experts / {6} ways x {3} bytes / {7} shards"
                        : "({0} parameters / {1} tensor ranks + {2} copied) x {3} bytes / {4} shards";
    part->source = zero_source;
    part->values[0] = elements->split;
    part->values[1] = stage->tensor;
    part->values[2] = elements->copied;
    part->values[3] = state->bytes;
    part->values[4] = shards;
    part->values[5] = elements->experts;
    part->values[6] = stage->expert_ways;
    part->values[7] = expert_shards;
}

/* Muon keeps one momentum for matrices and leaves the rest to AdamW. */
static void
add_two_states(const struct stage *stage, const struct state *state, struct footprint *footprint)
{
    double shards = state->shared ? stage->shards : 1, expert_shards = state->shared ? stage->expert_shards : 1;
    double other = (stage->embedding + stage->head) / stage->tensor + stage->copied;
    double matrices = stage->linear / stage->tensor, experts = stage->experts / stage->expert_ways;
    struct part *part = footprint_add(footprint, state->code,
                                      (matrices * state->bytes + other * state->other_bytes) / shards +
                                          experts * state->bytes / expert_shards);

    part->formula = "({0} parameters of matrices x {1} bytes + {2} others x {3} bytes) / {4} shards + {5} of experts x "
                    "{1} bytes / {6} shards";
    part->source = zero_source;
    part->values[0] = matrices;
    part->values[1] = state->bytes;
    part->values[2] = other;
    part->values[3] = state->other_bytes;
    part->values[4] = shards;
    part->values[5] = experts;
    part->values[6] = expert_shards;
}

/* Weights that no gradient changes, 16 bit, and those that train beside them. */
static void
add_frozen_weights(const struct training_setup *setup, const struct stage *stage, double weight_bytes,
                   struct footprint *footprint)
{
    struct elements trained = trained_elements(setup, stage);
    bool shared = setup->plan.sharding == SHARDING_ZERO3;
    double shards = shared ? stage->shards : 1, expert_shards = shared ? stage->expert_shards : 1;
    double dense = trained.split / stage->tensor + trained.copied, experts = trained.experts / stage->expert_ways;
    double frozen = stage_dense_elements(stage) - dense, frozen_experts = stage_expert_elements(stage) - experts;
    struct part *part = footprint_add(footprint, PART_WEIGHTS,
                                      (dense * weight_bytes + frozen * 2) / shards +
                                          (experts * weight_bytes + frozen_experts * 2) / expert_shards);

    if (trained.split > 0 || trained.experts > 0)
        part->formula = "({0} trained parameters x {1} bytes + {2} frozen x 2 bytes) / {3} shards + ({4} of experts x "
                        "{1} bytes + {5} frozen x 2 bytes) / {6} shards";
    else
        part->formula = frozen_experts > 0
                            ? "{2} parameters x 2 bytes / {3} shards + {5} of experts x 2 bytes / {6} shards"
                            : "{2} parameters x 2 bytes / {3} shards";
    part->source = zero_source;
    part->values[0] = dense;
    part->values[1] = weight_bytes;
    part->values[2] = frozen;
    part->values[3] = shards;
    part->values[4] = experts;
    part->values[5] = frozen_experts;
    part->values[6] = expert_shards;
}

/* Linear layers of a packed base, and the rest. */
static void
add_packed_weights(const struct training_setup *setup, const struct stage *stage, struct footprint *footprint)
{
    struct packed_base base = packed_base_of(setup);
    double packed = stage->linear / stage->tensor + stage_expert_elements(stage);
    double rest = stage_dense_elements(stage) + stage_expert_elements(stage) - packed;
    double shards = setup->plan.sharding == SHARDING_ZERO3 ? stage->shards : 1;
    struct part *part = footprint_add(footprint, PART_WEIGHTS, 0);

    part->formula = "({0} packed parameters x {1} bits / 8 + {2} others x {3} bytes) / {4} shards";
    part->source = base.source;
    part->values[0] = packed;
    part->values[1] = base.bits;
    part->values[2] = rest;
    part->values[3] = base.rest_bytes;
    part->values[4] = shards;
    part->bytes = (packed * base.bits / 8 + rest * base.rest_bytes) / shards;
}

static void
add_adapter(const struct training_setup *setup, const struct stage *stage, struct footprint *footprint)
{
    struct state_bytes state = adapter_state_bytes_of(setup->rates, setup->job);
    double elements = adapter_elements(setup, stage);
    double weight_shards = setup->plan.sharding == SHARDING_ZERO3 ? stage->shards : 1;
    double state_shards = setup->plan.sharding >= SHARDING_ZERO1 ? stage->shards : 1;
    struct part *part = footprint_add(footprint, PART_ADAPTER,
                                      elements * (state.weight + state.gradient) / weight_shards +
                                          elements * state.states / state_shards);

    part->formula =
        "{0} parameters x ({1} bytes of weight + {2} of gradient) / {3} shards + {0} parameters x {4} bytes "
        "of states / {5} shards";
    part->source = "arXiv:2106.09685 section 4.1";
    part->values[0] = elements;
    part->values[1] = state.weight;
    part->values[2] = state.gradient;
    part->values[3] = weight_shards;
    part->values[4] = state.states;
    part->values[5] = state_shards;
}

/* An optimizer step inside the backward pass needs one block's gradients, or the head's, at a time (torchtune,
 * optimizer_in_bwd); offload without sharding one block's in FP32. */
static void
limit_gradients(const struct training_setup *setup, const struct stage *stage, struct footprint *footprint)
{
    const struct training_job *job = setup->job;
    bool inside_backward = job->optimizer == OPTIMIZER_ADAMW_8BIT_PAGED && job->precision == PRECISION_BF16_PURE;
    double block = stage_block_elements(setup, stage);
    double head = (double)setup->params->embedding / stage->tensor, bytes_each = 2;
    struct part *part;

    if (!inside_backward && job->offload == OFFLOAD_NONE)
        return;
    if (!inside_backward) {
        bytes_each = 4;
        head = 0;
    }
    for (uint32_t i = 0; i < footprint->part_count; i++) {
        double most = bytes_each * (block > head ? block : head);

        part = &footprint->parts[i];
        if (part->code != PART_GRADIENTS || part->bytes <= most)
            continue;
        part->bytes = most;
        part->formula = "{0} bytes x max({1} parameters of a block, {2} of the head)";
        part->values[0] = bytes_each;
        part->values[1] = block;
        part->values[2] = head;
    }
}

static void
add_trained(const struct training_setup *setup, const struct stage *stage, struct footprint *footprint)
{
    const struct training_job *job = setup->job;
    struct state_bytes bytes = state_bytes_of(setup->rates, job->precision, job->optimizer, job->framework);
    enum sharding sharding = setup->plan.sharding;
    struct elements trained = trained_elements(setup, stage);
    bool on_host = job->offload != OFFLOAD_NONE, zero = sharding >= SHARDING_ZERO1;
    const struct state weight = { PART_WEIGHTS, bytes.weight, bytes.weight, sharding == SHARDING_ZERO3 };
    const struct state gradient = { PART_GRADIENTS, bytes.gradient, bytes.gradient, sharding >= SHARDING_ZERO2 };
    const struct state master = { PART_MASTER_WEIGHTS, bytes.master, bytes.master, zero };
    const struct state states = { PART_OPTIMIZER_STATES, bytes.states, bytes.other_states, zero };

    if (job->method == METHOD_FREEZE)
        add_frozen_weights(setup, stage, bytes.weight, footprint);
    else if (job->offload != OFFLOAD_ALL || sharding != SHARDING_ZERO3)
        add_state(stage, &trained, &weight, footprint);
    if (!on_host || !zero)
        add_state(stage, &trained, &gradient, footprint);
    limit_gradients(setup, stage, footprint);
    if (on_host)
        return;
    add_state(stage, &trained, &master, footprint);
    if (states.bytes != states.other_bytes && job->method != METHOD_FREEZE)
        add_two_states(stage, &states, footprint);
    else
        add_state(stage, &trained, &states, footprint);
}

void
model_states_add(const struct training_setup *setup, const struct stage *stage, struct footprint *footprint)
{
    bool away = setup->job->offload == OFFLOAD_ALL && setup->plan.sharding == SHARDING_ZERO3;

    if (!method_is_adapter(setup->job->method)) {
        add_trained(setup, stage, footprint);
        return;
    }
    if (!away && setup->job->method == METHOD_QLORA)
        add_packed_weights(setup, stage, footprint);
    else if (!away)
        add_frozen_weights(setup, stage, 0, footprint);
    add_adapter(setup, stage, footprint);
}
