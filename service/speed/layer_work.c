/* Each matrix product reads its operands and writes its result once; everything between them is traffic alone. */
#include "service/speed/layer_work.h"

#include <string.h>

#include "service/memory/activation.h"
#include "service/memory/gathered.h"
#include "service/memory/logits.h"
#include "service/memory/optimizer.h"
#include "service/parallel/matrices.h"
#include "service/speed/flop.h"

/* What the formulas of one setup share. */
struct frame {
    const struct training_setup *setup;
    double hidden, tensor, norm_ways, tokens, sequence, source;
    double element_bytes;    /* of what passes between products */
    double operand_bytes;    /* of a matrix product's inputs */
    double accumulate_bytes; /* read and write of a weight's gradient */
    bool fp8, eager, spread;
    uint32_t rank;
};

static struct frame
frame_of(const struct training_setup *setup)
{
    const struct training_job *job = setup->job;
    bool fp8 = job->precision == PRECISION_FP8_MIXED;
    double element = precision_element_bytes(job->precision);

    return (struct frame){
        .setup = setup,
        .hidden = setup->arch->hidden_size,
        .tensor = setup->plan.tensor,
        .norm_ways = setup->plan.sequence_parallel == FLAG_YES ? setup->plan.tensor : 1,
        .tokens = (double)setup->micro_batch_size * job->sequence_length / setup->plan.context,
        .sequence = job->sequence_length,
        .source = encoder_tokens_per_token(setup->arch, job->sequence_length),
        .element_bytes = element,
        .operand_bytes = fp8 ? 1 : element,
        /* FP32 main gradient, or one as wide as the rest */
        .accumulate_bytes = job->framework == FRAMEWORK_MEGATRON ? 8 : 2 * element,
        .fp8 = fp8,
        .eager = job->attention == ATTENTION_KERNEL_EAGER,
        .spread = setup->plan.expert > 1,
        .rank = method_is_adapter(job->method) ? job->lora_rank : 0,
    };
}

/* Whether, and how much of, a matrix carries an adapter: of query, key and value two get one under query_value. */
static double
adapted_share(const struct training_job *job, enum matrix_role role)
{
    if (role == MATRIX_ROUTER)
        return 0;
    switch (job->lora_targets) {
    case LORA_TARGETS_UNSAID:
    case LORA_ALL_LINEAR:
        return 1;
    case LORA_ATTENTION:
        return role == MATRIX_MLP ? 0 : 1;
    case LORA_QUERY_VALUE:
        return role == MATRIX_ATTENTION_IN ? 2.0 / 3 : 0;
    }
    return 1;
}

/* A product is cut into tiles, and the last round of tiles leaves processors idle: as much work again as a part of a
 * round, which weighs the more the smaller the result is. Small ones are cut finer, so that there is a most. */
static double
with_idle_tiles(const struct rates *rates, double flop, double rows, double columns)
{
    double idle = rates->training_tile_round_elements / (rows * columns);

    return flop * (1 + (idle < rates->training_tile_round_most ? idle : rates->training_tile_round_most));
}

/* FP8: casting leaves a transposed copy with its scales; only Transformer Engine fuses that with what comes before. */
static void
add_casts(const struct frame *frame, const struct layer_matrix *matrix, double tokens, double layers,
          struct layer_work *work)
{
    bool fused = frame->setup->job->framework == FRAMEWORK_MEGATRON;
    double bytes = fused ? 2 : frame->setup->rates->training_cast_bytes;

    work->linear_bytes += layers * (bytes * tokens + (bytes - 2) * matrix->outputs) * matrix->inputs;
    work->linear_bytes_backward += layers * bytes * tokens * matrix->outputs;
}

static void
add_adapter(const struct frame *frame, const struct layer_matrix *matrix, double tokens, double layers,
            struct layer_work *work)
{
    double share = layers * adapted_share(frame->setup->job, matrix->role);

    work->adapter_bytes += share * frame->element_bytes * tokens * (matrix->inputs + 3 * matrix->outputs);
    work->adapter_flop += share * 2 * tokens * frame->rank * (matrix->inputs + matrix->outputs);
}

