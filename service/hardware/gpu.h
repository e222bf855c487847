/* What a GPU is: the figures of its data sheet that estimates use. The rows live in the catalog. */
#ifndef SERVICE_HARDWARE_GPU_H
#define SERVICE_HARDWARE_GPU_H

#include <stdbool.h>
#include <stdint.h>

/* Devices that behave alike in measurements. Names as in the gpus table. */
enum gpu_family {
    GPU_FAMILY_VOLTA = 0,
    GPU_FAMILY_TURING,
    GPU_FAMILY_AMPERE,
    GPU_FAMILY_GDDR,
    GPU_FAMILY_HOPPER,
    GPU_FAMILY_BLACKWELL,
    GPU_FAMILY_CDNA,
    GPU_FAMILY_ASCEND,
    GPU_FAMILY_OTHER,
    GPU_FAMILY_COUNT
};

enum nvlink_kind { NVLINK_NONE = 0, NVLINK_SWITCH, NVLINK_BRIDGE };

/* One row of the gpus table. Texts are lent by the catalog. Absent figures are 0 (or NULL, or -1 where said). */
struct gpu {
    const char *id, *vendor, *name;
    enum gpu_family family;
    uint64_t memory_bytes; /* nominal: GiB of the name */
    uint64_t usable_bytes; /* what the driver reports */
    const char *memory_kind;
    double memory_bytes_per_second;
    /* dense peaks with FP32 accumulation; 0: no such unit */
    double fp32_flop_per_second, tf32_flop_per_second, fp16_flop_per_second, bf16_flop_per_second;
    double fp8_flop_per_second, int8_op_per_second, fp4_flop_per_second;
    double nvlink_bytes_per_second; /* one way, all links of one GPU */
    enum nvlink_kind nvlink_kind;
    uint32_t nvlink_domain_gpus;
    double pcie_bytes_per_second; /* one way */
    bool peer_to_peer;
    double internode_bytes_per_second; /* usual network, one way, per GPU */
    uint32_t gpus_per_node;
    uint32_t tdp_watts, mig_slices;
    const char *form_factor, *compute_capability, *launch_date;
    int export_restricted; /* 1, 0, -1: not known */
    const char *note, *source, *source_date;
};

const char *gpu_family_name(enum gpu_family family);

/* A family by its name; false when there is none. */
bool gpu_family_parse(const char *name, enum gpu_family *ret_family);

/* A share (above 0, below 1) of a GPU as clouds slice it: that part of its memory and rates, no link to others. */
struct gpu gpu_slice(const struct gpu *gpu, double share);

/* Whether a GPU is the nearer step up than another: less nominal memory, or as much that is faster. */
bool gpu_is_nearer_step(const struct gpu *gpu, const struct gpu *other);

/* Measurements behind this program hold no AMD, Ascend or other accelerator: figures for them get wider bands. */
bool gpu_family_is_measured(enum gpu_family family);

#endif
