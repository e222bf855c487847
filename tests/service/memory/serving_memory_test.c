/* Memory of serving against what engines printed at start-up, what pages list, and jobs that did or did not start. */
#include "service/memory/serving_memory.h"

#include <math.h>
#include <string.h>

#include "service/memory/kv_cache.h"
#include "tests/support/serving_fixture.h"
#include "tests/support/suite.h"

#define TENSOR(ways) .has_parallelism = true, .parallelism = { .tensor = (ways), .pipeline = 1, .data = 1 }

/* What engines report: GiB of weights a GPU, tokens that the cache holds. 0: not said. */
static const struct {
    const char *source, *model, *gpu;
    uint32_t gpus;
    struct serving_job job;
    double weight_gib, tokens, within;
} start_ups[] = {
    { "vllm-project/vllm#10511: 14.96 GiB, 53.29 GiB of cache at 131072 bytes a token",
      "llama-3-8b",
      "a100-sxm-80gb",
      1,
      { .engine = ENGINE_VLLM, .precision = WEIGHT_BF16, .context_length = 8192, .memory_utilization = 0.9 },
      14.96,
      436552,
      0.06 },
    { "vllm-project/vllm#10511: 7.48 GiB on each of two",
      "llama-3-8b",
      "a100-sxm-80gb",
      2,
      { .engine = ENGINE_VLLM, .precision = WEIGHT_BF16, .memory_utilization = 0.9 },
      7.48,
      0,
      0 },
    { "vllm-project/vllm#10517: 14.9888 GiB, 3.81 GiB of cache, 31232 tokens",
      "llama-3-8b",
      "rtx-3090-24gb",
      1,
      { .engine = ENGINE_VLLM, .precision = WEIGHT_BF16, .context_length = 20000, .memory_utilization = 0.9 },
      14.9888,
      31232,
      0.2 },
    { "vllm-project/vllm#13061: 13.9476 GiB, 81536 tokens (DeepSeek-R1-Distill-Qwen-14B)",
      "qwen2.5-14b",
      "rtx-4090-24gb",
      2,
      { .engine = ENGINE_VLLM, .precision = WEIGHT_BF16, .context_length = 131072, .memory_utilization = 0.98 },
      13.9476,
      81536,
      0.2 },
    { "vllm-project/vllm#21348: 367404 tokens in 16.46 GiB with SGLang at 0.93",
      "qwen3-235b-a22b",
      "h100-sxm-80gb",
      4,
      { .engine = ENGINE_SGLANG, .precision = WEIGHT_FP8, .memory_utilization = 0.93 },
      0,
      367404,
      0.2 },
    { "vllm-project/vllm#14447: 21.21 GiB (DeepSeek-R1 in AWQ)",
      "deepseek-v3",
      "rtx-3090-24gb",
      16,
      { .engine = ENGINE_VLLM, .precision = WEIGHT_INT4_AWQ, .memory_utilization = 0.99 },
      21.21,
      0,
      0 },
};

START_TEST(start_up_reports_hold)
{
    struct serving_fixture fixture;
    struct serving_memory memory;

    serving_fixture_make(&fixture, start_ups[_i].model, start_ups[_i].gpu, start_ups[_i].gpus, &start_ups[_i].job);
    serving_memory(&fixture.setup, &memory);
    double gib = footprint_bytes(&memory.footprint, PART_WEIGHTS) / GIB;
    if (start_ups[_i].weight_gib > 0)
        ck_assert_msg(fabs(gib / start_ups[_i].weight_gib - 1) < 0.02, "%s: %f GiB", start_ups[_i].source, gib);
    if (start_ups[_i].tokens > 0)
        ck_assert_msg(fabs(memory.capacity_tokens / start_ups[_i].tokens - 1) < start_ups[_i].within, "%s: %f tokens",
                      start_ups[_i].source, memory.capacity_tokens);
}
END_TEST

/* GiB of cache and the tokens in it: bytes a token on one GPU need no constant. */
static const struct {
    const char *source, *model;
    double element_bytes, gib, tokens;
    uint32_t tensor;
} pools[] = {
    { "vllm-project/vllm#10517", "llama-3-8b", 2, 3.81, 31232, 1 },
    { "NVIDIA/TensorRT-LLM#6294, FP8", "llama-3-8b", 1, 52.51, 860320, 1 },
    { "vllm-project/vllm#21348", "qwen3-235b-a22b", 2, 16.46, 367404, 4 },
};

START_TEST(pools_hold_the_reported_tokens)
{
    struct serving_fixture fixture;
    struct serving_job job = { .engine = ENGINE_VLLM };

    serving_fixture_make(&fixture, pools[_i].model, NULL, 1, &job);
    double bytes = kv_cache_bytes_per_token_per_gpu(&fixture.arch, pools[_i].element_bytes, pools[_i].tensor, 1);
    double tokens = pools[_i].gib * GIB / bytes;
    ck_assert_msg(fabs(tokens / pools[_i].tokens - 1) < 0.001, "%s: %f", pools[_i].source, tokens);
}
END_TEST

