/* Vision towers: what a vision-language class holds beside its text model. */
#ifndef SERVICE_MODEL_FAMILIES_VISION_H
#define SERVICE_MODEL_FAMILIES_VISION_H

#include "service/model/reader.h"

/* Elements of the tower and of what carries its output to the text model. Each reads /vision_config. */
uint64_t vision_llava(struct reader *reader, uint32_t text_hidden_size);
uint64_t vision_llava_next(struct reader *reader, uint32_t text_hidden_size);
uint64_t vision_idefics3(struct reader *reader, uint32_t text_hidden_size);
uint64_t vision_mistral3(struct reader *reader, uint32_t text_hidden_size);
uint64_t vision_gemma3(struct reader *reader, uint32_t text_hidden_size);
uint64_t vision_gemma4(struct reader *reader, uint32_t text_hidden_size); /* and hearing */
uint64_t vision_gemma4_unified(struct reader *reader, uint32_t text_hidden_size);
uint64_t vision_glm4(struct reader *reader, uint32_t text_hidden_size);
uint64_t vision_glm5_next(struct reader *reader, uint32_t text_hidden_size);
uint64_t vision_kimi(struct reader *reader, uint32_t text_hidden_size);
uint64_t vision_kimi_k3(struct reader *reader, uint32_t text_hidden_size);
uint64_t vision_minimax_m3(struct reader *reader, uint32_t text_hidden_size);
uint64_t vision_muse_glimmer(struct reader *reader, uint32_t text_hidden_size);
uint64_t vision_step(struct reader *reader, uint32_t text_hidden_size);
uint64_t vision_llama4(struct reader *reader, uint32_t text_hidden_size);
uint64_t vision_qwen2(struct reader *reader, uint32_t text_hidden_size);
uint64_t vision_qwen2_5(struct reader *reader, uint32_t text_hidden_size);
uint64_t vision_qwen3(struct reader *reader, uint32_t text_hidden_size);
uint64_t vision_qwen3_5(struct reader *reader, uint32_t text_hidden_size);

/* The image encoders of CLIP and SigLIP alone, and their width. */
uint64_t vision_clip(struct reader *reader, uint64_t *ret_hidden_size);
uint64_t vision_siglip(struct reader *reader, uint64_t *ret_hidden_size);

/* Elements of a transformer block with layer norms, a plain MLP and biases: 4 h^2 + 2 h f and their vectors. */
uint64_t vision_block(uint64_t hidden, uint64_t intermediate);

/* A matrix with its bias. */
uint64_t vision_linear(uint64_t in, uint64_t out);

#endif
