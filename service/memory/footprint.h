/* What a job keeps on one GPU: the terms, their sum, and whether it fits. */
#ifndef SERVICE_MEMORY_FOOTPRINT_H
#define SERVICE_MEMORY_FOOTPRINT_H

#include <stddef.h>
#include <stdint.h>

enum part_code {
    PART_WEIGHTS = 0,
    PART_GRADIENTS,
    PART_MASTER_WEIGHTS,
    PART_OPTIMIZER_STATES,
    PART_ADAPTER,
    PART_ACTIVATIONS,
    PART_LOGITS,
    PART_GATHERED_PARAMETERS,
    PART_KV_CACHE,
    PART_COMMUNICATION, /* communicators: outside what the framework allocates */
    PART_WORKSPACE,
    PART_RUNTIME,       /* CUDA context and libraries: outside what the framework allocates */
    PART_FRAGMENTATION, /* allocator cache beyond the peak: reserved, not allocated */
    PART_CODE_COUNT
};

enum verdict { VERDICT_UNKNOWN = 0, VERDICT_FITS, VERDICT_TIGHT, VERDICT_DOES_NOT_FIT };

enum { MAX_PARTS = 16, PART_VALUES = 10 };

/* One term. `formula` is a constant text with {0}..{9} for `values`: with them put in, anyone can recompute `bytes`
 * by hand. It uses names of quantities and + - x / ( ) min max only; numbers are written exactly (integers) or with
 * 4 significant digits. */
struct part {
    enum part_code code;
    double bytes;
    const char *formula;
    double values[PART_VALUES];
    const char *source;
};

struct footprint {
    struct part parts[MAX_PARTS];
    uint32_t part_count;
    double allocated_bytes;     /* peak the framework allocates: the parts but communication, runtime, fragmentation */
    double required_bytes;      /* allocated + context + communicators: less cannot work */
    double reserved_bytes;      /* what the driver's tool shows, allocator cache included: the sum of all parts */
    double usable_bytes;        /* 0: no limit known */
    double band_low, band_high; /* truth / expected, for allocated and reserved */
    enum verdict verdict;
};

/* Adds a term and returns it for its formula and values. Terms of 0 bytes are added too only when the caller wants
 * them shown. At most MAX_PARTS. */
struct part *footprint_add(struct footprint *footprint, enum part_code code, double bytes);

/* Bytes of a code, 0 when it has no term. */
double footprint_bytes(const struct footprint *footprint, enum part_code code);

/* Sums the parts into the totals: allocated (but communication, runtime, fragmentation), required, reserved. */
void footprint_sum(struct footprint *footprint);

/* The contract's rule: does_not_fit when required > usable; fits when reserved <= 0.9 usable and its high bound
 * <= usable; tight between. unknown without a limit. */
enum verdict footprint_verdict(const struct footprint *footprint);

/* The most that may be reserved for the verdict `fits`. */
double footprint_fitting_bytes(const struct footprint *footprint);

const char *part_code_name(enum part_code code);
const char *verdict_name(enum verdict verdict);

#endif
