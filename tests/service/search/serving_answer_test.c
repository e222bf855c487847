/* Remarks and fixes of serving answers: each where it belongs, each fix as good as it says. */
#include <math.h>
#include <string.h>

#include "service/base/quantity.h"
#include "service/search/answer.h"
#include "tests/support/seed_rates.h"
#include "tests/support/serving_fixture.h"
#include "tests/support/suite.h"

static struct serving_fixture fixture;
static struct gpu gpus[5];
static struct catalog catalog;
static struct answer answer;

static void
ask_for(const char *model, const char *gpu, uint32_t count, const struct serving_job *job,
        struct estimate_request *ret_request)
{
    static const char *const ids[] = { "l40s-48gb", "a100-sxm-80gb", "h100-sxm-80gb", "h200-sxm-141gb",
                                       "b200-sxm-180gb" };
    size_t used = 0;

    serving_fixture_make(&fixture, model, gpu, count, job);
    for (size_t i = 0; i < COUNT_OF(ids); i++)
        gpus[used++] = seed_gpu(ids[i]);
    memset(&catalog, 0, sizeof catalog);
    catalog.rates = fixture.rates;
    catalog.gpus = gpus;
    catalog.gpu_count = used;
    *ret_request = (struct estimate_request){ .arch = &fixture.arch,
                                              .params = &fixture.params,
                                              .has_serving = true,
                                              .serving = *job,
                                              .hardware = { .present = true, .gpu = &fixture.gpu, .gpus = count } };
}

static void
run(const struct estimate_request *request)
{
    struct fault fault;

    memset(&answer.notices, 0, sizeof answer.notices);
    memset(&answer.assumptions, 0, sizeof answer.assumptions);
    fault_clear(&fault);
    ck_assert_int_eq(answer_run(request, &catalog, &answer, &fault), STATUS_OK);
}

static const struct notice *
notice_of(enum notice_code code)
{
    for (size_t i = 0; i < answer.notices.count; i++)
        if (answer.notices.items[i].code == code)
            return &answer.notices.items[i];
    return NULL;
}

static const struct fix *
fix_of(enum fix_code code)
{
    for (uint32_t i = 0; i < answer.serving_fixes.count; i++)
        if (answer.serving_fixes.items[i].code == code)
            return &answer.serving_fixes.items[i];
    return NULL;
}

#define TENSOR(ways) .has_parallelism = true, .parallelism = { .tensor = (ways), .pipeline = 1, .data = 1 }

