/* Which splits can run on a machine, and the layers that each stage then holds. */
#include "service/parallel/plan.h"

#include "service/base/quantity.h"
#include "service/base/text.h"

static uint32_t
one_at_least(uint32_t ways)
{
    return ways > 0 ? ways : 1;
}

struct parallelism
plan_filled(struct parallelism asked, uint32_t gpu_count)
{
    struct parallelism plan = asked;

    plan.tensor = one_at_least(asked.tensor);
    plan.pipeline = one_at_least(asked.pipeline);
    plan.virtual_stages = one_at_least(asked.virtual_stages);
    plan.context = one_at_least(asked.context);
    plan.expert = one_at_least(asked.expert);
    if (plan.data == 0) {
        plan.data = 1; /* so that the product is of the others */
        uint64_t others = plan_gpu_count(&plan);
        plan.data = one_at_least((uint32_t)(gpu_count / others));
    }
    if (plan.sharding == SHARDING_UNSAID)
        plan.sharding = SHARDING_NONE;
    if (plan.sequence_parallel == FLAG_UNSAID)
        plan.sequence_parallel = FLAG_NO;
    return plan;
}

uint64_t
plan_gpu_count(const struct parallelism *plan)
{
    return u64_mul_sat(u64_mul_sat(plan->tensor, plan->pipeline), u64_mul_sat(plan->data, plan->context));
}

uint32_t
plan_stage_layers(const struct parallelism *plan, const struct model_arch *arch)
{
    return (uint32_t)u64_ceil_div(arch->layer_count, one_at_least(plan->pipeline));
}

/* The narrowest attention: each tensor rank takes at least one of its heads. 0: no layer has heads. */
static uint32_t
fewest_heads(const struct model_arch *arch)
{
    uint32_t fewest = 0;

    for (uint32_t i = 0; i < arch->kind_count; i++) {
        const struct layer_kind *kind = &arch->kinds[i];

        if (kind->attention != ATTENTION_HEADS && kind->attention != ATTENTION_LATENT)
            continue;
        if (kind->head_count > 0 && (fewest == 0 || kind->head_count < fewest))
            fewest = kind->head_count;
    }
    return fewest;
}

uint32_t
plan_most_experts(const struct model_arch *arch)
{
    uint32_t most = 0;

    for (uint32_t i = 0; i < arch->kind_count; i++)
        if (arch->kinds[i].mlp == MLP_EXPERTS && arch->kinds[i].expert_count > most)
            most = arch->kinds[i].expert_count;
    return most;
}

struct limit {
    const char *member;
    uint64_t ways, most;
    uint64_t divided; /* what the ways must share evenly; 0: nothing */
};

static void
fault_beyond(struct fault *fault, const char *pointer, const struct limit *limit)
{
    char where[FAULT_POINTER_SIZE], value[FAULT_TEXT_SIZE], expected[FAULT_TEXT_SIZE];
    bool uneven = limit->divided > 0 && limit->ways > 0 && limit->divided % limit->ways != 0;

    if (limit->ways <= limit->most && !uneven)
        return;
    text_format(where, sizeof(where), "%s/%s", pointer, limit->member);
    text_format(value, sizeof(value), "%ju", (uintmax_t)limit->ways);
    if (limit->ways > limit->most)
        text_format(expected, sizeof(expected), "integer 1..%ju", (uintmax_t)limit->most);
    else
        text_format(expected, sizeof(expected), "divides %ju", (uintmax_t)limit->divided);
    (void)fault_add(fault, FAULT_OUT_OF_RANGE, where, value, expected, NULL);
}

static void
fault_gpus(struct fault *fault, const char *pointer, uint64_t used, uint64_t there)
{
    char value[FAULT_TEXT_SIZE], expected[FAULT_TEXT_SIZE];

    text_format(value, sizeof(value), "%ju", (uintmax_t)used);
    text_format(expected, sizeof(expected), "%ju", (uintmax_t)there);
    (void)fault_add(fault, FAULT_PLAN_DOES_NOT_MATCH_GPUS, pointer, value, expected, NULL);
}

enum status
plan_check(const struct parallelism *plan, const struct model_arch *arch, const struct machine *machine, bool even,
           const char *pointer, struct fault *ret_fault)
{
    uint32_t heads = fewest_heads(arch), experts = plan_most_experts(arch);
    uint64_t layers = arch->layer_count > 0 ? arch->layer_count : 1; /* any other network is one piece */
    size_t before = ret_fault->item_count + ret_fault->more_count;
    const struct limit limits[] = {
        { "tensor", plan->tensor, heads > 0 ? heads : (arch->generic ? 1 : plan->tensor), even ? heads : 0 },
        { "pipeline", plan->pipeline, layers, 0 },
        /* embedding and head may take a layer's place each (Megatron: account_for_embedding_in_pipeline_split) */
        { "virtual_stages", plan->virtual_stages, plan->pipeline > 1 ? u64_ceil_div(layers + 2, plan->pipeline) : 1,
          0 },
        { "context", plan->context, arch->generic ? 1 : plan->context, 0 },
        { "expert", plan->expert, experts > 0 ? experts : 1, even ? experts : 0 },
    };

    if (plan_gpu_count(plan) != machine->gpu_count)
        fault_gpus(ret_fault, pointer, plan_gpu_count(plan), machine->gpu_count);
    for (size_t i = 0; i < COUNT_OF(limits); i++)
        fault_beyond(ret_fault, pointer, &limits[i]);
    return ret_fault->item_count + ret_fault->more_count > before ? STATUS_FAULT : STATUS_OK;
}
