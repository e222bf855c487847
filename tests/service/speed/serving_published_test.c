/* Speed of serving against measurements that others published. */
#include <math.h>

#include "tests/support/serving_fixture.h"
#include "tests/support/suite.h"

/* Where the figures stand. */
#define ACCELMARK "FreedomIntelligence/AccelMark results/verified @5797fc42"
#define AICONFIGURATOR "ai-dynamo/aiconfigurator silicon samples, closed loop"
#define GPU_BENCHMARKS "XiongjieDai/GPU-Benchmarks-on-LLM-Inference README.md @aa72e0ec"
#define LLM_INFERENCE_BENCH "argonne-lcf/LLM-Inference-Bench Plots/All_results.csv @4211f5d4, output share"
#define QWEN25_PAGE "QwenLM/Qwen2.5 speed_benchmark.rst @010c37c3"
#define QWEN3_PAGE "QwenLM/Qwen3 speed_benchmark.md"
#define QWEN2_PAGE "QwenLM/Qwen2.5 speed_benchmark.rst @4da996c5"
#define TENSORRT_LLM_09 "TensorRT-LLM 0.9 performance tables"
#define TENSORRT_LLM_014 "NVIDIA/TensorRT-LLM perf-overview.md @258c7540, online"
#define TENSORRT_LLM_017 "NVIDIA/TensorRT-LLM 0.17 perf-overview.md"
#define TENSORRT_LLM_11 "NVIDIA/TensorRT-LLM perf-overview.md @03e27c7d"

enum figure { FIRST, TOKEN, RATE }; /* ms to the first token, ms between tokens, output tokens a second */

/* Half of the measurements lie within 7 % (first token: 14 %); a row that is off by more than these is a wrong model.
 */
static const double tolerance[] = { [FIRST] = 0.5, [TOKEN] = 0.2, [RATE] = 0.25 };

#define TENSOR(ways)                                            \
    {                                                           \
        .tensor = (ways), .pipeline = 1, .data = 1, .expert = 1 \
    }
#define LAYERS(ways)                                            \
    {                                                           \
        .tensor = 1, .pipeline = (ways), .data = 1, .expert = 1 \
    }
#define SPREAD(ways)                                                 \
    {                                                                \
        .tensor = 1, .pipeline = 1, .data = (ways), .expert = (ways) \
    }
#define ROW(page, network, card, count, split, server, version, format, cache, in, out, clients, rate, kind, value)  \
    {                                                                                                                \
        .source = (page), .model = (network), .gpu = (card), .gpus = (count), .figure = (kind), .measured = (value), \
        .job = {                                                                                                     \
            .engine = (server),                                                                                      \
            .engine_version = version,                                                                               \
            .precision = (format),                                                                                   \
            .kv_cache_precision = (cache),                                                                           \
            .input_tokens = (in),                                                                                    \
            .output_tokens = (out),                                                                                  \
            .concurrency = (clients),                                                                                \
            .requests_per_second = (rate),                                                                           \
            .has_parallelism = true,                                                                                 \
            .parallelism = split,                                                                                    \
        },                                                                                                           \
    }

/* page, model, GPU and how many, split, engine and version, weights, cache, input and output tokens, clients or
 * requests a second, figure */