/* A job, a remark that goes with it, and one that does not. */
static const struct {
    const char *model, *gpu;
    uint32_t gpus;
    struct serving_job job;
    enum notice_code with, without;
} remarks[] = {
    { "llama-3-8b", "h100-sxm-80gb", 1, { .engine = ENGINE_LMDEPLOY }, NOTICE_ENGINE_NOT_MEASURED, NOTICE_SLO_MISSED },
    { "llama-3-8b",
      "h100-sxm-80gb",
      1,
      { .engine = ENGINE_VLLM },
      NOTICE_LIBRARY_RESERVES_POOL,
      NOTICE_ENGINE_NOT_MEASURED },
    { "llama-3-8b",
      "h100-sxm-80gb",
      1,
      { .engine = ENGINE_TRANSFORMERS, .concurrency = 2 },
      NOTICE_BURST_TTFT,
      NOTICE_LIBRARY_RESERVES_POOL },
    { "llama-3-8b",
      "h100-sxm-80gb",
      1,
      { .engine = ENGINE_VLLM, .concurrency = 32 },
      NOTICE_PREFILL_NOT_TUNED,
      NOTICE_CONCURRENCY_DOES_NOT_FIT },
    { "llama-3-8b",
      "h100-sxm-80gb",
      1,
      { .engine = ENGINE_VLLM, .concurrency = 32 },
      NOTICE_BURST_TTFT,
      NOTICE_SLO_MISSED },
    { "llama-3-8b",
      "a100-sxm-80gb",
      1,
      { .precision = WEIGHT_FP8 },
      NOTICE_FP8_IS_WEIGHT_ONLY,
      NOTICE_FP4_IS_WEIGHT_ONLY },
    { "llama-3-8b",
      "h100-sxm-80gb",
      1,
      { .precision = WEIGHT_FP8 },
      NOTICE_LIBRARY_RESERVES_POOL,
      NOTICE_FP8_IS_WEIGHT_ONLY },
    { "llama-3-8b",
      "h100-sxm-80gb",
      1,
      { .precision = WEIGHT_NVFP4 },
      NOTICE_FP4_IS_WEIGHT_ONLY,
      NOTICE_FP8_IS_WEIGHT_ONLY },
    { "llama-3-8b", "h100-sxm-80gb", 16, { TENSOR(16) }, NOTICE_KV_HEADS_REPLICATED, NOTICE_KV_HEADS_DO_NOT_DIVIDE },
    { "phi-4-14b", "h100-sxm-80gb", 4, { TENSOR(4) }, NOTICE_KV_HEADS_DO_NOT_DIVIDE, NOTICE_KV_HEADS_REPLICATED },
    /* 28 query heads: vllm/config/model.py, verify_with_parallel_config, refuses 8 ranks */
    { "qwen2.5-7b", "h100-sxm-80gb", 8, { TENSOR(8) }, NOTICE_HEADS_DO_NOT_DIVIDE, NOTICE_KV_HEADS_DO_NOT_DIVIDE },
    { "qwen2.5-7b", "h100-sxm-80gb", 4, { TENSOR(4) }, NOTICE_LIBRARY_RESERVES_POOL, NOTICE_HEADS_DO_NOT_DIVIDE },
    { "deepseek-v3",
      "h200-sxm-141gb",
      8,
      { .precision = WEIGHT_FP8, TENSOR(8) },
      NOTICE_MLA_CACHE_REPLICATED,
      NOTICE_KV_HEADS_REPLICATED },
    { "gpt-oss-120b",
      "h100-sxm-80gb",
      4,
      { .engine = ENGINE_SGLANG },
      NOTICE_ENGINE_KEEPS_MORE,
      NOTICE_CACHE_FORMAT_NOT_IN_ENGINE },
    { "llama-3-8b",
      "h100-sxm-80gb",
      1,
      { .engine = ENGINE_SGLANG, .kv_cache_precision = KV_INT4 },
      NOTICE_CACHE_FORMAT_NOT_IN_ENGINE,
      NOTICE_ENGINE_KEEPS_MORE },
    { "llama-3-8b",
      "a100-sxm-80gb",
      1,
      { .engine = ENGINE_VLLM,
        .engine_version = "0.4.0",
        .precision = WEIGHT_INT4_AWQ,
        .concurrency = 256,
        .input_tokens = 100,
        .output_tokens = 100 },
      NOTICE_QUANTIZED_IS_SLOWER,
      NOTICE_SLO_MISSED },
    { "llama-3-8b",
      "a100-sxm-80gb",
      1,
      { .engine = ENGINE_VLLM, .engine_version = "0.4.0", .precision = WEIGHT_INT4_AWQ, .concurrency = 1 },
      NOTICE_LIBRARY_RESERVES_POOL,
      NOTICE_QUANTIZED_IS_SLOWER },
    { "llama-3-8b",
      "a100-sxm-80gb",
      1,
      { .concurrency = 200, .slo_tpot_p95_ms = 20 },
      NOTICE_SLO_MISSED,
      NOTICE_SLO_OUT_OF_REACH },
    { "llama-3-8b",
      "a100-sxm-80gb",
      1,
      { .concurrency = 2, .slo_tpot_p95_ms = 2 },
      NOTICE_SLO_OUT_OF_REACH,
      NOTICE_SLO_MISSED },
    /* 112 tokens in whole blocks of 16 are no law of windows */
    { "llama-3-8b",
      "h100-sxm-80gb",
      1,
      { .context_length = 100, .input_tokens = 1000, .output_tokens = 200 },
      NOTICE_CONTEXT_TOO_SHORT,
      NOTICE_ENGINE_KEEPS_MORE },
    { "llama-3-8b",
      "h100-sxm-80gb",
      1,
      { .context_length = 1200, .input_tokens = 1000, .output_tokens = 200 },
      NOTICE_LIBRARY_RESERVES_POOL,
      NOTICE_CONTEXT_TOO_SHORT },
    /* four such sequences find room; only the model was not made for them */
    { "llama-3-8b",
      "h100-sxm-80gb",
      1,
      { .context_length = 100000, .input_tokens = 1000, .output_tokens = 200, .concurrency = 4 },
      NOTICE_SEQUENCE_ABOVE_MODEL_MAXIMUM,
      NOTICE_CONTEXT_DOES_NOT_FIT },
    { "llama-3-70b",
      "h200-sxm-141gb",
      1,
      { .precision = WEIGHT_BF16 },
      NOTICE_CONTEXT_DOES_NOT_FIT,
      NOTICE_SLO_MISSED },
    { "llama-3-8b",
      "h100-sxm-80gb",
      1,
      { .engine = ENGINE_LLAMA_CPP, .precision = WEIGHT_INT4_AWQ },
      NOTICE_WEIGHT_FORMAT_NOT_IN_ENGINE,
      NOTICE_ENGINE_NOT_ON_GPU },
    { "llama-3-8b",
      "h100-sxm-80gb",
      1,
      { .engine = ENGINE_LMDEPLOY, .precision = WEIGHT_Q4_K_M },
      NOTICE_WEIGHT_FORMAT_NOT_IN_ENGINE,
      NOTICE_ENGINE_NOT_ON_GPU },
    { "llama-3-8b",
      "h100-sxm-80gb",
      1,
      { .engine = ENGINE_VLLM, .precision = WEIGHT_Q4_K_M },
      NOTICE_LIBRARY_RESERVES_POOL,
      NOTICE_WEIGHT_FORMAT_NOT_IN_ENGINE },
    { "llama-3-8b",
      "mi300x-192gb",
      1,
      { .engine = ENGINE_TENSORRT_LLM },
      NOTICE_ENGINE_NOT_ON_GPU,
      NOTICE_WEIGHT_FORMAT_NOT_IN_ENGINE },
    { "llama-3-8b",
      "mi300x-192gb",
      1,
      { .engine = ENGINE_VLLM },
      NOTICE_LIBRARY_RESERVES_POOL,
      NOTICE_ENGINE_NOT_ON_GPU },
    /* no second token, no time between tokens */
    { "bert-base-uncased (BertModel)",
      "h100-sxm-80gb",
      1,
      { .slo_tpot_p95_ms = 0.001 },
      NOTICE_SECTION_NOT_ANSWERED,
      NOTICE_SLO_OUT_OF_REACH },
    { "bert-base-uncased (BertModel)",
      "h100-sxm-80gb",
      1,
      { .slo_ttft_p95_ms = 1000 },
      NOTICE_ANSWERS_IN_ONE_PASS,
      NOTICE_SECTION_NOT_ANSWERED },
    { "llama-3-70b", "h100-sxm-80gb", 3, { .precision = WEIGHT_FP8 }, NOTICE_MORE_GPUS_THAN_PLAN, NOTICE_SLO_MISSED },
};

