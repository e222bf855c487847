#include "service/job/defaults.h"

#include <string.h>

#include "tests/support/suite.h"

static const struct gpu ampere = {
    .id = "a", .bf16_flop_per_second = 312e12, .fp16_flop_per_second = 312e12, .compute_capability = "8.0"
};
static const struct gpu turing = { .id = "t", .fp16_flop_per_second = 65e12, .compute_capability = "7.5" };
static const struct gpu pascal = { .id = "p", .fp16_flop_per_second = 21e12, .compute_capability = "6.0" };

static const struct assumption *
find(const struct assumptions *assumptions, const char *code)
{
    for (size_t i = 0; i < assumptions->count; i++)
        if (strcmp(assumptions->items[i].code, code) == 0)
            return &assumptions->items[i];
    return NULL;
}

START_TEST(fine_tuning_is_filled_in_as_tools_do)
{
    struct machine machine = { .gpu = &ampere, .gpu_count = 1 };
    struct model_arch arch = { .max_context_tokens = 8192, .layer_count = 32 };
    struct training_job job = { .method = METHOD_LORA };
    struct assumptions told = { 0 };

    training_job_complete(&job, &arch, &machine, &told);
    ck_assert_uint_eq(job.sequence_length, 1024);
    ck_assert_int_eq(job.precision, PRECISION_BF16_MIXED);
    ck_assert_int_eq(job.optimizer, OPTIMIZER_ADAMW);
    ck_assert_int_eq(job.attention, ATTENTION_KERNEL_FLASH);
    ck_assert_int_eq(job.offload, OFFLOAD_NONE);
    ck_assert_uint_eq(job.lora_rank, 8);
    ck_assert_int_eq(job.lora_targets, LORA_ALL_LINEAR);
    ck_assert_double_eq(find(&told, "sequence_length")->number, 1024);
    ck_assert_str_eq(find(&told, "precision")->text, "bf16_mixed");
    ck_assert_str_eq(find(&told, "lora_rank")->pointer, "/training/lora/rank");
}
END_TEST

START_TEST(what_is_said_stays_and_is_no_assumption)
{
    struct machine machine = { .gpu = &ampere, .gpu_count = 1 };
    struct model_arch arch = { .max_context_tokens = 2048, .layer_count = 32 };
    struct training_job job = { .method = METHOD_FULL,
                                .sequence_length = 4096,
                                .precision = PRECISION_FP32,
                                .optimizer = OPTIMIZER_LION,
                                .attention = ATTENTION_KERNEL_EAGER,
                                .offload = OFFLOAD_ALL };
    struct assumptions told = { 0 };

    training_job_complete(&job, &arch, &machine, &told);
    ck_assert_uint_eq(job.sequence_length, 4096);
    ck_assert_uint_eq(told.count, 0);
}
END_TEST

START_TEST(old_devices_get_what_they_can_run)
{
    struct machine machine = { .gpu = &turing, .gpu_count = 1 };
    struct model_arch arch = { .layer_count = 32, .max_context_tokens = 512 };
    struct training_job job = { .method = METHOD_PRETRAIN };

    training_job_complete(&job, &arch, &machine, NULL);
    ck_assert_int_eq(job.precision, PRECISION_FP16_MIXED); /* no bf16 before Ampere */
    ck_assert_uint_eq(job.sequence_length, 512);           /* never above the model's maximum */
    job = (struct training_job){ .method = METHOD_FULL };
    machine.gpu = &pascal;
    training_job_complete(&job, &arch, &machine, NULL);
    ck_assert_int_eq(job.attention, ATTENTION_KERNEL_EAGER);
}
END_TEST

START_TEST(frameworks_follow_the_job)
{
    struct training_job pretrain = { .method = METHOD_PRETRAIN, .precision = PRECISION_BF16_MIXED };
    struct training_job full = { .method = METHOD_FULL, .precision = PRECISION_BF16_MIXED };
    struct training_job pure = { .method = METHOD_FULL, .precision = PRECISION_BF16_PURE };
    struct parallelism plain = { .tensor = 1, .pipeline = 1, .sharding = SHARDING_NONE };
    struct parallelism split = { .tensor = 2, .pipeline = 1 }, spread = { .data = 8, .expert = 8 };
    struct parallelism zero = { .tensor = 1, .pipeline = 1, .sharding = SHARDING_ZERO2 };

    ck_assert_int_eq(framework_usual(&full, &split, 8), FRAMEWORK_MEGATRON);
    ck_assert_int_eq(framework_usual(&full, &spread, 8), FRAMEWORK_MEGATRON);
    ck_assert_int_eq(framework_usual(&pretrain, &plain, 64), FRAMEWORK_MEGATRON);
    ck_assert_int_eq(framework_usual(&pretrain, &plain, 63), FRAMEWORK_FSDP);
    ck_assert_int_eq(framework_usual(&pure, &plain, 1), FRAMEWORK_FSDP);
    ck_assert_int_eq(framework_usual(&full, &plain, 8), FRAMEWORK_HF_TRAINER);
    ck_assert_int_eq(framework_usual(&full, &zero, 8), FRAMEWORK_DEEPSPEED);
}
END_TEST

