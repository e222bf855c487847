/* The weight matrices of one layer as one tensor rank holds them. */
#ifndef SERVICE_PARALLEL_MATRICES_H
#define SERVICE_PARALLEL_MATRICES_H

#include <stdbool.h>
#include <stdint.h>

#include "service/model/arch.h"

enum { MAX_LAYER_MATRICES = 12 };

enum matrix_role { MATRIX_ATTENTION_IN = 0, MATRIX_ATTENTION_OUT, MATRIX_MLP, MATRIX_ROUTER };

struct layer_matrix {
    enum matrix_role role;
    double inputs, outputs; /* elements a token brings and takes away, on this rank */
    double tokens;          /* that pass, for each token of the layer */
    bool whole;             /* every rank holds all of it */
};

/* Query, key and value are one matrix cut by heads, gate and up one cut by width (arXiv:1909.08053 section 3); output
 * and down projections are cut along their inputs; latent projections and routers stay whole. Routed experts are not
 * among them. `source_tokens`: encoder tokens for each token, what cross attention reads. Returns how many there are.
 */
uint32_t layer_matrices(const struct layer_kind *kind, double hidden, double tensor, double source_tokens,
                        struct layer_matrix ret_matrices[MAX_LAYER_MATRICES]);

#endif
