/* Scores of every vocabulary entry for every token, and what the loss makes of them. */
#ifndef SERVICE_MEMORY_LOGITS_H
#define SERVICE_MEMORY_LOGITS_H

#include "service/memory/stage.h"

/* Bytes alive for each pair of token and vocabulary entry while the loss is computed:
 *   fused     one FP32 copy that becomes the gradient in place
 *   unfused   16-bit scores and their gradient or shifted copy, FP32 copy and FP32 log-softmax; with 16-bit scores, an
 *             FP32 copy and a 16-bit gradient in Megatron, and in model code that does not cast (Qwen-1) outside
 *             autocast; FSDP's loss-parallel form over tensor ranks keeps four FP32 tensors (PyTorch, DTensor)
 *   chunked   an eighth of unfused at a time (torchtune, 8 chunks) */
double logit_bytes_per_entry(const struct training_setup *setup);

/* Whether the network ends in scores over a vocabulary while it is trained: encoders do so only in pre-training. */
bool network_has_scores(const struct model_arch *arch, enum training_method method);

#endif
