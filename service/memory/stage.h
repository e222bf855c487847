/* What one pipeline stage holds of a network, kept apart by how it is divided over GPUs. */
#ifndef SERVICE_MEMORY_STAGE_H
#define SERVICE_MEMORY_STAGE_H

#include "service/memory/training_memory.h"

/* Elements of the whole stage, before any division, unless said. */
struct stage {
    bool first, last;
    uint32_t layers;
    uint32_t kind_layers[MAX_LAYER_KINDS];    /* by kind */
    uint32_t trained_layers[MAX_LAYER_KINDS]; /* of them: the last ones where the rest is frozen, else all */
    double linear;                            /* matrices inside the layers: divided by `tensor` */
    double embedding, head;                   /* likewise; the last stage of a tied model holds a copy as its head */
    double copied;                          /* norms, router, latent projections, a vision tower: on every rank whole */
    double experts;                         /* routed experts: divided by `expert_ways` */
    double trained_linear, trained_experts; /* of them, in trained layers */
    double tensor;
    double expert_ways;   /* expert groups, or tensor where experts are not spread (arXiv:2504.14960 section 3.2) */
    double shards;        /* ranks that optimizer states are sharded over: data x context */
    double expert_shards; /* the same for experts: the GPUs of the stage over `expert_ways` */
};

/* The first or the last stage of a plan. Both hold the layers of the fullest one. */
void stage_of(const struct training_setup *setup, bool last, struct stage *ret_stage);

/* Elements on one GPU before sharding. */
double stage_dense_elements(const struct stage *stage);
double stage_expert_elements(const struct stage *stage);

/* Elements on one GPU of the largest layer. */
double stage_block_elements(const struct training_setup *setup, const struct stage *stage);

#endif