static void
add_matrix(const struct frame *frame, const struct layer_matrix *matrix, double layers, struct layer_work *work)
{
    const struct rates *rates = frame->setup->rates;
    double in = matrix->inputs, out = matrix->outputs;
    double tokens = frame->tokens * matrix->tokens / (matrix->whole ? frame->norm_ways : 1);
    double flop = layers * 2 * tokens * in * out;
    double operands = layers * (frame->operand_bytes * (tokens * in + in * out) + frame->element_bytes * tokens * out);

    work->linear_flop += with_idle_tiles(rates, flop, tokens, out);
    work->linear_flop_backward += with_idle_tiles(rates, flop, tokens, in);
    work->gradient_flop += with_idle_tiles(rates, flop, in, out);
    work->linear_bytes += operands;
    work->linear_bytes_backward += operands;
    work->gradient_bytes += layers * (frame->operand_bytes * tokens * (in + out) + frame->accumulate_bytes * in * out);
    work->weights += layers * in * out;
    if (frame->fp8)
        add_casts(frame, matrix, tokens, layers, work);
    if (frame->rank > 0)
        add_adapter(frame, matrix, tokens, layers, work);
}

/* Experts see balanced rows; every expert of this GPU is touched by each micro-batch. */
static void
add_experts(const struct frame *frame, const struct layer_kind *kind, double layers, struct layer_work *work)
{
    double matrices = kind->gated ? 3 : 2, width = kind->expert_size;
    double rows = frame->tokens * kind->experts_per_token / frame->tensor;
    double hidden = layer_expert_hidden_size(kind, frame->setup->arch->hidden_size);
    double here = kind->expert_count / (frame->spread ? (double)frame->setup->plan.expert : frame->tensor);
    double weights = here * hidden * width * matrices;
    double operands = frame->operand_bytes * (rows * hidden * 2 + rows * width + weights) +
                      frame->element_bytes * rows * (width * (matrices - 1) + hidden);

    work->expert_flop += layers * 2 * rows * hidden * width * matrices;
    work->expert_bytes += layers * operands;
    work->expert_bytes_backward += layers * (operands + (frame->fp8 ? 2 * rows * (hidden + width) : 0));
    work->expert_gradient_bytes +=
        layers * (frame->operand_bytes * rows * (2 * hidden + width * matrices) + frame->accumulate_bytes * weights);
    work->elementwise_bytes += layers * frame->element_bytes * rows * (4 * hidden + matrices * width);
    work->weights += layers * weights;
    work->kernels += layers * (frame->setup->rates->training_expert_kernels - 1);
    if (frame->spread) {
        work->expert_sent_bytes += layers * frame->element_bytes * rows * hidden;
        work->expert_count += layers * 2;
        if (kind->experts_per_token > work->expert_copies)
            work->expert_copies = kind->experts_per_token;
    }
    if (frame->rank > 0 && adapted_share(frame->setup->job, MATRIX_MLP) > 0) {
        work->adapter_bytes += layers * frame->element_bytes * rows * (matrices - 1) * (hidden + 3 * width);
        work->adapter_flop += layers * 2 * rows * frame->rank * matrices * (hidden + width);
    }
}

/* Fused kernels lose more on narrow heads, whose softmax weighs more beside the products; 1 from 128 on
 * (arXiv:2307.08691 section 4.1 measures 64 and 128). */
static double
narrow_head_loss(const struct frame *frame, const struct layer_kind *kind)
{
    double lost = frame->setup->rates->training_attention_head_loss, loss, size = kind->head_size;

    if (kind->attention == ATTENTION_LATENT)
        size = ((double)kind->nope_size + kind->rope_size + kind->value_size) / 2;
    if (frame->eager || size <= 0)
        return 1;
    loss = (size + lost) / size * 128 / (128 + lost);
    return loss > 1 ? loss : 1;
}

static void
add_attention(const struct frame *frame, const struct layer_kind *kind, double layers, struct layer_work *work)
{
    const struct model_arch *arch = frame->setup->arch;
    double tokens = frame->tokens / frame->tensor, pair = flop_forward_pair(kind);
    double length = kind->encoder ? frame->sequence * frame->source : frame->sequence;
    /* eager attention computes and masks the whole square */
    double attended = frame->eager ? length : flop_attended_tokens(arch, kind, length);
    double crossed = kind->cross_attention ? frame->sequence * frame->source : 0;

    work->attention_flop +=
        layers * tokens * (narrow_head_loss(frame, kind) * pair * (attended + crossed) + flop_forward_scan(arch, kind));
    if (frame->eager && pair > 0)
        work->score_bytes += layers * frame->element_bytes * tokens * kind->head_count * (length + crossed);
    if (frame->setup->plan.context > 1) {
        double kept = kind->attention == ATTENTION_LATENT ? (double)kind->latent_size + kind->rope_size
                                                          : 2.0 * kind->kv_head_count * kind->head_size;

        work->context_bytes += layers * (frame->setup->plan.context - 1) * frame->element_bytes * tokens * kept;
    }
}

