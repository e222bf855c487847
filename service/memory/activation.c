/* Bytes a layer keeps, by its attention, its MLP and what is recomputed. */
#include "service/memory/activation.h"

#include "service/memory/optimizer.h"

/* What the formulas of one layer share. */
struct layer_frame {
    const struct training_setup *setup;
    double hidden, tensor, norm_ways;
    double source; /* encoder tokens a token */
    double norms;  /* bytes an element of two norms and the residual */
    double mlp;    /* bytes an element of a gated MLP's width */
    double plain;  /* the same without a gate */
    double wide;   /* elements of 16 bit: 1, of 32: 2 */
    bool eager_attention;
};

/* Eager norms of decoders keep an FP32 copy. Encoders (LayerNorm, GELU) keep the masks of their two dropouts beside
 * what any layer keeps, and run it fused: 34 h in all, arXiv:2205.05198 section 4.1. */
static double
norm_bytes(const struct training_setup *setup, double wide)
{
    enum framework framework = setup->job->framework;

    if (!setup->arch->causal)
        return 8 * wide + 2;
    return framework == FRAMEWORK_HF_TRAINER || framework == FRAMEWORK_DEEPSPEED ? 16 : 8 * wide;
}

static struct layer_frame
layer_frame_of(const struct training_setup *setup, const struct stage *stage)
{
    enum framework framework = setup->job->framework;
    bool sequence_parallel = setup->plan.sequence_parallel == FLAG_YES;
    bool fused = framework == FRAMEWORK_MEGATRON;
    double wide = precision_element_bytes(setup->job->precision) / 2;
    struct layer_frame frame = {
        .setup = setup,
        .hidden = setup->arch->hidden_size,
        .tensor = stage->tensor,
        .norm_ways = sequence_parallel ? stage->tensor : 1,
        .source = encoder_tokens_per_token(setup->arch, setup->job->sequence_length),
        .norms = norm_bytes(setup, wide),
        .mlp = (fused ? 6 : 8) * wide,
        .plain = (fused || !setup->arch->causal ? 4 : 6) * wide,
        .wide = wide,
        .eager_attention = setup->job->attention == ATTENTION_KERNEL_EAGER,
    };

    return frame;
}

double
encoder_tokens_per_token(const struct model_arch *arch, double sequence_length)
{
    bool crosses = false;
    double positions;

    for (uint32_t i = 0; i < arch->kind_count; i++)
        crosses = crosses || arch->kinds[i].cross_attention;
    if (!crosses || arch->hidden_size == 0 || !(sequence_length > 0))
        return 1;
    positions = (double)arch->position_elements / arch->hidden_size - arch->max_context_tokens;
    return positions > 0 ? positions / sequence_length : 1;
}

static double
heads_bytes(const struct layer_frame *frame, const struct layer_kind *kind)
{
    double query = (double)kind->head_count * kind->head_size, key = (double)kind->kv_head_count * kind->head_size;
    double kept = 2 * (query + 2 * key) + 2 * query, sums = 4.0 * kind->head_count;

    if (kind->query_gate)
        kept += 2 * query;
    if (kind->cross_attention) { /* keys and values of the encoder's tokens */
        kept += 4 * query + 4 * key * frame->source;
        sums *= 2;
    }
    return (frame->wide * kept + sums) / frame->tensor;
}

static double
latent_bytes(const struct layer_frame *frame, const struct layer_kind *kind)
{
    double heads = kind->head_count, query = heads * ((double)kind->nope_size + kind->rope_size);
    double value = heads * kind->value_size;
    double whole = 2 * (2.0 * kind->query_rank + 2.0 * kind->latent_size + kind->rope_size);

    return frame->wide * (whole + (2 * (2 * query + value) + (kind->query_gate ? 4 : 2) * value) / frame->tensor) +
           4 * heads / frame->tensor;
}

static double
attention_bytes(const struct layer_frame *frame, const struct layer_kind *kind)
{
    switch (kind->attention) {
    case ATTENTION_NONE:
        return 0;
    case ATTENTION_HEADS:
        return heads_bytes(frame, kind);
    case ATTENTION_LATENT:
        return latent_bytes(frame, kind);
    case ATTENTION_RECURRENT:
        /* what goes into the mixer and what it makes of it, before and after its scan: its matrices' widths twice */
        return 4 * frame->wide * (double)kind->mixer_elements / frame->hidden / frame->tensor;
    }
    return 0;
}

static double
mlp_bytes(const struct layer_frame *frame, const struct layer_kind *kind)
{
    double width = kind->gated ? frame->mlp : frame->plain;

    switch (kind->mlp) {
    case MLP_NONE:
        return 0;
    case MLP_DENSE:
        return width * kind->intermediate_size / frame->tensor;
    case MLP_EXPERTS: {
        /* tensor ranks share the tokens of spread experts, and cut the width of experts that are not spread */
        bool spread = frame->setup->plan.expert > 1;
        double rows = kind->experts_per_token / (spread ? frame->tensor : 1);
        double moved = 4 * frame->wide * frame->hidden;
        double routed = rows * (moved + width * kind->expert_size / (spread ? 1 : frame->tensor));

        return routed + width * kind->shared_size / frame->tensor + 4.0 * kind->expert_count + moved / 2;
    }
    }
    return 0;
}

