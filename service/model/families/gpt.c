/* Decoders with layer norms and a plain MLP. Sources as in dense.c. */
#include <stddef.h>

#include "service/model/families/decoder.h"
#include "service/model/families/tables.h"

#define ALWAYS         \
    {                  \
        .always = true \
    }

/* learned positions, biases everywhere */
static const struct decoder gpt2 = {
    .tied = true,
    .position_keys = "n_positions|max_position_embeddings",
    .qkv_bias = ALWAYS,
    .out_bias = ALWAYS,
    .plain_mlp = true,
    .mlp_multiples = 4,
    .mlp_bias = ALWAYS,
    .norm = NORM_LAYER,
};

static const struct decoder gpt_neox = {
    .qkv_bias = { .keys = "attention_bias", .absent = true },
    .out_bias = { .keys = "attention_bias", .absent = true },
    .plain_mlp = true,
    .mlp_bias = ALWAYS,
    .norm = NORM_LAYER,
};

/* attention and MLP side by side, no biases in attention, one in the head */
static const struct decoder gptj = {
    .head_bias = ALWAYS,
    .plain_mlp = true,
    .mlp_multiples = 4,
    .mlp_bias = ALWAYS,
    .norm = NORM_LAYER,
    .block_norms = 1,
};

/* phi-1, phi-1.5, phi-2 */
static const struct decoder phi = {
    .head_bias = ALWAYS,
    .qkv_bias = ALWAYS,
    .out_bias = ALWAYS,
    .plain_mlp = true,
    .mlp_multiples = 4,
    .mlp_bias = ALWAYS,
    .norm = NORM_LAYER,
    .block_norms = 1,
};

/* no positions (alibi), a norm on the embedding (arXiv:2211.05100 section 3.2) */
static const struct decoder bloom = {
    .tied = true,
    .embedding_norm = true,
    .qkv_bias = ALWAYS,
    .out_bias = ALWAYS,
    .plain_mlp = true,
    .mlp_multiples = 4,
    .mlp_bias = ALWAYS,
    .norm = NORM_LAYER,
};

static const struct fixed starcoder2_fixed[] = { { "mlp_type", "default" }, { NULL, NULL } };

static const struct decoder starcoder2 = {
    .fixed = starcoder2_fixed,
    .kv_heads = 2,
    .tied = true,
    .qkv_bias = { .keys = "use_bias", .absent = true },
    .out_bias = { .keys = "use_bias", .absent = true },
    .window = WINDOW_ALL,
    .plain_mlp = true,
    .mlp_bias = { .keys = "use_bias", .absent = true },
    .norm = NORM_LAYER,
};

static const struct fixed gpt_neo_fixed[] = {
    { "attention_layers", NULL }, { "attention_types", NULL }, { "window_size", NULL }, { NULL, NULL }
};

/* EleutherAI/gpt-neo: no biases on query, key and value; every other layer attends to 256 tokens but caches all */
static const struct decoder gpt_neo = {
    .tied = true,
    .fixed = gpt_neo_fixed,
    .position_keys = "max_position_embeddings",
    .out_bias = ALWAYS,
    .plain_mlp = true,
    .mlp_multiples = 4,
    .mlp_bias = ALWAYS,
    .norm = NORM_LAYER,
};

const struct family_class family_gpt[] = {
    { "GPT2LMHeadModel", "gpt2", decoder_read, &gpt2 },
    { "GPTNeoXForCausalLM", "gpt_neox", decoder_read, &gpt_neox },
    { "GPTJForCausalLM", "gptj", decoder_read, &gptj },
    { "CodeGenForCausalLM", "codegen", decoder_read, &gptj },
    { "GPTNeoForCausalLM", "gpt_neo", decoder_read, &gpt_neo },
    { "PhiForCausalLM", "phi", decoder_read, &phi },
    { "BloomForCausalLM", "bloom", decoder_read, &bloom },
    { "Starcoder2ForCausalLM", "starcoder2", decoder_read, &starcoder2 },
    { NULL, NULL, NULL, NULL },
};
