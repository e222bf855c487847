/* A model known by few sizes: a llama of those sizes, what is missing taken from published models of that size. */
#include <math.h>
#include <string.h>

#include "service/base/quantity.h"
#include "service/base/text.h"
#include "service/model/arch.h"
#include "service/model/params.h"
#include "service/model/reader.h"

/* Depth and width of published dense decoders (their config.json: SmolLM-135M, Qwen2.5-0.5B, Llama-3.2-1B and -3B,
 * Llama-3-8B, Qwen2.5-14B and -32B, Llama-3-70B, Mistral-Large-2407, Llama-3.1-405B). */
static const struct usual_shape {
    double parameters;
    uint32_t layers, hidden;
} usual_shapes[] = {
    { 0.135e9, 30, 576 }, { 0.494e9, 24, 896 }, { 1.24e9, 16, 2048 }, { 3.2e9, 28, 3072 },    { 8.03e9, 32, 4096 },
    { 14.8e9, 48, 5120 }, { 32.8e9, 64, 5120 }, { 70.6e9, 80, 8192 }, { 122.6e9, 88, 12288 }, { 405.9e9, 126, 16384 },
};

/* What a layer of a gated decoder holds in hidden^2: 2.5 attention with few key heads, 10.5 MLP of 3.5 hidden. */
static const double squares_per_layer = 13;

/* Below it published decoders tie their head (Llama-3.2-3B does, Llama-3-8B does not). */
static const uint64_t tied_below = 4000000000;

/* Sizes as they were stated, filled up; `shared_size` is only ever derived. */
struct filled {
    struct model_shape shape;
    bool mixture;
    uint32_t shared_size;
};

static uint32_t
clamp_u32(double value, uint32_t min, uint32_t max)
{
    if (!(value > min))
        return min;
    return value >= max ? max : (uint32_t)value;
}

static uint32_t
round_to(double value, uint32_t multiple, uint32_t max)
{
    return clamp_u32(floor(value / multiple + 0.5) * multiple, multiple, max);
}

static const struct usual_shape *
nearest_usual(double parameters)
{
    const struct usual_shape *nearest = &usual_shapes[0];

    for (size_t i = 1; i < COUNT_OF(usual_shapes); i++) {
        if (fabs(log(usual_shapes[i].parameters / parameters)) < fabs(log(nearest->parameters / parameters)))
            nearest = &usual_shapes[i];
    }
    return nearest;
}

static bool
is_mixture(const struct model_shape *shape)
{
    return shape->expert_count > 1 || shape->expert_intermediate_size > 0 ||
           (shape->active_parameter_count > 0 && shape->active_parameter_count < shape->parameter_count);
}

/* Experts and how many are used: mixtures of few wide ones use 2, of many narrow ones 8 (Mixtral, DeepSeek-V3, Qwen3);
 * with stated active parameters the second is left to them. */
static void
fill_experts(struct model_shape *shape)
{
    bool few = shape->active_parameter_count > shape->parameter_count / 5;

    if (shape->expert_count == 0)
        shape->expert_count = few ? 8 : 128;
    if (shape->experts_per_token == 0 && shape->active_parameter_count == 0)
        shape->experts_per_token = (uint32_t)u64_min(shape->expert_count <= 16 ? 2 : 8, shape->expert_count);
}

/* The dense model whose depth and width this one has: a mixture that of its active parameters. */
static double
dense_equivalent(const struct model_shape *shape)
{
    if (!is_mixture(shape))
        return (double)shape->parameter_count;
    if (shape->active_parameter_count > 0)
        return (double)shape->active_parameter_count;
    return (double)shape->parameter_count * shape->experts_per_token / shape->expert_count;
}

/* Widths are whole numbers of heads, wide ones of eight or sixteen. */
static uint32_t
usual_width(double width)
{
    return round_to(width, width >= 3584 ? 1024 : width >= 768 ? 512 : 64, LIMIT_HIDDEN);
}

static void
fill_depth_and_width(struct model_shape *shape)
{
    double parameters = dense_equivalent(shape);
    const struct usual_shape *usual = nearest_usual(parameters);
    double scale = cbrt(parameters / usual->parameters);

    if (shape->layer_count == 0 && shape->hidden_size == 0) {
        shape->layer_count = clamp_u32(usual->layers * scale + 0.5, 1, MAX_LAYERS);
        shape->hidden_size = usual_width(usual->hidden * scale);
    } else if (shape->layer_count == 0) {
        double square = (double)shape->hidden_size * shape->hidden_size;

        shape->layer_count = clamp_u32(parameters / (squares_per_layer * square) + 0.5, 1, MAX_LAYERS);
    } else if (shape->hidden_size == 0) {
        shape->hidden_size = usual_width(sqrt(parameters / (squares_per_layer * shape->layer_count)));
    }
}

/* Heads of 128 in wide models, of 64 in narrow ones; at most 8 key heads, unless heads were stated without them: then
 * as many, as a config without the key means. */