static const struct {
    const char *source, *model, *gpu;
    uint32_t gpus;
    struct serving_job job;
    enum figure figure;
    double measured;
} rows[] = {
    /* clang-format off: one measurement a line */
    ROW(ACCELMARK, "llama-3-70b", "rtx-4090-24gb", 8, TENSOR(8), ENGINE_VLLM, "0.7.3", WEIGHT_BF16, KV_UNSAID, 245, 345,
        4, 0, RATE, 105.1),
    ROW(ACCELMARK, "llama-3-8b", "a100-sxm-80gb", 1, TENSOR(1), ENGINE_VLLM, "0.7.3", WEIGHT_FP8, KV_UNSAID, 245, 355,
        8, 0, RATE, 705.5),
    ROW(ACCELMARK, "llama-3-8b", "h100-sxm-80gb", 1, TENSOR(1), ENGINE_VLLM, "0.7.3", WEIGHT_INT4_GPTQ, KV_UNSAID, 245,
        355, 69, 0, RATE, 3146.75),
    ROW(ACCELMARK, "llama-3-8b", "rtx-4090-24gb", 1, TENSOR(1), ENGINE_VLLM, "0.7.3", WEIGHT_INT4_GPTQ, KV_UNSAID, 245,
        355, 8, 0, RATE, 605.8),
    ROW(ACCELMARK, "llama-3-8b", "rtx-a6000-48gb", 8, TENSOR(8), ENGINE_VLLM, "0.7.3", WEIGHT_BF16, KV_UNSAID, 245, 353,
        103, 0, RATE, 3568.15),
    ROW(ACCELMARK, "llama-3-70b", "rtx-4090-24gb", 8, TENSOR(8), ENGINE_VLLM, "0.7.3", WEIGHT_BF16, KV_UNSAID, 245, 345,
        1, 0, TOKEN, 29.79),
    ROW(ACCELMARK, "llama-3-8b", "a100-sxm-40gb", 1, TENSOR(1), ENGINE_SGLANG, "0.5.6", WEIGHT_BF16, KV_UNSAID, 245,
        347, 1, 0, TOKEN, 12.93),
    ROW(ACCELMARK, "llama-3-8b", "a800-sxm-80gb", 1, TENSOR(1), ENGINE_VLLM, "0.7.3", WEIGHT_BF16, KV_UNSAID, 245, 355,
        0, 5, TOKEN, 21.39),
    ROW(ACCELMARK, "llama-3-8b", "rtx-5090-32gb", 1, TENSOR(1), ENGINE_VLLM, "0.19.1", WEIGHT_BF16, KV_UNSAID, 28650,
        256, 1, 0, TOKEN, 12.34),
    ROW(ACCELMARK, "mixtral-8x7b", "h200-sxm-141gb", 8, TENSOR(8), ENGINE_VLLM, "0.7.3", WEIGHT_BF16, KV_UNSAID, 245,
        340, 1, 0, TOKEN, 6.63),
    ROW(ACCELMARK, "llama-3-8b", "a100-sxm-40gb", 1, TENSOR(1), ENGINE_VLLM, "0.7.3", WEIGHT_FP8, KV_UNSAID, 245, 355,
        0, 5, FIRST, 54.58),
    ROW(ACCELMARK, "llama-3-8b", "a800-sxm-80gb", 1, TENSOR(1), ENGINE_VLLM, "0.7.3", WEIGHT_FP8, KV_UNSAID, 245, 355,
        0, 5, FIRST, 58.13),
    ROW(ACCELMARK, "mixtral-8x7b", "a100-sxm-40gb", 8, TENSOR(8), ENGINE_VLLM, "0.7.3", WEIGHT_BF16, KV_UNSAID, 245,
        340, 0, 2, FIRST, 55.72),
    ROW(AICONFIGURATOR, "deepseek-v3", "b200-sxm-180gb", 8, TENSOR(8), ENGINE_TENSORRT_LLM, "", WEIGHT_NVFP4, KV_FP8,
        1024, 1024, 16, 0, TOKEN, 11.9088),
    ROW(AICONFIGURATOR, "deepseek-v3", "h200-sxm-141gb", 8, TENSOR(8), ENGINE_TENSORRT_LLM, "", WEIGHT_FP8, KV_FP8,
        1024, 8192, 32, 0, TOKEN, 25.3587),
    ROW(AICONFIGURATOR, "llama-3-70b", "b200-sxm-180gb", 8, TENSOR(8), ENGINE_VLLM, "", WEIGHT_NVFP4, KV_UNSAID, 8192,
        1024, 4, 0, TOKEN, 7.1294),
    ROW(AICONFIGURATOR, "llama-3-70b", "h200-sxm-141gb", 4, TENSOR(4), ENGINE_VLLM, "", WEIGHT_FP8, KV_UNSAID, 1024,
        8192, 16, 0, TOKEN, 11.2902),
    ROW(AICONFIGURATOR, "minimax-m2.5", "b200-sxm-180gb", 2, TENSOR(2), ENGINE_VLLM, "0.17.0", WEIGHT_FP8, KV_UNSAID,
        1024, 1024, 8, 0, TOKEN, 12.4433),
    ROW(AICONFIGURATOR, "qwen3-235b-a22b", "h100-sxm-80gb", 4, TENSOR(4), ENGINE_TENSORRT_LLM, "1.0.0", WEIGHT_FP8,
        KV_FP8, 256, 512, 128, 0, TOKEN, 32.9408),
    ROW(AICONFIGURATOR, "deepseek-v3", "b200-sxm-180gb", 8, TENSOR(8), ENGINE_TENSORRT_LLM, "1.2.0", WEIGHT_FP8, KV_FP8,
        8192, 1024, 4, 0, FIRST, 348.032),
    ROW(AICONFIGURATOR, "llama-3-70b", "b200-sxm-180gb", 2, TENSOR(2), ENGINE_VLLM, "", WEIGHT_FP8, KV_UNSAID, 1024,
        8192, 4, 0, FIRST, 98.0683),
    ROW(AICONFIGURATOR, "llama-3-8b", "h100-sxm-80gb", 1, TENSOR(1), ENGINE_TENSORRT_LLM, "1.0.0", WEIGHT_BF16,
        KV_UNSAID, 4096, 128, 16, 0, FIRST, 388.091),
    ROW(AICONFIGURATOR, "qwen3-235b-a22b", "h100-sxm-80gb", 8, TENSOR(8), ENGINE_TENSORRT_LLM, "1.0.0", WEIGHT_FP8,
        KV_FP8, 1024, 256, 16, 0, FIRST, 219.011),
    ROW(GPU_BENCHMARKS, "llama-3-70b", "a100-sxm-80gb", 4, LAYERS(4), ENGINE_LLAMA_CPP, "", WEIGHT_Q4_K_M, KV_FP16, 1,
        4096, 1, 0, TOKEN, 54.1126),
    ROW(GPU_BENCHMARKS, "llama-3-70b", "rtx-a6000-48gb", 1, TENSOR(1), ENGINE_LLAMA_CPP, "", WEIGHT_Q4_K_M, KV_FP16, 1,
        4096, 1, 0, TOKEN, 70.9723),
    ROW(GPU_BENCHMARKS, "llama-3-8b", "l40s-48gb", 1, TENSOR(1), ENGINE_LLAMA_CPP, "", WEIGHT_Q4_K_M, KV_FP16, 1, 1024,
        1, 0, TOKEN, 8.80282),
    ROW(GPU_BENCHMARKS, "llama-3-8b", "rtx-5000-ada-32gb", 1, TENSOR(1), ENGINE_LLAMA_CPP, "", WEIGHT_FP16, KV_FP16, 1,
        8192, 1, 0, TOKEN, 31.9795),
    ROW(LLM_INFERENCE_BENCH, "llama-3-70b", "h100-sxm-80gb", 4, TENSOR(4), ENGINE_TENSORRT_LLM, "", WEIGHT_FP16,
        KV_FP16, 128, 128, 32, 0, RATE, 1304.11),
    ROW(GPU_BENCHMARKS, "llama-3-8b", "rtx-3080-10gb", 1, TENSOR(1), ENGINE_LLAMA_CPP, "", WEIGHT_Q4_K_M, KV_UNSAID,
        1024, 1, 1, 0, FIRST, 287.9),
    ROW(GPU_BENCHMARKS, "llama-3-8b", "rtx-4090-24gb", 1, TENSOR(1), ENGINE_LLAMA_CPP, "", WEIGHT_Q4_K_M, KV_UNSAID,
        1024, 1, 1, 0, FIRST, 148.4),
    ROW(GPU_BENCHMARKS, "llama-3-8b", "rtx-a6000-48gb", 1, TENSOR(1), ENGINE_LLAMA_CPP, "", WEIGHT_Q4_K_M, KV_UNSAID,
        1024, 1, 1, 0, FIRST, 282.7),
    ROW(GPU_BENCHMARKS, "llama-3-8b", "l40s-48gb", 1, TENSOR(1), ENGINE_LLAMA_CPP, "", WEIGHT_Q4_K_M, KV_UNSAID, 1024,
        1, 1, 0, FIRST, 173.3),
    ROW(GPU_BENCHMARKS, "llama-3-8b", "a100-pcie-80gb", 1, TENSOR(1), ENGINE_LLAMA_CPP, "", WEIGHT_Q4_K_M, KV_UNSAID,
        1024, 1, 1, 0, FIRST, 176.5),
    ROW(GPU_BENCHMARKS, "llama-3-8b", "h100-pcie-80gb", 1, TENSOR(1), ENGINE_LLAMA_CPP, "", WEIGHT_Q4_K_M, KV_UNSAID,
        1024, 1, 1, 0, FIRST, 132.0),
    ROW(LLM_INFERENCE_BENCH, "mistral-7b-v0.1", "a100-sxm-40gb", 4, TENSOR(4), ENGINE_TENSORRT_LLM, "", WEIGHT_FP16,
        KV_FP16, 512, 512, 1, 0, RATE, 167.315),
    ROW(LLM_INFERENCE_BENCH, "qwen2.5-7b", "a100-sxm-40gb", 4, TENSOR(4), ENGINE_TENSORRT_LLM, "", WEIGHT_FP16, KV_FP16,
        512, 512, 1, 0, RATE, 165.535),
    ROW(QWEN25_PAGE, "qwen2.5-14b", "a100-sxm-80gb", 1, TENSOR(1), ENGINE_TRANSFORMERS, "4.46.0", WEIGHT_INT4_GPTQ,
        KV_UNSAID, 14336, 2048, 1, 0, TOKEN, 72.5163),
    ROW(QWEN25_PAGE, "qwen2.5-72b", "a100-sxm-80gb", 2, TENSOR(2), ENGINE_VLLM, "0.6.3", WEIGHT_INT8, KV_UNSAID, 1,
        2048, 1, 0, TOKEN, 31.8471),
    ROW(QWEN25_PAGE, "qwen2.5-7b", "a100-sxm-80gb", 1, TENSOR(1), ENGINE_VLLM, "0.6.3", WEIGHT_BF16, KV_UNSAID, 1, 2048,
        1, 0, TOKEN, 11.8652),
    ROW(QWEN3_PAGE, "qwen3-0.6b", "h20-96gb", 1, TENSOR(1), ENGINE_SGLANG, "0.4.6", WEIGHT_BF16, KV_UNSAID, 1, 2048, 1,
        0, RATE, 414.17),
    ROW(QWEN3_PAGE, "qwen3-0.6b", "h20-96gb", 1, TENSOR(1), ENGINE_SGLANG, "0.4.6", WEIGHT_FP8, KV_UNSAID, 1, 2048, 1,
        0, RATE, 458.03),
    ROW(QWEN2_PAGE, "qwen2.5-72b", "a100-sxm-80gb", 2, TENSOR(2), ENGINE_VLLM, "0.4.2", WEIGHT_INT4_AWQ, KV_UNSAID,
        6144, 2048, 1, 0, TOKEN, 38.8048),
    ROW(QWEN2_PAGE, "qwen2.5-7b", "a100-sxm-80gb", 1, TENSOR(1), ENGINE_VLLM, "0.4.2", WEIGHT_INT4_AWQ, KV_UNSAID, 6144,
        2048, 1, 0, TOKEN, 10.9433),
    ROW(TENSORRT_LLM_014, "llama-3-70b", "h100-sxm-80gb", 4, TENSOR(4), ENGINE_TENSORRT_LLM, "0.14.0", WEIGHT_BF16,
        KV_UNSAID, 467, 16, 0, 4, TOKEN, 20),
    ROW(TENSORRT_LLM_014, "llama-3-8b", "h100-sxm-80gb", 1, TENSOR(1), ENGINE_TENSORRT_LLM, "0.14.0", WEIGHT_BF16,
        KV_UNSAID, 467, 16, 0, 4, TOKEN, 7),
    ROW(TENSORRT_LLM_014, "llama-3-8b", "h200-sxm-141gb", 1, TENSOR(1), ENGINE_TENSORRT_LLM, "0.14.0", WEIGHT_BF16,
        KV_UNSAID, 467, 16, 0, 8, TOKEN, 6),
    ROW(TENSORRT_LLM_014, "llama-3-70b", "h100-sxm-80gb", 4, TENSOR(4), ENGINE_TENSORRT_LLM, "0.14.0", WEIGHT_BF16,
        KV_UNSAID, 467, 16, 0, 16, FIRST, 109),
    ROW(TENSORRT_LLM_014, "llama-3-8b", "h100-sxm-80gb", 1, TENSOR(1), ENGINE_TENSORRT_LLM, "0.14.0", WEIGHT_BF16,
        KV_UNSAID, 467, 16, 0, 32, FIRST, 29),
    ROW(TENSORRT_LLM_014, "llama-3-8b", "h200-sxm-141gb", 1, TENSOR(1), ENGINE_TENSORRT_LLM, "0.14.0", WEIGHT_BF16,
        KV_UNSAID, 467, 16, 0, 32, FIRST, 27),
    ROW(TENSORRT_LLM_017, "llama-3-70b", "gh200-96gb", 1, TENSOR(1), ENGINE_TENSORRT_LLM, "0.17.0", WEIGHT_FP8, KV_FP8,
        128, 4096, 2048, 0, RATE, 1263.98),
    ROW(TENSORRT_LLM_017, "llama-3-8b", "gh200-96gb", 1, TENSOR(1), ENGINE_TENSORRT_LLM, "0.17.0", WEIGHT_FP8, KV_FP8,
        1000, 1000, 2048, 0, RATE, 16482.8),
    ROW(TENSORRT_LLM_017, "llama-3.1-405b", "h200-sxm-141gb", 8, TENSOR(8), ENGINE_TENSORRT_LLM, "0.17.0", WEIGHT_FP8,
        KV_FP8, 2048, 2048, 2048, 0, RATE, 2940.62),
    ROW(TENSORRT_LLM_017, "mistral-7b-v0.1", "h100-sxm-80gb", 1, TENSOR(1), ENGINE_TENSORRT_LLM, "0.17.0", WEIGHT_FP8,
        KV_FP8, 2048, 2048, 2048, 0, RATE, 9958.17),
    ROW(TENSORRT_LLM_017, "mixtral-8x7b", "h100-sxm-80gb", 1, TENSOR(1), ENGINE_TENSORRT_LLM, "0.17.0", WEIGHT_FP8,
        KV_FP8, 1000, 1000, 2048, 0, RATE, 6868.52),
    ROW(TENSORRT_LLM_09, "mistral-7b-v0.1", "a100-sxm-80gb", 1, TENSOR(1), ENGINE_TENSORRT_LLM, "0.9.0", WEIGHT_FP16,
        KV_FP16, 2048, 128, 64, 0, RATE, 698),
    ROW(TENSORRT_LLM_09, "mixtral-8x7b", "a100-sxm-80gb", 2, TENSOR(2), ENGINE_TENSORRT_LLM, "0.9.0", WEIGHT_FP16,
        KV_FP16, 128, 128, 512, 0, RATE, 5684),
    ROW(TENSORRT_LLM_09, "mistral-7b-v0.1", "a100-sxm-80gb", 1, TENSOR(1), ENGINE_TENSORRT_LLM, "0.9.0", WEIGHT_FP16,
        KV_FP16, 2048, 1, 1, 0, FIRST, 139.6),
    ROW(TENSORRT_LLM_09, "mistral-7b-v0.1", "h200-sxm-141gb", 1, TENSOR(1), ENGINE_TENSORRT_LLM, "0.9.0", WEIGHT_FP8,
        KV_FP8, 2048, 1, 1, 0, FIRST, 31.7),
    ROW(TENSORRT_LLM_11, "deepseek-v3", "gb200-186gb", 4, SPREAD(4), ENGINE_TENSORRT_LLM, "1.1", WEIGHT_NVFP4, KV_FP8,
        1024, 32768, 2048, 0, RATE, 5860),
    ROW(TENSORRT_LLM_11, "llama-3-70b", "h100-sxm-80gb", 2, TENSOR(2), ENGINE_TENSORRT_LLM, "1.1", WEIGHT_FP8, KV_FP8,
        8192, 1024, 2048, 0, RATE, 796),
    ROW(TENSORRT_LLM_11, "qwen3-235b-a22b", "b200-sxm-180gb", 4, SPREAD(4), ENGINE_TENSORRT_LLM, "1.1", WEIGHT_NVFP4,
        KV_FP8, 1024, 32768, 2048, 0, RATE, 5020),
    /* clang-format on */
};

