/* Bytes that training keeps for every parameter it changes, by recipe. */
#ifndef SERVICE_MEMORY_OPTIMIZER_H
#define SERVICE_MEMORY_OPTIMIZER_H

#include "service/hardware/rates.h"
#include "service/job/job.h"

/* Bytes a trained parameter. */
struct state_bytes {
    double weight, gradient, master;
    double states; /* of matrices inside layers */
    double
        other_states; /* of embedding, head and vectors: Muon leaves them to AdamW (kellerjordan.github.io, 2024-12) */
};

/* By precision and framework:
 *   Megatron            16-bit weight, FP32 main gradient, FP32 master      2 + 4 + 4    (Megatron-LM distributed
 * optimizer) DeepSpeed           16-bit weight and gradient, FP32 master             2 + 2 + 4    (arXiv:1910.02054
 * section 3.1) FSDP, HF autocast   FP32 weight and gradient                            4 + 4 bf16_pure           16-bit
 * weight, gradient and states                  2 + 2 fp32, tf32          FP32 throughout 4 + 4 with AdamW's two moments
 * 8 (4 in bf16_pure), so 18, 16, 16, 8 and 16 in all. 8-bit AdamW keeps two quantised moments with a scale for each
 * block of 256 (arXiv:2110.02861 section 2); with HF its users keep weights in 16 bit. */
struct state_bytes state_bytes_of(const struct rates *rates, enum training_precision precision,
                                  enum optimizer optimizer, enum framework framework);

/* The same for a LoRA adapter, whose weights stay FP32 under mixed precision (PEFT) and get a 16-bit copy from HF's
 * autocast where the base is not 4-bit. */
struct state_bytes adapter_state_bytes_of(const struct rates *rates, const struct training_job *job);

bool precision_is_mixed(enum training_precision precision);

/* Bytes of an activation or of a weight on its way through a layer: 4 in fp32 and tf32, 2 in all else. */
double precision_element_bytes(enum training_precision precision);

#endif
