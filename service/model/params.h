/* Exact parameter counts, part by part. */
#ifndef SERVICE_MODEL_PARAMS_H
#define SERVICE_MODEL_PARAMS_H

#include "service/model/arch.h"

/* Elements of one layer of a kind. `linear` parts are matrices with their biases; what tensor parallelism splits and
 * what it copies is kept apart (norms, router, MLA down-projections and latents norms are copied). */
struct layer_params {
    uint64_t attention;            /* all of it */
    uint64_t attention_replicated; /* share of `attention` that every tensor rank holds: MLA down-projections */
    uint64_t mlp;                  /* dense MLP, or shared experts with their gate; the matrices beside them */
    uint64_t mlp_replicated;       /* share of `mlp` that every tensor rank holds: the matrices beside them */
    uint64_t expert;               /* one routed expert */
    uint64_t router;               /* with its bias */
    uint64_t norms;                /* block norms, QK norms and other vectors */
};

struct model_params {
    uint64_t total;  /* each tensor once: a tied head not twice */
    uint64_t active; /* all but the experts + experts x k / E; embedding and head included */
    uint64_t embedding, position /* and what layers look up */, head /* 0 when tied */, final_norm;
    uint64_t extra;  /* never below 0 */
    uint64_t linear; /* matrices inside the layers, experts included: what quantisation packs */
    struct layer_params layers[MAX_LAYER_KINDS]; /* per layer, parallel to arch->kinds */
};

/* Counts a checked architecture. Dense GQA and SwiGLU: attention h d (2n + 2g), MLP 3 h f, MLA: arXiv:2405.04434 2.1.
 * (arXiv:1706.03762 3.2-3.3; published totals in the tests.) */
struct model_params model_params_count(const struct model_arch *arch);

/* What share of the counted parts the total is: below 1 where a smaller total was stated. Nobody says which part is
 * smaller, so the difference is taken off all evenly, and none falls below 0. */
double model_stated_share(const struct model_arch *arch, const struct model_params *params);

/* LoRA adapters of one layer: r (d_in + d_out) over the adapted matrices (arXiv:2106.09685 4.1); every expert under
 * all_linear. Sum over all layers; estimated for a network known by its work alone. */
enum lora_targets { LORA_TARGETS_UNSAID = 0, LORA_ALL_LINEAR, LORA_ATTENTION, LORA_QUERY_VALUE };
uint64_t lora_params_count(const struct model_arch *arch, enum lora_targets targets, uint32_t rank);

#endif
