/* Nodes and links of a machine, from what was said and what the GPU usually comes with. */
#include "service/hardware/machine.h"

enum { BRIDGED_GPUS = 2 }; /* one NVLink bridge joins two neighbouring cards */

static uint32_t
u32_least(uint32_t a, uint32_t b)
{
    return a < b ? a : b;
}

static bool
nvlink_counts(const struct gpu *gpu, enum intranode intranode)
{
    if (intranode == INTRANODE_PCIE || gpu->nvlink_bytes_per_second <= 0)
        return false;
    switch (gpu->nvlink_kind) {
    case NVLINK_NONE:
        return false;
    case NVLINK_SWITCH:
        return true;
    case NVLINK_BRIDGE: /* an extra part that most machines come without */
        return intranode == INTRANODE_NVLINK;
    }
    return false;
}

/* How many GPUs reach each other over the link. A domain that is wider than the usual node (NVL72: a rack) does not
 * end at the node's border; any other does. */
static uint32_t
link_domain(const struct gpu *gpu, bool has_nvlink, uint32_t gpus_per_node)
{
    if (!has_nvlink)
        return gpus_per_node;
    if (gpu->nvlink_kind == NVLINK_BRIDGE)
        return u32_least(BRIDGED_GPUS, gpus_per_node);
    if (gpu->nvlink_domain_gpus > gpu->gpus_per_node)
        return gpu->nvlink_domain_gpus;
    return u32_least(gpu->nvlink_domain_gpus, gpus_per_node);
}

struct machine
machine_of(const struct gpu *gpu, uint32_t gpu_count, uint32_t gpus_per_node, double internode_bits_per_second,
           enum intranode intranode)
{
    struct machine machine = { .gpu = gpu, .gpu_count = gpu_count > 0 ? gpu_count : 1, .nodes = 1 };
    uint32_t asked_per_node = gpus_per_node;

    if (asked_per_node == 0)
        asked_per_node = gpu != NULL && gpu->gpus_per_node > 0 ? gpu->gpus_per_node : machine.gpu_count;
    machine.gpus_per_node = u32_least(asked_per_node, machine.gpu_count);
    machine.nodes = machine.gpu_count / machine.gpus_per_node + (machine.gpu_count % machine.gpus_per_node != 0);
    machine.link_domain_gpus = machine.gpus_per_node;
    if (gpu == NULL)
        return machine;

    machine.has_nvlink = nvlink_counts(gpu, intranode);
    machine.link_bytes_per_second = machine.has_nvlink ? gpu->nvlink_bytes_per_second : gpu->pcie_bytes_per_second;
    machine.link_domain_gpus = link_domain(gpu, machine.has_nvlink, machine.gpus_per_node);
    machine.network_bytes_per_second = internode_bits_per_second > 0
                                           ? internode_bits_per_second / 8 / machine.gpus_per_node
                                           : gpu->internode_bytes_per_second;
    return machine;
}