START_TEST(remarks_go_with_their_cause)
{
    struct estimate_request request;

    ask_for(remarks[_i].model, remarks[_i].gpu, remarks[_i].gpus, &remarks[_i].job, &request);
    run(&request);
    ck_assert_msg(notice_of(remarks[_i].with) != NULL, "no %s", notice_code_name(remarks[_i].with));
    ck_assert_msg(notice_of(remarks[_i].without) == NULL, "%s", notice_code_name(remarks[_i].without));
}
END_TEST

/* A job that is short of something, and a change that is to be among its fixes. */
static const struct {
    const char *model, *gpu;
    uint32_t gpus;
    struct serving_job job;
    enum fix_code fix;
} shortages[] = {
    { "llama-3-70b", "h200-sxm-141gb", 1, { .precision = WEIGHT_BF16, .concurrency = 8 }, FIX_QUANTIZE_WEIGHTS },
    { "llama-3-70b", "h200-sxm-141gb", 1, { .precision = WEIGHT_FP8, .concurrency = 40 }, FIX_QUANTIZE_KV_CACHE },
    { "llama-3-70b", "h200-sxm-141gb", 1, { .precision = WEIGHT_FP8, .concurrency = 40 }, FIX_LOWER_CONCURRENCY },
    { "llama-3-70b", "h200-sxm-141gb", 1, { .precision = WEIGHT_FP8, .concurrency = 40 }, FIX_SHORTER_CONTEXT },
    { "llama-3-70b", "h100-sxm-80gb", 1, { .precision = WEIGHT_FP8, .concurrency = 4 }, FIX_MORE_GPUS },
    { "llama-3-70b", "h100-sxm-80gb", 1, { .precision = WEIGHT_FP8, .concurrency = 4 }, FIX_LARGER_GPU },
    { "llama-3-70b",
      "h100-sxm-80gb",
      4,
      { .precision = WEIGHT_BF16,
        .concurrency = 4,
        .has_parallelism = true,
        .parallelism = { .tensor = 1, .pipeline = 1, .data = 4 } },
      FIX_TENSOR_PARALLEL },
    { "deepseek-v3",
      "h200-sxm-141gb",
      8,
      { .precision = WEIGHT_FP8, .concurrency = 300, TENSOR(8) },
      FIX_ATTENTION_DATA_PARALLEL },
    { "llama-3-8b", "a100-sxm-80gb", 1, { .concurrency = 200, .slo_tpot_p95_ms = 20 }, FIX_LOWER_CONCURRENCY },
    { "llama-3-8b", "a100-sxm-80gb", 1, { .concurrency = 200, .slo_tpot_p95_ms = 20 }, FIX_MORE_GPUS },
    { "llama-3-70b", "h100-sxm-80gb", 4, { .concurrency = 1, .slo_tpot_p95_ms = 12, TENSOR(4) }, FIX_QUANTIZE_WEIGHTS },
};

