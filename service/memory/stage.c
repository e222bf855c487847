/* Layers of a stage by kind, summed into the buckets that tensor and expert parallelism divide. */
#include "service/memory/stage.h"

#include <string.h>

#include "service/parallel/plan.h"

static void
count_layers(const struct training_setup *setup, bool last, struct stage *stage)
{
    const struct model_arch *arch = setup->arch;
    uint32_t from = last ? arch->layer_count - stage->layers : 0;

    memset(stage->kind_layers, 0, sizeof(stage->kind_layers));
    if (stage->layers == arch->layer_count) {
        for (uint32_t i = 0; i < arch->kind_count; i++)
            stage->kind_layers[i] = arch->kinds[i].count;
        return;
    }
    if (arch->kind_count == 1) {
        stage->kind_layers[0] = stage->layers;
        return;
    }
    for (uint32_t i = from; i < from + stage->layers; i++)
        stage->kind_layers[arch->kind_of_layer[i]]++;
}

/* Of a layer, what tensor ranks divide, routed experts aside. */
static double
split_elements(const struct layer_params *layer)
{
    return (double)(layer->attention - layer->attention_replicated) + (double)(layer->mlp - layer->mlp_replicated);
}

static void
add_layers(const struct training_setup *setup, struct stage *stage)
{
    for (uint32_t i = 0; i < setup->arch->kind_count; i++) {
        const struct layer_params *layer = &setup->params->layers[i];
        double layers = stage->kind_layers[i];

        stage->linear += layers * split_elements(layer);
        stage->copied += layers * ((double)layer->attention_replicated + (double)layer->mlp_replicated +
                                   (double)layer->router + (double)layer->norms);
        stage->experts += layers * setup->arch->kinds[i].expert_count * (double)layer->expert;
    }
}

static void
divide(const struct training_setup *setup, struct stage *stage)
{
    const struct parallelism *plan = &setup->plan;
    double gpus = (double)plan->tensor * plan->data * plan->context;

    stage->tensor = plan->tensor;
    stage->shards = (double)plan->data * plan->context;
    stage->expert_ways = plan->expert > 1 ? plan->expert : plan->tensor;
    stage->expert_shards = gpus > stage->expert_ways ? gpus / stage->expert_ways : 1;
}

/* Freezing leaves the last layers of the network to train. */
static uint32_t
trained_count(const struct training_setup *setup, const struct stage *stage)
{
    uint32_t trained = setup->job->trainable_layers, after = stage->last ? 0 : setup->arch->layer_count - stage->layers;

    if (setup->job->method != METHOD_FREEZE)
        return stage->layers;
    trained = trained > after ? trained - after : 0;
    return trained < stage->layers ? trained : stage->layers;
}

static void
count_trained(const struct training_setup *setup, struct stage *stage)
{
    const struct model_arch *arch = setup->arch;
    uint32_t trained = trained_count(setup, stage), end = stage->last ? arch->layer_count : stage->layers;

    memcpy(stage->trained_layers, stage->kind_layers, sizeof(stage->trained_layers));
    stage->trained_linear = stage->linear;
    stage->trained_experts = stage->experts;
    if (trained == stage->layers)
        return;
    memset(stage->trained_layers, 0, sizeof(stage->trained_layers));
    stage->trained_linear = stage->trained_experts = 0;
    for (uint32_t i = end - trained; i < end; i++) {
        uint8_t kind = arch->kind_of_layer[i];
        const struct layer_params *layer = &setup->params->layers[kind];

        stage->trained_layers[kind]++;
        stage->trained_linear += split_elements(layer);
        stage->trained_experts += arch->kinds[kind].expert_count * (double)layer->expert;
    }
}

/* A total that was stated and is less than the parts make. */
static void
scale(struct stage *stage, double share)
{
    stage->linear *= share;
    stage->copied *= share;
    stage->experts *= share;
    stage->trained_linear *= share;
    stage->trained_experts *= share;
    stage->embedding *= share;
    stage->head *= share;
}

void
stage_of(const struct training_setup *setup, bool last, struct stage *ret_stage)
{
    const struct model_params *params = setup->params;
    bool single = setup->plan.pipeline <= 1;
    struct stage *stage = ret_stage;

    stage->first = !last || single;
    stage->last = last || single;
    stage->layers = plan_stage_layers(&setup->plan, setup->arch);
    stage->linear = stage->copied = stage->experts = 0;
    count_layers(setup, last && !single, stage);
    add_layers(setup, stage);
    divide(setup, stage);
    count_trained(setup, stage);

    stage->embedding = stage->first ? (double)params->embedding + (double)params->position : 0;
    stage->head = stage->last ? (double)params->head : 0;
    if (stage->last && !stage->first && setup->arch->tied_head)
        stage->head = (double)params->embedding;
    if (stage->last)
        stage->copied += (double)params->final_norm;
    if (stage->first)
        stage->copied += (double)params->extra;
    scale(stage, model_stated_share(setup->arch, params));
}

double
stage_dense_elements(const struct stage *stage)
{
    return (stage->linear + stage->embedding + stage->head) / stage->tensor + stage->copied;
}

double
stage_expert_elements(const struct stage *stage)
{
    return stage->experts / stage->expert_ways;
}

double
stage_block_elements(const struct training_setup *setup, const struct stage *stage)
{
    double largest = 0;

    for (uint32_t i = 0; i < setup->arch->kind_count; i++) {
        const struct layer_params *layer = &setup->params->layers[i];
        double elements = ((double)layer->attention + (double)layer->mlp + (double)layer->router) / stage->tensor +
                          setup->arch->kinds[i].expert_count * (double)layer->expert / stage->expert_ways;

        if (stage->kind_layers[i] > 0 && elements > largest)
            largest = elements;
    }
    return largest * model_stated_share(setup->arch, setup->params);
}
