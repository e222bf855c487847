/* The hardware a job is asked to run on: some GPUs of one kind, in nodes, with the links between them. */
#ifndef SERVICE_HARDWARE_MACHINE_H
#define SERVICE_HARDWARE_MACHINE_H

#include "service/hardware/gpu.h"
#include "service/hardware/rates.h"

enum intranode { INTRANODE_UNSAID = 0, INTRANODE_NVLINK, INTRANODE_PCIE };

/* `gpu` NULL: no hardware named, one GPU without limit. */
struct machine {
    const struct gpu *gpu;
    uint32_t gpu_count;     /* all of them */
    uint32_t gpus_per_node; /* never above gpu_count when that is one node */
    uint32_t nodes;
    bool has_nvlink;                 /* between the GPUs of a node, as asked (bridges only when asked for) */
    double link_bytes_per_second;    /* one way, per GPU, inside a node, data sheet */
    double network_bytes_per_second; /* one way, per GPU, between nodes, data sheet */
    uint32_t link_domain_gpus;       /* GPUs that reach each other at link rate */
    uint32_t host_cores;             /* of a node; 0: not said */
    double host_bytes;               /* memory of a node; 0: not said */
};

/* Fills a machine from a GPU and what the caller said (0 and UNSAID: the GPU's usual). internode_bits_per_second is of
 * a whole node. A bridge of two GPUs counts only with INTRANODE_NVLINK and joins at most two. */
struct machine machine_of(const struct gpu *gpu, uint32_t gpu_count, uint32_t gpus_per_node,
                          double internode_bits_per_second, enum intranode intranode);

#endif
