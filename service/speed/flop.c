/* Operations of the forward pass, layer kind by layer kind. */
#include "service/speed/flop.h"

#include "service/memory/activation.h"
#include "service/memory/gathered.h"
#include "service/memory/logits.h"
#include "service/parallel/matrices.h"

enum { SCAN_CHUNK_TOKENS = 128 }; /* block of the state-space scan: arXiv:2405.21060 section 6 */

/* Masked language models score only the tokens that were masked: 15 % (arXiv:1810.04805 section 3.1). */
static const double masked_share = 0.15;

double
flop_scored_share(const struct model_arch *arch)
{
    return arch->causal ? 1 : masked_share;
}

/* Entries that stand for several tokens each, as far as they are read. */
static double
attended_entries(const struct layer_kind *kind, double tokens)
{
    double entries = kind->compressed_tokens > 0 ? tokens / kind->compressed_tokens : 0;

    return kind->compressed_read > 0 && entries > kind->compressed_read ? kind->compressed_read : entries;
}

double
flop_attended_tokens(const struct model_arch *arch, const struct layer_kind *kind, double sequence_length)
{
    double window = kind->window_tokens, whole = sequence_length;
    bool causal = arch->causal && !kind->encoder;
    double entries = attended_entries(kind, causal ? whole / 2 : whole);

    if (kind->index_read > 0 && (window <= 0 || window > kind->index_read)) /* no more tokens than a window has */
        window = kind->index_read;
    if (window <= 0 || window >= whole)
        return (causal ? whole / 2 : whole) + entries;
    return (causal ? window - window * window / (2 * whole) : window) + entries;
}

double
flop_forward_pair(const struct layer_kind *kind)
{
    switch (kind->attention) {
    case ATTENTION_NONE:
    case ATTENTION_RECURRENT:
        return 0;
    case ATTENTION_HEADS:
        return 2.0 * kind->head_count * ((double)kind->head_size + layer_value_size(kind));
    case ATTENTION_LATENT:
        return 2.0 * kind->head_count * ((double)kind->nope_size + kind->rope_size + kind->value_size);
    }
    return 0;
}

double
flop_forward_scan(const struct model_arch *arch, const struct layer_kind *kind)
{
    double width = (double)kind->mixer_elements / arch->hidden_size / 3;

    if (kind->attention != ATTENTION_RECURRENT)
        return 0;
    return 2 * (SCAN_CHUNK_TOKENS * width + 2 * (double)kind->recurrent_state_elements);
}

static double
linear_of_kind(const struct model_arch *arch, const struct layer_kind *kind, double source)
{
    struct layer_matrix matrices[MAX_LAYER_MATRICES];
    uint32_t count = layer_matrices(kind, arch->hidden_size, 1, source, matrices);
    double elements = 0;

    for (uint32_t i = 0; i < count; i++)
        elements += matrices[i].inputs * matrices[i].outputs * matrices[i].tokens;
    if (kind->mlp == MLP_EXPERTS)
        elements += (double)kind->experts_per_token * layer_expert_hidden_size(kind, arch->hidden_size) *
                    kind->expert_size * (kind->gated ? 3 : 2);
    return 2 * elements * (kind->encoder ? source : 1);
}

/* `source`: encoder tokens for each token. */
static double
linear_per_token(const struct model_arch *arch, const struct model_params *params, double source)
{
    double flop = 2 * (double)params->embedding * flop_scored_share(arch);

    for (uint32_t i = 0; i < arch->kind_count; i++)
        flop += arch->kinds[i].count * linear_of_kind(arch, &arch->kinds[i], source);
    return flop;
}

double
flop_forward_linear_per_token(const struct model_arch *arch, const struct model_params *params)
{
    if (arch->generic)
        return arch->flop_per_sample;
    return linear_per_token(arch, params, encoder_tokens_per_token(arch, arch->max_context_tokens));
}

static double
attention_of_kind(const struct model_arch *arch, const struct layer_kind *kind, double sequence_length, double source)
{
    double pair = flop_forward_pair(kind), flop = flop_forward_scan(arch, kind);

    flop += pair * flop_attended_tokens(arch, kind, kind->encoder ? sequence_length * source : sequence_length);
    if (kind->cross_attention)
        flop += pair * source * sequence_length;
    return flop * (kind->encoder ? source : 1);
}

double
flop_forward_attention_per_token(const struct model_arch *arch, double sequence_length)
{
    double flop = 0, source;

    if (arch->generic)
        return 0;
    source = encoder_tokens_per_token(arch, sequence_length);
    for (uint32_t i = 0; i < arch->kind_count; i++)
        flop += arch->kinds[i].count * attention_of_kind(arch, &arch->kinds[i], sequence_length, source);
    return flop;
}

double
flop_training_per_token(const struct model_arch *arch, const struct model_params *params, double sequence_length)
{
    double forward;

    if (arch->generic)
        return 3 * arch->flop_per_sample;
    forward = linear_per_token(arch, params, encoder_tokens_per_token(arch, sequence_length)) +
              flop_forward_attention_per_token(arch, sequence_length);
    return 3 * forward;
}

/* Elements of the adapters that one token passes: of routed experts those of k, not of all. */
static double
adapter_elements_passed(const struct model_arch *arch, const struct training_job *job)
{
    double elements = (double)lora_params_count(arch, job->lora_targets, job->lora_rank);

    if (job->lora_targets != LORA_ALL_LINEAR)
        return elements;
    for (uint32_t i = 0; i < arch->kind_count; i++) {
        const struct layer_kind *kind = &arch->kinds[i];
        double width = (double)layer_expert_hidden_size(kind, arch->hidden_size) + kind->expert_size;

        if (kind->mlp == MLP_EXPERTS)
            elements -= (double)kind->count * (kind->expert_count - (double)kind->experts_per_token) *
                        (kind->gated ? 3 : 2) * width * job->lora_rank;
    }
    return elements;
}

/* Of the last layers of the network, forward. */
static double
last_layers(const struct model_arch *arch, uint32_t count, double sequence_length, double source)
{
    double flop = 0;

    for (uint32_t i = arch->layer_count - count; i < arch->layer_count; i++) {
        const struct layer_kind *kind = &arch->kinds[arch->kind_of_layer[i]];

        flop += linear_of_kind(arch, kind, source) + attention_of_kind(arch, kind, sequence_length, source);
    }
    return flop;
}

double
flop_training_job_per_token(const struct model_arch *arch, const struct model_params *params,
                            const struct training_job *job, double sequence_length)
{
    double source, head, linear, attention;

    if (arch->generic)
        return (method_is_adapter(job->method) ? 2 : 3) * arch->flop_per_sample;
    source = encoder_tokens_per_token(arch, sequence_length);
    head = 2 * (double)params->embedding * flop_scored_share(arch);
    linear = linear_per_token(arch, params, source) - head;
    attention = flop_forward_attention_per_token(arch, sequence_length);
    if (!network_has_scores(arch, job->method))
        head = 0;
    if (method_is_adapter(job->method))
        return 2 * (head + linear) + 3 * attention + 6 * adapter_elements_passed(arch, job);
    if (job->method == METHOD_FREEZE && job->trainable_layers < arch->layer_count)
        return 2 * head + linear + attention + 2 * last_layers(arch, job->trainable_layers, sequence_length, source);
    if (job->method == METHOD_FREEZE)
        return 2 * head + 3 * (linear + attention);
    return 3 * (head + linear + attention);
}
