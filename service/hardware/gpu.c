/* Device families: their names, and which of them measurements exist for. */
#include "service/hardware/gpu.h"

#include <stddef.h>
#include <string.h>

static const char *const family_names[GPU_FAMILY_COUNT] = {
    [GPU_FAMILY_VOLTA] = "volta", [GPU_FAMILY_TURING] = "turing", [GPU_FAMILY_AMPERE] = "ampere",
    [GPU_FAMILY_GDDR] = "gddr",   [GPU_FAMILY_HOPPER] = "hopper", [GPU_FAMILY_BLACKWELL] = "blackwell",
    [GPU_FAMILY_CDNA] = "cdna",   [GPU_FAMILY_ASCEND] = "ascend", [GPU_FAMILY_OTHER] = "other",
};

const char *
gpu_family_name(enum gpu_family family)
{
    return family < GPU_FAMILY_COUNT ? family_names[family] : "other";
}

bool
gpu_family_parse(const char *name, enum gpu_family *ret_family)
{
    for (unsigned i = 0; i < GPU_FAMILY_COUNT; i++) {
        if (strcmp(family_names[i], name) == 0) {
            *ret_family = (enum gpu_family)i;
            return true;
        }
    }
    return false;
}

struct gpu
gpu_slice(const struct gpu *gpu, double share)
{
    struct gpu slice = *gpu;
    double *const rates[] = { &slice.memory_bytes_per_second, &slice.fp32_flop_per_second, &slice.tf32_flop_per_second,
                              &slice.fp16_flop_per_second,    &slice.bf16_flop_per_second, &slice.fp8_flop_per_second,
                              &slice.int8_op_per_second,      &slice.fp4_flop_per_second };

    for (size_t i = 0; i < sizeof rates / sizeof rates[0]; i++)
        *rates[i] *= share;
    slice.memory_bytes = (uint64_t)((double)gpu->memory_bytes * share);
    slice.usable_bytes = (uint64_t)((double)gpu->usable_bytes * share);
    slice.tdp_watts = (uint32_t)((double)gpu->tdp_watts * share);
    slice.nvlink_bytes_per_second = 0;
    slice.nvlink_kind = NVLINK_NONE;
    slice.nvlink_domain_gpus = 1;
    slice.peer_to_peer = false;
    return slice;
}

bool
gpu_is_nearer_step(const struct gpu *gpu, const struct gpu *other)
{
    if (gpu->memory_bytes != other->memory_bytes)
        return gpu->memory_bytes < other->memory_bytes;
    if (gpu->memory_bytes_per_second != other->memory_bytes_per_second)
        return gpu->memory_bytes_per_second > other->memory_bytes_per_second;
    if (gpu->fp16_flop_per_second != other->fp16_flop_per_second)
        return gpu->fp16_flop_per_second > other->fp16_flop_per_second;
    return gpu->tdp_watts < other->tdp_watts; /* a superchip's counts its processor */
}

bool
gpu_family_is_measured(enum gpu_family family)
{
    switch (family) {
    case GPU_FAMILY_VOLTA:
    case GPU_FAMILY_TURING:
    case GPU_FAMILY_AMPERE:
    case GPU_FAMILY_GDDR:
    case GPU_FAMILY_HOPPER:
    case GPU_FAMILY_BLACKWELL:
        return true;
    case GPU_FAMILY_CDNA:
    case GPU_FAMILY_ASCEND:
    case GPU_FAMILY_OTHER:
    case GPU_FAMILY_COUNT:
        return false;
    }
    return false;
}
