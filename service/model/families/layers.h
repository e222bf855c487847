/* Layers in their order, each kind kept once. */
#ifndef SERVICE_MODEL_FAMILIES_LAYERS_H
#define SERVICE_MODEL_FAMILIES_LAYERS_H

#include "service/model/reader.h"

/* Appends one layer. Layers of the same `sort` (any number below LAYER_SORTS) are of the same kind, told by `kind` when
 * the sort is met first. */
enum { LAYER_SORTS = 32 };

struct layers {
    struct reader *reader;
    uint8_t kind_of_sort[LAYER_SORTS]; /* 0: not met, else index + 1 */
};

void layers_append(struct layers *layers, uint32_t sort, const struct layer_kind *kind);

/* Whether a sort was met already, so that its kind need not be told again. */
bool layers_know(const struct layers *layers, uint32_t sort);

/* Appends `count` layers that are alike. */
void layers_append_run(struct layers *layers, uint32_t sort, uint32_t count, const struct layer_kind *kind);

/* Sorts of layers whose traits are numbers: up to LAYER_SORTS different ones, in the order in which they are met. */
struct layer_sorts {
    uint64_t traits[LAYER_SORTS];
    uint32_t count;
};

/* The sort of these traits. false when there are too many; the fault, at `key`, is told then. */
bool layer_sorts_find(struct layer_sorts *sorts, struct reader *reader, const char *key, uint64_t traits,
                      uint32_t *ret_sort);

#endif
