/* Copies for a load. */
#include "service/search/serving_sizing.h"

#include <math.h>

#include "tests/support/serving_fixture.h"
#include "tests/support/suite.h"

static void
size(const struct serving_job *job, struct serving_choice *ret_choice, struct serving_sizing *ret_sizing)
{
    static struct serving_fixture fixture;
    struct notices notices = { 0 };
    struct fault fault;

    serving_fixture_make(&fixture, "llama-3-8b", "h100-sxm-80gb", 1, job);
    struct serving_ask ask = { fixture.setup.arch, fixture.setup.params, fixture.setup.machine, fixture.setup.rates,
                               job };

    fault_clear(&fault);
    ck_assert_int_eq(serving_plan_choose(&ask, ret_choice, NULL, &notices, &fault), STATUS_OK);
    serving_sizing(ret_choice, ret_sizing);
    ck_assert(ret_sizing->known);
}

/* So many copies that each stays within what one can take, and one fewer would not. */
START_TEST(copies_hold_the_load_and_no_more)
{
    for (uint32_t rate = 1; rate < 2000; rate *= 3) {
        struct serving_job job = { .engine = ENGINE_VLLM,
                                   .input_tokens = 500,
                                   .output_tokens = 200,
                                   .requests_per_second = rate,
                                   .slo_ttft_p95_ms = 500,
                                   .slo_tpot_p95_ms = 30 };
        struct serving_choice choice;
        struct serving_sizing sizing;

        size(&job, &choice, &sizing);
        const struct replicas *replicas = &sizing.replicas;
        double one = sizing.capacity.requests_per_second;

        ck_assert(replicas->minimum * one >= rate && (replicas->minimum - 1) * one < rate);
        ck_assert(replicas->for_peak * one >= 1.5 * rate && (replicas->for_peak - 1) * one < 1.5 * rate);
        ck_assert_uint_eq(replicas->with_spare, replicas->minimum + 1);
        ck_assert_uint_eq(replicas->maximum, replicas->for_peak + 1);
    }
}
END_TEST

START_TEST(no_number_of_copies_helps_a_target_out_of_reach)
{
    struct serving_job job = { .engine = ENGINE_VLLM, .concurrency = 8, .slo_tpot_p95_ms = 0.5 };
    struct serving_choice choice;
    struct serving_sizing sizing;

    size(&job, &choice, &sizing);
    ck_assert_uint_eq(sizing.replicas.minimum, 0);
    ck_assert_uint_eq(sizing.replicas.maximum, 0);
}
END_TEST

/* J. D. C. Little, Operations Research 9(3), 1961, both ways: so many clients make the rate that so many make. */
START_TEST(a_rate_and_its_clients_are_the_same_load)
{
    struct serving_job job = { .engine = ENGINE_VLLM, .input_tokens = 500, .output_tokens = 200, .concurrency = 40 };
    struct serving_choice choice;
    struct serving_sizing sizing;

    size(&job, &choice, &sizing);
    job.requests_per_second = choice.estimate.speed.requests_per_second.expected * 0.999;
    job.concurrency = 0;
    job.arrival = ARRIVAL_CLOSED_LOOP;
    size(&job, &choice, &sizing);
    ck_assert_uint_eq(choice.job.concurrency, 40);
    ck_assert_double_eq_tol(choice.estimate.speed.concurrency, 40, 1e-6);
    job.arrival = ARRIVAL_POISSON;
    size(&job, &choice, &sizing);
    const struct serving_speed *speed = &choice.estimate.speed;
    double seconds = (speed->ttft_ms.expected + 199 * speed->tpot_ms.expected) / 1000;

    ck_assert_double_eq_tol(speed->concurrency, job.requests_per_second * seconds, 1e-6);
}
END_TEST

/* Random arrivals need the cache of all that run, not of one request. */
START_TEST(arrivals_need_their_cache)
{
    struct serving_job job = {
        .engine = ENGINE_VLLM, .input_tokens = 2000, .output_tokens = 1000, .requests_per_second = 0.01
    };
    struct serving_choice choice;
    struct serving_sizing sizing;
    double rare, often;

    size(&job, &choice, &sizing);
    rare = choice.estimate.memory.footprint.required_bytes;
    job.requests_per_second = 2;
    size(&job, &choice, &sizing);
    often = choice.estimate.memory.footprint.required_bytes;
    /* 2 a second x 1000 tokens of 10 ms or more each: 20 at once and more, of 3000 tokens of 128 KiB */
    ck_assert_double_ge(often - rare, 19 * 3000 * 131072.0);
    job.requests_per_second = 1000; /* no more than what fits runs at once */
    size(&job, &choice, &sizing);
    ck_assert_int_ne(choice.estimate.memory.footprint.verdict, VERDICT_DOES_NOT_FIT);
    ck_assert(choice.estimate.speed.overloaded);
}
END_TEST

int
main(void)
{
    TCase *tcase = tcase_create("sizing");

    tcase_add_test(tcase, copies_hold_the_load_and_no_more);
    tcase_add_test(tcase, no_number_of_copies_helps_a_target_out_of_reach);
    tcase_add_test(tcase, a_rate_and_its_clients_are_the_same_load);
    tcase_add_test(tcase, arrivals_need_their_cache);
    return suite_run("serving_sizing", tcase);
}
