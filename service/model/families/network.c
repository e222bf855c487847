/* Networks that are known by sums over their layers. */
#include "service/model/families/network.h"

#include "service/base/quantity.h"

/* In training a layer leaves its output for the norm behind it, and the normed output for what follows: two values of 2
 * bytes. */
static const double kept_bytes_per_output = 4;

void
network_convolve(struct network *network, double in, double out, double kernel, double groups)
{
    double weights = kernel * kernel * in * out / groups;
    double pixels = network->side * network->side;

    network->parameters += weights;
    network->flop += 2 * weights * pixels;
    network->outputs += out * pixels;
    if (groups > 1 && groups == in)
        network->depthwise_flop += 2 * weights * pixels;
}

void
network_shrink(struct network *network, uint32_t stride)
{
    network->side = (double)u64_ceil_div((uint64_t)network->side, stride);
}

void
network_finish(const struct network *network, struct model_arch *ret_arch)
{
    ret_arch->generic = true;
    ret_arch->generic_parameters = u64_from_double(network->parameters);
    ret_arch->flop_per_sample = network->flop;
    ret_arch->depthwise_flop_per_sample = network->depthwise_flop;
    ret_arch->activation_bytes_per_sample = kept_bytes_per_output * network->outputs;
}
