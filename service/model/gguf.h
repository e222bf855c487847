/* GGUF files: which block type each tensor gets in a file type, as llama-quantize chooses it. */
#ifndef SERVICE_MODEL_GGUF_H
#define SERVICE_MODEL_GGUF_H

#include "service/model/quantization.h"

/* Mean bits of a model's weights in a file type without an importance matrix
 * (ggml-org/llama.cpp src/llama-quant.cpp, llama_tensor_get_type; block types: ggml/src/ggml-common.h). What stands in
 * front of the tensors (some MB of vocabulary) is left out. `format` is a GGUF one (weight_format_is_gguf()). */
struct class_bits gguf_bits(const struct model_arch *arch, enum weight_format format);

#endif
