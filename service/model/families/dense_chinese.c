/* Dense decoders with a gated MLP, of Chinese houses. Sources as in dense.c, or the class's own repository. */
#include <stddef.h>

#include "service/model/families/decoder.h"
#include "service/model/families/tables.h"

/* 01-ai/Yi, BAAI/Aquila: a llama of its own name */
static const struct decoder plain = { 0 };

/* baichuan-inc/Baichuan2: one matrix for query, key and value, as many key heads as heads */
static const struct decoder baichuan = { 0 };

/* internlm/internlm-7b: configuration_internlm.py, bias = True */
static const struct decoder internlm = {
    .qkv_bias = { .keys = "bias", .absent = true },
    .out_bias = { .keys = "bias", .absent = true },
};

static const struct fixed qwen_fixed[] = { { "no_bias", "true" }, { NULL, NULL } };

/* Qwen/Qwen-7B: modeling_qwen.py halves intermediate_size, biases c_attn alone */
static const struct decoder qwen = {
    .fixed = qwen_fixed,
    .qkv_bias = { .always = true },
    .mlp_divisor = 2,
};

static const struct class_sizes qwen2_sizes = {
    .hidden = 4096, .layers = 32, .heads = 32, .intermediate = 22016, .vocabulary = 151936, .context = 32768
};

const struct decoder decoder_qwen2 = {
    .sizes = &qwen2_sizes,
    .kv_heads = 32,
    .qkv_bias = { .always = true },
    .window = WINDOW_LATE,
    .window_tokens = 4096,
};

const struct decoder decoder_qwen3 = {
    .kv_heads = 32,
    .head_size = 128,
    .qkv_bias = { .keys = "attention_bias" },
    .out_bias = { .keys = "attention_bias" },
    .qk_norm = QK_NORM_HEAD_SIZE,
    .qk_norm_when = { .always = true },
    .window = WINDOW_LATE,
    .window_tokens = 4096,
};

/* XiaomiMiMo/MiMo-7B: Qwen2 with a key for the biases */
static const struct decoder mimo = {
    .kv_heads = 32,
    .qkv_bias = { .keys = "attention_bias", .absent = true },
    .window = WINDOW_LATE,
    .window_tokens = 4096,
};

/* THUDM/glm-4-9b-chat-hf: biases on query, key and value alone */
static const struct decoder glm = {
    .kv_heads = 2,
    .head_size = 128,
    .qkv_bias = { .keys = "attention_bias" },
};

/* GLM-4-0414: norms behind attention and MLP, too */
const struct decoder decoder_glm4 = {
    .kv_heads = 2,
    .head_size = 128,
    .qkv_bias = { .keys = "attention_bias" },
    .block_norms = 4,
};

static const struct fixed minicpm_fixed[] = {
    { "scale_emb", NULL }, { "scale_depth", NULL }, { "dim_model_base", NULL }, { NULL, NULL }
};

/* openbmb/MiniCPM-2B: a llama that ties its head */
static const struct decoder minicpm = {
    .fixed = minicpm_fixed,
    .tied = true,
};

/* internlm/internlm3-8b: a key for the biases of query, key and value, one for the rest */
static const struct decoder internlm3 = {
    .kv_heads = 2,
    .qkv_bias = { .keys = "qkv_bias" },
    .out_bias = { .keys = "bias" },
    .mlp_bias = { .keys = "bias" },
};

/* OrionStarAI/Orion-14B: a llama with layer norms */
static const struct decoder orion = {
    .norm = NORM_LAYER,
};

/* ByteDance-Seed/Seed-OSS-36B */
static const struct decoder seed_oss = {
    .kv_heads = 8,
    .head_size = 128,
    .qkv_bias = { .keys = "attention_bias", .absent = true },
    .out_bias = { .keys = "attention_out_bias" },
    .mlp_bias = { .keys = "mlp_bias" },
};

/* baidu/ERNIE-4.5-0.3B: one key for all biases */
static const struct decoder ernie = {
    .kv_heads = 2,
    .head_size = 128,
    .tied = true,
    .qkv_bias = { .keys = "use_bias" },
    .out_bias = { .keys = "use_bias" },
    .mlp_bias = { .keys = "use_bias" },
};

const struct family_class family_dense_chinese[] = {
    { "QWenLMHeadModel", "qwen", decoder_read, &qwen },
    { "Qwen2ForCausalLM", "qwen2", decoder_read, &decoder_qwen2 },
    { "Qwen3ForCausalLM", "qwen3", decoder_read, &decoder_qwen3 },
    { "YiForCausalLM", "Yi", decoder_read, &plain },
    { "AquilaForCausalLM", "aquila", decoder_read, &plain },
    { "BaichuanForCausalLM", "baichuan", decoder_read, &baichuan },
    { "BaiChuanForCausalLM", "", decoder_read, &baichuan },
    { "InternLMForCausalLM", "internlm", decoder_read, &internlm },
    { "InternLM2ForCausalLM", "internlm2", decoder_read, &internlm },
    { "MiMoForCausalLM", "mimo", decoder_read, &mimo },
    { "GlmForCausalLM", "glm", decoder_read, &glm },
    { "Glm4ForCausalLM", "glm4", decoder_read, &decoder_glm4 },
    { "InternLM3ForCausalLM", "internlm3", decoder_read, &internlm3 },
    { "OrionForCausalLM", "orion", decoder_read, &orion },
    { "SeedOssForCausalLM", "seed_oss", decoder_read, &seed_oss },
    { "Ernie4_5ForCausalLM", "ernie4_5", decoder_read, &ernie },
    { "Ernie4_5_ForCausalLM", "", decoder_read, &ernie },
    { "MiniCPMForCausalLM", "minicpm", decoder_read, &minicpm },
    { NULL, NULL, NULL, NULL },
};
