/* Step time of a network that is known by its work alone. */
#ifndef SERVICE_SPEED_GENERIC_TIME_H
#define SERVICE_SPEED_GENERIC_TIME_H

#include "service/speed/communication_time.h"
#include "service/speed/pace.h"
#include "service/speed/training_speed.h"

/* Convolutions at the matrix rate, their activations as traffic; gradients reduced once a step. `machine` may be
 * another than the setup's. *ret_reduction: what of the reduction shows, and on which link. */
/* Operations a second of its products: of matrices, and of filters of one channel each. */
struct generic_rates {
    double products, depthwise;
};

struct generic_rates generic_rates_of(const struct training_setup *setup, const struct pace *pace);

/* Bytes of all that its convolutions make of one sample. */
double generic_output_bytes(const struct training_setup *setup);

/* Parameters that get a gradient: all, or the adapters'. */
double generic_trained_parameters(const struct training_setup *setup);

/* Times a sample's products run: forward, to its input, and to the weights unless they are frozen. */
double generic_product_passes(const struct training_setup *setup);

void generic_time_of(const struct training_setup *setup, const struct machine *machine, struct training_time *ret_time,
                     struct exposed *ret_reduction);

#endif
