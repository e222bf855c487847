/* Networks that are known by sums over their layers: parameters, work of one forward pass, outputs that training keeps.
 */
#ifndef SERVICE_MODEL_FAMILIES_NETWORK_H
#define SERVICE_MODEL_FAMILIES_NETWORK_H

#include "service/model/arch.h"

struct network {
    double parameters, flop, outputs;
    double depthwise_flop; /* of `flop` */
    double side;           /* of the square feature map; side^2 are its pixels */
};

/* A convolution of kernel x kernel without bias over every pixel; `groups` is 1, or the channels when it is depth-wise.
 * A matrix over every pixel is a kernel of 1. FLOPs: 2 a multiply-add. */
void network_convolve(struct network *network, double in, double out, double kernel, double groups);

/* Divides the side, rounding up. */
void network_shrink(struct network *network, uint32_t stride);

/* The sums as a generic architecture. */
void network_finish(const struct network *network, struct model_arch *ret_arch);

#endif
