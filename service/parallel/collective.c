/* Rings on two kinds of link: islands of NVLink or PCIe, and the network that joins them. */
#include "service/parallel/collective.h"

#include <math.h>

#include "service/base/quantity.h"

/* GPUs behind one node's network cards. A rack-wide NVLink domain counts as one node. */
static uint32_t
node_gpus(const struct machine *machine)
{
    uint32_t gpus =
        machine->gpus_per_node > machine->link_domain_gpus ? machine->gpus_per_node : machine->link_domain_gpus;

    return gpus > 0 ? gpus : 1;
}

/* `ranks` of a group with this stride that lie in one island of `gpus`. */
static uint32_t
ranks_within(uint32_t gpus, uint32_t ranks, uint32_t stride)
{
    uint32_t fit = gpus / (stride > 0 ? stride : 1);

    return fit == 0 ? 1 : (fit < ranks ? fit : ranks);
}

static double
pcie_rate(const struct machine *machine, const struct rates *rates, uint32_t ranks)
{
    double share = ranks <= 2 ? rates->link_pcie_pair_share : rates->link_pcie_share;

    if (machine->gpu == NULL)
        return 0;
    return machine->gpu->pcie_bytes_per_second * (machine->gpu->peer_to_peer ? share : rates->link_pcie_no_peer_share);
}

/* Rate inside a node for a group of `ranks` over `span` GPUs: islands of NVLink talk to each other by PCIe. */
static double
inside_rate(const struct machine *machine, const struct rates *rates, uint32_t ranks, uint64_t span)
{
    if (machine->has_nvlink && span <= machine->link_domain_gpus)
        return machine->link_bytes_per_second * rates->link_nvlink_share;
    return pcie_rate(machine, rates, ranks);
}

/* No time for nothing, whatever the rate. */
static double
seconds_at(double bytes, double rate)
{
    return bytes > 0 ? bytes / rate : 0;
}

double
link_rate(const struct machine *machine, const struct rates *rates)
{
    return inside_rate(machine, rates, machine->gpus_per_node, 1);
}

double
network_rate(const struct machine *machine, const struct rates *rates)
{
    return machine->network_bytes_per_second * rates->link_network_share;
}

double
link_seconds_longer(struct link_seconds seconds)
{
    return seconds.inside > seconds.across ? seconds.inside : seconds.across;
}

bool
collective_crosses_nodes(const struct machine *machine, uint32_t ranks, uint32_t stride)
{
    return ranks_within(node_gpus(machine), ranks, stride) < ranks;
}

struct link_seconds
collective_link_seconds(const struct machine *machine, const struct rates *rates, double bytes, uint32_t ranks,
                        uint32_t stride)
{
    struct link_seconds seconds = { 0, 0 };
    uint32_t node = node_gpus(machine), near = ranks_within(node, ranks, stride);

    if (ranks <= 1 || !(bytes > 0))
        return seconds;
    if (near > 1)
        seconds.inside =
            seconds_at(bytes * (ranks - 1) / ranks, inside_rate(machine, rates, ranks, (uint64_t)near * stride));
    if (near < ranks) {
        double nodes = (double)u64_ceil_div(ranks, near);
        double groups = stride < node ? stride : node; /* as many rings share the node's cards */

        seconds.across = seconds_at(bytes * (nodes - 1) / nodes * groups, network_rate(machine, rates) * node);
    }
    return seconds;
}

double
collective_seconds(const struct machine *machine, const struct rates *rates, double bytes, uint32_t ranks,
                   uint32_t stride)
{
    return link_seconds_longer(collective_link_seconds(machine, rates, bytes, ranks, stride));
}

struct link_seconds
all_to_all_link_seconds(const struct machine *machine, const struct rates *rates, double bytes, uint32_t ranks,
                        uint32_t copies)
{
    struct link_seconds seconds = { 0, 0 };
    uint32_t near = ranks_within(node_gpus(machine), ranks, 1);

    if (ranks <= 1 || !(bytes > 0))
        return seconds;
    if (near > 1)
        seconds.inside = seconds_at(bytes * (near - 1) / near, inside_rate(machine, rates, ranks, near));
    if (near < ranks && copies > 0) {
        double nodes = (double)ranks / near, met = (nodes - 1) * (1 - pow(1 - 1 / nodes, copies));

        seconds.across = seconds_at(bytes * met / copies, network_rate(machine, rates));
    }
    return seconds;
}

struct link_seconds
neighbour_link_seconds(const struct machine *machine, const struct rates *rates, double bytes, uint64_t span)
{
    struct link_seconds seconds = { 0, 0 };

    if (span > node_gpus(machine))
        seconds.across = seconds_at(bytes, network_rate(machine, rates));
    else
        seconds.inside = seconds_at(bytes, inside_rate(machine, rates, machine->gpus_per_node, span));
    return seconds;
}

double
collective_latency_seconds(const struct machine *machine, const struct rates *rates, uint32_t ranks, uint32_t stride)
{
    if (ranks <= 1)
        return 0;
    if (!collective_crosses_nodes(machine, ranks, stride))
        return rates->link_latency_seconds;
    return fmin(ranks, rates->link_longest_ring_ranks) *
           (machine->network_bytes_per_second >= rates->link_fast_network_bytes_per_second
                ? rates->link_hop_seconds_fast
                : rates->link_hop_seconds_slow);
}