START_TEST(serving_is_filled_in)
{
    struct machine machine = { .gpu = &ampere, .gpu_count = 1 };
    struct model_arch arch = {
        .layer_count = 32, .max_context_tokens = 131072, .native_format = WEIGHT_BF16, .causal = true
    };
    struct serving_job job = { 0 };
    struct assumptions told = { 0 };

    serving_job_complete(&job, &arch, &machine, &told);
    ck_assert_int_eq(job.engine, ENGINE_VLLM);
    ck_assert_int_eq(job.precision, WEIGHT_BF16);
    ck_assert_int_eq(job.kv_cache_precision, KV_BF16);
    ck_assert_uint_eq(job.context_length, 8192);
    ck_assert_uint_eq(job.input_tokens, 512);
    ck_assert_uint_eq(job.output_tokens, 256);
    ck_assert_uint_eq(job.concurrency, 1);
    ck_assert_double_eq(job.memory_utilization, 0.9);

    job = (struct serving_job){
        .input_tokens = 3000, .output_tokens = 1000, .precision = WEIGHT_Q4_K_M, .requests_per_second = 2
    };
    serving_job_complete(&job, &arch, &machine, NULL);
    ck_assert_uint_eq(job.context_length, 4000); /* input + output */
    ck_assert_int_eq(job.engine, ENGINE_LLAMA_CPP);
    ck_assert_int_eq(job.arrival, ARRIVAL_POISSON);
}
END_TEST

/* What is said of prompt, answer and context, and what becomes of the rest: together they are as long as the context.
 */
static const struct {
    uint32_t model_maximum, input, output, context, filled_input, filled_output, filled_context;
} lengths[] = {
    { 131072, 2000, 0, 0, 2000, 256, 2256 },   { 131072, 0, 1000, 0, 512, 1000, 1512 },
    { 131072, 100, 0, 0, 100, 256, 356 },      { 131072, 2000, 0, 2048, 2000, 48, 2048 },
    { 131072, 0, 2000, 2048, 48, 2000, 2048 }, { 131072, 0, 0, 300, 150, 150, 300 },
    { 1024, 900, 0, 0, 900, 124, 1024 },       { 1024, 0, 1000, 0, 24, 1000, 1024 },
    { 1024, 5000, 0, 0, 5000, 256, 5256 },     { 448, 0, 0, 0, 224, 224, 448 },
};

START_TEST(lengths_left_open_add_up)
{
    struct machine machine = { .gpu = &ampere, .gpu_count = 1 };
    struct model_arch arch = { .layer_count = 32, .max_context_tokens = lengths[_i].model_maximum, .causal = true };
    struct serving_job job = { .input_tokens = lengths[_i].input,
                               .output_tokens = lengths[_i].output,
                               .context_length = lengths[_i].context };

    serving_job_complete(&job, &arch, &machine, NULL);
    ck_assert_uint_eq(job.input_tokens, lengths[_i].filled_input);
    ck_assert_uint_eq(job.output_tokens, lengths[_i].filled_output);
    ck_assert_uint_eq(job.context_length, lengths[_i].filled_context);
}
END_TEST

START_TEST(utilization_follows_the_engine_version)
{
    struct machine machine = { .gpu = &ampere, .gpu_count = 1 };
    struct model_arch arch = { .layer_count = 32 };
    struct serving_job job = { .engine = ENGINE_VLLM, .engine_version = "v0.22.1" };

    serving_job_complete(&job, &arch, &machine, NULL);
    ck_assert_double_eq(job.memory_utilization, 0.92);
    ck_assert_uint_eq(engine_version_number("0.7.3", 0), 7);
    ck_assert_uint_eq(engine_version_number("v1.1", 0), 1001);
    ck_assert_uint_eq(engine_version_number("nightly", 99), 99);
    ck_assert_uint_eq(engine_version_number("99999999999999999999.1", 5), 5);
}
END_TEST

/* A text encoder reads 512 tokens at most, an image all its patches; neither writes any. */
START_TEST(one_pass_is_filled_in)
{
    struct machine machine = { .gpu = &ampere, .gpu_count = 1 };
    struct model_arch text = { .layer_count = 24, .max_context_tokens = 8194, .vocabulary_size = 250002 };
    struct model_arch image = { .layer_count = 12, .max_context_tokens = 197 };
    struct serving_job text_job = { 0 }, image_job = { 0 };

    serving_job_complete(&text_job, &text, &machine, NULL);
    ck_assert_int_eq(text_job.engine, ENGINE_VLLM);
    ck_assert_uint_eq(text_job.input_tokens, 512);
    serving_job_complete(&image_job, &image, &machine, NULL);
    ck_assert_int_eq(image_job.engine, ENGINE_TRANSFORMERS);
    ck_assert_uint_eq(image_job.input_tokens, 197);
}
END_TEST

int
main(void)
{
    TCase *tcase = tcase_create("defaults");

    tcase_add_test(tcase, fine_tuning_is_filled_in_as_tools_do);
    tcase_add_test(tcase, what_is_said_stays_and_is_no_assumption);
    tcase_add_test(tcase, old_devices_get_what_they_can_run);
    tcase_add_test(tcase, frameworks_follow_the_job);
    tcase_add_test(tcase, serving_is_filled_in);
    tcase_add_loop_test(tcase, lengths_left_open_add_up, 0, sizeof(lengths) / sizeof(lengths[0]));
    tcase_add_test(tcase, one_pass_is_filled_in);
    tcase_add_test(tcase, utilization_follows_the_engine_version);
    return suite_run("defaults", tcase);
}
