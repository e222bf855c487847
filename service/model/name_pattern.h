/* Names of modules as quantisation blocks list them: plain, with wildcards, or as a regular expression. */
#ifndef SERVICE_MODEL_NAME_PATTERN_H
#define SERVICE_MODEL_NAME_PATTERN_H

#include <stdbool.h>
#include <stdint.h>

#include "service/model/name_expression.h"

enum {
    PATTERN_BYTES = 256, /* longer ones are not understood */
    PATTERN_EVERY_LAYER = -1,
};

struct name_pattern {
    const char *text; /* lent */
    enum { PATTERN_NAME, PATTERN_EXPRESSION } kind;
    int32_t layer;           /* the one layer that a plain name is about, else PATTERN_EVERY_LAYER */
    uint32_t layer_end;      /* where its number ends in the text, when no wildcard stands before it; else 0 */
    bool tells_layers_apart; /* false: it says the same of each layer, whatever its number */
    bool understood;         /* false: an expression of a kind that is not known here; it matches nothing */
    struct name_expression expression;
};

/* Reads a pattern into `ret_pattern`. `is_expression`: it is a regular expression from its first byte; else one
 * follows "re:". */
void name_pattern_read(const char *text, bool is_expression, struct name_pattern *ret_pattern);

/* Whether it means the module of a full name ("model.layers.3.mlp.gate"), or one that the module is inside of. Names
 * and wildcards hold for whole components anywhere in the name ("gate" is "mlp.gate" and not "mlp.gate_proj"; "mlp*"
 * is both); an expression begins to match at the start of a component. Each step of the work is taken from
 * `steps_left`; when none is left nothing matches any more, so that no list, however written, takes long. */
bool name_pattern_matches(const struct name_pattern *pattern, const char *name, uint32_t *steps_left);

/* The same for a name that is known to hold the pattern up to layer_end: whether the rest means `module`, the name
 * below the layer. */
bool name_pattern_matches_below(const struct name_pattern *pattern, const char *module, uint32_t *steps_left);

#endif
