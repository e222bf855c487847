/* Bits of a weight in each storage, worked by hand. */
#include "service/model/weight_storage.h"

#include "tests/support/suite.h"

/* The matrix is 4096 inputs by 14336 outputs (an up projection of Llama-3-8B) unless it says otherwise:
 * 58,720,256 values. */
enum { INPUTS = 4096, OUTPUTS = 14336 };

static const struct {
    const char *source;
    struct weight_storage storage;
    uint64_t inputs, outputs, bytes;
} worked[] = {
    { "16 bits", { .value_bits = 16 }, INPUTS, OUTPUTS, 117440512 },
    /* 29,360,128 of values; 32 groups x 14336: 458,752 scales of 2 bytes and zero points of half a byte */
    { "AWQ, groups of 128: 4 + 16/128 + 4/128",
      { .value_bits = 4, .block_inputs = 128, .block_outputs = 1, .scale_bits = 16, .zero_bits = 4 },
      INPUTS,
      OUTPUTS,
      29360128 + 917504 + 229376 },
    /* and 4 bytes for each of 4096 inputs */
    { "GPTQ, groups of 128 in act-order",
      { .value_bits = 4, .block_inputs = 128, .block_outputs = 1, .scale_bits = 16, .zero_bits = 4, .input_bits = 32 },
      INPUTS,
      OUTPUTS,
      29360128 + 917504 + 229376 + 16384 },
    { "GPTQ without groups: one scale and zero point an output",
      { .value_bits = 4, .block_inputs = WHOLE_LENGTH, .block_outputs = 1, .scale_bits = 16, .zero_bits = 4 },
      INPUTS,
      OUTPUTS,
      29360128 + 28672 + 7168 },
    /* 32 x 112 blocks of 4 bytes */
    { "FP8 in blocks of 128 x 128: 8 + 32/16384",
      { .value_bits = 8, .block_inputs = 128, .block_outputs = 128, .scale_bits = 32 },
      INPUTS,
      OUTPUTS,
      58720256 + 14336 },
    /* 7168 x 576: 56 x 5 blocks, the last one half full (kv_a_proj_with_mqa of DeepSeek-V3) */
    { "FP8 in blocks that do not fill it",
      { .value_bits = 8, .block_inputs = 128, .block_outputs = 128, .scale_bits = 32 },
      7168,
      576,
      4128768 + 280 * 4 },
    { "FP8 with a scale of the tensor and one of its inputs",
      { .value_bits = 8, .tensor_bits = 64 },
      INPUTS,
      OUTPUTS,
      58720256 + 8 },
    { "INT8 with a scale of FP16 an output",
      { .value_bits = 8, .block_inputs = WHOLE_LENGTH, .block_outputs = 1, .scale_bits = 16 },
      INPUTS,
      OUTPUTS,
      58720256 + 28672 },
    /* 917,504 blocks of 64 with 4 bytes each */
    { "NF4: 4 + 32/64",
      { .value_bits = 4, .block_inputs = 64, .in_memory_order = 1, .scale_bits = 32 },
      INPUTS,
      OUTPUTS,
      29360128 + 3670016 },
    /* 917,504 scales of a byte, 3584 scales of those of 4 bytes: 4.127 bits */
    { "NF4 quantised twice: 4 + 8/64 + 32/16384",
      { .value_bits = 4,
        .block_inputs = 64,
        .in_memory_order = 1,
        .scale_bits = 8,
        .scales_block = 256,
        .scales_scale_bits = 32 },
      INPUTS,
      OUTPUTS,
      29360128 + 917504 + 14336 },
    { "MXFP4: 4 + 8/32",
      { .value_bits = 4, .block_inputs = 32, .block_outputs = 1, .scale_bits = 8 },
      INPUTS,
      OUTPUTS,
      29360128 + 1835008 },
    { "NVFP4: 4 + 8/16, and two scales of FP32 for the tensor",
      { .value_bits = 4, .block_inputs = 16, .block_outputs = 1, .scale_bits = 8, .tensor_bits = 64 },
      INPUTS,
      OUTPUTS,
      29360128 + 3670016 + 8 },
    { "mlx, 3 bits in groups of 64: 3 + 32/64",
      { .value_bits = 3, .block_inputs = 64, .block_outputs = 1, .scale_bits = 16, .zero_bits = 16 },
      INPUTS,
      OUTPUTS,
      22020096 + 3670016 },
    /* 75 x 10 bits: 93.75 bytes of values, 10 outputs x 3 groups x 2 bytes of scales: rounded up once */
    { "groups that do not fill a row",
      { .value_bits = 1, .block_inputs = 32, .block_outputs = 1, .scale_bits = 16 },
      75,
      10,
      94 + 60 },
};

START_TEST(bytes_are_those_worked_by_hand)
{
    uint64_t bytes = weight_storage_bytes(&worked[_i].storage, worked[_i].inputs, worked[_i].outputs);

    ck_assert_msg(bytes == worked[_i].bytes, "%s: %ju, not %ju", worked[_i].source, (uintmax_t)bytes,
                  (uintmax_t)worked[_i].bytes);
}
END_TEST

/* The short forms make what the rows above spell out. */
START_TEST(short_forms_are_the_same)
{
    struct weight_storage awq = weight_storage_groups(4, 128, 16, 4);
    struct weight_storage fp8 = weight_storage_blocks(8, 128, 128, 32);
    struct weight_storage plain = weight_storage_plain(16);
    struct weight_storage once = weight_storage_nf4(false), twice = weight_storage_nf4(true);

    ck_assert_uint_eq(weight_storage_bytes(&plain, INPUTS, OUTPUTS), 117440512);
    ck_assert_uint_eq(weight_storage_bytes(&awq, INPUTS, OUTPUTS), 30507008);
    ck_assert_uint_eq(weight_storage_bytes(&fp8, INPUTS, OUTPUTS), 58734592);
    ck_assert_uint_eq(weight_storage_bytes(&once, INPUTS, OUTPUTS), 33030144);
    ck_assert_uint_eq(weight_storage_bytes(&twice, INPUTS, OUTPUTS), 30291968);
    /* arXiv:2305.14314 section 3: 0.373 bits a parameter less */
    ck_assert_double_eq_tol((33030144 - 30291968) * 8.0 / (INPUTS * (double)OUTPUTS), 0.373, 0.0005);
}
END_TEST

START_TEST(absurd_matrices_saturate)
{
    struct weight_storage awq = weight_storage_groups(4, 128, 16, 4);

    ck_assert_uint_eq(weight_storage_bytes(&awq, UINT64_MAX, UINT64_MAX), UINT64_MAX / 8 + 1);
    ck_assert_uint_eq(weight_storage_bytes(&awq, 0, OUTPUTS), 0);
}
END_TEST

int
main(void)
{
    TCase *tcase = tcase_create("storages");

    tcase_add_loop_test(tcase, bytes_are_those_worked_by_hand, 0, COUNT_OF(worked));
    tcase_add_test(tcase, short_forms_are_the_same);
    tcase_add_test(tcase, absurd_matrices_saturate);
    return suite_run("weight storages", tcase);
}
