/* Scratch tensors that live as long as the run. */
#ifndef SERVICE_MEMORY_WORKSPACE_H
#define SERVICE_MEMORY_WORKSPACE_H

#include "service/memory/stage.h"

/* With fused gradient accumulation Transformer Engine keeps one 16-bit stand-in for the weight gradient of each
 * distinct shape of a stage's linear layers (TransformerEngine, get_dummy_wgrad, from 2.3 on). Elements on one GPU. */
double dummy_gradient_elements(const struct training_setup *setup, const struct stage *stage);

/* Elements of the largest matrix of a layer on one GPU: what a 4-bit base holds de-quantised at a time. */
double largest_matrix_elements(const struct training_setup *setup, const struct stage *stage);

#endif
