/* Names of the choices of a job, as requests and replies spell them. */
#include "service/job/job.h"

#include <stddef.h>

const char *const training_method_names[6] = {
    [METHOD_UNSAID] = NULL,     [METHOD_PRETRAIN] = "pretrain", [METHOD_FULL] = "full",
    [METHOD_FREEZE] = "freeze", [METHOD_LORA] = "lora",         [METHOD_QLORA] = "qlora",
};

const char *const training_precision_names[7] = {
    [PRECISION_UNSAID] = NULL,           [PRECISION_BF16_MIXED] = "bf16_mixed", [PRECISION_FP16_MIXED] = "fp16_mixed",
    [PRECISION_FP8_MIXED] = "fp8_mixed", [PRECISION_BF16_PURE] = "bf16_pure",   [PRECISION_FP32] = "fp32",
    [PRECISION_TF32] = "tf32",
};

const char *const optimizer_names[9] = {
    [OPTIMIZER_UNSAID] = NULL,
    [OPTIMIZER_ADAMW] = "adamw",
    [OPTIMIZER_ADAMW_8BIT] = "adamw_8bit",
    [OPTIMIZER_ADAMW_8BIT_PAGED] = "adamw_8bit_paged",
    [OPTIMIZER_ADAFACTOR] = "adafactor",
    [OPTIMIZER_LION] = "lion",
    [OPTIMIZER_MUON] = "muon",
    [OPTIMIZER_SGD] = "sgd",
    [OPTIMIZER_SGD_MOMENTUM] = "sgd_momentum",
};

const char *const recompute_names[4] = {
    [RECOMPUTE_UNSAID] = NULL,
    [RECOMPUTE_NONE] = "none",
    [RECOMPUTE_SELECTIVE] = "selective",
    [RECOMPUTE_FULL] = "full",
};

const char *const attention_kernel_names[3] = {
    [ATTENTION_KERNEL_UNSAID] = NULL,
    [ATTENTION_KERNEL_FLASH] = "flash",
    [ATTENTION_KERNEL_EAGER] = "eager",
};

const char *const loss_kernel_names[4] = {
    [LOSS_UNSAID] = NULL,
    [LOSS_FUSED] = "fused",
    [LOSS_UNFUSED] = "unfused",
    [LOSS_CHUNKED] = "chunked",
};

const char *const framework_names[5] = {
    [FRAMEWORK_UNSAID] = NULL,           [FRAMEWORK_MEGATRON] = "megatron",     [FRAMEWORK_FSDP] = "fsdp",
    [FRAMEWORK_DEEPSPEED] = "deepspeed", [FRAMEWORK_HF_TRAINER] = "hf_trainer",
};

const char *const sharding_names[5] = {
    [SHARDING_UNSAID] = NULL,   [SHARDING_NONE] = "none",   [SHARDING_ZERO1] = "zero1",
    [SHARDING_ZERO2] = "zero2", [SHARDING_ZERO3] = "zero3",
};

const char *const offload_names[4] = {
    [OFFLOAD_UNSAID] = NULL,
    [OFFLOAD_NONE] = "none",
    [OFFLOAD_OPTIMIZER] = "optimizer",
    [OFFLOAD_ALL] = "all",
};

const char *const engine_names[7] = {
    [ENGINE_UNSAID] = NULL,
    [ENGINE_VLLM] = "vllm",
    [ENGINE_SGLANG] = "sglang",
    [ENGINE_TENSORRT_LLM] = "tensorrt_llm",
    [ENGINE_LMDEPLOY] = "lmdeploy",
    [ENGINE_LLAMA_CPP] = "llama_cpp",
    [ENGINE_TRANSFORMERS] = "transformers",
};

const char *const arrival_names[3] = {
    [ARRIVAL_UNSAID] = NULL,
    [ARRIVAL_CLOSED_LOOP] = "closed_loop",
    [ARRIVAL_POISSON] = "poisson",
};

const char *const lora_targets_names[4] = {
    [LORA_TARGETS_UNSAID] = NULL,
    [LORA_ALL_LINEAR] = "all_linear",
    [LORA_ATTENTION] = "attention",
    [LORA_QUERY_VALUE] = "query_value",
};
