/* Commands of engines, word by word as their documentation has them. */
#include "service/search/serving_launch.h"

#include <stdlib.h>
#include <string.h>

#include "service/base/quantity.h"
#include "tests/support/serving_fixture.h"
#include "tests/support/suite.h"

static bool
launch(const char *model, const char *gpu, uint32_t gpus, const struct serving_job *job, char command[LAUNCH_SIZE],
       struct serving_choice *choice)
{
    static struct serving_fixture fixture;
    struct serving_sizing sizing;
    struct notices notices = { 0 };
    struct fault fault;

    serving_fixture_make(&fixture, model, gpu, gpus, job);
    struct serving_ask ask = { fixture.setup.arch, fixture.setup.params, fixture.setup.machine, fixture.setup.rates,
                               job };

    fault_clear(&fault);
    ck_assert_int_eq(serving_plan_choose(&ask, choice, NULL, &notices, &fault), STATUS_OK);
    serving_sizing(choice, &sizing);
    return serving_launch(choice, &sizing, command);
}

/* Pages: docs.vllm.ai engine arguments; docs.sglang.io server arguments; nvidia.github.io/TensorRT-LLM trtllm-serve;
 * lmdeploy.readthedocs.io api_server; ggml-org/llama.cpp tools/server/README.md. */
#define SPREAD .has_parallelism = true, .parallelism = { .tensor = 1, .pipeline = 1, .data = 8, .expert = 8 }
static const struct {
    const char *model, *gpu;
    uint32_t gpus;
    struct serving_job job;
    const char *words[9];
} commands[] = {
    { "llama-3-70b",
      "h100-sxm-80gb",
      4,
      { .engine = ENGINE_VLLM, .precision = WEIGHT_BF16, .context_length = 4096, .concurrency = 8 },
      { "vllm serve \"$MODEL\"", "--tensor-parallel-size 4", "--max-model-len 4096", "--gpu-memory-utilization 0.9",
        "--max-num-seqs " } },
    { "llama-3-8b",
      "h100-sxm-80gb",
      1,
      { .engine = ENGINE_VLLM, .precision = WEIGHT_FP8, .kv_cache_precision = KV_FP8, .memory_utilization = 0.85 },
      { "--quantization fp8", "--kv-cache-dtype fp8", "--gpu-memory-utilization 0.85" } },
    { "deepseek-v3",
      "h200-sxm-141gb",
      8,
      { .engine = ENGINE_VLLM, .precision = WEIGHT_FP8, SPREAD },
      { "--data-parallel-size 8 --enable-expert-parallel" } },
    { "deepseek-v3",
      "h200-sxm-141gb",
      8,
      { .engine = ENGINE_SGLANG, .precision = WEIGHT_FP8, SPREAD },
      { "python -m sglang.launch_server --model-path \"$MODEL\"", "--tp-size 8 --dp-size 8 --ep-size 8",
        "--enable-dp-attention", "--mem-fraction-static 0.9", "--context-length 8192", "--max-running-requests " } },
    { "deepseek-v3",
      "h200-sxm-141gb",
      8,
      { .engine = ENGINE_TENSORRT_LLM, .precision = WEIGHT_FP8, .kv_cache_precision = KV_FP8, SPREAD },
      { "'kv_cache_config: { free_gpu_memory_fraction: 0.9, dtype: fp8 }' 'enable_attention_dp: true' >options.yaml\n",
        "trtllm-serve \"$MODEL\" --tp_size 8 --ep_size 8", "--max_seq_len 8192", "--max_batch_size ",
        "--extra_llm_api_options options.yaml" } },
    { "llama-3-70b",
      "h100-sxm-80gb",
      2,
      { .engine = ENGINE_TENSORRT_LLM, .precision = WEIGHT_FP8 },
      { "trtllm-serve \"$MODEL\" --tp_size 2", "--kv_cache_free_gpu_memory_fraction 0.9" } },
    { "llama-3-70b",
      "l40s-48gb",
      2,
      { .engine = ENGINE_LMDEPLOY, .precision = WEIGHT_INT4_AWQ, .kv_cache_precision = KV_INT8 },
      { "lmdeploy serve api_server \"$MODEL\" --tp 2", "--model-format awq", "--session-len 8192",
        "--cache-max-entry-count 0.9", "--quant-policy 8" } },
    { "llama-3-8b",
      "rtx-4090-24gb",
      1,
      { .engine = ENGINE_LLAMA_CPP,
        .precision = WEIGHT_Q4_K_M,
        .kv_cache_precision = KV_INT8,
        .context_length = 4096,
        .concurrency = 4 },
      { "llama-server --model \"$MODEL_FILE\" --n-gpu-layers 33", "--ctx-size 16384 --parallel 4",
        "--cache-type-k q8_0 --cache-type-v q8_0" } },
    { "deepseek-v3",
      "a100-sxm-80gb",
      32,
      { .engine = ENGINE_SGLANG, .precision = WEIGHT_BF16 },
      { "--tp-size 8 --pp-size 4 --nnodes 4 --node-rank $NODE_RANK --dist-init-addr $HEAD:20000" } },
    { "deepseek-v3",
      "a100-sxm-80gb",
      32,
      { .engine = ENGINE_VLLM, .precision = WEIGHT_BF16 },
      { "--tensor-parallel-size 8 --pipeline-parallel-size 4 --distributed-executor-backend ray" } },
};

