/* Peaks of the data sheet times measured shares. */
#include "service/speed/serving_rates.h"

#include "service/memory/serving_weights.h"
#include "service/speed/pace.h"

bool
serving_has_hbm(enum gpu_family family)
{
    return family != GPU_FAMILY_GDDR && family != GPU_FAMILY_TURING;
}

/* HBM of every generation is read alike: what figures of one generation say beyond that is their source's. */
static double
bandwidth_share(const struct rates *rates, enum gpu_family family)
{
    switch (family) {
    case GPU_FAMILY_TURING:
        return rates->serving_bandwidth_share_turing;
    case GPU_FAMILY_GDDR:
        return rates->serving_bandwidth_share_gddr;
    case GPU_FAMILY_VOLTA:
    case GPU_FAMILY_AMPERE:
    case GPU_FAMILY_HOPPER:
    case GPU_FAMILY_BLACKWELL:
        return rates->serving_bandwidth_share_hbm;
    case GPU_FAMILY_CDNA:
    case GPU_FAMILY_ASCEND:
    case GPU_FAMILY_OTHER:
    case GPU_FAMILY_COUNT:
        break;
    }
    return rates->serving_bandwidth_share_other;
}

static double
peak_16bit(const struct gpu *gpu)
{
    double half =
        gpu->fp16_flop_per_second > gpu->bf16_flop_per_second ? gpu->fp16_flop_per_second : gpu->bf16_flop_per_second;

    return half > gpu->fp32_flop_per_second ? half : gpu->fp32_flop_per_second;
}

/* GeForce cards run products that add up in 32 bit at half the rate of their chip, 2 x FP32; others at 4 x FP32. */
static bool
runs_at_half_rate(const struct gpu *gpu)
{
    return peak_16bit(gpu) < 3 * gpu->fp32_flop_per_second;
}

/* Cards of little power clock down under products. */
static double
card_limit(const struct rates *rates, const struct gpu *gpu)
{
    return gpu->tdp_watts > 0 && gpu->tdp_watts < rates->serving_low_power_watts ? rates->serving_low_power_flop_share
                                                                                 : 1;
}

/* Share of the dense 16-bit peak. Half-rate cards reach their sheet, whose clock is the base one; the power limit
 * forbids it to full-rate ones and to modules, more to those with less power for their peak. */
static double
flop_share(const struct rates *rates, const struct gpu *gpu)
{
    switch (gpu->family) {
    case GPU_FAMILY_VOLTA:
    case GPU_FAMILY_AMPERE:
        return power_share(gpu, rates) * rates->serving_flop_share_ampere;
    case GPU_FAMILY_TURING:
        return card_limit(rates, gpu) * rates->serving_flop_share_ampere;
    case GPU_FAMILY_GDDR:
        return card_limit(rates, gpu) *
               (runs_at_half_rate(gpu) ? rates->serving_flop_share_gddr : rates->serving_flop_share_ampere);
    case GPU_FAMILY_HOPPER:
    case GPU_FAMILY_BLACKWELL:
        return power_share(gpu, rates) * rates->serving_flop_share_hopper;
    case GPU_FAMILY_CDNA:
    case GPU_FAMILY_ASCEND:
    case GPU_FAMILY_OTHER:
    case GPU_FAMILY_COUNT:
        break;
    }
    return card_limit(rates, gpu) * rates->serving_flop_share_other;
}

/* How a format's kernels do against plain ones. */
struct format_shares {
    double bandwidth, flop;
};

static struct format_shares
unpacked_shares(const struct serving_setup *setup, const struct engine_traits *traits)
{
    const struct rates *rates = setup->rates;
    struct format_shares shares = { rates->serving_unpacked_share, rates->serving_unpacked_share };

    if (!serving_format_is_low_bit(setup->job->precision))
        return shares;
    if (traits->old)
        shares.flop = rates->serving_low_bit_flop_share_old;
    if (traits->early)
        shares.bandwidth = rates->serving_low_bit_bandwidth_share_old;
    if (setup->job->engine == ENGINE_TRANSFORMERS)
        shares.bandwidth = rates->serving_transformers_low_bit_share;
    if (setup->job->engine == ENGINE_LLAMA_CPP)
        shares.bandwidth = rates->serving_llama_cpp_low_bit_share;
    return shares;
}

static bool
has_units(const struct gpu *gpu, enum weight_format format)
{
    if (format == WEIGHT_NVFP4 || format == WEIGHT_MXFP4)
        return gpu->fp4_flop_per_second > 0;
    return format == WEIGHT_FP8 && gpu->fp8_flop_per_second > 0;
}

bool
serving_unpacks(const struct gpu *gpu, enum weight_format format)
{
    bool small = serving_format_is_low_bit(format) || format == WEIGHT_INT8 || format == WEIGHT_FP8;

    return small && !has_units(gpu, format);
}

/* Bytes and operations of the job's format, given its plain rates. */
static void
set_format_rates(const struct serving_setup *setup, const struct engine_traits *traits, struct serving_rates *rates_of)
{
    const struct rates *rates = setup->rates;
    const struct gpu *gpu = setup->machine->gpu;
    enum weight_format format = setup->job->precision;
    /* 4-bit units of a card run at the clock its 16-bit ones do: their share moves with it */
    double clock = flop_share(rates, gpu) / rates->serving_flop_share_hopper;
    struct format_shares shares = { 1, 1 };

    if ((format == WEIGHT_NVFP4 || format == WEIGHT_MXFP4) && gpu->fp4_flop_per_second > 0) {
        rates_of->flop_per_second = gpu->fp4_flop_per_second * rates->serving_flop_share_fp4 * clock;
        return;
    }
    if (format == WEIGHT_FP8 && gpu->fp8_flop_per_second > 0) {
        rates_of->flop_per_second = gpu->fp8_flop_per_second * flop_share(rates, gpu);
        return;
    }
    if (serving_unpacks(gpu, format))
        shares = unpacked_shares(setup, traits);
    else if (format == WEIGHT_FP32 && gpu->fp32_flop_per_second > 0)
        shares.flop = gpu->fp32_flop_per_second / peak_16bit(gpu);
    rates_of->packed_bytes_per_second *= shares.bandwidth;
    rates_of->flop_per_second *= shares.flop;
}

struct serving_rates
serving_rates_of(const struct serving_setup *setup, const struct engine_traits *traits)
{
    const struct rates *rates = setup->rates;
    const struct gpu *gpu = setup->machine->gpu;
    double bytes = gpu->memory_bytes_per_second * bandwidth_share(rates, gpu->family);
    double flop = peak_16bit(gpu) * flop_share(rates, gpu);
    struct serving_rates rates_of;

    if (setup->job->engine == ENGINE_LLAMA_CPP) { /* its kernels are made for GeForce cards */
        bytes *= serving_has_hbm(gpu->family) ? rates->serving_llama_cpp_hbm_share : 1;
        flop *= runs_at_half_rate(gpu) ? 1 : rates->serving_llama_cpp_flop_share;
    }
    rates_of = (struct serving_rates){ .bytes_per_second = bytes,
                                       .packed_bytes_per_second = bytes,
                                       .cache_bytes_per_second = bytes * rates->serving_cache_bandwidth_gain,
                                       .flop_per_second = flop,
                                       .plain_flop_per_second = flop };
    set_format_rates(setup, traits, &rates_of);
    return rates_of;
}
