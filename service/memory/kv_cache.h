/* KV cache: what attention keeps of every past token of every sequence in flight. */
#ifndef SERVICE_MEMORY_KV_CACHE_H
#define SERVICE_MEMORY_KV_CACHE_H

#include "service/model/arch.h"

/* Bytes that one more token of context costs while no window is full, whole model, one copy, bytes_per_element each
 * (2 for FP16). heads: 2 g d a layer (arXiv:2309.06180 3); latent: latent + rope, once (arXiv:2405.04434 2.1). */
double kv_cache_bytes_per_token(const struct model_arch *arch, double bytes_per_element);

/* The same on one GPU of a tensor x pipeline split: heads are divided up to their number, a latent is on every rank. */
double kv_cache_bytes_per_token_per_gpu(const struct model_arch *arch, double bytes_per_element, uint32_t tensor,
                                        uint32_t pipeline);

/* Bytes of one sequence of `context_tokens` on one GPU: windowed layers stop at their window, recurrent layers keep
 * their state whatever the context. Never falls as the context grows. */
double kv_cache_bytes_per_sequence_per_gpu(const struct model_arch *arch, double bytes_per_element,
                                           uint64_t context_tokens, uint32_t tensor, uint32_t pipeline);

/* Tokens that a layer of a decoder keeps for its second attention beside those of the sequence: what the encoder left,
 * where that is as long whatever was read. Else they are among the sequence's own, as its prompt. */
double kv_cache_source_tokens(const struct model_arch *arch, const struct layer_kind *kind);

/* What one layer of a kind keeps of a sequence of `context_tokens` of which it still sees `tokens`, on one of `tensor`
 * ranks. */
double kv_cache_layer_bytes_per_gpu(const struct layer_kind *kind, double bytes_per_element, double tokens,
                                    double context_tokens, uint32_t tensor);

/* Sum over the layers of the fullest of `pipeline` stages; `bytes` holds what a layer of each kind keeps. */
double kv_cache_stage_bytes(const struct model_arch *arch, const double *bytes, uint32_t pipeline);

/* The same of the whole model, one copy; and what an engine sets aside that gives windowed layers as many pages as the
 * others (vLLM without its hybrid cache manager). Recurrent states are in both. */
double kv_cache_bytes_per_sequence(const struct model_arch *arch, double bytes_per_element, uint64_t context_tokens);
double kv_cache_bytes_per_sequence_without_windows(const struct model_arch *arch, double bytes_per_element,
                                                   uint64_t context_tokens);

/* Of these, the states of recurrent layers: the same for any context (arXiv:2312.00752 section 3.4). */
double kv_cache_state_bytes_per_sequence(const struct model_arch *arch, double bytes_per_element);

/* Layer-tokens that one sequence keeps (sum over layers of min(context, window)). */
double kv_cache_layer_tokens(const struct model_arch *arch, double context_tokens);

#endif
