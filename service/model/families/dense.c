/* Dense decoders with a gated MLP. Traits are those of the configuration and modelling files of
 * huggingface/transformers 4.53 and 5.14, or of the class's own repository; published totals in tests/data/models hold
 * them. */
#include "service/model/families/decoder.h"
#include "service/model/families/tables.h"

#include <stddef.h>

static const struct class_sizes llama_sizes = {
    .hidden = 4096, .layers = 32, .heads = 32, .intermediate = 11008, .vocabulary = 32000
};

const struct decoder decoder_llama = {
    .sizes = &llama_sizes,
    .qkv_bias = { .keys = "attention_bias" },
    .out_bias = { .keys = "attention_bias" },
    .mlp_bias = { .keys = "mlp_bias" },
};

/* 01-ai/Yi, BAAI/Aquila: a llama of its own name */
static const struct decoder plain = { 0 };

/* baichuan-inc/Baichuan2: one matrix for query, key and value, as many key heads as heads */
static const struct decoder baichuan = { 0 };

/* internlm/internlm-7b: configuration_internlm.py, bias = True */
static const struct decoder internlm = {
    .qkv_bias = { .keys = "bias", .absent = true },
    .out_bias = { .keys = "bias", .absent = true },
};

static const struct decoder mistral = {
    .kv_heads = 8,
    .window = WINDOW_ALL,
    .window_tokens = 4096,
};

static const struct fixed qwen_fixed[] = { { "no_bias", "true" }, { NULL, NULL } };

/* Qwen/Qwen-7B: modeling_qwen.py halves intermediate_size, biases c_attn alone */
static const struct decoder qwen = {
    .fixed = qwen_fixed,
    .qkv_bias = { .always = true },
    .mlp_divisor = 2,
};

