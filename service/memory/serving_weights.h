/* Weights as serving stores and reads them: how many of each kind lie on one GPU, and their bytes in a format. */
#ifndef SERVICE_MEMORY_SERVING_WEIGHTS_H
#define SERVICE_MEMORY_SERVING_WEIGHTS_H

#include "service/memory/serving_memory.h"

/* Elements by how they are stored. */
struct weight_elements {
    double linear;  /* attention, dense and shared MLPs */
    double latent;  /* matrices of latent attention: not below 8 bits in FP4 checkpoints */
    double experts; /* routed */
    double plain;   /* norms, routers, embeddings, head: 16 bit (of a GGUF file: like all else) */
};

/* Elements of one layer of the i-th kind on one GPU. A matrix is divided by `tensor`; norms, routers and the
 * down-projections of latent attention are on each (arXiv:1909.08053 section 3; vLLM deepseek_v2.py). */
struct weight_elements serving_layer_elements(const struct serving_setup *setup, uint32_t kind);

/* Elements on the fullest GPU of a replica: its stage's layers, the embedding on the first, the head on the last. */
struct weight_elements serving_gpu_elements(const struct serving_setup *setup);

/* Bits of a linear, of a latent projection and of a routed expert in a format. FP4 checkpoints keep latent attention at
 * 8 bits (nvidia/DeepSeek-R1-FP4 model card), and MXFP4 ones of networks with experts pack these only
 * (arXiv:2508.10925 section 2.1). */
struct weight_bits {
    double linear, latent, experts, plain;
};
struct weight_bits serving_weight_bits(const struct model_arch *arch, enum weight_format format);

/* 5 bits a weight and less. */
bool serving_format_is_low_bit(enum weight_format format);

/* Bytes of elements at these bits. */
double weight_elements_bytes(const struct weight_elements *elements, const struct weight_bits *bits);

#endif
