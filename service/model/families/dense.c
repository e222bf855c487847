/* Dense decoders with a gated MLP. Traits are those of the configuration and modelling files of
 * huggingface/transformers 4.53 and 5.14, or of the class's own repository; published totals in tests/data/models hold
 * them. */
#include <stddef.h>

#include "service/model/families/decoder.h"
#include "service/model/families/tables.h"

static const struct class_sizes llama_sizes = {
    .hidden = 4096, .layers = 32, .heads = 32, .intermediate = 11008, .vocabulary = 32000, .context = 2048
};

const struct decoder decoder_llama = {
    .sizes = &llama_sizes,
    .qkv_bias = { .keys = "attention_bias" },
    .out_bias = { .keys = "attention_bias" },
    .mlp_bias = { .keys = "mlp_bias" },
};

static const struct class_sizes mistral_sizes = {
    .hidden = 4096, .layers = 32, .heads = 32, .intermediate = 14336, .vocabulary = 32000, .context = 131072
};

static const struct decoder mistral = {
    .sizes = &mistral_sizes,
    .kv_heads = 8,
    .window = WINDOW_ALL,
    .window_tokens = 4096,
};

/* mistralai/Ministral-3-8B-Instruct-2512, its text model: whole context */
static const struct decoder ministral3 = {
    .kv_heads = 8,
    .head_size = 128,
    .window = WINDOW_ALL,
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

/* What the first files of the class say and its code takes for granted */
static const struct fixed cohere2_fixed[] = {
    { "order_of_interleaved_layers", "local_attn_first" },
    { "position_embedding_type", "rope_gptj" },
    { "use_gated_activation", "true" },
    { "use_embedding_sharing", "true" },
    { "use_parallel_block", "true" },
    { "use_parallel_embedding", NULL },
    { "layer_switch", NULL },
    { NULL, NULL },
};

static const struct decoder cohere2 = {
    .fixed = cohere2_fixed,
    .tied = true,
    .qkv_bias = { .keys = "attention_bias" },
    .out_bias = { .keys = "attention_bias" },
    .block_norms = 1,
    .window = WINDOW_PATTERN,
    .window_tokens = 4096,
    .window_period = 4,
};

/* LGAI-EXAONE/EXAONE-3.0: a llama with num_layers */
static const struct decoder exaone = {
    .tied = true,
};

/* EXAONE 4.0: norms behind attention and MLP instead of before them; the pattern's letters stand for layers */
static const struct decoder exaone4 = {
    .kv_heads = 32,
    .qk_norm = QK_NORM_HEAD_SIZE,
    .qk_norm_when = { .always = true },
    .window = WINDOW_PATTERN,
    .window_tokens = 4096,
    .window_period = 4,
};

/* swiss-ai/Apertus: a plain MLP whose activation has two parameters a layer (arXiv:2411.13010) */
static const struct fixed apertus_fixed[] = { { "hidden_act", "xielu" }, { "post_norm", "false" }, { NULL, NULL } };

static const struct decoder apertus = {
    .fixed = apertus_fixed,
    .qkv_bias = { .keys = "attention_bias" },
    .out_bias = { .keys = "attention_bias" },
    .qk_norm = QK_NORM_HEAD_SIZE,
    .qk_norm_when = { .keys = "qk_norm", .absent = true },
    .plain_mlp = true,
    .mlp_bias = { .keys = "mlp_bias" },
    .layer_elements = 2,
};

const struct family_class family_dense[] = {
    { "LlamaForCausalLM", "llama", decoder_read, &decoder_llama },
    { "LLaMAForCausalLM", "", decoder_read, &decoder_llama },
    { "MistralForCausalLM", "mistral", decoder_read, &mistral },
    { "Ministral3ForCausalLM", "ministral3", decoder_read, &ministral3 },
    { "GemmaForCausalLM", "gemma", decoder_read, &gemma },
    { "Gemma2ForCausalLM", "gemma2", decoder_read, &gemma2 },
    { "Gemma3ForCausalLM", "gemma3_text", decoder_read, &decoder_gemma3 },
    { "Phi3ForCausalLM", "phi3", decoder_read, &phi3 },
    { "StableLmForCausalLM", "stablelm", decoder_read, &stablelm },
    { "OlmoForCausalLM", "olmo", decoder_read, &olmo },
    { "Olmo2ForCausalLM", "olmo2", decoder_read, &olmo2 },
    { "Olmo3ForCausalLM", "olmo3", decoder_read, &olmo3 },
    { "SmolLM3ForCausalLM", "smollm3", decoder_read, &smollm3 },
    { "GraniteForCausalLM", "granite", decoder_read, &decoder_llama },
    { "ExaoneForCausalLM", "exaone", decoder_read, &exaone },
    { "Exaone4ForCausalLM", "exaone4", decoder_read, &exaone4 },
    { "ApertusForCausalLM", "apertus", decoder_read, &apertus },
    { "CohereForCausalLM", "cohere", decoder_read, &cohere },
    { "Cohere2ForCausalLM", "cohere2", decoder_read, &cohere2 },
    { NULL, NULL, NULL, NULL },
};
