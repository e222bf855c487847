/* KV cache: the sum over layers of what each keeps of a token, or of a sequence. */
#include "service/memory/kv_cache.h"

#include "service/base/quantity.h"

/* A recurrent state is kept in 16 bits at least, whatever the format of keys and values. */
static const double min_state_bytes = 2;

/* Elements that a layer keeps of one token on one of `tensor` ranks: K and V of the heads there (arXiv:2309.06180
 * section 3); one latent, whole on every rank (arXiv:2405.04434 section 2.1). */
static double
elements_per_token(const struct layer_kind *kind, uint32_t tensor)
{
    if (kind->encoder || kind->shares_cache)
        return 0;
    switch (kind->attention) {
    case ATTENTION_HEADS:
        if (kind->kept_once)
            return kind->head_size;
        return (double)u64_ceil_div(kind->kv_head_count, tensor) * ((double)kind->head_size + layer_value_size(kind)) +
               kind->index_size;
    case ATTENTION_LATENT:
        return (double)kind->latent_size + kind->rope_size + kind->index_size;
    case ATTENTION_NONE:
    case ATTENTION_RECURRENT:
        break;
    }
    return 0;
}

/* And of the entries that stand for several tokens each, per token (DeepSeek-V4 technical report, section 2.3). */
static double
compressed_per_token(const struct layer_kind *kind)
{
    return kind->compressed_tokens > 0 ? (double)kind->compressed_size / kind->compressed_tokens : 0;
}

static double
tokens_kept(const struct layer_kind *kind, double context_tokens)
{
    return kind->window_tokens > 0 && context_tokens > kind->window_tokens ? kind->window_tokens : context_tokens;
}

double
kv_cache_source_tokens(const struct model_arch *arch, const struct layer_kind *kind)
{
    return kind->cross_attention ? arch->source_tokens : 0;
}

double
kv_cache_layer_bytes_per_gpu(const struct layer_kind *kind, double bytes_per_element, double tokens,
                             double context_tokens, uint32_t tensor)
{
    double conv_bytes = bytes_per_element > min_state_bytes ? bytes_per_element : min_state_bytes;
    double state_bytes = kind->state_element_bytes > 0 ? kind->state_element_bytes : conv_bytes;
    uint64_t conv = u64_min(kind->recurrent_conv_elements, kind->recurrent_state_elements);

    if (kind->attention == ATTENTION_RECURRENT)
        return conv_bytes * (double)u64_ceil_div(conv, tensor) +
               state_bytes * (double)u64_ceil_div(kind->recurrent_state_elements - conv, tensor);
    return bytes_per_element *
           (elements_per_token(kind, tensor) * tokens + compressed_per_token(kind) * context_tokens);
}

/* The stage that keeps most when `pipeline` stages of consecutive layers are as equal as can be; `bytes` holds what a
 * layer of each kind keeps. */
static double
fullest_stage(const struct model_arch *arch, const double *bytes, uint32_t pipeline)
{
    uint32_t stage_layers = (uint32_t)u64_ceil_div(arch->layer_count, pipeline);
    double fullest = 0;

    for (uint32_t first = 0; first < arch->layer_count; first += stage_layers) {
        double stage = 0;

        for (uint32_t i = first; i < arch->layer_count && i < first + stage_layers; i++)
            stage += bytes[arch->kind_of_layer[i]];
        if (stage > fullest)
            fullest = stage;
    }
    return fullest;
}

/* Closed where every stage or every layer is the same. */
double
kv_cache_stage_bytes(const struct model_arch *arch, const double *bytes, uint32_t pipeline)
{
    double sum = 0;

    if (pipeline > 1 && arch->kind_count > 1)
        return fullest_stage(arch, bytes, pipeline);
    for (uint32_t i = 0; i < arch->kind_count; i++)
        sum += bytes[i] * (double)u64_ceil_div(arch->kinds[i].count, pipeline);
    return sum;
}

/* States are not a token's. */
static double
kv_cache_layer_bytes_per_token(const struct layer_kind *kind, double bytes_per_element, uint32_t tensor)
{
    return bytes_per_element * (elements_per_token(kind, tensor) + compressed_per_token(kind));
}

double
kv_cache_bytes_per_token_per_gpu(const struct model_arch *arch, double bytes_per_element, uint32_t tensor,
                                 uint32_t pipeline)
{
    double bytes[MAX_LAYER_KINDS];

    if (!arch->causal)
        return 0;
    for (uint32_t i = 0; i < arch->kind_count; i++)
        bytes[i] = kv_cache_layer_bytes_per_token(&arch->kinds[i], bytes_per_element, tensor > 0 ? tensor : 1);
    return kv_cache_stage_bytes(arch, bytes, pipeline > 0 ? pipeline : 1);
}

double
kv_cache_bytes_per_token(const struct model_arch *arch, double bytes_per_element)
{
    return kv_cache_bytes_per_token_per_gpu(arch, bytes_per_element, 1, 1);
}

double
kv_cache_bytes_per_sequence_per_gpu(const struct model_arch *arch, double bytes_per_element, uint64_t context_tokens,
                                    uint32_t tensor, uint32_t pipeline)
{
    double bytes[MAX_LAYER_KINDS];

    if (!arch->causal)
        return 0;
    for (uint32_t i = 0; i < arch->kind_count; i++)
        bytes[i] = kv_cache_layer_bytes_per_gpu(&arch->kinds[i], bytes_per_element,
                                                tokens_kept(&arch->kinds[i], (double)context_tokens) +
                                                    kv_cache_source_tokens(arch, &arch->kinds[i]),
                                                (double)context_tokens, tensor > 0 ? tensor : 1);
    return kv_cache_stage_bytes(arch, bytes, pipeline > 0 ? pipeline : 1);
}

double
kv_cache_bytes_per_sequence(const struct model_arch *arch, double bytes_per_element, uint64_t context_tokens)
{
    return kv_cache_bytes_per_sequence_per_gpu(arch, bytes_per_element, context_tokens, 1, 1);
}

double
kv_cache_state_bytes_per_sequence(const struct model_arch *arch, double bytes_per_element)
{
    double bytes = 0;

    for (uint32_t i = 0; i < arch->kind_count; i++) {
        if (arch->causal && arch->kinds[i].attention == ATTENTION_RECURRENT)
            bytes += arch->kinds[i].count * kv_cache_layer_bytes_per_gpu(&arch->kinds[i], bytes_per_element, 0, 0, 1);
    }
    return bytes;
}

double
kv_cache_bytes_per_sequence_without_windows(const struct model_arch *arch, double bytes_per_element,
                                            uint64_t context_tokens)
{
    return kv_cache_state_bytes_per_sequence(arch, bytes_per_element) +
           kv_cache_bytes_per_token(arch, bytes_per_element) * (double)context_tokens;
}

double
kv_cache_layer_tokens(const struct model_arch *arch, double context_tokens)
{
    double layer_tokens = 0;

    if (!arch->causal)
        return 0;
    for (uint32_t i = 0; i < arch->kind_count; i++) {
        if (elements_per_token(&arch->kinds[i], 1) > 0)
            layer_tokens += arch->kinds[i].count * tokens_kept(&arch->kinds[i], context_tokens);
    }
    return layer_tokens;
}
