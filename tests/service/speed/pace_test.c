/* What devices reach, against published matrix products, and what runs where a unit is missing. */
#include "service/speed/pace.h"

#include "service/speed/bottleneck.h"
#include "tests/support/seed_rates.h"
#include "tests/support/suite.h"

static const char mamf[] = "stas00/ml-engineering, maximum achievable matmul FLOPS";
static const char torch_tests[] = "zzc0721/torch-performance-test-data";

/* TFLOP/s of the best BF16 (FP16) products alone. Training reaches somewhat less, never more. */
static const struct {
    const char *source, *gpu;
    double teraflops;
} products[] = {
    { mamf, "a100-sxm-80gb", 271.2 },      { mamf, "a100-pcie-80gb", 252.9 },
    { mamf, "h100-sxm-80gb", 794.5 },      { mamf, "gh200-141gb", 828.6 },
    { mamf, "mi300x-192gb", 668.4 },       { mamf, "mi325x-256gb", 784.9 },
    { torch_tests, "h20-96gb", 141.9 },    { torch_tests, "l4-24gb", 70.9 },
    { torch_tests, "l40s-48gb", 269.2 },   { torch_tests, "v100s-pcie-32gb", 88.9 },
    { torch_tests, "rtx-4090-24gb", 170 }, { torch_tests, "rtx-3090-24gb", 76.5 },
    { torch_tests, "t4-16gb", 42.7 },
};

START_TEST(nine_tenths_of_the_best_products)
{
    struct gpu gpu = seed_gpu(products[_i].gpu);
    struct rates rates = seed_rates();
    struct training_job job = { .precision = gpu.bf16_flop_per_second > 0 ? PRECISION_BF16_MIXED : PRECISION_FP16_MIXED,
                                .framework = FRAMEWORK_MEGATRON };
    double share = pace_of(&gpu, &rates, &job).linear / 1e12 / products[_i].teraflops;

    ck_assert_msg(share > 0.78 && share < 1.08, "%s: %s at %.2f", products[_i].source, gpu.id, share);
}
END_TEST

START_TEST(missing_units_fall_back)
{
    struct gpu v100 = seed_gpu("v100-sxm-32gb"), a100 = seed_gpu("a100-sxm-80gb"), h100 = seed_gpu("h100-sxm-80gb");
    struct gpu silent = a100;

    silent.fp32_flop_per_second = silent.tf32_flop_per_second = 0;
    ck_assert_double_eq_tol(peak_flop_per_second(&silent, PRECISION_FP32), a100.bf16_flop_per_second / 3, 1);
    ck_assert_double_eq_tol(peak_flop_per_second(&silent, PRECISION_TF32), a100.bf16_flop_per_second / 3, 1);
    ck_assert_double_eq(peak_flop_per_second(&v100, PRECISION_BF16_MIXED), v100.fp16_flop_per_second);
    ck_assert_double_eq(peak_flop_per_second(&v100, PRECISION_TF32), v100.fp32_flop_per_second);
    ck_assert_double_eq(peak_flop_per_second(&a100, PRECISION_FP8_MIXED), a100.bf16_flop_per_second);
    ck_assert_double_eq(peak_flop_per_second(&h100, PRECISION_FP8_MIXED), h100.fp8_flop_per_second);
}
END_TEST

START_TEST(every_family_has_a_pace)
{
    struct gpu gpu = seed_gpu("a100-sxm-80gb");
    struct rates rates = seed_rates();

    gpu.family = (enum gpu_family)_i;
    for (int precision = PRECISION_BF16_MIXED; precision <= PRECISION_TF32; precision++) {
        struct training_job job = { .precision = (enum training_precision)precision, .framework = FRAMEWORK_FSDP };
        struct pace pace = pace_of(&gpu, &rates, &job);

        ck_assert_double_gt(pace.linear, 0);
        ck_assert_double_gt(pace.attention, 0);
        ck_assert_double_gt(pace.experts, 0);
        ck_assert_double_le(pace.linear, 1.2 * peak_flop_per_second(&gpu, job.precision));
        ck_assert_double_le(pace.elementwise, gpu.memory_bytes_per_second);
    }
}
END_TEST

START_TEST(names_of_bottlenecks)
{
    ck_assert_str_eq(bottleneck_name(BOTTLENECK_MEMORY_BANDWIDTH), "memory_bandwidth");
    ck_assert_str_eq(bottleneck_name(BOTTLENECK_CPU), "cpu");
    ck_assert_str_eq(bottleneck_name(BOTTLENECK_COUNT), "");
}
END_TEST

int
main(void)
{
    TCase *tcase = tcase_create("pace");

    tcase_add_loop_test(tcase, nine_tenths_of_the_best_products, 0, COUNT_OF(products));
    tcase_add_test(tcase, missing_units_fall_back);
    tcase_add_loop_test(tcase, every_family_has_a_pace, 0, GPU_FAMILY_COUNT);
    tcase_add_test(tcase, names_of_bottlenecks);
    return suite_run("pace", tcase);
}
