/* How a matrix lies in a checkpoint: bits a value, and the scales and zero points beside them. */
#ifndef SERVICE_MODEL_WEIGHT_STORAGE_H
#define SERVICE_MODEL_WEIGHT_STORAGE_H

#include <stdbool.h>
#include <stdint.h>

enum { WHOLE_LENGTH = -1 }; /* a block as long as the matrix */

/* One scale (and zero point) stands for a block of values: block_inputs of one output for groups, WHOLE_LENGTH of one
 * output for channels, WHOLE_LENGTH of both for a tensor. All 0: values alone. */
struct weight_storage {
    uint32_t value_bits;
    int32_t block_inputs, block_outputs;
    uint32_t in_memory_order; /* 1: blocks of block_inputs values as they lie in memory, rows or not */
    uint32_t scale_bits, zero_bits;
    uint32_t scales_block, scales_scale_bits; /* scales that are quantised again: one scale for so many of them */
    uint32_t input_bits;                      /* beside each input channel */
    uint32_t tensor_bits;                     /* beside the whole matrix */
};

/* Bytes of a matrix, what stands beside it included; saturates. */
uint64_t weight_storage_bytes(const struct weight_storage *storage, uint64_t inputs, uint64_t outputs);

/* The usual ones, by where the bits come from. */

/* Values alone. */
struct weight_storage weight_storage_plain(uint32_t value_bits);

/* Groups along the inputs of an output; `group` WHOLE_LENGTH: one an output. */
struct weight_storage
weight_storage_groups(uint32_t value_bits, int32_t group, uint32_t scale_bits, uint32_t zero_bits);

/* Blocks of both dimensions (arXiv:2412.19437 section 3.3.2). */
struct weight_storage
weight_storage_blocks(uint32_t value_bits, int32_t block_inputs, int32_t block_outputs, uint32_t scale_bits);

/* NF4 or FP4 of bitsandbytes: a scale of FP32 for 64 values; quantised twice: of 8 bits, and one of FP32 for 256 of
 * those (arXiv:2305.14314 section 3). */
struct weight_storage weight_storage_nf4(bool quantised_twice);

#endif
