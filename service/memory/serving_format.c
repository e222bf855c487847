/* Which weight formats some engine of today has a kernel for, by maker and generation of the GPU. */
#include <stdlib.h>
#include <string.h>

#include "service/memory/serving_memory.h"

/* Where a format runs on NVIDIA GPUs, by compute capability. Sources: vLLM documentation 0.32, quantization (table of
 * supported hardware; FP8: 8.9 natively, weight-only from 7.5); vLLM source, NVFP4 by Marlin from 8.0; transformers
 * documentation, MXFP4: 7.5; LMDeploy documentation, W4A16: AWQ from 7.0; bitsandbytes documentation: 6.0. */
static const struct {
    enum weight_format format;
    double least_capability;
} nvidia_kernels[] = {
    { WEIGHT_FP8, 7.5 }, { WEIGHT_INT8, 7.0 },  { WEIGHT_INT4_AWQ, 7.0 }, { WEIGHT_INT4_GPTQ, 6.0 },
    { WEIGHT_NF4, 6.0 }, { WEIGHT_MXFP4, 7.5 }, { WEIGHT_NVFP4, 8.0 },
};

static bool
runs_on_nvidia(double capability, enum weight_format format)
{
    for (size_t i = 0; i < sizeof(nvidia_kernels) / sizeof(nvidia_kernels[0]); i++)
        if (nvidia_kernels[i].format == format)
            return capability >= nvidia_kernels[i].least_capability;
    return false;
}

/* CDNA: vLLM and SGLang for ROCm run AWQ, GPTQ and W8A8, llama.cpp GGUF, bitsandbytes NF4, MXFP4 weight-only from
 * CDNA 3 (openai/gpt-oss model card). Ascend 910: vllm-ascend W8A8, LMDeploy W4A16 (their documentation). */
static bool
runs_on_cdna(const struct gpu *gpu, enum weight_format format)
{
    if (format == WEIGHT_MXFP4)
        return gpu->fp8_flop_per_second > 0;
    return format == WEIGHT_INT8 || format == WEIGHT_INT4_AWQ || format == WEIGHT_INT4_GPTQ || format == WEIGHT_NF4;
}

static bool
is_nvidia(const struct gpu *gpu)
{
    return gpu->vendor != NULL && strcmp(gpu->vendor, "NVIDIA") == 0;
}

static bool
packed_runs(const struct gpu *gpu, enum weight_format format)
{
    if (is_nvidia(gpu) && gpu->compute_capability != NULL)
        return runs_on_nvidia(strtod(gpu->compute_capability, NULL), format);
    switch (gpu->family) {
    case GPU_FAMILY_CDNA:
        return runs_on_cdna(gpu, format);
    case GPU_FAMILY_ASCEND:
        return format == WEIGHT_INT8 || format == WEIGHT_INT4_AWQ;
    case GPU_FAMILY_VOLTA:
    case GPU_FAMILY_TURING:
    case GPU_FAMILY_AMPERE:
    case GPU_FAMILY_GDDR:
    case GPU_FAMILY_HOPPER:
    case GPU_FAMILY_BLACKWELL:
    case GPU_FAMILY_OTHER:
    case GPU_FAMILY_COUNT:
        break;
    }
    return format == WEIGHT_INT8 && gpu->int8_op_per_second > 0;
}

/* Units that multiply in the format itself. NVFP4 is one maker's; MXFP4 is common (OCP Microscaling v1.0). */
static bool
has_units(const struct gpu *gpu, enum weight_format format)
{
    if (format == WEIGHT_FP8)
        return gpu->fp8_flop_per_second > 0;
    if (format == WEIGHT_MXFP4)
        return gpu->fp4_flop_per_second > 0;
    return format == WEIGHT_NVFP4 && gpu->fp4_flop_per_second > 0 && is_nvidia(gpu);
}

bool
serving_format_runs(const struct gpu *gpu, enum weight_format format, bool *ret_weight_only)
{
    *ret_weight_only = false;
    if (format == WEIGHT_UNSAID || format == WEIGHT_FP32)
        return true;
    if (format == WEIGHT_BF16)
        return gpu->bf16_flop_per_second > 0;
    if (format == WEIGHT_FP16) /* what multiplies bf16 multiplies fp16, and any device can by its FP32 units */
        return gpu->fp16_flop_per_second > 0 || gpu->bf16_flop_per_second > 0 || gpu->fp32_flop_per_second > 0;
    if (has_units(gpu, format))
        return true;
    *ret_weight_only = true;
    return weight_format_is_gguf(format) || packed_runs(gpu, format);
}
