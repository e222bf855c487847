/* Weights, gradients, master copies and optimizer states of one stage on one GPU, as parts of a footprint. */
#ifndef SERVICE_MEMORY_MODEL_STATES_H
#define SERVICE_MEMORY_MODEL_STATES_H

#include "service/memory/footprint.h"
#include "service/memory/stage.h"

/* Elements of a stage before any division. */
struct elements {
    double split, copied, experts;
};

/* What of the stage is trained: all of it, its last layers, or nothing beside an adapter. */
struct elements trained_elements(const struct training_setup *setup, const struct stage *stage);

/* Elements that one GPU trains, before sharding; the adapter's for LoRA. */
double trained_on_gpu(const struct training_setup *setup, const struct stage *stage);

/* Adds the parts: of the whole network (ZeRO shares master and states from stage 1, gradients from 2, weights from 3:
 * arXiv:1910.02054 section 5), or of a frozen base and its adapter. CPU offload takes states, gradients and with
 * "all" the weights of ZeRO-3 away (arXiv:2101.06840 section 3). */
void model_states_add(const struct training_setup *setup, const struct stage *stage, struct footprint *footprint);

#endif
