/* Decoders with latent attention (arXiv:2405.04434 section 2.1). Sources as in dense.c. */
#include <stddef.h>

#include "service/model/families/decoder.h"
#include "service/model/families/tables.h"

/* arXiv:2405.04434 section 2.2 */
static const struct experts deepseek_v2_experts = {
    .count_keys = "n_routed_experts",
    .per_token_keys = "num_experts_per_tok",
    .width_keys = "moe_intermediate_size",
    .shared_count_keys = "n_shared_experts",
    .shared_absent = 2,
    .layers = EXPERTS_AFTER_DENSE,
    .optional = true,
};

static const struct decoder deepseek_v2 = {
    .latent = true,
    .query_rank = 1536,
    .qkv_bias = { .keys = "attention_bias" },
    .out_bias = { .keys = "attention_bias" },
    .experts = &deepseek_v2_experts,
};

/* One bias an expert steers the router instead of a loss (arXiv:2412.19437 section 2.1.2) */
static const struct experts deepseek_v3_experts = {
    .count_keys = "n_routed_experts",
    .per_token_keys = "num_experts_per_tok",
    .width_keys = "moe_intermediate_size",
    .shared_count_keys = "n_shared_experts",
    .shared_absent = 1,
    .layers = EXPERTS_AFTER_DENSE,
    .first_dense = 3,
    .optional = true,
    .bias_by_method = true,
};

const struct decoder decoder_deepseek_v3 = {
    .latent = true,
    .query_rank = 1536,
    .qkv_bias = { .keys = "attention_bias" },
    .out_bias = { .keys = "attention_bias" },
    .experts = &deepseek_v3_experts,
};

static const struct decoder deepseek_v32 = {
    .latent = true,
    .query_rank = 1536,
    .indexer = true,
    .qkv_bias = { .keys = "attention_bias" },
    .out_bias = { .keys = "attention_bias" },
    .experts = &deepseek_v3_experts,
};

/* zai-org/GLM-5 */
static const struct decoder glm_moe_dsa = {
    .latent = true,
    .query_rank = 2048,
    .indexer = true,
    .qkv_bias = { .keys = "attention_bias" },
    .out_bias = { .keys = "attention_bias" },
    .experts = &deepseek_v3_experts,
};

const struct family_class family_latent[] = {
    { "DeepseekV2ForCausalLM", "deepseek_v2", decoder_read, &deepseek_v2 },
    { "DeepseekV3ForCausalLM", "deepseek_v3", decoder_read, &decoder_deepseek_v3 },
    { "DeepseekV3ForCausalLM", "kimi_k2", decoder_read, &decoder_deepseek_v3 },
    { "DeepseekV32ForCausalLM", "deepseek_v32", decoder_read, &deepseek_v32 },
    { "GlmMoeDsaForCausalLM", "glm_moe_dsa", decoder_read, &glm_moe_dsa },
    { NULL, NULL, NULL, NULL },
};
