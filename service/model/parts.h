/* The terms a parameter count is the sum of, each with the formula that gives it. */
#ifndef SERVICE_MODEL_PARTS_H
#define SERVICE_MODEL_PARTS_H

#include "service/model/params.h"

enum model_part_code {
    MODEL_PART_EMBEDDING = 0,
    MODEL_PART_POSITION,
    MODEL_PART_ATTENTION, /* or what takes its place: a recurrent mixer */
    MODEL_PART_MLP,
    MODEL_PART_EXPERTS,
    MODEL_PART_SHARED_EXPERTS,
    MODEL_PART_ROUTER,
    MODEL_PART_NORMS,
    MODEL_PART_HEAD,
    MODEL_PART_VISION, /* a tower of images or sound, with its projection */
    MODEL_PART_OTHER,  /* convolutions, decays, sinks, a pooler; what a stated total adds or takes */
    MODEL_PART_CODES
};

enum { MODEL_PART_VALUES = 10, MAX_MODEL_PARTS = 8 * MAX_LAYER_KINDS + 9 };

struct model_part {
    enum model_part_code code;
    int64_t parameter_count; /* below 0 only for a stated total that is less than the counted one */
    uint64_t stored_bytes;   /* of the checkpoint as it stands, scales included */
    const char *formula;     /* a constant text with {0}..{9} for `values` */
    double values[MODEL_PART_VALUES];
};

struct model_parts {
    struct model_part items[MAX_MODEL_PARTS];
    uint32_t count;
};

/* The parts of a checked architecture, in the order that a token meets them. Their sum is params->total. Layers of
 * different kinds whose part is the same are one term. */
void model_parts(const struct model_arch *arch, const struct model_params *params, struct model_parts *ret_parts);

const char *model_part_name(enum model_part_code code);

#endif
