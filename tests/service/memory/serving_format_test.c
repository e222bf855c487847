/* Kernels by GPU, as the engines' documentation lists them. */
#include "service/memory/serving_memory.h"
#include "tests/support/seed_rates.h"
#include "tests/support/suite.h"

enum answer { NO, WEIGHT_ONLY, YES };

static const struct {
    const char *source, *gpu;
    enum weight_format format;
    enum answer answer;
} kernels[] = {
    { "V100 data sheet: no BF16", "v100-sxm-32gb", WEIGHT_BF16, NO },
    { "T4 data sheet: no BF16", "t4-16gb", WEIGHT_BF16, NO },
    { "T4 data sheet", "t4-16gb", WEIGHT_FP16, YES },
    { "A100 data sheet", "a100-sxm-80gb", WEIGHT_BF16, YES },
    { "vLLM documentation, FP8 W8A8: native from compute capability 8.9", "l4-24gb", WEIGHT_FP8, YES },
    { "vLLM documentation, FP8 W8A8: native from compute capability 8.9", "h100-sxm-80gb", WEIGHT_FP8, YES },
    { "vLLM documentation, FP8 W8A8: Ampere weight-only", "a100-sxm-80gb", WEIGHT_FP8, WEIGHT_ONLY },
    { "vLLM documentation, FP8 W8A8: Ampere weight-only", "rtx-3090-24gb", WEIGHT_FP8, WEIGHT_ONLY },
    { "vLLM documentation, FP8 W8A8: weight-only from 7.5", "t4-16gb", WEIGHT_FP8, WEIGHT_ONLY },
    { "vLLM documentation, FP8 W8A8: not before 7.5", "v100-sxm-32gb", WEIGHT_FP8, NO },
    { "Blackwell data sheet", "b200-sxm-180gb", WEIGHT_NVFP4, YES },
    { "vLLM Marlin NVFP4, 8.0", "h100-sxm-80gb", WEIGHT_NVFP4, WEIGHT_ONLY },
    { "vLLM Marlin NVFP4, 8.0", "a100-sxm-80gb", WEIGHT_NVFP4, WEIGHT_ONLY },
    { "vLLM Marlin NVFP4, 8.0", "t4-16gb", WEIGHT_NVFP4, NO },
    { "vLLM Marlin NVFP4, 8.0", "v100-sxm-32gb", WEIGHT_NVFP4, NO },
    { "NVFP4 is NVIDIA's", "mi300x-192gb", WEIGHT_NVFP4, NO },
    { "transformers documentation, MXFP4: 7.5", "t4-16gb", WEIGHT_MXFP4, WEIGHT_ONLY },
    { "gpt-oss model card: MI300X", "mi300x-192gb", WEIGHT_MXFP4, WEIGHT_ONLY },
    { "vLLM documentation, supported hardware: AWQ", "t4-16gb", WEIGHT_INT4_AWQ, WEIGHT_ONLY },
    { "vLLM documentation, supported hardware: GPTQ on Volta", "v100-sxm-32gb", WEIGHT_INT4_GPTQ, WEIGHT_ONLY },
    { "MI300X data sheet", "mi300x-192gb", WEIGHT_FP8, YES },
    { "vLLM documentation, supported hardware: FP8 on AMD from MI300", "mi250-128gb", WEIGHT_FP8, NO },
    { "vllm-ascend documentation: W8A8", "ascend-910b-64gb", WEIGHT_INT8, WEIGHT_ONLY },
    { "vllm-ascend documentation", "ascend-910b-64gb", WEIGHT_FP8, NO },
    { "llama.cpp README: any backend", "v100-sxm-32gb", WEIGHT_Q4_K_M, WEIGHT_ONLY },
    { "llama.cpp README: any backend", "mi250-128gb", WEIGHT_Q8_0, WEIGHT_ONLY },
};

START_TEST(kernels_are_where_documentation_says)
{
    struct gpu gpu = seed_gpu(kernels[_i].gpu);
    bool weight_only;
    bool runs = serving_format_runs(&gpu, kernels[_i].format, &weight_only);
    enum answer answer = !runs ? NO : weight_only ? WEIGHT_ONLY : YES;

    ck_assert_msg(answer == kernels[_i].answer, "%s on %s (%s): %d", weight_format_name(kernels[_i].format),
                  kernels[_i].gpu, kernels[_i].source, answer);
}
END_TEST

int
main(void)
{
    TCase *tcase = tcase_create("kernels");

    tcase_add_loop_test(tcase, kernels_are_where_documentation_says, 0, COUNT_OF(kernels));
    return suite_run("serving_format", tcase);
}
