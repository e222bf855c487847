/* What a training step asks of the network between nodes. */
#ifndef SERVICE_SPEED_NETWORK_NEED_H
#define SERVICE_SPEED_NETWORK_NEED_H

#include "service/hardware/machine.h"
#include "service/speed/training_speed.h"

struct network_need {
    /* at which all that a step sends between nodes is done within the step of one ideal node; of the cards' data sheet,
     * so what they do not reach of it is added */
    double bits_per_second_per_node;
    double exposed_seconds_per_step; /* that the GPUs wait for it now */
    double scaling_efficiency_ratio; /* throughput over that of the same GPUs in one ideal node, at most 1 */
};

/* Whether there is a network to need: false for one node, and where nothing was timed. */
bool network_need_of(const struct training_speed *speed, const struct machine *machine, struct network_need *ret_need);

#endif
