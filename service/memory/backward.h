/* Activations, logits, gathered parameters and scratch of one stage on one GPU, as parts of a footprint. */
#ifndef SERVICE_MEMORY_BACKWARD_H
#define SERVICE_MEMORY_BACKWARD_H

#include "service/memory/footprint.h"
#include "service/memory/stage.h"

/* Adds what is alive when the backward pass needs most. Logits and the layer that is recomputed are never alive at
 * once: the larger counts. Where the optimizer step that follows needs more, the workspace grows by the difference. */
void backward_memory_add(const struct training_setup *setup, const struct stage *stage, struct footprint *footprint);

#endif
