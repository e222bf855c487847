/* Number formats as one table: name, bits, kind. */
#include "service/model/dtype.h"

#include <stddef.h>

/* Block formats are their definition: value bits + scale bits / block. GGUF types below Q6_K mix block types over the
 * file, so their mean is measured: the middle of Llama-3.1-8B and -70B files made by llama-quantize
 * (ggml-org/llama.cpp tools/quantize/README.md, 2026-07: 8B Q4_K_M 4.894, Q5_K_M 5.704, Q2_K 3.159 bits;
 * 70B files 42.5, 49.9, 26.4 GB over 70.55 B weights). Per tensor type bits: llama.cpp ggml-common.h. */
static const struct {
    const char *name;
    double bits;
    bool is_gguf, is_4bit;
} weight_formats[WEIGHT_FORMAT_COUNT] = {
    [WEIGHT_UNSAID] = { "", 16, false, false },
    [WEIGHT_FP32] = { "fp32", 32, false, false },
    [WEIGHT_BF16] = { "bf16", 16, false, false },
    [WEIGHT_FP16] = { "fp16", 16, false, false },
    [WEIGHT_FP8] = { "fp8", 8 + 32.0 / 16384, false, false },                    /* FP32 scale a 128 x 128 block */
    [WEIGHT_INT8] = { "int8", 8 + 16.0 / 4096, false, false },                   /* FP16 scale a channel of some 4096 */
    [WEIGHT_INT4_AWQ] = { "int4_awq", 4 + 16.0 / 128 + 4.0 / 128, false, true }, /* scale and zero point, group 128 */
    [WEIGHT_INT4_GPTQ] = { "int4_gptq", 4 + 16.0 / 128 + 4.0 / 128, false, true },
    [WEIGHT_NF4] = { "nf4", 4 + 32.0 / 64, false, true },    /* arXiv:2305.14314 section 3, no double quantisation */
    [WEIGHT_MXFP4] = { "mxfp4", 4 + 8.0 / 32, false, true }, /* OCP Microscaling v1.0, table 1 */
    [WEIGHT_NVFP4] = { "nvfp4", 4 + 8.0 / 16, false, true }, /* arXiv:2509.25149 section 2 */
    [WEIGHT_Q8_0] = { "q8_0", 8.5, true, false },
    [WEIGHT_Q6_K] = { "q6_k", 6.5625, true, false },
    [WEIGHT_Q5_K_M] = { "q5_k_m", 5.68, true, false },
    [WEIGHT_Q4_K_M] = { "q4_k_m", 4.85, true, true },
    [WEIGHT_Q4_0] = { "q4_0", 4.55, true, true },
    [WEIGHT_Q3_K_M] = { "q3_k_m", 3.9, true, true },
    [WEIGHT_Q2_K] = { "q2_k", 3.0, true, true },
};

static const struct {
    const char *name;
    double bytes;
} kv_formats[KV_FORMAT_COUNT] = {
    [KV_UNSAID] = { "", 2 },   [KV_FP16] = { "fp16", 2 },   [KV_BF16] = { "bf16", 2 }, [KV_FP8] = { "fp8", 1 },
    [KV_INT8] = { "int8", 1 }, [KV_INT4] = { "int4", 0.5 }, [KV_FP32] = { "fp32", 4 },
};

static size_t
weight_row(enum weight_format format)
{
    return format >= WEIGHT_UNSAID && format < WEIGHT_FORMAT_COUNT ? (size_t)format : (size_t)WEIGHT_UNSAID;
}

static size_t
kv_row(enum kv_format format)
{
    return format >= KV_UNSAID && format < KV_FORMAT_COUNT ? (size_t)format : (size_t)KV_UNSAID;
}

const char *
weight_format_name(enum weight_format format)
{
    return weight_formats[weight_row(format)].name;
}

const char *
kv_format_name(enum kv_format format)
{
    return kv_formats[kv_row(format)].name;
}

bool
weight_format_is_gguf(enum weight_format format)
{
    return weight_formats[weight_row(format)].is_gguf;
}

bool
weight_format_is_4bit(enum weight_format format)
{
    return weight_formats[weight_row(format)].is_4bit;
}

double
weight_format_bits(enum weight_format format)
{
    return weight_formats[weight_row(format)].bits;
}

double
kv_format_bytes(enum kv_format format)
{
    return kv_formats[kv_row(format)].bytes;
}
