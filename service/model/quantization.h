/* In which format a checkpoint is stored: its own type, or what its quantisation block says, matrix by matrix. */
#ifndef SERVICE_MODEL_QUANTIZATION_H
#define SERVICE_MODEL_QUANTIZATION_H

#include "service/model/reader.h"

/* Sets arch->native_format, stored_format and stored. Counts never change. Methods and shapes of blocks: those of
 * awq, gptq, fp8, bitsandbytes, mxfp4, modelopt, compressed-tensors, mlx and more (quantization_methods.c); where they
 * may stand: quantization.c. One that is not known leaves the native format, with a notice. */
void quantization_read(struct reader *reader);

/* The same for a block that a file of its own holds (hf_quant_config.json, quantize_config.json): it stands at
 * `pointer` and goes before what the config said. `arch` has been read. */
void quantization_read_beside(const struct facts *facts, const char *pointer, struct model_arch *arch,
                              struct notices *notices);

/* Bits an element in the mean, of what serving tells apart: attention and dense or shared MLPs, latent attention,
 * routed experts, everything else. */
struct class_bits {
    double linear, latent, experts, plain;
};

/* Those of a format, where each matrix is known: of a checkpoint as it stands, of a GGUF file; false otherwise. */
bool quantization_bits(const struct model_arch *arch, enum weight_format format, struct class_bits *ret_bits);

/* Bytes of all weights of a checkpoint as it stands, MTP layers left out. */
uint64_t quantization_stored_bytes(const struct model_arch *arch);

#endif