/* Applied and asked again, each fix of the list gives the verdict, the bytes and the targets that it states. */
START_TEST(fixes_are_there_and_hold_what_they_say)
{
    struct estimate_request request;
    struct fixes fixes;

    ask_for(shortages[_i].model, shortages[_i].gpu, shortages[_i].gpus, &shortages[_i].job, &request);
    run(&request);
    ck_assert_ptr_nonnull(fix_of(shortages[_i].fix));
    fixes = answer.serving_fixes;
    for (uint32_t i = 0; i < fixes.count; i++) {
        const struct fix *fix = &fixes.items[i];
        struct estimate_request changed = request;
        const struct serving_estimate *estimate = &answer.serving.estimate;

        for (uint32_t j = 0; j < fix->setting_count; j++)
            setting_apply(&fix->settings[j], &changed);
        run(&changed);
        ck_assert_int_eq(estimate->memory.footprint.verdict, fix->verdict);
        ck_assert_double_eq_tol(estimate->memory.footprint.allocated_bytes, fix->allocated_bytes, 1);
        if (fix->has_targets && fix->meets_targets)
            ck_assert(serving_meets_first_token(&answer.serving.job, estimate->speed.ttft_p95_ms.expected) &&
                      serving_meets_token(&answer.serving.job, estimate->speed.tpot_p95_ms.expected));
    }
}
END_TEST

/* DeepSeek-R1 in FP8 is served on eight H200 (docs.sglang.io, DeepSeek usage), not on as many superchips. */
START_TEST(the_larger_gpu_is_the_usual_one)
{
    struct estimate_request request;
    struct serving_job job = { .precision = WEIGHT_FP8, .concurrency = 8, TENSOR(8) };

    ask_for("deepseek-v3", "h100-sxm-80gb", 8, &job, &request);
    run(&request);
    ck_assert_ptr_nonnull(fix_of(FIX_LARGER_GPU));
    ck_assert_str_eq(fix_of(FIX_LARGER_GPU)->text, "h200-sxm-141gb");
}
END_TEST

START_TEST(what_lacks_nothing_needs_no_fix)
{
    struct estimate_request request;
    struct serving_job job = { .engine = ENGINE_VLLM, .concurrency = 4, .slo_tpot_p95_ms = 50 };

    ask_for("llama-3-8b", "h100-sxm-80gb", 1, &job, &request);
    run(&request);
    ck_assert_uint_eq(answer.serving_fixes.count, 0);
}
END_TEST

int
main(void)
{
    TCase *tcase = tcase_create("answers");

    tcase_add_loop_test(tcase, remarks_go_with_their_cause, 0, COUNT_OF(remarks));
    tcase_add_loop_test(tcase, fixes_are_there_and_hold_what_they_say, 0, COUNT_OF(shortages));
    tcase_add_test(tcase, the_larger_gpu_is_the_usual_one);
    tcase_add_test(tcase, what_lacks_nothing_needs_no_fix);
    return suite_run("serving_answer", tcase);
}