/* Scores of every head against the whole sequence: after the softmax, after the dropout, and its mask of a byte. */
static double
score_bytes(const struct layer_frame *frame, const struct layer_kind *kind)
{
    bool masked = frame->setup->job->framework == FRAMEWORK_MEGATRON || !frame->setup->arch->causal;
    double kept = masked ? 4 * frame->wide + 1 : (frame->wide > 1 ? 8 : 6);
    double sequence = frame->setup->job->sequence_length;

    if (!frame->eager_attention || kind->attention == ATTENTION_NONE || kind->attention == ATTENTION_RECURRENT)
        return 0;
    if (kind->encoder)
        sequence *= frame->source;
    else if (kind->cross_attention)
        sequence *= 1 + frame->source;
    return kept * kind->head_count * sequence / frame->tensor;
}

static double
layer_bytes(const struct layer_frame *frame, const struct layer_kind *kind, bool with_scores)
{
    double norms = frame->norms * frame->hidden / frame->norm_ways;

    if (kind->cross_attention)
        norms *= 1.5; /* three blocks instead of two */
    return norms + attention_bytes(frame, kind) + mlp_bytes(frame, kind) + (with_scores ? score_bytes(frame, kind) : 0);
}

/* PyTorch's operator policy keeps every second matrix product, the attention output and the layer's input
 * (torchtitan, activation checkpoint mode "op"); Megatron's drops the attention core, which flash never keeps. */
static double
selective_bytes(const struct layer_frame *frame, const struct layer_kind *kind)
{
    double query = (double)kind->head_count * kind->head_size, key = (double)kind->kv_head_count * kind->head_size;

    if (frame->setup->job->framework != FRAMEWORK_FSDP)
        return layer_bytes(frame, kind, false);
    if (kind->mlp != MLP_DENSE || kind->attention != ATTENTION_HEADS)
        return layer_bytes(frame, kind, false) / 2;
    return frame->wide * (4 * frame->hidden / frame->norm_ways +
                          (4 * query + 2 * key + 2.0 * kind->intermediate_size) / frame->tensor);
}

static double
in_flight(const struct training_setup *setup, const struct stage *stage)
{
    const struct parallelism *plan = &setup->plan;
    double stages = plan->pipeline, chunks = plan->virtual_stages, steps = setup->accumulation_steps;

    if (stages <= 1 || (!stage->first && chunks <= 1))
        return 1;
    if (steps < stages)
        stages = steps;
    if (chunks <= 1)
        return stages;
    /* the first stage starts 2 (p - 1) chunks ahead of its first backward, both keep all but one round of chunks */
    return stage->first ? stages * (1 + (plan->pipeline - 1.0) / (plan->pipeline * chunks))
                        : (stages * (chunks - 1) + 1) / chunks;
}

/* Of the layers that full recompute names, some may be left as they are (Megatron: recompute_num_layers). */
static double
recomputed_share(const struct training_setup *setup)
{
    if (setup->recompute != RECOMPUTE_FULL)
        return 0;
    return setup->recompute_share > 0 && setup->recompute_share < 1 ? setup->recompute_share : 1;
}

void
activation_bytes_of(const struct training_setup *setup, const struct stage *stage,
                    struct activation_bytes *ret_activation)
{
    struct layer_frame frame = layer_frame_of(setup, stage);
    bool selective = setup->recompute == RECOMPUTE_SELECTIVE;
    double share = recomputed_share(setup), kept = 0, inputs = 0, largest = 0;
    struct activation_bytes *activation = ret_activation;

    activation->tokens = (double)setup->micro_batch_size * setup->job->sequence_length / setup->plan.context;
    activation->in_flight = in_flight(setup, stage);
    activation->checkpoint = activation->input = 2 * frame.wide * frame.hidden / frame.norm_ways;
    for (uint32_t i = 0; i < setup->arch->kind_count; i++) {
        const struct layer_kind *kind = &setup->arch->kinds[i];
        double tokens = kind->encoder ? frame.source : 1, layer, layers = stage->trained_layers[i];

        if (layers <= 0) /* below the first trained layer nothing has a gradient to compute */
            continue;
        layer = layer_bytes(&frame, kind, true) * tokens;
        largest = layer > largest ? layer : largest;
        kept += layers * (selective ? selective_bytes(&frame, kind) * tokens : layer);
        inputs += layers * tokens;
    }
    activation->checkpoints = inputs * share;
    activation->kept = kept * (1 - share);
    activation->work = 0;
    if (share > 0)
        activation->work =
            setup->rates->training_memory_work * largest +
            (frame.norm_ways > 1 ? 2 * frame.wide * frame.hidden : 0); /* gathered from its sequence shards */
    else if (selective && setup->job->framework == FRAMEWORK_FSDP)
        activation->work = largest;
}
