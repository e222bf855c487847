/* Shares of peak by device family, precision and the code that runs. */
#include "service/speed/pace.h"

#include <math.h>

static double
first_of(double a, double b, double c)
{
    return a > 0 ? a : (b > 0 ? b : c);
}

bool
precision_is_native(const struct gpu *gpu, enum training_precision precision)
{
    switch (precision) {
    case PRECISION_BF16_MIXED:
    case PRECISION_BF16_PURE:
        return gpu->bf16_flop_per_second > 0;
    case PRECISION_FP16_MIXED:
        return gpu->fp16_flop_per_second > 0;
    case PRECISION_FP8_MIXED:
        return gpu->fp8_flop_per_second > 0;
    case PRECISION_TF32:
        return gpu->tf32_flop_per_second > 0;
    case PRECISION_FP32:
    case PRECISION_UNSAID:
        break;
    }
    return true;
}

/* FP32 out of 16-bit units takes three products at least (arXiv:1904.06376). */
enum { HALF_PRODUCTS_FOR_FP32 = 3 };

double
peak_flop_per_second(const struct gpu *gpu, enum training_precision precision)
{
    double half = first_of(gpu->bf16_flop_per_second, gpu->fp16_flop_per_second, gpu->fp32_flop_per_second);
    double single = first_of(gpu->fp32_flop_per_second, half / HALF_PRODUCTS_FOR_FP32, 0);

    switch (precision) {
    case PRECISION_UNSAID:
    case PRECISION_BF16_MIXED:
    case PRECISION_BF16_PURE:
        return half;
    case PRECISION_FP16_MIXED:
        return first_of(gpu->fp16_flop_per_second, half, half);
    case PRECISION_FP8_MIXED:
        return first_of(gpu->fp8_flop_per_second, half, half);
    case PRECISION_TF32:
        return first_of(gpu->tf32_flop_per_second, single, 0);
    case PRECISION_FP32:
        return single;
    }
    return half;
}

double
matmul_share(const struct rates *rates, enum gpu_family family)
{
    switch (family) {
    case GPU_FAMILY_VOLTA:
        return rates->training_matmul_share_volta;
    case GPU_FAMILY_TURING:
        return rates->training_matmul_share_turing;
    case GPU_FAMILY_AMPERE:
        return rates->training_matmul_share_ampere;
    case GPU_FAMILY_GDDR:
        return rates->training_matmul_share_gddr;
    case GPU_FAMILY_HOPPER:
        return rates->training_matmul_share_hopper;
    case GPU_FAMILY_BLACKWELL:
        return rates->training_matmul_share_blackwell;
    case GPU_FAMILY_CDNA:
        return rates->training_matmul_share_cdna;
    case GPU_FAMILY_ASCEND:
        return rates->training_matmul_share_ascend;
    case GPU_FAMILY_OTHER:
    case GPU_FAMILY_COUNT:
        break;
    }
    return rates->training_matmul_share_other;
}

/* Watts for each TFLOP/s of peak that the device had on which its family's share was measured. */
static double
watts_per_teraflop(const struct rates *rates, enum gpu_family family)
{
    switch (family) {
    case GPU_FAMILY_VOLTA:
        return rates->training_watts_per_teraflop_volta;
    case GPU_FAMILY_AMPERE:
        return rates->training_watts_per_teraflop_ampere;
    case GPU_FAMILY_TURING:
    case GPU_FAMILY_GDDR:
        return rates->training_watts_per_teraflop_gddr;
    case GPU_FAMILY_HOPPER:
        return rates->training_watts_per_teraflop_hopper;
    case GPU_FAMILY_BLACKWELL:
        return rates->training_watts_per_teraflop_blackwell;
    case GPU_FAMILY_CDNA:
        return rates->training_watts_per_teraflop_cdna;
    case GPU_FAMILY_ASCEND:
    case GPU_FAMILY_OTHER:
    case GPU_FAMILY_COUNT:
        break;
    }
    return 0;
}

/* A device with less power for its peak than its family's usual one clocks lower under load: by the square root among
 * cards (L4 to RTX 4090), by the fourth root among server modules, whose voltage falls with the clock. */
double
power_share(const struct gpu *gpu, const struct rates *rates)
{
    bool card = gpu->family == GPU_FAMILY_GDDR || gpu->family == GPU_FAMILY_TURING;
    double usual = watts_per_teraflop(rates, gpu->family), most = card ? 1 : rates->training_power_gain, share;
    double peak = first_of(gpu->bf16_flop_per_second, gpu->fp16_flop_per_second, 0);

    if (usual <= 0 || gpu->tdp_watts == 0 || peak <= 0)
        return 1;
    share = sqrt(gpu->tdp_watts * 1e12 / peak / usual);
    if (!card)
        share = sqrt(share);
    return share < most ? share : most;
}

/* From Hopper on kernels that use its asynchronous copies are needed, and only some software has them. */
static bool
has_new_attention(enum gpu_family family)
{
    return family == GPU_FAMILY_HOPPER || family == GPU_FAMILY_BLACKWELL || family == GPU_FAMILY_CDNA;
}

static double
attention_share(const struct rates *rates, enum gpu_family family, enum framework framework)
{
    if (!has_new_attention(family))
        return rates->training_attention_share_older *
               (framework == FRAMEWORK_FSDP ? rates->training_attention_lag_older : 1);
    return rates->training_attention_share_newer *
           (framework == FRAMEWORK_MEGATRON ? 1 : rates->training_attention_lag_newer);
}

static double
precision_share(const struct gpu *gpu, const struct rates *rates, enum training_precision precision)
{
    double share = matmul_share(rates, gpu->family) * power_share(gpu, rates);

    if (precision == PRECISION_TF32 && gpu->tf32_flop_per_second > 0)
        return share * rates->training_tf32_share;
    if (precision == PRECISION_FP32 || precision == PRECISION_TF32)
        return rates->training_fp32_share;
    if (precision == PRECISION_FP8_MIXED && gpu->fp8_flop_per_second > 0)
        return share * (gpu->family == GPU_FAMILY_BLACKWELL ? rates->training_fp8_share_blackwell
                                                            : rates->training_fp8_share_hopper);
    return share;
}

struct pace
pace_of(const struct gpu *gpu, const struct rates *rates, const struct training_job *job)
{
    enum training_precision precision = job->precision;
    enum training_precision wide = precision == PRECISION_FP8_MIXED ? PRECISION_BF16_MIXED : precision;
    double peak = peak_flop_per_second(gpu, wide), memory = gpu->memory_bytes_per_second;
    bool fused = job->framework == FRAMEWORK_MEGATRON;
    struct pace pace = {
        .linear = peak_flop_per_second(gpu, precision) * precision_share(gpu, rates, precision),
        .scores = peak * precision_share(gpu, rates, wide),
        .attention = peak * attention_share(rates, gpu->family, job->framework),
        .memory = memory * rates->training_bandwidth_share,
    };

    pace.experts = pace.linear * rates->training_grouped_share;
    pace.elementwise =
        pace.memory / (fused ? rates->training_elementwise_passes_fused : rates->training_elementwise_passes_eager);
    if (job->attention == ATTENTION_KERNEL_EAGER) /* two plain matrix products */
        pace.attention = pace.scores;
    return pace;
}
