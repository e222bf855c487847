/* Seconds that collectives take on the links of a machine. */
#ifndef SERVICE_PARALLEL_COLLECTIVE_H
#define SERVICE_PARALLEL_COLLECTIVE_H

#include "service/hardware/machine.h"

/* Rate one GPU reaches with its node's others, bytes a second one way: the measured share of NVLink or PCIe. */
double link_rate(const struct machine *machine, const struct rates *rates);

/* Rate one GPU reaches to other nodes. */
double network_rate(const struct machine *machine, const struct rates *rates);

/* All-gather or reduce-scatter of `bytes` (the whole, gathered size) over `ranks` GPUs that lie `stride` apart, without
 * latency: the slower of the ring inside the node, (n-1)/n S / link, and the share that crosses nodes
 * (one ring per network card). An all-reduce is twice this. 0 for one rank. */
double collective_seconds(const struct machine *machine, const struct rates *rates, double bytes, uint32_t ranks,
                          uint32_t stride);

#endif
