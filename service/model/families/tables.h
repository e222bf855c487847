/* The classes of each file of families; every table ends with an empty row. */
#ifndef SERVICE_MODEL_FAMILIES_TABLES_H
#define SERVICE_MODEL_FAMILIES_TABLES_H

#include "service/model/families/decoder.h"

extern const struct family_class family_dense[];           /* RMS norms or the like, gated MLP */
extern const struct family_class family_dense_chinese[];   /* the same, of Chinese houses */
extern const struct family_class family_experts[];         /* mixtures of experts with heads */
extern const struct family_class family_latent[];          /* latent attention */
extern const struct family_class family_gpt[];             /* layer norms with biases, plain MLP */
extern const struct family_class family_vision_language[]; /* a vision tower in front of one of those */
extern const struct family_class family_intern_vl[];
extern const struct family_class family_variants[]; /* decoders whose keys decide on each other */
extern const struct family_class family_states[];   /* state-space and convolution layers */
extern const struct family_class family_nemotron_h[];
extern const struct family_class family_gemma3n[];
extern const struct family_class family_gemma4[];
extern const struct family_class family_deci[];
extern const struct family_class family_deepseek_v4[];
extern const struct family_class family_minimax_m3[];
extern const struct family_class family_glm5_next[];
extern const struct family_class family_kimi_linear[];
extern const struct family_class family_laguna[];
extern const struct family_class family_mimo_v2[];
extern const struct family_class family_step[];
extern const struct family_class family_encoders[];       /* text and image encoders */
extern const struct family_class family_text_encoders[];  /* those that came after BERT */
extern const struct family_class family_image_encoders[]; /* those that came after ViT */
extern const struct family_class family_pairs[];          /* an encoder and a decoder */
extern const struct family_class family_conv_nets[];
extern const struct family_class family_diffusion[];

/* Traits that more than one file builds on. */
extern const struct decoder decoder_llama, decoder_gemma3, decoder_qwen2, decoder_qwen3, decoder_qwen3_moe,
    decoder_qwen3_next, decoder_deepseek_v3, decoder_glm4, decoder_glm4_moe;

#endif