/* Qwen2.5 speed benchmark page: GiB that transformers allocates at batch 1 (docs/source/benchmark, 010c37c3;
 * with 4.38.2 at 4da996c5, where the old cache lived beside the new). */
static const struct {
    const char *model, *version;
    enum weight_format format;
    uint32_t gpus, input_tokens;
    double gib;
} transformers_page[] = {
    { "qwen2.5-7b", "4.46.0", WEIGHT_BF16, 1, 1, 14.38 },
    { "qwen2.5-7b", "4.46.0", WEIGHT_BF16, 1, 30720, 19.97 },
    { "qwen2.5-14b", "4.46.0", WEIGHT_INT4_AWQ, 1, 14336, 13.67 },
    { "qwen2.5-72b", "4.46.0", WEIGHT_INT4_AWQ, 1, 6144, 42.13 },
    { "qwen2.5-72b", "4.46.0", WEIGHT_BF16, 2, 1, 68.10 },
    { "qwen2.5-14b", "4.46.0", WEIGHT_INT4_GPTQ, 1, 1, 9.94 },
    { "qwen2.5-72b", "4.46.0", WEIGHT_INT4_GPTQ, 1, 6144, 42.50 },
    { "qwen2.5-7b", "4.38.2", WEIGHT_BF16, 1, 1, 14.92 },
    { "qwen2.5-7b", "4.38.2", WEIGHT_INT4_GPTQ, 1, 1, 6.06 },
    { "qwen2.5-72b", "4.38.2", WEIGHT_INT4_GPTQ, 1, 1, 41.80 },
    { "qwen-72b (v1)", "", WEIGHT_INT4_GPTQ, 1, 1, 48.86 }, /* QwenLM/Qwen README: a modeling file of its own */
};

START_TEST(transformers_page_holds)
{
    struct serving_fixture fixture;
    struct serving_memory memory;
    struct serving_job job = {
        .engine = ENGINE_TRANSFORMERS,
        .precision = transformers_page[_i].format,
        .input_tokens = transformers_page[_i].input_tokens,
        .output_tokens = 2048,
        .concurrency = 1,
        .has_parallelism = true,
        .parallelism = { .tensor = 1, .pipeline = transformers_page[_i].gpus, .data = 1 },
    };

    strcpy(job.engine_version, transformers_page[_i].version);
    serving_fixture_make(&fixture, transformers_page[_i].model, "a100-sxm-80gb", transformers_page[_i].gpus, &job);
    fixture.arch.max_context_tokens = 32768; /* of the configs of that time */
    serving_memory(&fixture.setup, &memory);
    double gib = memory.footprint.allocated_bytes / GIB;
    ck_assert_msg(fabs(gib / transformers_page[_i].gib - 1) < 0.025, "%s: %f, not %f", transformers_page[_i].model, gib,
                  transformers_page[_i].gib);
}
END_TEST

/* Jobs that were seen to start (or not), and two that follow from sizes alone. */
static const struct {
    const char *source, *model, *gpu;
    uint32_t gpus;
    struct serving_job job;
    bool starts;
} verdicts[] = {
    { "141.1 GB of 16-bit weights and 21.5 GB of cache against 150.1 GB",
      "llama-3-70b",
      "h200-sxm-141gb",
      1,
      { .precision = WEIGHT_BF16, .context_length = 8192, .concurrency = 8 },
      false },
    { "the same in FP8",
      "llama-3-70b",
      "h200-sxm-141gb",
      1,
      { .precision = WEIGHT_FP8, .context_length = 8192, .concurrency = 8 },
      true },
    { "vllm-project/vllm#10517",
      "llama-3-70b",
      "h100-sxm-80gb",
      2,
      { .precision = WEIGHT_FP16, .context_length = 131072, .memory_utilization = 0.9 },
      false },
    { "vllm-project/vllm#13061",
      "qwen2.5-14b",
      "rtx-4090-24gb",
      2,
      { .precision = WEIGHT_BF16, .context_length = 131072, .memory_utilization = 0.98 },
      false },
    { "deepseek-ai/DeepSeek-R1#276",
      "deepseek-v3",
      "h20-96gb",
      8,
      { .precision = WEIGHT_FP8, .context_length = 16384, .concurrency = 8, .memory_utilization = 0.95 },
      true },
    { "deepseek-ai/DeepSeek-R1#464",
      "deepseek-v3",
      "a100-sxm-80gb",
      16,
      { .engine = ENGINE_SGLANG, .precision = WEIGHT_BF16, TENSOR(16) },
      false },
    { "deepseek-ai/DeepSeek-R1#464",
      "deepseek-v3",
      "a100-sxm-80gb",
      32,
      { .engine = ENGINE_SGLANG, .precision = WEIGHT_BF16, TENSOR(32) },
      true },
    { "vllm-project/vllm#14447",
      "deepseek-v3",
      "rtx-3090-24gb",
      16,
      { .precision = WEIGHT_INT4_AWQ, .memory_utilization = 0.99 },
      true },
    { "QwenLM/Qwen3-VL#1224",
      "qwen2.5-vl-7b",
      "t4-16gb",
      1,
      { .precision = WEIGHT_INT4_AWQ, .context_length = 128000 },
      false },
    { "84 GB of weights on each 80 GB card",
      "deepseek-v3",
      "h100-sxm-80gb",
      8,
      { .engine = ENGINE_SGLANG,
        .precision = WEIGHT_FP8,
        .input_tokens = 4000,
        .output_tokens = 1000,
        .concurrency = 50 },
      false },
    { "the same on H200",
      "deepseek-v3",
      "h200-sxm-141gb",
      8,
      { .engine = ENGINE_SGLANG,
        .precision = WEIGHT_FP8,
        .input_tokens = 4000,
        .output_tokens = 1000,
        .concurrency = 50 },
      true },
};

