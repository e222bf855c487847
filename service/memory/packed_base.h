/* The frozen base of a low-rank adapter whose matrices are packed into few bits. */
#ifndef SERVICE_MEMORY_PACKED_BASE_H
#define SERVICE_MEMORY_PACKED_BASE_H

#include "service/memory/stage.h"

/* Bits a frozen weight of a 4-bit base takes: NF4 with double quantisation, 4 + 8/64 + 32/(64 x 256)
 * (arXiv:2305.14314 section 3). */
#define QLORA_BITS (4 + 8 / 64.0 + 32 / (64.0 * 256))

struct packed_base {
    double bits;       /* a packed weight, with its scales */
    double rest_bytes; /* of a weight that is not packed: embedding, head, norms */
    bool kept;         /* autograd keeps what it unpacked until the layer's backward pass is done */
    const char *source;
};

/* QLoRA's own base is packed when it is loaded, from any checkpoint of 16 bits; what its quantisation leaves PEFT casts
 * to FP32 where precision is mixed (prepare_model_for_kbit_training). A checkpoint that comes packed by GPTQ, HQQ or
 * EETQ keeps its bits and is not cast; AutoGPTQ and HQQ unpack a matrix in plain PyTorch, so that its product keeps
 * the 16-bit copy for the gradient of its input (auto_gptq/nn_modules/qlinear/qlinear_cuda.py, forward). */
struct packed_base packed_base_of(const struct training_setup *setup);

/* 16-bit bytes that stay unpacked on one GPU while a layer goes backward: those of its matrices, and where nothing is
 * recomputed those of every layer of the stage. */
double packed_base_unpacked_bytes(const struct training_setup *setup, const struct stage *stage);

#endif