const struct decoder decoder_qwen2 = {
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

static const struct decoder phi3 = {
    .window = WINDOW_ALL,
};

static const struct decoder gemma = {
    .kv_heads = 16,
    .head_size = 256,
    .tied = true,
    .qkv_bias = { .keys = "attention_bias" },
    .out_bias = { .keys = "attention_bias" },
};

static const struct decoder gemma2 = {
    .kv_heads = 4,
    .head_size = 256,
    .tied = true,
    .qkv_bias = { .keys = "attention_bias" },
    .out_bias = { .keys = "attention_bias" },
    .block_norms = 4,
    .window = WINDOW_ALTERNATING,
    .window_tokens = 4096,
};

const struct decoder decoder_gemma3 = {
    .kv_heads = 4,
    .head_size = 256,
    .tied = true,
    .qkv_bias = { .keys = "attention_bias" },
    .out_bias = { .keys = "attention_bias" },
    .qk_norm = QK_NORM_HEAD_SIZE,
    .qk_norm_when = { .always = true },
    .block_norms = 4,
    .window = WINDOW_PATTERN,
    .window_tokens = 4096,
    .window_period = 6,
};

static const struct decoder stablelm = {
    .kv_heads = 32,
    .qkv_bias = { .keys = "use_qkv_bias" },
    .qk_norm = QK_NORM_ALL_HEADS,
    .qk_norm_when = { .keys = "qk_layernorm" },
    .norm = NORM_LAYER,
    .one_norm = { .keys = "use_parallel_residual" },
};

static const struct decoder olmo = {
    .qkv_bias = { .keys = "attention_bias" },
    .out_bias = { .keys = "attention_bias" },
    .norm = NORM_WEIGHTLESS,
};

static const struct decoder olmo2 = {
    .qkv_bias = { .keys = "attention_bias" },
    .out_bias = { .keys = "attention_bias" },
    .qk_norm = QK_NORM_ALL_HEADS,
    .qk_norm_when = { .always = true },
};

static const struct decoder olmo3 = {
    .qkv_bias = { .keys = "attention_bias" },
    .out_bias = { .keys = "attention_bias" },
    .qk_norm = QK_NORM_ALL_HEADS,
    .qk_norm_when = { .always = true },
    .window = WINDOW_PATTERN,
    .window_tokens = 4096,
    .window_period = 4,
};

static const struct decoder smollm3 = {
    .kv_heads = 4,
    .tied = true,
    .qkv_bias = { .keys = "attention_bias" },
    .out_bias = { .keys = "attention_bias" },
    .mlp_bias = { .keys = "mlp_bias" },
    .window = WINDOW_LATE,
};

/* One norm, a weight without bias, for attention and MLP side by side */
static const struct decoder cohere = {
    .tied = true,
    .qkv_bias = { .keys = "attention_bias" },
    .out_bias = { .keys = "attention_bias" },
    .qk_norm = QK_NORM_ALL_HEADS,
    .qk_norm_when = { .keys = "use_qk_norm" },
    .block_norms = 1,
};

static const struct decoder cohere2 = {
    .tied = true,
    .qkv_bias = { .keys = "attention_bias" },
    .out_bias = { .keys = "attention_bias" },
    .block_norms = 1,
    .window = WINDOW_PATTERN,
    .window_tokens = 4096,
    .window_period = 4,
};

/* THUDM/glm-4-9b-chat-hf: biases on query, key and value alone */
static const struct decoder glm = {
    .kv_heads = 2,
    .head_size = 128,
    .qkv_bias = { .keys = "attention_bias" },
};

/* GLM-4-0414: norms behind attention and MLP, too */
static const struct decoder glm4 = {
    .kv_heads = 2,
    .head_size = 128,
    .qkv_bias = { .keys = "attention_bias" },
    .block_norms = 4,
};

/* openbmb/MiniCPM-2B: a llama that ties its head */
static const struct decoder minicpm = {
    .tied = true,
};

const struct family_class family_dense[] = {
    { "LlamaForCausalLM", "llama", decoder_read, &decoder_llama },
    { "LLaMAForCausalLM", "", decoder_read, &decoder_llama },
    { "MistralForCausalLM", "mistral", decoder_read, &mistral },
    { "QWenLMHeadModel", "qwen", decoder_read, &qwen },
    { "Qwen2ForCausalLM", "qwen2", decoder_read, &decoder_qwen2 },
    { "Qwen3ForCausalLM", "qwen3", decoder_read, &decoder_qwen3 },
    { "GemmaForCausalLM", "gemma", decoder_read, &gemma },
    { "Gemma2ForCausalLM", "gemma2", decoder_read, &gemma2 },
    { "Gemma3ForCausalLM", "gemma3_text", decoder_read, &decoder_gemma3 },
    { "Phi3ForCausalLM", "phi3", decoder_read, &phi3 },
    { "YiForCausalLM", "Yi", decoder_read, &plain },
    { "AquilaForCausalLM", "aquila", decoder_read, &plain },
    { "BaichuanForCausalLM", "baichuan", decoder_read, &baichuan },
    { "BaiChuanForCausalLM", "", decoder_read, &baichuan },
    { "InternLMForCausalLM", "internlm", decoder_read, &internlm },
    { "InternLM2ForCausalLM", "internlm2", decoder_read, &internlm },
    { "MiMoForCausalLM", "mimo", decoder_read, &mimo },
    { "StableLmForCausalLM", "stablelm", decoder_read, &stablelm },
    { "OlmoForCausalLM", "olmo", decoder_read, &olmo },
    { "Olmo2ForCausalLM", "olmo2", decoder_read, &olmo2 },
    { "Olmo3ForCausalLM", "olmo3", decoder_read, &olmo3 },
    { "SmolLM3ForCausalLM", "smollm3", decoder_read, &smollm3 },
    { "GraniteForCausalLM", "granite", decoder_read, &decoder_llama },
    { "CohereForCausalLM", "cohere", decoder_read, &cohere },
    { "Cohere2ForCausalLM", "cohere2", decoder_read, &cohere2 },
    { "GlmForCausalLM", "glm", decoder_read, &glm },
    { "Glm4ForCausalLM", "glm4", decoder_read, &glm4 },
    { "MiniCPMForCausalLM", "minicpm", decoder_read, &minicpm },
    { NULL, NULL, NULL, NULL },
};
