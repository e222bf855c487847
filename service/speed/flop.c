/* Operations of the forward pass, layer kind by layer kind. */
#include "service/speed/flop.h"

#include "service/memory/activation.h"
#include "service/parallel/matrices.h"

enum { SCAN_CHUNK_TOKENS = 128 }; /* block of the state-space scan: arXiv:2405.21060 section 6 */

/* Masked language models score only the tokens that were masked: 15 % (arXiv:1810.04805 section 3.1). */
static const double masked_share = 0.15;

double
flop_scored_share(const struct model_arch *arch)
{
    return arch->causal ? 1 : masked_share;
}

double
flop_attended_tokens(const struct model_arch *arch, const struct layer_kind *kind, double sequence_length)
{
    double window = kind->window_tokens, whole = sequence_length;
    bool causal = arch->causal && !kind->encoder;

    if (window <= 0 || window >= whole)
        return causal ? whole / 2 : whole;
    return causal ? window - window * window / (2 * whole) : window;
}

double
flop_forward_pair(const struct layer_kind *kind)
{
    switch (kind->attention) {
    case ATTENTION_NONE:
    case ATTENTION_RECURRENT:
        return 0;
    case ATTENTION_HEADS:
        return 4.0 * kind->head_count * kind->head_size;
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
        elements += (double)kind->experts_per_token * arch->hidden_size * kind->expert_size * (kind->gated ? 3 : 2);
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

double
flop_forward_attention_per_token(const struct model_arch *arch, double sequence_length)
{
    double flop = 0, source;

    if (arch->generic)
        return 0;
    source = encoder_tokens_per_token(arch, sequence_length);
    for (uint32_t i = 0; i < arch->kind_count; i++) {
        const struct layer_kind *kind = &arch->kinds[i];
        double pair = flop_forward_pair(kind), layer = flop_forward_scan(arch, kind);
        double length = kind->encoder ? sequence_length * source : sequence_length;

        layer += pair * flop_attended_tokens(arch, kind, length);
        if (kind->cross_attention)
            layer += pair * source * sequence_length;
        flop += kind->count * layer * (kind->encoder ? source : 1);
    }
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
