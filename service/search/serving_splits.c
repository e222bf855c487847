#include "service/search/serving_splits.h"

#include <stdbool.h>

enum { WIDEST_TENSOR = 8 }; /* an NVLink domain of 72 is split in eights: wider tensor splits gain nothing */

static bool
divides_layer(const struct layer_kind *kind, uint32_t tensor)
{
    uint32_t groups = kind->kv_head_count;

    if (kind->attention != ATTENTION_HEADS && kind->attention != ATTENTION_LATENT)
        return true;
    if (kind->head_count % tensor != 0)
        return false;
    return kind->attention == ATTENTION_LATENT || groups == 0 || groups % tensor == 0 || tensor % groups == 0;
}

static bool
divides(const struct model_arch *arch, uint32_t tensor)
{
    if (arch->generic)
        return tensor == 1;
    for (uint32_t i = 0; i < arch->kind_count; i++)
        if (!divides_layer(&arch->kinds[i], tensor))
            return false;
    return true;
}

/* People run powers of two, or all of a node. */
static bool
is_usual(uint32_t tensor, uint32_t node)
{
    return (tensor & (tensor - 1)) == 0 || tensor == node;
}

static void
add(struct serving_splits *splits, const struct machine *machine, uint32_t tensor, uint32_t pipeline)
{
    if (splits->count == MAX_SERVING_SPLITS)
        return;
    splits->items[splits->count++] = (struct parallelism){
        .tensor = tensor,
        .pipeline = pipeline,
        .virtual_stages = 1,
        .data = machine->gpu_count / (tensor * pipeline),
        .context = 1,
        .expert = 1,
        .sharding = SHARDING_NONE,
        .sequence_parallel = FLAG_NO,
    };
}

static bool
splits_layers(enum engine engine)
{
    return engine == ENGINE_LLAMA_CPP || engine == ENGINE_TRANSFORMERS;
}

void
serving_splits(const struct model_arch *arch, const struct machine *machine, enum engine engine,
               struct serving_splits *ret_splits)
{
    uint32_t gpus = machine->gpu_count, node = gpus < machine->gpus_per_node ? gpus : machine->gpus_per_node;
    uint32_t widest = 1, most_stages = arch->layer_count > 0 ? arch->layer_count : 1;

    ret_splits->count = 0;
    for (uint32_t tensor = 1; tensor <= node && tensor <= WIDEST_TENSOR && !splits_layers(engine); tensor++) {
        if (!is_usual(tensor, node) || !divides(arch, tensor))
            continue;
        add(ret_splits, machine, tensor, 1);
        widest = tensor;
    }
    if (splits_layers(engine))
        add(ret_splits, machine, 1, 1);
    for (uint32_t stages = 2; stages <= gpus / widest && stages <= most_stages; stages++)
        add(ret_splits, machine, widest, stages);
}

struct parallelism
serving_widest_split(const struct model_arch *arch, const struct machine *machine, enum engine engine)
{
    struct serving_splits splits;

    serving_splits(arch, machine, engine, &splits);
    return splits.items[splits.count - 1];
}
