/* Seconds that collectives take on the links of a machine. */
#ifndef SERVICE_PARALLEL_COLLECTIVE_H
#define SERVICE_PARALLEL_COLLECTIVE_H

#include "service/hardware/machine.h"

/* Rate one GPU reaches with its node's others, bytes a second one way: the measured share of NVLink or PCIe, the latter
 * less where GPUs cannot write into each other's memory. */
double link_rate(const struct machine *machine, const struct rates *rates);

/* Rate one GPU reaches to other nodes. */
double network_rate(const struct machine *machine, const struct rates *rates);

/* All-gather or reduce-scatter of `bytes` (the whole, gathered size) over `ranks` GPUs that lie `stride` apart, without
 * latency: the slower of the ring inside the node, (n-1)/n S / link, and the share that crosses nodes
 * (one ring per network card). An all-reduce is twice this. 0 for one rank. */
double collective_seconds(const struct machine *machine, const struct rates *rates, double bytes, uint32_t ranks,
                          uint32_t stride);

/* The two times whose longer one a transfer takes: both kinds of link carry their share at once. */
struct link_seconds {
    double inside; /* the node: NVLink or PCIe */
    double across; /* the network between nodes; 0 when nothing leaves the node */
};

double link_seconds_longer(struct link_seconds seconds);

/* collective_seconds() before the longer is taken. */
struct link_seconds collective_link_seconds(const struct machine *machine, const struct rates *rates, double bytes,
                                            uint32_t ranks, uint32_t stride);

/* All-to-all of expert parallelism: each of `ranks` neighbouring GPUs sends `bytes`, spread evenly over the others. A
 * token goes to `copies` experts but crosses once to each other node that holds one of them: of N nodes it meets
 * (N-1) (1 - (1 - 1/N)^copies) (arXiv:2412.19437 section 3.2.2). */
struct link_seconds all_to_all_link_seconds(const struct machine *machine, const struct rates *rates, double bytes,
                                            uint32_t ranks, uint32_t copies);

/* `bytes` from one GPU to the next one of a group whose members spread over `span` neighbouring GPUs. */
struct link_seconds
neighbour_link_seconds(const struct machine *machine, const struct rates *rates, double bytes, uint64_t span);

/* What starting one collective costs: a constant inside a node; a ring over nodes passes each rank in turn. */
double
collective_latency_seconds(const struct machine *machine, const struct rates *rates, uint32_t ranks, uint32_t stride);

/* Whether a group of `ranks` GPUs that lie `stride` apart has members in more than one node. */
bool collective_crosses_nodes(const struct machine *machine, uint32_t ranks, uint32_t stride);

#endif
