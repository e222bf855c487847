/* Bits of values, of what stands beside blocks, channels and the whole, rounded up to bytes once. */
#include "service/model/weight_storage.h"

#include "service/base/quantity.h"

static uint64_t
blocks_along(int32_t block, uint64_t length)
{
    return block <= 0 ? 1 : u64_ceil_div(length, (uint64_t)block);
}

static uint64_t
block_count(const struct weight_storage *storage, uint64_t inputs, uint64_t outputs)
{
    if (storage->in_memory_order != 0)
        return blocks_along(storage->block_inputs, u64_mul_sat(inputs, outputs));
    return u64_mul_sat(blocks_along(storage->block_inputs, inputs), blocks_along(storage->block_outputs, outputs));
}

uint64_t
weight_storage_bytes(const struct weight_storage *storage, uint64_t inputs, uint64_t outputs)
{
    uint64_t bits = u64_mul_sat(u64_mul_sat(inputs, outputs), storage->value_bits);

    if (storage->scale_bits > 0) {
        uint64_t blocks = block_count(storage, inputs, outputs);

        bits = u64_add_sat(bits, u64_mul_sat(blocks, storage->scale_bits + storage->zero_bits));
        if (storage->scales_block > 0)
            bits =
                u64_add_sat(bits, u64_mul_sat(u64_ceil_div(blocks, storage->scales_block), storage->scales_scale_bits));
    }
    bits = u64_add_sat(bits, u64_mul_sat(inputs, storage->input_bits));
    return u64_ceil_div(u64_add_sat(bits, storage->tensor_bits), 8);
}

struct weight_storage
weight_storage_plain(uint32_t value_bits)
{
    return (struct weight_storage){ .value_bits = value_bits };
}

struct weight_storage
weight_storage_groups(uint32_t value_bits, int32_t group, uint32_t scale_bits, uint32_t zero_bits)
{
    return (struct weight_storage){ .value_bits = value_bits,
                                    .block_inputs = group,
                                    .block_outputs = 1,
                                    .scale_bits = scale_bits,
                                    .zero_bits = zero_bits };
}

struct weight_storage
weight_storage_blocks(uint32_t value_bits, int32_t block_inputs, int32_t block_outputs, uint32_t scale_bits)
{
    return (struct weight_storage){
        .value_bits = value_bits, .block_inputs = block_inputs, .block_outputs = block_outputs, .scale_bits = scale_bits
    };
}

struct weight_storage
weight_storage_nf4(bool quantised_twice)
{
    struct weight_storage storage = {
        .value_bits = 4, .block_inputs = 64, .in_memory_order = 1, .scale_bits = quantised_twice ? 8 : 32
    };

    if (quantised_twice) {
        storage.scales_block = 256;
        storage.scales_scale_bits = 32;
    }
    return storage;
}
