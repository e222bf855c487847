/* Operations and bytes of one pipeline stage for one micro-batch on one GPU, forward pass, before any machine. */
#ifndef SERVICE_SPEED_LAYER_WORK_H
#define SERVICE_SPEED_LAYER_WORK_H

#include "service/memory/training_memory.h"

struct layer_work {
    double layers;  /* of a mean stage */
    double kernels; /* layers again, each counted by how many times it launches what a dense layer does */
    /* dense matrices */
    double linear_flop, linear_flop_backward, gradient_flop; /* forward, of its input's gradient, of the weight's */
    double linear_bytes, linear_bytes_backward;
    double gradient_bytes; /* operands and the accumulated gradient of the weights */
    double weights;        /* elements on this GPU, experts included */
    /* routed experts, all matrices */
    double expert_flop, expert_bytes, expert_bytes_backward, expert_gradient_bytes;
    /* attention core and scans; scores that eager attention writes out, one pass */
    double attention_flop, score_bytes;
    double elementwise_bytes; /* norms, rotary embedding, activation, residual, permutation; one pass each */
    double adapter_flop, adapter_bytes;
    /* what the layers send, one direction */
    double tensor_bytes, tensor_count; /* reduced between tensor ranks, and in how many collectives */
    double expert_sent_bytes, expert_count;
    uint32_t expert_copies;
    double context_bytes; /* keys and values around the context ring */
    /* head */
    double head_flop, head_bytes;
};

/* `setup` is complete and its network is not generic. Only `rates` of traffic are used, none of a GPU. */
void layer_work_of(const struct training_setup *setup, struct layer_work *ret_work);

#endif
