/* Which band a figure gets: by load, engine, experts, and whether the software's version is stated. */
#include "service/speed/serving_bands.h"

#include <math.h>

#define BAND(rates, name) \
    ((struct serving_band){ (rates)->serving_band_##name##_low, (rates)->serving_band_##name##_high })

enum load { LOAD_LONE, LOAD_LOOP, LOAD_FULL, LOAD_POISSON };

static bool
has_experts(const struct model_arch *arch)
{
    for (uint32_t i = 0; i < arch->kind_count; i++)
        if (arch->kinds[i].mlp == MLP_EXPERTS)
            return true;
    return false;
}

static bool
is_server(enum engine engine)
{
    return engine != ENGINE_LLAMA_CPP && engine != ENGINE_TRANSFORMERS;
}

static enum load
load_of(const struct serving_setup *setup, bool full)
{
    if (setup->job->arrival == ARRIVAL_POISSON && setup->job->requests_per_second > 0)
        return LOAD_POISSON;
    if (full)
        return LOAD_FULL;
    return setup->job->concurrency <= 1 ? LOAD_LONE : LOAD_LOOP;
}

static struct serving_band
first_token_band(const struct serving_setup *setup, enum load load)
{
    switch (load) {
    case LOAD_LONE:
        return BAND(setup->rates, first_lone);
    case LOAD_POISSON:
        return BAND(setup->rates, first_poisson);
    case LOAD_LOOP:
    case LOAD_FULL:
        break;
    }
    return setup->job->engine == ENGINE_SGLANG ? BAND(setup->rates, first_loop_sglang) : BAND(setup->rates, first_loop);
}

static struct serving_band
token_band(const struct serving_setup *setup, enum load load, bool stated)
{
    if (setup->job->engine == ENGINE_LLAMA_CPP)
        return BAND(setup->rates, token_llama_cpp);
    if (setup->job->engine == ENGINE_TRANSFORMERS)
        return BAND(setup->rates, token_transformers);
    switch (load) {
    case LOAD_LONE:
        return stated ? BAND(setup->rates, token_lone) : BAND(setup->rates, token_lone_unstated);
    case LOAD_POISSON:
        return stated ? BAND(setup->rates, token_poisson) : BAND(setup->rates, token_poisson_unstated);
    case LOAD_LOOP:
    case LOAD_FULL:
        break;
    }
    if (!stated)
        return BAND(setup->rates, token_loop_unstated);
    return has_experts(setup->arch) ? BAND(setup->rates, token_loop_experts) : BAND(setup->rates, token_loop);
}

static struct serving_band
inverse(struct serving_band band)
{
    return (struct serving_band){ 1 / band.high, 1 / band.low };
}

static struct serving_band
rate_band(const struct serving_setup *setup, enum load load, bool stated)
{
    if (!is_server(setup->job->engine))
        return inverse(token_band(setup, load, stated));
    switch (load) {
    case LOAD_LONE:
        return stated ? BAND(setup->rates, rate_lone) : BAND(setup->rates, rate_lone_unstated);
    case LOAD_FULL:
        return has_experts(setup->arch) ? BAND(setup->rates, rate_full_experts) : BAND(setup->rates, rate_full);
    case LOAD_LOOP:
    case LOAD_POISSON:
        break;
    }
    return stated ? BAND(setup->rates, rate_loop) : BAND(setup->rates, rate_loop_unstated);
}

static struct serving_band
widened(struct serving_band band, double power)
{
    return (struct serving_band){ pow(band.low, power), pow(band.high, power) };
}

struct serving_band
serving_band_of(const struct serving_setup *setup, const struct engine_traits *traits, enum serving_figure figure,
                bool full, bool hosted)
{
    enum load load = load_of(setup, full);
    bool stated = setup->job->engine_version[0] != '\0';
    struct serving_band band = { 1, 1 };

    if (hosted)
        return figure == SERVING_THROUGHPUT ? inverse(BAND(setup->rates, hosted)) : BAND(setup->rates, hosted);
    switch (figure) {
    case SERVING_FIRST_TOKEN:
    case SERVING_FIRST_TOKEN_P95:
        band = first_token_band(setup, load);
        break;
    case SERVING_TOKEN:
    case SERVING_TOKEN_P95:
        band = token_band(setup, load, stated);
        break;
    case SERVING_THROUGHPUT:
        band = rate_band(setup, load, stated);
        break;
    }
    if (figure == SERVING_FIRST_TOKEN_P95 ||
        figure == SERVING_TOKEN_P95) /* nobody publishes it with its settings: as wide as what is not measured */
        band = widened(band, setup->rates->serving_band_unmeasured_power);
    if (figure == SERVING_FIRST_TOKEN && !is_server(setup->job->engine)) /* measured of servers */
        band = widened(band, setup->rates->serving_band_unmeasured_power);
    if (!traits->measured || !gpu_family_is_measured(setup->machine->gpu->family) || !model_arch_generates(setup->arch))
        band = widened(band, setup->rates->serving_band_unmeasured_power);
    return band;
}
