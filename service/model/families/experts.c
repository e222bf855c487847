/* Decoders with experts and attention of heads. Sources as in dense.c. */
#include <stddef.h>

#include "service/model/families/decoder.h"
#include "service/model/families/recurrent.h"
#include "service/model/families/tables.h"

static const struct experts mixtral_experts = {
    .count_keys = "num_local_experts",
    .per_token_keys = "num_experts_per_tok",
    .width_keys = "intermediate_size",
};

static const struct decoder mixtral = {
    .kv_heads = 8,
    .window = WINDOW_ALL,
    .experts = &mixtral_experts,
};

static const struct experts qwen2_experts = {
    .count_keys = "num_experts",
    .per_token_keys = "num_experts_per_tok",
    .width_keys = "moe_intermediate_size",
    .shared_width_keys = "shared_expert_intermediate_size",
    .layers = EXPERTS_SPARSE_STEP,
    .shared_gate = true,
};

static const struct decoder qwen2_moe = {
    .kv_heads = 16,
    .qkv_bias = { .keys = "qkv_bias", .absent = true },
    .window = WINDOW_LATE,
    .window_tokens = 4096,
    .experts = &qwen2_experts,
};

static const struct experts qwen3_experts = {
    .count_keys = "num_experts",
    .per_token_keys = "num_experts_per_tok",
    .width_keys = "moe_intermediate_size",
    .layers = EXPERTS_SPARSE_STEP,
};

const struct decoder decoder_qwen3_moe = {
    .kv_heads = 4,
    .qkv_bias = { .keys = "attention_bias" },
    .out_bias = { .keys = "attention_bias" },
    .qk_norm = QK_NORM_HEAD_SIZE,
    .qk_norm_when = { .keys = "use_qk_norm", .absent = true },
    .window = WINDOW_LATE,
    .window_tokens = 4096,
    .experts = &qwen3_experts,
};

/* three of four layers keep a state (arXiv:2412.06464) */
const struct decoder decoder_qwen3_next = {
    .kv_heads = 2,
    .head_size = 256,
    .qkv_bias = { .keys = "attention_bias" },
    .out_bias = { .keys = "attention_bias" },
    .qk_norm = QK_NORM_HEAD_SIZE,
    .qk_norm_when = { .always = true },
    .query_gate = true,
    .recurrent = recurrent_delta_net,
    .period_keys = "full_attention_interval",
    .period = 4,
    .experts = &qwen2_experts,
};

static const struct experts phimoe_experts = {
    .count_keys = "num_local_experts",
    .per_token_keys = "num_experts_per_tok",
    .width_keys = "intermediate_size",
};

static const struct decoder phimoe = {
    .kv_heads = 8,
    .head_bias = { .keys = "lm_head_bias" },
    .qkv_bias = { .keys = "attention_bias" },
    .out_bias = { .keys = "attention_bias" },
    .window = WINDOW_ALL,
    .experts = &phimoe_experts,
    .norm = NORM_LAYER,
};

static const struct experts olmoe_experts = {
    .count_keys = "num_experts",
    .per_token_keys = "num_experts_per_tok",
    .width_keys = "intermediate_size",
};

static const struct decoder olmoe = {
    .qkv_bias = { .keys = "attention_bias" },
    .out_bias = { .keys = "attention_bias" },
    .qk_norm = QK_NORM_ALL_HEADS,
    .qk_norm_when = { .always = true },
    .experts = &olmoe_experts,
};

/* Every matrix of attention, experts and router has a bias; a sink a head (arXiv:2508.10925 section 2) */
static const struct experts gpt_oss_experts = {
    .count_keys = "num_local_experts|num_experts",
    .per_token_keys = "num_experts_per_tok|experts_per_token",
    .width_keys = "intermediate_size",
    .router_bias = { .always = true },
};

static const struct decoder gpt_oss = {
    .kv_heads = 8,
    .head_size = 64,
    .qkv_bias = { .keys = "attention_bias", .absent = true },
    .out_bias = { .keys = "attention_bias", .absent = true },
    .sinks = true,
    .window = WINDOW_ALTERNATING,
    .window_tokens = 128,
    .mlp_bias = { .always = true },
    .experts = &gpt_oss_experts,
};

static const struct experts glm4_experts = {
    .count_keys = "n_routed_experts",
    .per_token_keys = "num_experts_per_tok",
    .width_keys = "moe_intermediate_size",
    .shared_count_keys = "n_shared_experts",
    .layers = EXPERTS_AFTER_DENSE,
    .first_dense = 1,
    .router_bias = { .always = true },
};

/* biases on query, key and value alone */
static const struct decoder glm4_moe = {
    .kv_heads = 8,
    .qkv_bias = { .keys = "attention_bias" },
    .qk_norm = QK_NORM_HEAD_SIZE,
    .qk_norm_when = { .keys = "use_qk_norm" },
    .experts = &glm4_experts,
};

static const struct experts minimax_m2_experts = {
    .count_keys = "num_local_experts",
    .per_token_keys = "num_experts_per_tok",
    .width_keys = "intermediate_size",
    .shared_width_keys = "shared_intermediate_size",
    .router_bias = { .keys = "use_routing_bias", .absent = true },
};

static const struct fixed minimax_m2_fixed[] = { { "qk_norm_type", "per_layer" }, { NULL, NULL } };

/* MiniMaxAI/MiniMax-M2: query and key norms over all heads */
static const struct decoder minimax_m2 = {
    .fixed = minimax_m2_fixed,
    .kv_heads = 8,
    .head_size = 128,
    .qk_norm = QK_NORM_ALL_HEADS,
    .qk_norm_when = { .keys = "use_qk_norm", .absent = true },
    .experts = &minimax_m2_experts,
};

const struct family_class family_experts[] = {
    { "MixtralForCausalLM", "mixtral", decoder_read, &mixtral },
    { "Qwen2MoeForCausalLM", "qwen2_moe", decoder_read, &qwen2_moe },
    { "Qwen3MoeForCausalLM", "qwen3_moe", decoder_read, &decoder_qwen3_moe },
    { "Qwen3NextForCausalLM", "qwen3_next", decoder_read, &decoder_qwen3_next },
    { "PhiMoEForCausalLM", "phimoe", decoder_read, &phimoe },
    { "PhimoeForCausalLM", "", decoder_read, &phimoe },
    { "OlmoeForCausalLM", "olmoe", decoder_read, &olmoe },
    { "GptOssForCausalLM", "gpt_oss", decoder_read, &gpt_oss },
    { "Glm4MoeForCausalLM", "glm4_moe", decoder_read, &glm4_moe },
    { "MiniMaxM2ForCausalLM", "minimax_m2", decoder_read, &minimax_m2 },
    { NULL, NULL, NULL, NULL },
};
