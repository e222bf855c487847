/* What an engine really sets aside for one sequence: whole blocks, and of windowed layers often more than the window.
 */
#ifndef SERVICE_MEMORY_SERVING_CACHE_H
#define SERVICE_MEMORY_SERVING_CACHE_H

#include "service/memory/serving_memory.h"

/* Bytes on the fullest GPU for a sequence of `tokens`, by the engine's law:
 *   blocks          tokens in whole blocks (arXiv:2309.06180 section 4.2); beside recurrent layers a block grows until
 * it is as large as their state, so that all pages are alike groups          vLLM: layers of different kinds share
 * pages in groups of as many layers as the rarest kind has, and the last group of a kind is filled up (its design
 * document "Hybrid KV Cache Manager") windows         vLLM before that manager kept all tokens of windowed layers,
 * SGLang keeps a share of them (swa_full_tokens_ratio), llama.cpp a window and one batch of prompts, others the window
 * Never falls as the tokens grow. 0 for networks that keep no cache. */
double serving_sequence_bytes(const struct serving_setup *setup, uint64_t tokens);

/* The same without what engines add: what the layers need. */
double serving_sequence_least_bytes(const struct serving_setup *setup, uint64_t tokens);

#endif
