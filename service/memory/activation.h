/* What the forward pass keeps for the backward pass, a token. */
#ifndef SERVICE_MEMORY_ACTIVATION_H
#define SERVICE_MEMORY_ACTIVATION_H

#include "service/memory/stage.h"

/* Bytes for each token of one micro-batch on one GPU. */
struct activation_bytes {
    double tokens;      /* of one micro-batch on one GPU: micro-batch x sequence / context */
    double in_flight;   /* micro-batches whose activations are alive at once */
    double checkpoint;  /* input of one layer, what full recompute keeps of it */
    double kept;        /* by the layers of the stage that keep all, for one micro-batch */
    double checkpoints; /* layers of which only the input is kept */
    double input;       /* output of the embedding */
    double work;        /* of the layer that is recomputed; 0 when nothing is */
};

/* Layers in the form for RMSNorm, rotary embedding, grouped heads and SwiGLU, 16 bit, after arXiv:2205.05198 section
 * 4.1 (which counts 34 h for GeLU and f = 4 h); t tensor ranks:
 *   norms and residual  8 h (16 h where eager norms of decoders keep an FP32 copy; encoders 10 h: masks of two
 *                       dropouts), / t with sequence parallelism
 *   attention           (2 d (n + 2 g) + 2 n d + 4 n) / t: q, k, v, output, log-sum-exp
 *   latent attention    2 (2 q_r + 2 kv_r + d_rope) + (2 (2 n (d_nope + d_rope) + n d_v) + 2 n d_v + 4 n) / t
 *   MLP                 6 f / t fused SwiGLU, 8 f / t eager; without gate 4 f, eager decoders 6 f
 *   experts             k (4 h + 6 f_e) + 6 f_shared / t + 4 E + 2 h, eager 8 instead of 6
 *   eager attention     + 6 n s / t: FP32 softmax and its 16-bit copy (5 with 16-bit scores: Megatron,
 *                       and encoders as DeepLearningExamples has them, whose largest batches on 12 cards it explains)
 * In fp32 and tf32 each 16-bit tensor is twice as large.
 * 1F1B keeps min(m, p - stage) micro-batches alive, interleaved (1 + (p - 1) / (p v)) p (arXiv:2104.04473 2.2). */
void activation_bytes_of(const struct training_setup *setup, const struct stage *stage,
                         struct activation_bytes *ret_activation);

/* Tokens that the encoder of an encoder-decoder reads, for each token of its decoder; 1 for any other network. A
 * learned position table that is longer than the decoder's maximum holds the encoder's as well (arXiv:2212.04356). */
double encoder_tokens_per_token(const struct model_arch *arch, double sequence_length);

#endif
