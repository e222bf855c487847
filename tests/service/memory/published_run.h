/* A training run that someone published, with everything it states. */
#ifndef TESTS_SERVICE_MEMORY_PUBLISHED_RUN_H
#define TESTS_SERVICE_MEMORY_PUBLISHED_RUN_H

#include "tests/service/memory/training_case.h"

enum published_figure {
    ALLOCATED_BYTES,
    RESERVED_BYTES,
    TOKENS_PER_SECOND_PER_GPU,
    STEP_SECONDS,
    TFLOPS_PER_GPU,
};

struct published_run {
    const char *source;
    enum known_model model;
    const char *gpu;
    uint32_t gpus;
    enum training_method method;
    enum training_precision precision;
    enum framework framework;
    enum recompute recompute;
    enum attention_kernel attention;
    enum loss_kernel loss;
    uint32_t sequence_length, micro_batch, accumulation;
    struct parallelism plan; /* tensor, pipeline, virtual stages, data, context, expert, sharding, sequence parallel */
    uint32_t lora_rank;
    double node_bits_per_second; /* 0: not said */
    enum published_figure figure;
    double near, within;
};

/* A row of published_memory.def or published_speed.def. */
#define RUN(source, model, gpu, gpus, method, precision, framework, recompute, attention, loss, sequence, micro, \
            steps, tensor, pipeline, chunks, data, context, expert, sharding, sequence_parallel, rank, network,  \
            figure, near, within)                                                                                \
    { source,                                                                                                    \
      model,                                                                                                     \
      gpu,                                                                                                       \
      gpus,                                                                                                      \
      METHOD_##method,                                                                                           \
      PRECISION_##precision,                                                                                     \
      FRAMEWORK_##framework,                                                                                     \
      RECOMPUTE_##recompute,                                                                                     \
      ATTENTION_KERNEL_##attention,                                                                              \
      LOSS_##loss,                                                                                               \
      sequence,                                                                                                  \
      micro,                                                                                                     \
      steps,                                                                                                     \
      { tensor, pipeline, chunks, data, context, expert, SHARDING_##sharding, FLAG_##sequence_parallel },        \
      rank,                                                                                                      \
      network,                                                                                                   \
      figure,                                                                                                    \
      near,                                                                                                      \
      within },

static inline void
published_case(const struct published_run *run, struct training_case *ret_case)
{
    training_case_init(ret_case, run->model, run->gpu, run->gpus);
    ret_case->machine = machine_of(&ret_case->gpu, run->gpus, 0, run->node_bits_per_second, INTRANODE_UNSAID);
    ret_case->job.method = run->method;
    ret_case->job.precision = run->precision;
    ret_case->job.framework = run->framework;
    ret_case->job.attention = run->attention;
    ret_case->job.loss = run->loss;
    ret_case->job.sequence_length = run->sequence_length;
    ret_case->job.lora_rank = run->lora_rank;
    ret_case->job.lora_targets = LORA_ALL_LINEAR;
    ret_case->setup.plan = run->plan;
    ret_case->setup.micro_batch_size = run->micro_batch;
    ret_case->setup.accumulation_steps = run->accumulation;
    ret_case->setup.recompute = run->recompute;
}

#endif
