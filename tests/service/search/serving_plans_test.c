#include "service/search/serving_plans.h"

#include "service/base/quantity.h"
#include "tests/support/serving_fixture.h"
#include "tests/support/suite.h"

/* A fixture as a search is asked with it. */
static enum status
choose(struct serving_fixture *fixture, const struct serving_job *job, struct serving_choice *ret_choice,
       struct assumptions *assumptions, struct fault *fault)
{
    struct serving_ask ask = { fixture->setup.arch, fixture->setup.params, fixture->setup.machine, fixture->setup.rates,
                               job };
    struct notices notices = { 0 };

    fault_clear(fault);
    return serving_plan_choose(&ask, ret_choice, assumptions, &notices, fault);
}

/* DeepSeek-R1 in FP8 does run on eight H20-96 (deepseek-ai/DeepSeek-R1#276), with more than 0.9 of the card. */
START_TEST(an_unstated_share_is_raised_before_a_no)
{
    struct serving_fixture fixture;
    struct serving_choice choice;
    struct assumptions told = { 0 };
    struct fault fault;
    struct serving_job job = {
        .engine = ENGINE_VLLM, .precision = WEIGHT_FP8, .input_tokens = 16384, .concurrency = 8
    };

    serving_fixture_make(&fixture, "deepseek-v3", "h20-96gb", 8, &job);
    ck_assert_int_eq(choose(&fixture, &job, &choice, &told, &fault), STATUS_OK);
    ck_assert_int_eq(choice.estimate.memory.footprint.verdict, VERDICT_TIGHT);
    ck_assert_double_gt(choice.job.memory_utilization, 0.9);
    ck_assert(choice.estimate.memory.footprint.required_bytes <= choice.estimate.memory.footprint.usable_bytes);
    job.memory_utilization = 0.9;
    ck_assert_int_eq(choose(&fixture, &job, &choice, NULL, &fault), STATUS_OK);
    ck_assert_int_eq(choice.estimate.memory.footprint.verdict, VERDICT_DOES_NOT_FIT);
    ck_assert_double_eq(choice.job.memory_utilization, 0.9);
}
END_TEST

START_TEST(a_format_that_nothing_runs_is_refused_with_one_that_does)
{
    struct serving_fixture fixture;
    struct serving_choice choice;
    struct fault fault;
    struct serving_job job = { .precision = WEIGHT_NVFP4, .concurrency = 1 };

    serving_fixture_make(&fixture, "llama-3-8b", "t4-16gb", 1, &job);
    ck_assert_int_eq(choose(&fixture, &job, &choice, NULL, &fault), STATUS_FAULT);
    ck_assert_int_eq(fault.code, FAULT_NO_KERNEL_FOR_PRECISION);
    ck_assert_str_eq(fault.items[0].pointer, "/serving/precision");
    job.precision = WEIGHT_BF16; /* Turing has no bf16 */
    ck_assert_int_eq(choose(&fixture, &job, &choice, NULL, &fault), STATUS_FAULT);
    ck_assert_str_eq(fault.items[0].suggestion, "fp16");
}
END_TEST

START_TEST(the_split_uses_every_gpu_and_divides_the_heads)
{
    static const uint32_t gpus[] = { 1, 2, 4, 8, 16, 24 };
    struct serving_fixture fixture;
    struct serving_choice choice;
    struct fault fault;
    struct serving_job job = { .precision = WEIGHT_BF16, .concurrency = 4 };

    serving_fixture_make(&fixture, "llama-3-70b", "h100-sxm-80gb", gpus[_i], &job);
    ck_assert_int_eq(choose(&fixture, &job, &choice, NULL, &fault), STATUS_OK);

    const struct parallelism *plan = &choice.estimate.setup.plan;

    ck_assert_uint_eq(plan->tensor * plan->pipeline * plan->data, gpus[_i]);
    ck_assert_uint_eq(64 % plan->tensor, 0);
    ck_assert_uint_le(plan->tensor, 8);
}
END_TEST

int
main(void)
{
    TCase *tcase = tcase_create("serving plans");

    tcase_add_test(tcase, an_unstated_share_is_raised_before_a_no);
    tcase_add_test(tcase, a_format_that_nothing_runs_is_refused_with_one_that_does);
    tcase_add_loop_test(tcase, the_split_uses_every_gpu_and_divides_the_heads, 0, 6);
    return suite_run("serving_plans", tcase);
}
