#include "service/memory/serving_cache.h"

#include <math.h>

#include "service/base/quantity.h"
#include "service/job/engine.h"
#include "service/memory/kv_cache.h"
#include "service/memory/serving_split.h"

/* vLLM: the largest kind sets the size of a group while it is at most this much larger than the smallest. */
static const double nearly_alike = 1.25;

static bool
keeps_cache(const struct layer_kind *kind)
{
    return kind->attention != ATTENTION_NONE && !kind->encoder && !kind->shares_cache;
}

static bool
is_alike(const struct layer_kind *a, const struct layer_kind *b)
{
    return a->attention == b->attention && a->window_tokens == b->window_tokens &&
           a->kv_head_count == b->kv_head_count && a->head_size == b->head_size;
}

/* Layers with the same cache as those of a kind. */
static double
alike_layers(const struct model_arch *arch, const struct layer_kind *kind)
{
    double count = 0;

    for (uint32_t i = 0; i < arch->kind_count; i++)
        if (keeps_cache(&arch->kinds[i]) && is_alike(&arch->kinds[i], kind))
            count += arch->kinds[i].count;
    return count;
}

/* Layers of a group, given the fewest and the most layers that are alike. */
static double
group_layers(const struct model_arch *arch)
{
    double fewest = HUGE_VAL, most = 0;

    for (uint32_t i = 0; i < arch->kind_count; i++) {
        if (!keeps_cache(&arch->kinds[i]))
            continue;
        fewest = fmin(fewest, alike_layers(arch, &arch->kinds[i]));
        most = fmax(most, alike_layers(arch, &arch->kinds[i]));
    }
    return most < fewest * nearly_alike ? most : fewest;
}

static bool
is_mixed(const struct model_arch *arch)
{
    const struct layer_kind *first = NULL;

    for (uint32_t i = 0; i < arch->kind_count; i++) {
        if (!keeps_cache(&arch->kinds[i]))
            continue;
        if (first != NULL && !is_alike(first, &arch->kinds[i]))
            return true;
        first = &arch->kinds[i];
    }
    return false;
}

/* Tokens that fill a page: as many as take the bytes of a recurrent layer's state, in whole blocks. */
static double
page_tokens(const struct serving_setup *setup, double element, double block)
{
    const struct model_arch *arch = setup->arch;
    uint32_t tensor = (uint32_t)serving_ways(setup->plan.tensor);
    double state = 0, token = 0;

    for (uint32_t i = 0; i < arch->kind_count; i++) {
        double bytes = kv_cache_layer_bytes_per_gpu(&arch->kinds[i], element, 1, 1, tensor);

        if (arch->kinds[i].attention == ATTENTION_RECURRENT)
            state = fmax(state, bytes);
        else
            token = fmax(token, bytes);
    }
    return state > 0 && token > 0 ? fmax(block, ceil(state / token / block) * block) : block;
}

/* Tokens of a sequence that a layer's cache has room for. */
static double
tokens_kept(const struct serving_setup *setup, const struct engine_traits *traits, const struct layer_kind *kind,
            double tokens, double block)
{
    const struct rates *rates = setup->rates;
    double window = kind->window_tokens, sequences = (double)serving_sequences_per_group(setup);

    if (!(window > 0) || tokens <= window)
        return tokens;
    switch (traits->windows) {
    case ENGINE_WINDOWS_WHOLE:
        return tokens;
    case ENGINE_WINDOWS_SHARE:
        return fmax(window, rates->serving_window_share * tokens);
    case ENGINE_WINDOWS_AND_BATCH:
        return fmin(tokens, window + rates->serving_window_batch_tokens / sequences);
    case ENGINE_WINDOWS_GROUPED:
    case ENGINE_WINDOWS_KEPT:
        break;
    }
    return fmin(tokens, ceil(window / block) * block + block); /* it starts within a block */
}

double
serving_sequence_bytes(const struct serving_setup *setup, uint64_t tokens)
{
    const struct model_arch *arch = setup->arch;
    struct engine_traits traits = engine_traits_of(setup->job->engine, setup->job->engine_version);
    bool paged = traits.pool == ENGINE_POOL_OF_TOTAL || traits.pool == ENGINE_POOL_OF_FREE, mixed = is_mixed(arch);
    bool grouped = mixed && traits.windows == ENGINE_WINDOWS_GROUPED;
    double element = kv_format_bytes(setup->job->kv_cache_precision);
    double block = paged ? fmax(1, setup->rates->serving_block_tokens) : 1, group = grouped ? group_layers(arch) : 1;
    double bytes[MAX_LAYER_KINDS], length = (double)tokens;

    if (!model_arch_generates(arch))
        return 0;
    if (grouped)
        block = page_tokens(setup, element, block);
    length = ceil(length / block) * block;
    if (!mixed && traits.windows != ENGINE_WINDOWS_AND_BATCH)
        traits.windows = ENGINE_WINDOWS_KEPT; /* a window that all layers have is the model's own */
    for (uint32_t i = 0; i < arch->kind_count; i++) {
        const struct layer_kind *kind = &arch->kinds[i];
        double alike = keeps_cache(kind) ? alike_layers(arch, kind) : 1;
        double source = ceil(kv_cache_source_tokens(arch, kind) / block) * block;
        double padded = grouped && keeps_cache(kind) ? ceil(alike / group) * group / alike : 1;

        bytes[i] = padded * kv_cache_layer_bytes_per_gpu(kind, element,
                                                         tokens_kept(setup, &traits, kind, length, block) + source,
                                                         length, (uint32_t)serving_ways(setup->plan.tensor));
    }
    return kv_cache_stage_bytes(arch, bytes, (uint32_t)serving_ways(setup->plan.pipeline));
}

double
serving_sequence_least_bytes(const struct serving_setup *setup, uint64_t tokens)
{
    if (!model_arch_generates(setup->arch))
        return 0;
    return kv_cache_bytes_per_sequence_per_gpu(setup->arch, kv_format_bytes(setup->job->kv_cache_precision), tokens,
                                               setup->plan.tensor, setup->plan.pipeline);
}