static void
fill_heads(struct model_shape *shape)
{
    bool stated = shape->attention_head_count > 0;

    if (!stated) {
        if (shape->head_size == 0)
            shape->head_size = (uint32_t)u64_min(shape->hidden_size >= 2048 ? 128 : 64, shape->hidden_size);
        shape->attention_head_count = clamp_u32((double)shape->hidden_size / shape->head_size, 1, LIMIT_HEADS);
    }
    if (shape->kv_head_count == 0) {
        shape->kv_head_count = stated ? shape->attention_head_count : 8;
        while (shape->attention_head_count % shape->kv_head_count != 0)
            shape->kv_head_count--;
    }
    if (shape->head_size == 0)
        shape->head_size = shape->hidden_size / shape->attention_head_count;
}

/* Vocabularies of Llama-2 and of Llama-3 size, by what such models have; never most of a small one. */
static void
fill_vocabulary(struct model_shape *shape)
{
    uint64_t usual = shape->parameter_count < 1000000000 ? 32000 : 128256;

    if (shape->vocabulary_size == 0)
        shape->vocabulary_size =
            (uint32_t)u64_max(1, u64_min(usual, shape->parameter_count / (4 * (uint64_t)shape->hidden_size)));
}

static void
build(const struct filled *filled, struct model_arch *arch)
{
    const struct model_shape *shape = &filled->shape;
    struct layer_kind *kind = &arch->kinds[0];

    memset(arch, 0, sizeof(*arch));
    arch->layer_count = shape->layer_count;
    arch->hidden_size = shape->hidden_size;
    arch->vocabulary_size = shape->vocabulary_size;
    arch->max_context_tokens = shape->max_context_tokens;
    arch->tied_head = shape->tied_head;
    arch->causal = true;
    arch->kind_count = 1;
    arch->final_norm_elements = shape->hidden_size;
    arch->native_format = arch->stored_format = WEIGHT_BF16;
    kind->count = shape->layer_count;
    kind->attention = ATTENTION_HEADS;
    kind->head_count = shape->attention_head_count;
    kind->kv_head_count = shape->kv_head_count;
    kind->head_size = shape->head_size;
    kind->gated = true;
    kind->norm_elements = 2 * (uint64_t)shape->hidden_size;
    kind->mlp = filled->mixture ? MLP_EXPERTS : MLP_DENSE;
    if (kind->mlp == MLP_DENSE) {
        kind->intermediate_size = shape->intermediate_size;
        return;
    }
    kind->expert_count = shape->expert_count;
    kind->experts_per_token = shape->experts_per_token;
    kind->expert_size = shape->expert_intermediate_size;
    kind->shared_size = filled->shared_size;
}

/* Experts a token and their width from what is active and what is not, a shared expert from what that leaves. */
static void
fill_mixture_by_active(struct filled *filled, const struct model_params *rest, double per_width)
{
    struct model_shape *shape = &filled->shape;
    double active = (double)shape->active_parameter_count;
    double share = (active - (double)rest->active) / ((double)shape->parameter_count - (double)rest->active);

    if (shape->experts_per_token == 0)
        shape->experts_per_token = clamp_u32(share * shape->expert_count, 1, shape->expert_count - 1);
    double idle_experts = shape->expert_count - shape->experts_per_token;
    shape->expert_intermediate_size =
        clamp_u32(((double)shape->parameter_count - active) / (per_width * idle_experts), 1, LIMIT_WIDTH);
    double used = (double)rest->active + per_width * shape->experts_per_token * shape->expert_intermediate_size;
    filled->shared_size = clamp_u32((active - used) / per_width, 0, LIMIT_WIDTH);
}

/* The MLP takes what the rest of the model leaves of the total. */
static void
fill_mlp(struct filled *filled)
{
    struct model_shape *shape = &filled->shape;
    uint32_t *width = filled->mixture ? &shape->expert_intermediate_size : &shape->intermediate_size;
    double per_width = 3.0 * shape->hidden_size * shape->layer_count;
    struct model_arch arch;

    if (filled->mixture && *width == 0 && shape->expert_count <= 16)
        *width = shape->intermediate_size; /* as Mixtral's configs name it */
    if (*width > 0) {
        double idle = (double)shape->parameter_count - (double)shape->active_parameter_count;

        if (shape->experts_per_token == 0)
            shape->experts_per_token =
                clamp_u32(shape->expert_count - idle / (per_width * *width) + 0.5, 1, shape->expert_count);
        return;
    }
    if (shape->expert_count == 1)
        shape->experts_per_token = 1;
    shape->tied_head = shape->tied_head || shape->parameter_count < tied_below;
    build(filled, &arch);
    struct model_params rest = model_params_count(&arch);
    if (filled->mixture && shape->active_parameter_count > 0 && shape->expert_count > shape->experts_per_token) {
        fill_mixture_by_active(filled, &rest, per_width);
        return;
    }
    double left = (double)shape->parameter_count - (double)rest.total;
    *width = clamp_u32(left / (per_width * (filled->mixture ? shape->expert_count : 1)), 1, LIMIT_WIDTH);
    if (*width > 64)
        *width -= *width % 64;
}

