/* All-reduce, hand-over and all-to-all on NVLink, PCIe and the network. */
#include "service/speed/serving_links.h"

#include <math.h>

#include "service/memory/serving_split.h"
#include "service/parallel/collective.h"

static const double hidden_bytes = 2;        /* 16-bit activations */
static const double round_trip_bytes = 3;    /* to an expert in 8 bits, back in 16 */
static const double measured_gpus = 8;       /* the size whose start-up time the rates table gives */
static const double collectives_a_layer = 2; /* after attention and after the MLP */

/* GPUs behind one node's network cards; a rack-wide NVLink domain counts as one node. */
static double
node_gpus(const struct machine *machine)
{
    double gpus =
        machine->gpus_per_node > machine->link_domain_gpus ? machine->gpus_per_node : machine->link_domain_gpus;

    return gpus > 0 ? gpus : 1;
}

static bool
uses_nvlink(const struct machine *machine, double gpus)
{
    return machine->has_nvlink && gpus <= machine->link_domain_gpus;
}

/* One-way rate of `gpus` neighbours in a node. Without peer access all goes through the host's memory. */
static double
inside_rate(const struct serving_setup *setup, double gpus)
{
    const struct rates *rates = setup->rates;
    const struct machine *machine = setup->machine;
    double share = machine->gpu->peer_to_peer ? rates->serving_pcie_share : rates->serving_pcie_share_no_peer;

    if (uses_nvlink(machine, gpus))
        return machine->link_bytes_per_second * rates->serving_nvlink_share;
    return machine->gpu->pcie_bytes_per_second * share * (gpus > 2 ? 1 : rates->serving_pcie_pair_gain);
}

static double
inside_wait(const struct serving_setup *setup, double gpus)
{
    const struct rates *rates = setup->rates;

    return uses_nvlink(setup->machine, gpus) ? rates->serving_nvlink_wait_seconds : rates->serving_pcie_wait_seconds;
}

static void
add_all_reduces(const struct serving_setup *setup, struct serving_links *cost)
{
    double ranks = serving_ways(setup->plan.tensor), node = node_gpus(setup->machine);
    double near = ranks < node ? ranks : node, nodes = ceil(ranks / near);
    double times = collectives_a_layer * setup->arch->layer_count;
    double bytes = hidden_bytes * setup->arch->hidden_size;

    if (ranks <= 1)
        return;
    if (near > 1) {
        /* small messages: a tree's depth grows slowly with the GPUs */
        cost->wait += times * inside_wait(setup, near) * pow(near / measured_gpus, 0.25);
        cost->seconds += times * 2 * (near - 1) / near * bytes / inside_rate(setup, near);
    }
    if (nodes > 1) {
        cost->network_wait += times * setup->rates->serving_network_wait_seconds * ceil(log2(nodes));
        cost->network_seconds +=
            times * 2 * (nodes - 1) / nodes * bytes / near / network_rate(setup->machine, setup->rates);
    }
}

static void
add_hand_overs(const struct serving_setup *setup, struct serving_links *cost)
{
    double stages = serving_ways(setup->plan.pipeline), tensor = serving_ways(setup->plan.tensor);
    double borders = stages - 1, far = ceil(stages * tensor / node_gpus(setup->machine)) - 1;
    double bytes = hidden_bytes * setup->arch->hidden_size / tensor;

    if (borders <= 0)
        return;
    if (far > borders)
        far = borders;
    cost->wait += (borders - far) * inside_wait(setup, 2);
    cost->seconds += (borders - far) * bytes / inside_rate(setup, 2);
    cost->network_wait += far * setup->rates->serving_network_wait_seconds;
    cost->network_seconds += far * bytes / network_rate(setup->machine, setup->rates);
}

/* Adds the two transfers of each layer with experts. */
static void
add_expert_exchange(const struct serving_setup *setup, struct serving_links *cost)
{
    double ranks = serving_expert_ways(&setup->plan, setup->arch), node = node_gpus(setup->machine);
    double nodes = ceil(ranks / node), near = ranks < node ? ranks : node;

    for (uint32_t i = 0; i < setup->arch->kind_count; i++) {
        const struct layer_kind *kind = &setup->arch->kinds[i];
        double copies = kind->experts_per_token < ranks ? kind->experts_per_token : ranks;
        double bytes = copies * setup->arch->hidden_size * round_trip_bytes * (ranks - 1) / ranks;

        if (kind->mlp != MLP_EXPERTS)
            continue;
        cost->wait += kind->count * collectives_a_layer * inside_wait(setup, near);
        cost->seconds += kind->count * bytes / nodes / inside_rate(setup, near);
        if (nodes <= 1)
            continue;
        cost->network_wait += kind->count * collectives_a_layer * setup->rates->serving_network_wait_seconds;
        cost->network_seconds += kind->count * bytes * (nodes - 1) / nodes / network_rate(setup->machine, setup->rates);
    }
}

struct serving_links
serving_link_cost(const struct serving_setup *setup)
{
    struct serving_links cost = { 0 };

    add_all_reduces(setup, &cost);
    add_hand_overs(setup, &cost);
    if (serving_attention_is_data_parallel(&setup->plan, setup->arch))
        add_expert_exchange(setup, &cost);
    return cost;
}
