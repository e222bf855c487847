/* Gathered parameters by framework and sharding. */
#include "service/memory/gathered.h"

#include "service/memory/optimizer.h"

/* Before DeepSpeed steps it flattens 16-bit gradients into one tensor and copies that to FP32 (stage3.py,
 * _prepare_fp32_grad_for_sub_group; stage_1_and_2.py, step). */
static const double step_copy_bytes = 2 + 4;

bool
method_is_adapter(enum training_method method)
{
    return method == METHOD_LORA || method == METHOD_QLORA;
}

static double
lesser(double a, double b)
{
    return a < b ? a : b;
}

static bool
is_deepspeed(const struct training_setup *setup)
{
    return setup->job->framework == FRAMEWORK_DEEPSPEED || setup->job->framework == FRAMEWORK_HF_TRAINER;
}

static void
gather_fsdp(bool trains_all, struct gathered *gathered)
{
    gathered->rule = trains_all ? GATHERING_FSDP_TRAINED : GATHERING_FSDP_FROZEN;
    gathered->bytes = 2 * gathered->weight_bytes * gathered->block + gathered->element_bytes * gathered->root;
    if (trains_all)
        gathered->bytes += gathered->element_bytes * (gathered->block + gathered->head);
}

static void
gather_zero(const struct training_setup *setup, const struct stage *stage, double trained, struct gathered *gathered)
{
    const struct rates *rates = setup->rates;
    bool trains_all = !method_is_adapter(setup->job->method);

    switch (setup->plan.sharding) {
    case SHARDING_ZERO3:
        gathered->rule = GATHERING_ZERO3;
        gathered->block = stage->linear / stage->tensor + stage_expert_elements(stage);
        gathered->limit = rates->training_memory_live_parameters;
        gathered->bytes = gathered->weight_bytes * lesser(gathered->block, gathered->limit) +
                          gathered->element_bytes * gathered->root;
        if (trains_all)
            gathered->step_bytes = step_copy_bytes * lesser(trained / stage->shards, rates->training_memory_sub_group);
        break;
    case SHARDING_ZERO2:
        gathered->rule = GATHERING_ZERO2;
        gathered->limit =
            trains_all ? rates->training_memory_reduce_bucket : rates->training_memory_reduce_bucket_adapter;
        gathered->bytes = 2 * gathered->element_bytes * gathered->limit;
        gathered->step_bytes = step_copy_bytes * trained / stage->shards;
        break;
    case SHARDING_ZERO1:
        gathered->step_bytes = step_copy_bytes * trained / stage->shards;
        break;
    case SHARDING_UNSAID:
    case SHARDING_NONE:
        break;
    }
}

void
gathered_of(const struct training_setup *setup, const struct stage *stage, double trained,
            struct gathered *ret_gathered)
{
    const struct training_job *job = setup->job;
    bool trains_all = !method_is_adapter(job->method), zero3 = setup->plan.sharding == SHARDING_ZERO3;
    struct gathered gathered = {
        .rule = GATHERING_NONE,
        .block = stage_block_elements(setup, stage),
        .root = (stage->embedding + stage->head) / stage->tensor,
        .head = (double)setup->params->embedding / stage->tensor,
        .weight_bytes =
            job->method == METHOD_QLORA ? packed_base_of(setup).bits / 8 : precision_element_bytes(job->precision),
        .element_bytes = precision_element_bytes(job->precision),
    };

    if (zero3 && job->framework == FRAMEWORK_FSDP && stage->shards > 1)
        gather_fsdp(trains_all, &gathered);
    else if (is_deepspeed(setup) && setup->plan.sharding >= SHARDING_ZERO1)
        gather_zero(setup, stage, trained, &gathered);
    else if (job->framework == FRAMEWORK_HF_TRAINER && trains_all && precision_is_mixed(job->precision) &&
             state_bytes_of(setup->rates, job->precision, job->optimizer, job->framework).weight > 2) {
        gathered.rule = GATHERING_AUTOCAST;
        gathered.block = trained;
        gathered.bytes = 2 * trained;
    }
    /* PyTorch's foreach optimizers make a second copy of what they update */
    if (job->precision == PRECISION_BF16_PURE && job->optimizer == OPTIMIZER_ADAMW && trains_all &&
        job->offload == OFFLOAD_NONE) {
        double copies = 2 * trained / (setup->plan.sharding >= SHARDING_ZERO1 ? stage->shards : 1);

        gathered.step_bytes = copies > gathered.step_bytes ? copies : gathered.step_bytes;
    }
    *ret_gathered = gathered;
}
