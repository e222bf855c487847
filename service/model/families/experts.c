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
    .shared_absent = 5632,
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

static const struct experts qwen3_next_experts = {
    .count_keys = "num_experts",
    .per_token_keys = "num_experts_per_tok",
    .width_keys = "moe_intermediate_size",
    .shared_width_keys = "shared_expert_intermediate_size",
    .shared_absent = 512,
    .layers = EXPERTS_SPARSE_STEP,
    .shared_gate = true,
};

/* three of four layers keep a state (arXiv:2412.06464) */
const struct decoder decoder_qwen3_next = {
    .mtp_layers = 1,
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
    .experts = &qwen3_next_experts,
};

static const struct decoder phimoe = {
    .kv_heads = 8,
    .head_bias = { .keys = "lm_head_bias" },
    .qkv_bias = { .keys = "attention_bias" },
    .out_bias = { .keys = "attention_bias" },
    .window = WINDOW_ALL,
    .experts = &mixtral_experts,
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
    .shared_absent = 1,
    .layers = EXPERTS_AFTER_DENSE,
    .first_dense = 1,
    .router_bias = { .always = true },
};

/* biases on query, key and value alone */
const struct decoder decoder_glm4_moe = {
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

/* deepseek-ai/deepseek-moe-16b (arXiv:2401.06066 section 3) */
static const struct experts deepseek_experts = {
    .count_keys = "n_routed_experts",
    .per_token_keys = "num_experts_per_tok",
    .width_keys = "moe_intermediate_size",
    .shared_count_keys = "n_shared_experts",
    .layers = EXPERTS_AFTER_DENSE,
    .optional = true,
};

static const struct decoder deepseek = {
    .qkv_bias = { .keys = "attention_bias" },
    .out_bias = { .keys = "attention_bias" },
    .experts = &deepseek_experts,
};

/* ibm-granite/granite-3.1-3b-a800m */
static const struct decoder granite_moe = {
    .qkv_bias = { .keys = "attention_bias" },
    .out_bias = { .keys = "attention_bias" },
    .experts = &mixtral_experts,
};

/* baidu/ERNIE-4.5-21B-A3B: dense layers before a first and after a last one with experts */
static const struct experts ernie_experts = {
    .count_keys = "moe_num_experts",
    .per_token_keys = "moe_k",
    .width_keys = "moe_intermediate_size",
    .shared_count_keys = "moe_num_shared_experts",
    .shared_absent = 2,
    .layers = EXPERTS_BETWEEN,
    .first_dense = 1,
    .router_bias = { .always = true },
};

static const struct fixed ernie_fixed[] = { { "moe_use_aux_free", "true" }, { "moe_norm_min", NULL }, { NULL, NULL } };

static const struct decoder ernie_moe = {
    .kv_heads = 4,
    .tied = true,
    .fixed = ernie_fixed,
    .qkv_bias = { .keys = "use_bias" },
    .out_bias = { .keys = "use_bias" },
    .mlp_bias = { .keys = "use_bias" },
    .experts = &ernie_experts,
};

/* hpcai-tech/grok-1: norms behind attention and experts, too */
static const struct decoder grok = {
    .block_norms = 4,
    .experts = &olmoe_experts,
};

/* tencent/Hy3: a shared expert, a bias a routed one, dense layers in front */
static const struct experts hy_v3_experts = {
    .count_keys = "num_experts",
    .per_token_keys = "num_experts_per_tok",
    .width_keys = "moe_intermediate_size|expert_hidden_dim",
    .shared_count_keys = "num_shared_experts",
    .shared_absent = 1,
    .layers = EXPERTS_AFTER_DENSE,
    .first_dense = 1,
    .router_bias = { .keys = "moe_router_enable_expert_bias", .absent = true },
};

static const struct fixed hy_v3_fixed[] = {
    { "router_scaling_factor", NULL },    { "enable_moe_fp32_combine", NULL },
    { "moe_router_use_sigmoid", "true" }, { "route_norm", NULL },
    { "expert_hidden_dim", NULL },        { "enable_attention_fp32_softmax", NULL },
    { "enable_lm_head_fp32", NULL },      { NULL, NULL }
};

static const struct decoder hy_v3 = {
    .kv_heads = 8,
    .head_size = 128,
    .fixed = hy_v3_fixed,
    .qkv_bias = { .keys = "attention_bias" },
    .out_bias = { .keys = "attention_bias" },
    .mlp_bias = { .keys = "mlp_bias" },
    .qk_norm = QK_NORM_HEAD_SIZE,
    .qk_norm_when = { .keys = "qk_norm", .absent = true },
    .experts = &hy_v3_experts,
};

/* inclusionAI/Ling-V2, modeling_bailing_moe_v2.py: query, key and value in one matrix, a bias a routed expert */
static const struct experts bailing_moe_v2_experts = {
    .count_keys = "num_experts",
    .per_token_keys = "num_experts_per_tok",
    .width_keys = "moe_intermediate_size",
    .shared_count_keys = "num_shared_experts",
    .shared_absent = 1,
    .layers = EXPERTS_AFTER_DENSE,
    .first_dense = 1,
    .router_bias = { .keys = "moe_router_enable_expert_bias", .absent = true },
};

static const struct fixed bailing_moe_v2_fixed[] = { { "router_dtype", NULL },
                                                     { "score_function", "sigmoid" },
                                                     { "moe_router_enable_expert_bias", "true" },
                                                     { "moe_shared_expert_intermediate_size", NULL },
                                                     { "output_dropout", NULL },
                                                     { NULL, NULL } };

static const struct decoder bailing_moe_v2 = {
    .kv_heads = 4,
    .head_size = 128,
    .fixed = bailing_moe_v2_fixed,
    .qkv_bias = { .keys = "use_qkv_bias" },
    .out_bias = { .keys = "use_bias" },
    .qk_norm = QK_NORM_HEAD_SIZE,
    .qk_norm_when = { .keys = "use_qk_norm", .absent = true },
    .experts = &bailing_moe_v2_experts,
};

/* Trinity: a gate as wide as the queries, a norm on either side of attention and experts, a bias a routed expert */
static const struct experts afmoe_experts = {
    .count_keys = "num_experts",
    .per_token_keys = "num_experts_per_tok",
    .width_keys = "moe_intermediate_size",
    .shared_count_keys = "num_shared_experts",
    .shared_absent = 2,
    .layers = EXPERTS_AFTER_DENSE,
    .first_dense = 1,
    .router_bias = { .always = true },
};

static const struct fixed afmoe_fixed[] = { { "global_attn_every_n_layers", NULL },
                                            { "route_norm", NULL },
                                            { "route_scale", NULL },
                                            { "score_func", "sigmoid" },
                                            { "num_expert_groups", NULL },
                                            { "num_limited_groups", NULL },
                                            { "use_grouped_mm", NULL },
                                            { "load_balance_coeff", NULL },
                                            { NULL, NULL } };

static const struct decoder afmoe = {
    .head_size = 128,
    .fixed = afmoe_fixed,
    .query_gate = true,
    .qk_norm = QK_NORM_HEAD_SIZE,
    .qk_norm_when = { .always = true },
    .block_norms = 4,
    .window = WINDOW_PATTERN,
    .window_tokens = 1024,
    .window_period = 4,
    .experts = &afmoe_experts,
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
    { "Glm4MoeForCausalLM", "glm4_moe", decoder_read, &decoder_glm4_moe },
    { "DeepseekForCausalLM", "deepseek", decoder_read, &deepseek },
    { "GraniteMoeForCausalLM", "granitemoe", decoder_read, &granite_moe },
    { "Ernie4_5_MoeForCausalLM", "ernie4_5_moe", decoder_read, &ernie_moe },
    { "Grok1ModelForCausalLM", "grok-1", decoder_read, &grok },
    { "Grok1ForCausalLM", "", decoder_read, &grok },
    { "MiniMaxM2ForCausalLM", "minimax_m2", decoder_read, &minimax_m2 },
    { "HYV3ForCausalLM", "hy_v3", decoder_read, &hy_v3 },
    { "BailingMoeV2ForCausalLM", "bailing_moe_v2", decoder_read, &bailing_moe_v2 },
    { "AfmoeForCausalLM", "afmoe", decoder_read, &afmoe },
    { NULL, NULL, NULL, NULL },
};