/* Elements that pass through norms, rotary embedding, activation and residual, for each token. */
static double
elementwise_elements(const struct frame *frame, const struct layer_kind *kind)
{
    double blocks = (kind->attention != ATTENTION_NONE) + (kind->mlp != MLP_NONE) + kind->cross_attention;
    double width = kind->mlp == MLP_DENSE ? kind->intermediate_size : kind->shared_size, rotated = 0;

    if (kind->attention == ATTENTION_HEADS)
        rotated = ((double)kind->head_count + 2.0 * kind->kv_head_count) * kind->head_size;
    else if (kind->attention == ATTENTION_LATENT)
        rotated = kind->head_count * (2 * ((double)kind->nope_size + kind->rope_size) + kind->value_size);
    else if (kind->attention == ATTENTION_RECURRENT)
        rotated = (double)kind->mixer_elements / frame->hidden;
    return 5 * blocks * frame->hidden / frame->norm_ways +
           (2 * rotated + (kind->gated ? 3 : 2) * width) / frame->tensor;
}

/* One block of attention and one of MLP each end in a sum over tensor ranks; spread experts exchange tokens instead. */
static void
add_sums(const struct frame *frame, const struct layer_kind *kind, double layers, struct layer_work *work)
{
    bool mlp = kind->mlp == MLP_DENSE || (kind->mlp == MLP_EXPERTS && (!frame->spread || kind->shared_size > 0));
    double blocks = (kind->attention != ATTENTION_NONE) + mlp + kind->cross_attention;

    if (frame->setup->plan.tensor <= 1)
        return;
    work->tensor_bytes += layers * blocks * frame->element_bytes * frame->tokens * frame->hidden;
    work->tensor_count += layers * blocks;
}

static void
add_head(const struct frame *frame, struct layer_work *work)
{
    const struct training_setup *setup = frame->setup;
    const struct rates *rates = setup->rates;
    double scored = frame->tokens * flop_scored_share(setup->arch);
    double traffic =
        setup->job->loss == LOSS_FUSED ? rates->training_head_bytes_fused : rates->training_head_bytes_unfused;

    if (!network_has_scores(setup->arch, setup->job->method))
        return;
    work->head_flop = 2 * scored * (double)setup->params->embedding / frame->tensor;
    work->head_bytes = scored * setup->arch->vocabulary_size / frame->tensor * traffic;
}

void
layer_work_of(const struct training_setup *setup, struct layer_work *ret_work)
{
    struct frame frame = frame_of(setup);
    double whole_tokens = frame.tokens;

    memset(ret_work, 0, sizeof(*ret_work));
    for (uint32_t i = 0; i < setup->arch->kind_count; i++) {
        const struct layer_kind *kind = &setup->arch->kinds[i];
        struct layer_matrix matrices[MAX_LAYER_MATRICES];
        uint32_t count = layer_matrices(kind, frame.hidden, frame.tensor, frame.source, matrices);
        double layers = (double)kind->count / setup->plan.pipeline;

        frame.tokens = kind->encoder ? whole_tokens * frame.source : whole_tokens;
        ret_work->layers += layers;
        ret_work->kernels += layers;
        for (uint32_t j = 0; j < count; j++)
            add_matrix(&frame, &matrices[j], layers, ret_work);
        if (kind->mlp == MLP_EXPERTS)
            add_experts(&frame, kind, layers, ret_work);
        add_attention(&frame, kind, layers, ret_work);
        add_sums(&frame, kind, layers, ret_work);
        ret_work->elementwise_bytes += layers * frame.element_bytes * frame.tokens * elementwise_elements(&frame, kind);
    }
    frame.tokens = whole_tokens;
    add_head(&frame, ret_work);
}