START_TEST(commands_say_the_plan)
{
    struct serving_choice choice;
    char command[LAUNCH_SIZE];

    ck_assert(launch(commands[_i].model, commands[_i].gpu, commands[_i].gpus, &commands[_i].job, command, &choice));
    ck_assert(strlen(command) < LAUNCH_SIZE - 1);
    for (size_t i = 0; i < COUNT_OF(commands[_i].words) && commands[_i].words[i]; i++)
        ck_assert_msg(strstr(command, commands[_i].words[i]) != NULL, "no %s in: %s", commands[_i].words[i], command);
}
END_TEST

/* vllm-project/vllm#2418: the asked length is above what the cache holds, and the server does not start with it. */
START_TEST(the_context_is_one_that_fits)
{
    struct serving_job job = {
        .engine = ENGINE_VLLM, .precision = WEIGHT_BF16, .context_length = 131072, .memory_utilization = 0.9
    };
    struct serving_choice choice;
    char command[LAUNCH_SIZE], *length;

    ck_assert(launch("llama-3.1-70b", "h100-sxm-80gb", 2, &job, command, &choice) ||
              choice.estimate.memory.max_context_length < 1);
    ck_assert(launch("llama-3.1-70b", "a100-sxm-80gb", 4, &job, command, &choice));
    length = strstr(command, "--max-model-len ");
    ck_assert_ptr_nonnull(length);
    job.context_length = (uint32_t)strtoul(length + 16, NULL, 10);
    ck_assert_uint_le(job.context_length, 131072);
    ck_assert(launch("llama-3.1-70b", "a100-sxm-80gb", 4, &job, command, &choice));
    ck_assert_int_ne(choice.estimate.memory.footprint.verdict, VERDICT_DOES_NOT_FIT);
}
END_TEST

START_TEST(no_command_for_what_cannot_be_started)
{
    struct serving_job transformers = { .engine = ENGINE_TRANSFORMERS };
    struct serving_job cache = { .engine = ENGINE_SGLANG, .kv_cache_precision = KV_INT4 };
    struct serving_job heavy = { .engine = ENGINE_VLLM, .precision = WEIGHT_BF16 };
    struct serving_choice choice;
    char command[LAUNCH_SIZE];

    ck_assert(!launch("llama-3-8b", "h100-sxm-80gb", 1, &transformers, command, &choice));
    ck_assert(!launch("llama-3-8b", "h100-sxm-80gb", 1, &cache, command, &choice));
    ck_assert(!launch("llama-3-70b", "rtx-4090-24gb", 1, &heavy, command, &choice));
    ck_assert_str_eq(command, "");
}
END_TEST

/* A 16-bit checkpoint is converted to FP8 while vLLM loads it, to AWQ it is not. */
START_TEST(the_checkpoint_is_told)
{
    struct serving_job fp8 = { .engine = ENGINE_VLLM, .precision = WEIGHT_FP8 };
    struct serving_job awq = { .engine = ENGINE_VLLM, .precision = WEIGHT_INT4_AWQ };
    struct serving_choice choice;
    char command[LAUNCH_SIZE];

    ck_assert(launch("llama-3-8b", "h100-sxm-80gb", 1, &fp8, command, &choice));
    ck_assert_int_eq(serving_launch_checkpoint(&choice), WEIGHT_BF16);
    ck_assert(launch("llama-3-8b", "h100-sxm-80gb", 1, &awq, command, &choice));
    ck_assert_int_eq(serving_launch_checkpoint(&choice), WEIGHT_INT4_AWQ);
    ck_assert_ptr_null(strstr(command, "--quantization"));
}
END_TEST

int
main(void)
{
    TCase *tcase = tcase_create("launch");

    tcase_add_loop_test(tcase, commands_say_the_plan, 0, COUNT_OF(commands));
    tcase_add_test(tcase, the_context_is_one_that_fits);
    tcase_add_test(tcase, no_command_for_what_cannot_be_started);
    tcase_add_test(tcase, the_checkpoint_is_told);
    return suite_run("serving_launch", tcase);
}
