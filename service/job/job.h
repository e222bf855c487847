/* The job that is asked for. In every member 0 means "not said", until job_complete_*() has filled it in. */
#ifndef SERVICE_JOB_JOB_H
#define SERVICE_JOB_JOB_H

#include <stdbool.h>
#include <stdint.h>

#include "service/model/dtype.h"
#include "service/model/params.h"

enum training_method { METHOD_UNSAID = 0, METHOD_PRETRAIN, METHOD_FULL, METHOD_FREEZE, METHOD_LORA, METHOD_QLORA };

enum training_precision {
    PRECISION_UNSAID = 0,
    PRECISION_BF16_MIXED,
    PRECISION_FP16_MIXED,
    PRECISION_FP8_MIXED,
    PRECISION_BF16_PURE,
    PRECISION_FP32,
    PRECISION_TF32
};

enum optimizer {
    OPTIMIZER_UNSAID = 0,
    OPTIMIZER_ADAMW,
    OPTIMIZER_ADAMW_8BIT,
    OPTIMIZER_ADAMW_8BIT_PAGED,
    OPTIMIZER_ADAFACTOR,
    OPTIMIZER_LION,
    OPTIMIZER_MUON,
    OPTIMIZER_SGD,
    OPTIMIZER_SGD_MOMENTUM
};

enum recompute { RECOMPUTE_UNSAID = 0, RECOMPUTE_NONE, RECOMPUTE_SELECTIVE, RECOMPUTE_FULL };
enum attention_kernel { ATTENTION_KERNEL_UNSAID = 0, ATTENTION_KERNEL_FLASH, ATTENTION_KERNEL_EAGER };
enum loss_kernel { LOSS_UNSAID = 0, LOSS_FUSED, LOSS_UNFUSED, LOSS_CHUNKED };
enum framework { FRAMEWORK_UNSAID = 0, FRAMEWORK_MEGATRON, FRAMEWORK_FSDP, FRAMEWORK_DEEPSPEED, FRAMEWORK_HF_TRAINER };
enum sharding { SHARDING_UNSAID = 0, SHARDING_NONE, SHARDING_ZERO1, SHARDING_ZERO2, SHARDING_ZERO3 };
enum offload { OFFLOAD_UNSAID = 0, OFFLOAD_NONE, OFFLOAD_OPTIMIZER, OFFLOAD_ALL };
enum flag { FLAG_UNSAID = 0, FLAG_NO, FLAG_YES };

/* How a job is spread: tensor x pipeline x data x context = GPUs (of one replica in serving, where data with expert
 * means attention data-parallel); virtual_stages and expert do not multiply. In training `sharding` is over data. */
struct parallelism {
    uint32_t tensor, pipeline, virtual_stages, data, context, expert;
    enum sharding sharding;
    enum flag sequence_parallel;
};

enum { MAX_GLOBAL_BATCH = 16777216 }; /* that a request may state */

struct training_job {
    enum training_method method;
    uint32_t trainable_layers; /* freeze */
    enum training_precision precision;
    enum optimizer optimizer;
    uint32_t lora_rank;
    enum lora_targets lora_targets;
    uint32_t sequence_length, micro_batch_size, global_batch_size; /* global: sequences a step over all GPUs */
    enum recompute recompute;
    enum attention_kernel attention;
    enum loss_kernel loss;
    enum framework framework;
    bool has_parallelism; /* the caller stated a split; what of it is 0 is 1 */
    struct parallelism parallelism;
    enum offload offload;
    double tokens, samples, epochs; /* length of the job */
};

enum engine {
    ENGINE_UNSAID = 0,
    ENGINE_VLLM,
    ENGINE_SGLANG,
    ENGINE_TENSORRT_LLM,
    ENGINE_LMDEPLOY,
    ENGINE_LLAMA_CPP,
    ENGINE_TRANSFORMERS
};
enum arrival { ARRIVAL_UNSAID = 0, ARRIVAL_CLOSED_LOOP, ARRIVAL_POISSON };

struct serving_job {
    enum engine engine;
    char engine_version[32];
    enum weight_format precision;
    enum kv_format kv_cache_precision;
    uint32_t context_length, input_tokens, output_tokens, concurrency;
    double requests_per_second;
    enum arrival arrival;
    double peak_factor, memory_utilization;
    double slo_ttft_p95_ms, slo_tpot_p95_ms;
    bool has_parallelism;
    struct parallelism parallelism;
};

/* Names as in requests; index by the enum, [0] is NULL. */
extern const char *const training_method_names[6];
extern const char *const training_precision_names[7];
extern const char *const optimizer_names[9];
extern const char *const recompute_names[4];
extern const char *const attention_kernel_names[3];
extern const char *const loss_kernel_names[4];
extern const char *const framework_names[5];
extern const char *const sharding_names[5];
extern const char *const offload_names[4];
extern const char *const engine_names[7];
extern const char *const arrival_names[3];
extern const char *const lora_targets_names[4];

#endif