/* A head is the embedding when the stated total is nearer to that. */
static void
settle_head(struct model_arch *arch, uint64_t stated)
{
    struct model_arch tied = *arch;

    tied.tied_head = true;
    double untied_difference = fabs((double)model_params_count(arch).total - (double)stated);
    double tied_difference = fabs((double)model_params_count(&tied).total - (double)stated);
    if (tied_difference < untied_difference)
        arch->tied_head = true;
}

/* A fault at one member of the shape. */
static void
shape_fault(struct fault *fault, enum fault_code code, const char *pointer, const char *member, uint64_t value,
            const char *relation, uint64_t limit)
{
    char at[FAULT_POINTER_SIZE];
    char held[FAULT_TEXT_SIZE] = "";
    char expected[FAULT_TEXT_SIZE];

    text_format(at, sizeof(at), "%s/%s", pointer, member);
    text_format(held, sizeof(held), "%llu", (unsigned long long)value);
    text_format(expected, sizeof(expected), "%s%llu", relation, (unsigned long long)limit);
    fault_add(fault, code, at, code == FAULT_MODEL_FIELD_MISSING ? NULL : held, expected, NULL);
}

/* Sizes that cannot hold together. */
static enum status
check_stated(const struct model_shape *shape, const char *pointer, struct fault *fault)
{
    size_t before = fault->item_count + fault->more_count;
    uint32_t heads = shape->attention_head_count;

    if (shape->parameter_count == 0)
        shape_fault(fault, FAULT_MODEL_FIELD_MISSING, pointer, "parameter_count", 0, "integer 1..", LIMIT_PARAMETERS);
    if (heads > 0 && shape->head_size == 0 && shape->hidden_size % heads != 0)
        shape_fault(fault, FAULT_MODEL_CONTRADICTION, pointer, "attention_head_count", heads, "divisor of ",
                    shape->hidden_size);
    if (heads > 0 && shape->kv_head_count > 0 && heads % shape->kv_head_count != 0)
        shape_fault(fault, FAULT_MODEL_CONTRADICTION, pointer, "kv_head_count", shape->kv_head_count, "divisor of ",
                    heads);
    if (shape->expert_count > 0 && shape->experts_per_token > shape->expert_count)
        shape_fault(fault, FAULT_MODEL_CONTRADICTION, pointer, "experts_per_token", shape->experts_per_token,
                    "integer 1..", shape->expert_count);
    if (shape->active_parameter_count > shape->parameter_count)
        shape_fault(fault, FAULT_MODEL_CONTRADICTION, pointer, "active_parameter_count", shape->active_parameter_count,
                    "integer 1..", shape->parameter_count);
    return fault->item_count + fault->more_count > before ? STATUS_FAULT : STATUS_OK;
}

static void
build_generic(const struct model_shape *shape, struct model_arch *arch)
{
    memset(arch, 0, sizeof(*arch));
    arch->generic = true;
    arch->generic_parameters = shape->parameter_count;
    arch->flop_per_sample = shape->flop_per_sample;
    arch->activation_bytes_per_sample = shape->activation_bytes_per_sample;
    arch->native_format = arch->stored_format = WEIGHT_BF16;
}

/* Whether a size that shapes the answer had to be derived. */
static bool
is_incomplete(const struct model_shape *shape)
{
    bool mlp = shape->intermediate_size > 0;

    if (is_mixture(shape))
        mlp = shape->expert_count > 0 && shape->experts_per_token > 0 &&
              (shape->expert_intermediate_size > 0 || (mlp && shape->expert_count <= 16));
    return !mlp || shape->layer_count == 0 || shape->hidden_size == 0 || shape->attention_head_count == 0 ||
           shape->vocabulary_size == 0;
}

/* Every size, stated or derived, and the architecture of them. */
static void
build_decoder(const struct model_shape *shape, struct model_arch *arch)
{
    struct filled filled = { .shape = *shape, .mixture = is_mixture(shape) };

    if (filled.mixture)
        fill_experts(&filled.shape);
    fill_depth_and_width(&filled.shape);
    fill_heads(&filled.shape);
    fill_vocabulary(&filled.shape);
    fill_mlp(&filled);
    build(&filled, arch);
    settle_head(arch, shape->parameter_count);
}

enum status
model_arch_from_shape(const struct model_shape *shape, const char *pointer, struct model_arch *ret_arch,
                      struct notices *notices, struct fault *ret_fault)
{
    struct notices unsaid = { .count = 0 };
    struct model_arch arch;
    bool incomplete = is_incomplete(shape);

    TRY(check_stated(shape, pointer, ret_fault));
    if (shape->flop_per_sample > 0) {
        build_generic(shape, &arch);
    } else {
        build_decoder(shape, &arch);
        TRY(model_arch_check(&arch, pointer, ret_fault));
        if (incomplete)
            notice_add(notices, NOTICE_UNKNOWN_ACTIVE_SHAPE, pointer);
        /* where sizes were derived, a difference is ours and not the caller's */
        model_arch_state_total(&arch, shape->parameter_count, incomplete ? &unsaid : notices);
    }
    TRY(model_arch_check(&arch, pointer, ret_fault));
    *ret_arch = arch;
    return STATUS_OK;
}
