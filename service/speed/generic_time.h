/* Step time of a network that is known by its work alone. */
#ifndef SERVICE_SPEED_GENERIC_TIME_H
#define SERVICE_SPEED_GENERIC_TIME_H

#include "service/speed/communication_time.h"
#include "service/speed/training_speed.h"

/* Convolutions at the matrix rate, their activations as traffic; gradients reduced once a step. `machine` may be
 * another than the setup's. *ret_reduction: what of the reduction shows, and on which link. */
void generic_time_of(const struct training_setup *setup, const struct machine *machine, struct training_time *ret_time,
                     struct exposed *ret_reduction);

#endif
