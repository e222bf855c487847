/* The parts of a layer, divided as engines divide them, then summed over the layers of a GPU. */
#include "service/memory/serving_weights.h"

#include "service/memory/serving_split.h"
#include "service/model/quantization.h"
#include "service/parallel/plan.h"

/* What stays 16 bit in quantised checkpoints; 32 in FP32 ones. */
static const double plain_bits = 16;

static bool
has_experts(const struct model_arch *arch)
{
    for (uint32_t i = 0; i < arch->kind_count; i++)
        if (arch->kinds[i].mlp == MLP_EXPERTS)
            return true;
    return false;
}

static void
elements_add(struct weight_elements *sum, const struct weight_elements *more, double times)
{
    sum->linear += more->linear * times;
    sum->latent += more->latent * times;
    sum->experts += more->experts * times;
    sum->plain += more->plain * times;
}

struct weight_elements
serving_layer_elements(const struct serving_setup *setup, uint32_t kind)
{
    const struct layer_kind *layer = &setup->arch->kinds[kind];
    const struct layer_params *params = &setup->params->layers[kind];
    double tensor = serving_ways(setup->plan.tensor);
    double copied = (double)params->attention_replicated;
    double attention = copied + ((double)params->attention - copied) / tensor;
    double copied_mlp = (double)params->mlp_replicated;
    struct weight_elements elements = { .linear = copied_mlp + ((double)params->mlp - copied_mlp) / tensor };

    if (layer->attention == ATTENTION_LATENT)
        elements.latent = attention;
    else
        elements.linear += attention;
    elements.experts =
        (double)layer->expert_count * (double)params->expert / serving_expert_ways(&setup->plan, setup->arch);
    elements.plain = (double)params->norms + (double)params->router;
    return elements;
}

/* Layers first .. first + count - 1. */
static struct weight_elements
stage_elements(const struct serving_setup *setup, const struct weight_elements *layers, uint32_t first, uint32_t count)
{
    const struct model_arch *arch = setup->arch;
    struct weight_elements sum = { 0 };

    if (count >= arch->layer_count) {
        for (uint32_t i = 0; i < arch->kind_count; i++)
            elements_add(&sum, &layers[i], arch->kinds[i].count);
        return sum;
    }
    for (uint32_t i = first; i < first + count && i < arch->layer_count; i++)
        elements_add(&sum, &layers[arch->kind_of_layer[i]], 1);
    return sum;
}

/* Elements outside the layers on a stage. A last stage of its own holds its copy of a tied head. */
static double
ends_elements(const struct serving_setup *setup, bool first, bool last)
{
    const struct model_params *params = setup->params;
    double elements = 0;

    if (first)
        elements += (double)params->embedding + (double)params->position + (double)params->extra;
    if (last)
        elements += first ? (double)params->head : (double)params->embedding;
    return elements / serving_ways(setup->plan.tensor) + (last ? (double)params->final_norm : 0);
}

struct weight_elements
serving_gpu_elements(const struct serving_setup *setup)
{
    const struct model_arch *arch = setup->arch;
    uint32_t stage_layers = plan_stage_layers(&setup->plan, arch);
    struct weight_elements layers[MAX_LAYER_KINDS], fullest = { 0 }, scaled = { 0 };
    double most = -1;

    for (uint32_t i = 0; i < arch->kind_count; i++)
        layers[i] = serving_layer_elements(setup, i);
    for (uint32_t first = 0; most < 0 || first<arch->layer_count; first += stage_layers> 0 ? stage_layers : 1) {
        struct weight_elements stage = stage_elements(setup, layers, first, stage_layers);

        stage.plain += ends_elements(setup, first == 0, first + stage_layers >= arch->layer_count);
        if (stage.linear + stage.latent + stage.experts + stage.plain > most) {
            most = stage.linear + stage.latent + stage.experts + stage.plain;
            fullest = stage;
        }
    }
    elements_add(&scaled, &fullest, model_stated_share(arch, setup->params));
    return scaled;
}

struct weight_bits
serving_weight_bits(const struct model_arch *arch, enum weight_format format)
{
    double bits = weight_format_bits(format);
    struct weight_bits all = { bits, bits, bits, plain_bits };
    struct class_bits known;

    if (quantization_bits(arch, format, &known)) /* each matrix is */
        return (struct weight_bits){ known.linear, known.latent, known.experts, known.plain };
    if (weight_format_is_gguf(format) || bits > plain_bits)
        all.plain = bits;
    if (format == WEIGHT_NVFP4 || format == WEIGHT_MXFP4)
        all.latent = 8;
    if (format == WEIGHT_MXFP4 && has_experts(arch)) {
        all.linear = plain_bits;
        all.latent = plain_bits;
    }
    return all;
}

bool
serving_format_is_low_bit(enum weight_format format)
{
    return weight_format_bits(format) < 6;
}

double
weight_elements_bytes(const struct weight_elements *elements, const struct weight_bits *bits)
{
    return (elements->linear * bits->linear + elements->latent * bits->latent + elements->experts * bits->experts +
            elements->plain * bits->plain) /
           8;
}

double
serving_weight_bytes(const struct model_arch *arch, const struct model_params *params, enum weight_format format)
{
    struct serving_setup whole = {
        .arch = arch,
        .params = params,
        .plan = { .tensor = 1, .pipeline = 1, .virtual_stages = 1, .data = 1, .context = 1, .expert = 1 },
    };
    struct weight_elements elements = serving_gpu_elements(&whole);
    struct weight_bits bits = serving_weight_bits(arch, format);

    return weight_elements_bytes(&elements, &bits);
}
