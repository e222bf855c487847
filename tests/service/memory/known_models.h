/* Networks of published runs, by the sizes of their configs. */
#ifndef TESTS_SERVICE_MEMORY_KNOWN_MODELS_H
#define TESTS_SERVICE_MEMORY_KNOWN_MODELS_H

#include <string.h>

#include "service/base/text.h"
#include "service/model/params.h"

/* Named by family, width and depth (and what else tells two apart). */
enum known_model {
    LLAMA_4096_32,
    LLAMA_8192_80,
    LLAMA_8192_12,
    QWEN_2048_24,
    QWEN_4096_32,
    LLAMA_4096_32_32000,
    MPT_8192_80_2048,
    MPT_5120_40_1024,
    MPT_2048_24_512,
    MPT_5120_40_32768,
    INTERNLM_4096_32_103168,
    GPT_2304_24,
    GPT_6144_40,
    GPT_12288_80,
    GPT_25600_128,
    QWEN_8192_80,
    GPT_4096_32,
    DEEPSEEK_V2_4,
    KNOWN_MODEL_COUNT
};

struct known_sizes {
    uint32_t hidden, intermediate, layers, heads, kv_heads, vocabulary;
    bool gated, tied;
    uint32_t positions; /* of a learned table */
    bool biases;        /* everywhere, with LayerNorm */
    const char *model_type;
};

static const struct known_sizes known_sizes[KNOWN_MODEL_COUNT] = {
    [LLAMA_4096_32] = { 4096, 14336, 32, 32, 8, 128256, true, false, 0, false, "llama" },
    [LLAMA_8192_80] = { 8192, 28672, 80, 64, 8, 128256, true, false, 0, false, "llama" },
    [LLAMA_8192_12] = { 8192, 28672, 12, 64, 8, 128256, true, false, 0, false, "llama" },
    [QWEN_2048_24] = { 2048, 5504, 24, 16, 16, 151936, true, false, 0, false, "qwen" },
    [QWEN_4096_32] = { 4096, 11008, 32, 32, 32, 151936, true, false, 0, false, "qwen" },
    [LLAMA_4096_32_32000] = { 4096, 11008, 32, 32, 32, 32000, true, false, 0, false, "llama" },
    [MPT_8192_80_2048] = { 8192, 32768, 80, 64, 64, 50368, false, true, 2048, true, "mpt" },
    [MPT_5120_40_1024] = { 5120, 20480, 40, 40, 40, 50368, false, true, 1024, true, "mpt" },
    [MPT_2048_24_512] = { 2048, 8192, 24, 16, 16, 50368, false, true, 512, true, "mpt" },
    [MPT_5120_40_32768] = { 5120, 20480, 40, 40, 40, 50368, false, true, 32768, true, "mpt" },
    [INTERNLM_4096_32_103168] = { 4096, 11008, 32, 32, 32, 103168, true, false, 0, false, "internlm" },
    [GPT_2304_24] = { 2304, 9216, 24, 24, 24, 51200, false, true, 2048, true, "gpt2" },
    [GPT_6144_40] = { 6144, 24576, 40, 48, 48, 51200, false, true, 2048, true, "gpt2" },
    [GPT_12288_80] = { 12288, 49152, 80, 96, 96, 51200, false, true, 2048, true, "gpt2" },
    [GPT_25600_128] = { 25600, 102400, 128, 160, 160, 51200, false, true, 2048, true, "gpt2" },
    [QWEN_8192_80] = { 8192, 24576, 80, 64, 64, 152064, true, false, 0, false, "qwen" },
    [GPT_4096_32] = { 4096, 16384, 32, 32, 32, 50304, false, true, 2048, true, "gpt2" },
};

/* Decoder layers, all alike. */
static inline void
known_decoder(const struct known_sizes *sizes, struct model_arch *ret_arch)
{
    struct layer_kind *kind = &ret_arch->kinds[0];

    memset(ret_arch, 0, sizeof(*ret_arch));
    text_copy(ret_arch->model_type, sizeof(ret_arch->model_type), sizes->model_type);
    ret_arch->layer_count = kind->count = sizes->layers;
    ret_arch->hidden_size = sizes->hidden;
    ret_arch->vocabulary_size = sizes->vocabulary;
    ret_arch->max_context_tokens = 262144;
    ret_arch->tied_head = sizes->tied;
    ret_arch->causal = true;
    ret_arch->kind_count = 1;
    ret_arch->position_elements = (uint64_t)sizes->positions * sizes->hidden;
    ret_arch->final_norm_elements = (sizes->biases ? 2 : 1) * (uint64_t)sizes->hidden;
    kind->attention = ATTENTION_HEADS;
    kind->head_count = sizes->heads;
    kind->kv_head_count = sizes->kv_heads;
    kind->head_size = sizes->hidden / sizes->heads;
    kind->qkv_bias = sizes->biases || strcmp(sizes->model_type, "qwen") == 0;
    kind->out_bias = kind->mlp_bias = sizes->biases;
    kind->mlp = MLP_DENSE;
    kind->gated = sizes->gated;
    kind->intermediate_size = sizes->intermediate;
    kind->norm_elements = (sizes->biases ? 4 : 2) * (uint64_t)sizes->hidden;
}

/* DeepSeek-V2 (arXiv:2405.04434 section 3.1.2) cut to four layers: one dense, three of 160 experts. */
static inline void
known_deepseek_v2_4(struct model_arch *ret_arch)
{
    struct layer_kind latent = { .count = 1,
                                 .attention = ATTENTION_LATENT,
                                 .head_count = 128,
                                 .kv_head_count = 128,
                                 .query_rank = 1536,
                                 .latent_size = 512,
                                 .nope_size = 128,
                                 .rope_size = 64,
                                 .value_size = 128,
                                 .mlp = MLP_DENSE,
                                 .gated = true,
                                 .intermediate_size = 12288,
                                 .norm_elements = 2 * 5120ull };

    memset(ret_arch, 0, sizeof(*ret_arch));
    text_copy(ret_arch->model_type, sizeof(ret_arch->model_type), "deepseek_v2");
    ret_arch->layer_count = 4;
    ret_arch->hidden_size = 5120;
    ret_arch->vocabulary_size = 102400;
    ret_arch->max_context_tokens = 163840;
    ret_arch->causal = true;
    ret_arch->kind_count = 2;
    ret_arch->final_norm_elements = 5120;
    ret_arch->kinds[0] = ret_arch->kinds[1] = latent;
    ret_arch->kinds[1].count = 3;
    ret_arch->kinds[1].mlp = MLP_EXPERTS;
    ret_arch->kinds[1].expert_count = 160;
    ret_arch->kinds[1].experts_per_token = 6;
    ret_arch->kinds[1].expert_size = 1536;
    ret_arch->kinds[1].shared_size = 2 * 1536;
    for (uint32_t i = 1; i < 4; i++)
        ret_arch->kind_of_layer[i] = 1;
}

static inline void
known_arch(enum known_model model, struct model_arch *ret_arch)
{
    if (model == DEEPSEEK_V2_4)
        known_deepseek_v2_4(ret_arch);
    else
        known_decoder(&known_sizes[model], ret_arch);
}

#endif
