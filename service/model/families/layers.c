/* Layers in their order, each kind kept once. */
#include "service/model/families/layers.h"

#include <assert.h>

bool
layers_know(const struct layers *layers, uint32_t sort)
{
    assert(sort < LAYER_SORTS);
    return layers->kind_of_sort[sort] != 0;
}

void
layers_append(struct layers *layers, uint32_t sort, const struct layer_kind *kind)
{
    struct model_arch *arch = layers->reader->arch;

    if (arch->layer_count >= MAX_LAYERS)
        return;
    if (!layers_know(layers, sort)) {
        if (arch->kind_count >= MAX_LAYER_KINDS)
            return;
        arch->kinds[arch->kind_count] = *kind;
        arch->kinds[arch->kind_count].count = 0;
        arch->kind_count++;
        layers->kind_of_sort[sort] = (uint8_t)arch->kind_count;
    }
    uint8_t index = (uint8_t)(layers->kind_of_sort[sort] - 1);
    arch->kinds[index].count++;
    arch->kind_of_layer[arch->layer_count] = index;
    arch->layer_count++;
}

void
layers_append_run(struct layers *layers, uint32_t sort, uint32_t count, const struct layer_kind *kind)
{
    for (uint32_t i = 0; i < count; i++)
        layers_append(layers, sort, kind);
}

bool
layer_sorts_find(struct layer_sorts *sorts, struct reader *reader, const char *key, uint64_t traits, uint32_t *ret_sort)
{
    uint32_t sort = 0;

    while (sort < sorts->count && sorts->traits[sort] != traits)
        sort++;
    if (sort >= LAYER_SORTS || sort >= MAX_LAYER_KINDS) {
        reader_fault(reader, FAULT_MODEL_FIELD_UNSUPPORTED, key, NULL, NULL);
        return false;
    }
    if (sort == sorts->count)
        sorts->traits[sorts->count++] = traits;
    *ret_sort = sort;
    return true;
}
