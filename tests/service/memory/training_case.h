/* A training job on a machine of the seed catalog, for tests to state and to bend. */
#ifndef TESTS_SERVICE_MEMORY_TRAINING_CASE_H
#define TESTS_SERVICE_MEMORY_TRAINING_CASE_H

#include "service/memory/training_memory.h"
#include "tests/service/memory/known_models.h"
#include "tests/support/seed_rates.h"

struct training_case {
    struct model_arch arch;
    struct model_params params;
    struct gpu gpu;
    struct machine machine;
    struct rates rates;
    struct training_job job;
    struct training_setup setup; /* points at the others: build in place */
};

/* Pre-training under Megatron in BF16 with AdamW, all that can be left alone left alone. */
static inline void
training_case_init(struct training_case *it, enum known_model model, const char *gpu_id, uint32_t gpus)
{
    memset(it, 0, sizeof(*it));
    known_arch(model, &it->arch);
    it->params = model_params_count(&it->arch);
    it->gpu = seed_gpu(gpu_id);
    it->rates = seed_rates();
    it->machine = machine_of(&it->gpu, gpus, 0, 0, INTRANODE_UNSAID);
    it->job = (struct training_job){ .method = METHOD_PRETRAIN,
                                     .precision = PRECISION_BF16_MIXED,
                                     .optimizer = OPTIMIZER_ADAMW,
                                     .sequence_length = 4096,
                                     .attention = ATTENTION_KERNEL_FLASH,
                                     .loss = LOSS_FUSED,
                                     .framework = FRAMEWORK_MEGATRON,
                                     .offload = OFFLOAD_NONE };
    it->setup = (struct training_setup){ .arch = &it->arch,
                                         .params = &it->params,
                                         .machine = &it->machine,
                                         .rates = &it->rates,
                                         .job = &it->job,
                                         .plan = { 1, 1, 1, gpus, 1, 1, SHARDING_NONE, FLAG_NO },
                                         .micro_batch_size = 1,
                                         .accumulation_steps = 1,
                                         .recompute = RECOMPUTE_NONE };
}

static inline double
training_case_allocated(const struct training_case *it)
{
    struct footprint footprint;

    training_memory(&it->setup, &footprint);
    return footprint.allocated_bytes;
}

#endif
