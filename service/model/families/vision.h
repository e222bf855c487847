/* Vision towers: what a vision-language class holds beside its text model. */
#ifndef SERVICE_MODEL_FAMILIES_VISION_H
#define SERVICE_MODEL_FAMILIES_VISION_H

#include "service/model/reader.h"

/* Elements of the tower and of what carries its output to the text model. Each reads /vision_config, with the root of
 * the config in front of it. */
typedef uint64_t vision_tower(struct reader *reader, uint32_t text_hidden_size);

vision_tower vision_llava, vision_llava_next, vision_idefics3, vision_mistral3, vision_gemma3, vision_llama4;
vision_tower vision_gemma4, vision_gemma4_unified; /* and hearing */
vision_tower vision_glm4, vision_glm5_next, vision_kimi, vision_kimi_k3, vision_minimax_m3, vision_muse_glimmer,
    vision_step;
vision_tower vision_qwen2, vision_qwen2_5, vision_qwen3, vision_qwen3_5;

/* Counts a tower to the model, beside its text model. */
void vision_add(struct reader *reader, vision_tower *tower, uint32_t text_hidden_size);

/* The image encoders of CLIP and SigLIP alone, and their width. */
uint64_t vision_clip(struct reader *reader, uint64_t *ret_hidden_size);
uint64_t vision_siglip(struct reader *reader, uint64_t *ret_hidden_size);

/* Elements of a transformer block with layer norms, a plain MLP and biases: 4 h^2 + 2 h f and their vectors. */
uint64_t vision_block(uint64_t hidden, uint64_t intermediate);

/* A matrix with its bias. */
uint64_t vision_linear(uint64_t in, uint64_t out);

#endif
