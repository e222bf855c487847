/* Files that people paste in the place of a config.json: which one it is, by its keys. */
#ifndef SERVICE_MODEL_PASTED_H
#define SERVICE_MODEL_PASTED_H

#include "service/base/result.h"
#include "service/model/facts.h"

/* A fault that names the file and what is wanted instead, when the facts are those of a file that describes no model
 * (a safetensors index, hf_quant_config.json, a tokenizer's or an adapter's file); false when they are of none. */
bool pasted_refuse(const struct facts *facts, const char *pointer, struct fault *fault);

#endif
