/* Floating-point operations of a network, from its parts. */
#ifndef SERVICE_SPEED_FLOP_H
#define SERVICE_SPEED_FLOP_H

#include "service/job/job.h"
#include "service/model/params.h"

/* Forward operations of the matrix products of one token: 2 a parameter of every matrix the token passes (k of E
 * experts; router; head even when tied; no embedding lookup). */
double flop_forward_linear_per_token(const struct model_arch *arch, const struct model_params *params);

/* Forward operations of attention for one token at mean context: 2 heads (d_qk + d_v) x tokens attended. In training of
 * causal models a token attends half the sequence (window layers less). */
double flop_forward_attention_per_token(const struct model_arch *arch, double sequence_length);

/* Model FLOPs of training one token: 3 x forward (backward is twice the forward), no recompute (arXiv:2204.02311 B). */
double
flop_training_per_token(const struct model_arch *arch, const struct model_params *params, double sequence_length);

/* The same for what a job trains. A frozen matrix has no gradient of its weight: adapters pass it once forward and once
 * backward, 4 N a token and 6 an element of their own (arXiv:2106.09685 section 4.1); where the last layers alone
 * train, the layers below go forward only, the head forward and backward. Attention has no weights. Encoders that are
 * tuned have no scores to count. */
double flop_training_job_per_token(const struct model_arch *arch, const struct model_params *params,
                                   const struct training_job *job, double sequence_length);

/* The pieces of attention, of one layer. Operations of one pair of tokens: 2 heads (d_qk + d_v). */
double flop_forward_pair(const struct layer_kind *kind);

/* Tokens that a token attends on average: half of a causal sequence, w - w^2 / 2s of a window w, all of it in an
 * encoder. */
double flop_attended_tokens(const struct model_arch *arch, const struct layer_kind *kind, double sequence_length);

/* Operations of a recurrent mixer's scan for one token: 2 (chunk x width + 2 x state) (arXiv:2405.21060 section 6). */
double flop_forward_scan(const struct model_arch *arch, const struct layer_kind *kind);

/* Share of the tokens that the head scores in training. */
double flop_scored_share(const struct model_arch *arch);

#endif
