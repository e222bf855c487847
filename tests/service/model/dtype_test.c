#include "service/model/dtype.h"

#include <math.h>
#include <string.h>

#include "tests/support/suite.h"

/* Bits with scales, and sizes of files that others published. */
static const struct {
    const char *source;
    enum weight_format format;
    double bits, within;
} published[] = {
    { "AWQ group 128, 4 + 16/128 + 4/128", WEIGHT_INT4_AWQ, 4.15625, 0 },
    { "NF4 block 64: arXiv:2305.14314 section 3", WEIGHT_NF4, 4.5, 0 },
    { "MXFP4: OCP Microscaling v1.0, 32 values share 8 bits", WEIGHT_MXFP4, 4.25, 0 },
    { "NVFP4: 16 values share 8 bits", WEIGHT_NVFP4, 4.5, 0 },
    { "FP8 blocks of 128 x 128: arXiv:2412.19437 section 3.3", WEIGHT_FP8, 8.00195, 1e-5 },
    { "Q8_0 Llama-3.1-8B: llama.cpp tools/quantize/README.md", WEIGHT_Q8_0, 8.5008, 0.01 },
    { "Q6_K Llama-3.1-8B: the same", WEIGHT_Q6_K, 6.5633, 0.01 },
    { "Q5_K_M Llama-3.1-8B: the same", WEIGHT_Q5_K_M, 5.7036, 0.01 * 5.7 },
    { "Q4_K_M Llama-3.1-8B: the same", WEIGHT_Q4_K_M, 4.8944, 0.01 * 4.9 },
    { "Q4_K_M Llama-3.1-70B, 43.1 GB: the same", WEIGHT_Q4_K_M, 43.1e9 * 8 / 70.55e9, 0.01 * 4.9 },
    { "Q2_K Llama-3.1-8B: the same", WEIGHT_Q2_K, 3.1593, 0.06 * 3.2 },
};

START_TEST(bits_match_published)
{
    double bits = weight_format_bits(published[_i].format);

    ck_assert_msg(fabs(bits - published[_i].bits) <= published[_i].within, "%s: %f", published[_i].source, bits);
}
END_TEST

START_TEST(every_format_has_a_name_of_its_own)
{
    for (int i = WEIGHT_FP32; i < WEIGHT_FORMAT_COUNT; i++) {
        ck_assert_uint_gt(strlen(weight_format_name((enum weight_format)i)), 0);
        ck_assert(weight_format_bits((enum weight_format)i) > 2 && weight_format_bits((enum weight_format)i) <= 32);
        for (int j = WEIGHT_FP32; j < i; j++)
            ck_assert_str_ne(weight_format_name((enum weight_format)i), weight_format_name((enum weight_format)j));
    }
    for (int i = KV_FP16; i < KV_FORMAT_COUNT; i++)
        ck_assert_uint_gt(strlen(kv_format_name((enum kv_format)i)), 0);
    ck_assert_str_eq(weight_format_name(WEIGHT_FORMAT_COUNT), "");
}
END_TEST

START_TEST(kinds_of_formats)
{
    ck_assert(weight_format_is_gguf(WEIGHT_Q4_K_M) && weight_format_is_4bit(WEIGHT_Q4_K_M));
    ck_assert(weight_format_is_gguf(WEIGHT_Q8_0) && !weight_format_is_4bit(WEIGHT_Q8_0));
    ck_assert(!weight_format_is_gguf(WEIGHT_NF4) && weight_format_is_4bit(WEIGHT_NF4));
    ck_assert(!weight_format_is_4bit(WEIGHT_INT8) && !weight_format_is_gguf(WEIGHT_BF16));
    ck_assert(kv_format_bytes(KV_BF16) == 2 && kv_format_bytes(KV_FP8) == 1 && kv_format_bytes(KV_INT4) == 0.5);
}
END_TEST

int
main(void)
{
    TCase *tcase = tcase_create("formats");

    tcase_add_loop_test(tcase, bits_match_published, 0, COUNT_OF(published));
    tcase_add_test(tcase, every_format_has_a_name_of_its_own);
    tcase_add_test(tcase, kinds_of_formats);
    return suite_run("model dtype", tcase);
}