START_TEST(measurements_are_met)
{
    struct serving_fixture fixture;
    struct serving_memory memory;
    struct serving_speed speed;

    serving_fixture_make(&fixture, rows[_i].model, rows[_i].gpu, rows[_i].gpus, &rows[_i].job);
    serving_fixture_run(&fixture, &memory, &speed);
    double figures[] = { [FIRST] = speed.ttft_ms.expected,
                         [TOKEN] = speed.tpot_ms.expected,
                         [RATE] = speed.output_tokens_per_second.expected };
    double error = figures[rows[_i].figure] / rows[_i].measured - 1;

    ck_assert_msg(fabs(error) < tolerance[rows[_i].figure], "%s, %s on %u %s: %f, not %f", rows[_i].source,
                  rows[_i].model, rows[_i].gpus, rows[_i].gpu, figures[rows[_i].figure], rows[_i].measured);
}
END_TEST

/* Bands are to hold the truth about four times in five. */
START_TEST(bands_hold_most_measurements)
{
    unsigned held = 0;

    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct serving_fixture fixture;
        struct serving_memory memory;
        struct serving_speed speed;

        serving_fixture_make(&fixture, rows[i].model, rows[i].gpu, rows[i].gpus, &rows[i].job);
        serving_fixture_run(&fixture, &memory, &speed);
        struct range ranges[] = {
            [FIRST] = speed.ttft_ms, [TOKEN] = speed.tpot_ms, [RATE] = speed.output_tokens_per_second
        };
        struct range range = ranges[rows[i].figure];

        ck_assert(range.low < range.expected && range.expected < range.high);
        held += range.low <= rows[i].measured && rows[i].measured <= range.high;
    }
    ck_assert_msg(held >= COUNT_OF(rows) * 3 / 4, "%u of %zu", held, COUNT_OF(rows));
}
END_TEST

int
main(void)
{
    TCase *tcase = tcase_create("published");

    tcase_add_loop_test(tcase, measurements_are_met, 0, COUNT_OF(rows));
    tcase_add_test(tcase, bands_hold_most_measurements);
    return suite_run("serving_published", tcase);
}