START_TEST(verdicts_agree_with_what_was_seen)
{
    struct serving_fixture fixture;
    struct serving_memory memory;

    serving_fixture_make(&fixture, verdicts[_i].model, verdicts[_i].gpu, verdicts[_i].gpus, &verdicts[_i].job);
    serving_memory(&fixture.setup, &memory);
    bool starts = memory.footprint.verdict != VERDICT_DOES_NOT_FIT;
    ck_assert_msg(starts == verdicts[_i].starts, "%s on %s: %s, needs %f of %f GiB", verdicts[_i].model,
                  verdicts[_i].source, verdict_name(memory.footprint.verdict), memory.footprint.required_bytes / GIB,
                  memory.footprint.usable_bytes / GIB);
}
END_TEST

/* llama.cpp tools/quantize/README.md: GB of Llama-3.1-70B files. */
START_TEST(gguf_files_have_their_size)
{
    static const struct {
        enum weight_format format;
        double gb;
    } files[] = { { WEIGHT_Q4_K_M, 42.5 }, { WEIGHT_Q5_K_M, 49.9 }, { WEIGHT_Q2_K, 26.4 }, { WEIGHT_Q8_0, 75.0 } };
    struct serving_fixture fixture;
    struct serving_job job = { .engine = ENGINE_LLAMA_CPP };

    serving_fixture_make(&fixture, "llama-3.1-70b", NULL, 1, &job);
    double gb = serving_weight_bytes(&fixture.arch, &fixture.params, files[_i].format) / 1e9;
    ck_assert_msg(fabs(gb / files[_i].gb - 1) < 0.02, "%s: %f GB", weight_format_name(files[_i].format), gb);
}
END_TEST

/* Sizes of checkpoints on the Hugging Face Hub (sum of safetensors), GB. */
START_TEST(checkpoints_have_their_size)
{
    static const struct {
        const char *model;
        enum weight_format format;
        double gb;
    } checkpoints[] = {
        { "llama-3-8b", WEIGHT_BF16, 16.06 },   { "llama-3-70b", WEIGHT_BF16, 141.1 },
        { "deepseek-v3", WEIGHT_FP8, 674.0 }, /* without its 14 GB of multi-token prediction */
        { "gpt-oss-120b", WEIGHT_MXFP4, 65.2 }, { "qwen2.5-7b", WEIGHT_INT4_AWQ, 5.57 },
    };
    struct serving_fixture fixture;
    struct serving_job job = { .engine = ENGINE_VLLM };

    serving_fixture_make(&fixture, checkpoints[_i].model, NULL, 1, &job);
    double gb = serving_weight_bytes(&fixture.arch, &fixture.params, checkpoints[_i].format) / 1e9;
    ck_assert_msg(fabs(gb / checkpoints[_i].gb - 1) < 0.02, "%s: %f GB", checkpoints[_i].model, gb);
}
END_TEST

int
main(void)
{
    TCase *tcase = tcase_create("published");

    tcase_add_loop_test(tcase, start_up_reports_hold, 0, COUNT_OF(start_ups));
    tcase_add_loop_test(tcase, pools_hold_the_reported_tokens, 0, COUNT_OF(pools));
    tcase_add_loop_test(tcase, transformers_page_holds, 0, COUNT_OF(transformers_page));
    tcase_add_loop_test(tcase, verdicts_agree_with_what_was_seen, 0, COUNT_OF(verdicts));
    tcase_add_loop_test(tcase, gguf_files_have_their_size, 0, 4);
    tcase_add_loop_test(tcase, checkpoints_have_their_size, 0, 5);
    return suite_run("serving_memory", tcase);
}
