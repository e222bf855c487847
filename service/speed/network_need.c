/* The busy seconds of the present network, squeezed or stretched into an ideal step. */
#include "service/speed/network_need.h"

bool
network_need_of(const struct training_speed *speed, const struct machine *machine, struct network_need *ret_need)
{
    double node_bits_per_second = 8 * machine->network_bytes_per_second * machine->gpus_per_node;

    if (machine->nodes <= 1 || !(speed->step_seconds > 0) || !(speed->ideal_step_seconds > 0))
        return false;
    ret_need->bits_per_second_per_node = node_bits_per_second * speed->network_busy_seconds / speed->ideal_step_seconds;
    ret_need->exposed_seconds_per_step = speed->network_exposed_seconds;
    ret_need->scaling_efficiency_ratio =
        speed->ideal_step_seconds < speed->step_seconds ? speed->ideal_step_seconds / speed->step_seconds : 1;
    return true;
}
