/* The methods that checkpoints are quantised by: what each keeps in how many bits. */
#ifndef SERVICE_MODEL_QUANTIZATION_METHODS_H
#define SERVICE_MODEL_QUANTIZATION_METHODS_H

#include "service/model/checkpoint.h"
#include "service/model/quantization_block.h"

/* Sets the storages of a checkpoint by a block, the lists of what is left out included. false when the block is of a
 * kind that is not known: then the checkpoint is as it was. *ret_method: its name, a constant. */
bool quantization_apply(const struct block *block, struct checkpoint *checkpoint, const char **ret_method);

/* Methods with a file of their own; each says whether it understood the block. */

/* Groups of targets, as compressed-tensors and newer modelopt files have them (quantization_groups.c). */
bool quantization_apply_groups(const struct block *block, struct checkpoint *checkpoint);

/* modelopt's block: hf_quant_config.json, or the same in config.json (quantization_modelopt.c). */
bool quantization_apply_modelopt(const struct block *block, struct checkpoint *checkpoint);

/* mlx's block: everything is quantised, embedding and routers too, but for members named by a module
 * (quantization_modelopt.c). */
bool quantization_apply_mlx(const struct block *block, struct checkpoint *checkpoint);

/* pytorch/ao and huggingface/optimum-quanto (quantization_torch.c). */
bool quantization_apply_torchao(const struct block *block, struct checkpoint *checkpoint);
bool quantization_apply_quanto(const struct block *block, struct checkpoint *checkpoint);

/* The format whose kernels run integers of so many bits. */
enum weight_format quantization_integer_format(int64_t bits);

/* Values that share a scale along a row: "group_size" in its spellings, -1 a whole row. */
int32_t quantization_group(const struct block *block, int32_t absent);

#endif
