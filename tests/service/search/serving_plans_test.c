#include "service/search/serving_plans.h"

#include "service/base/quantity.h"
#include "service/search/serving_splits.h"
#include "tests/support/random.h"
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

/* Weights in bf16 are 141 GB: two H100 hold them only with the whole card, four hold them well (8B: 16 GB). */
static const struct {
    const char *model, *gpu;
    uint32_t gpus, gpus_per_replica, replicas;
    struct serving_job job;
} smallest[] = {
    { "llama-3-8b", "h100-sxm-80gb", 8, 1, 8, { .concurrency = 4 } },
    { "llama-3-70b", "h100-sxm-80gb", 4, 4, 1, { .concurrency = 4 } },
    { "llama-3-70b", "h100-sxm-80gb", 8, 4, 2, { .concurrency = 4 } },
    { "llama-3-70b", "h100-sxm-80gb", 24, 4, 6, { .concurrency = 4 } },
    { "llama-3-70b", "h100-sxm-80gb", 8, 8, 1, { .concurrency = 4, .slo_tpot_p95_ms = 11 } },
    { "llama-3-70b", "h100-sxm-80gb", 8, 2, 4, { .precision = WEIGHT_FP8, .concurrency = 4 } },
    { "deepseek-v3", "a100-sxm-80gb", 32, 32, 1, { .precision = WEIGHT_BF16, .concurrency = 4 } },
    { "llama-3-70b",
      "rtx-4090-24gb",
      8,
      4,
      2,
      { .engine = ENGINE_LLAMA_CPP, .precision = WEIGHT_Q4_K_M, .concurrency = 1, .context_length = 4096 } },
};

START_TEST(the_smallest_split_that_does_the_job_is_taken)
{
    struct serving_fixture fixture;
    struct serving_choice choice;
    struct fault fault;

    serving_fixture_make(&fixture, smallest[_i].model, smallest[_i].gpu, smallest[_i].gpus, &smallest[_i].job);
    ck_assert_int_eq(choose(&fixture, &smallest[_i].job, &choice, NULL, &fault), STATUS_OK);
    ck_assert_uint_eq(choice.gpus_per_replica, smallest[_i].gpus_per_replica);
    ck_assert_uint_eq(choice.estimate.setup.replicas, smallest[_i].replicas);
    ck_assert_int_eq(choice.estimate.memory.footprint.verdict, VERDICT_FITS);
}
END_TEST

/* No narrower split holds it: asked for as a stated one. */
START_TEST(a_smaller_split_would_not_do)
{
    struct serving_fixture fixture;
    struct serving_choice choice;
    struct fault fault;
    struct serving_job job = smallest[_i].job;

    serving_fixture_make(&fixture, smallest[_i].model, smallest[_i].gpu, smallest[_i].gpus, &job);
    ck_assert_int_eq(choose(&fixture, &job, &choice, NULL, &fault), STATUS_OK);
    job.parallelism = choice.estimate.setup.plan;
    job.has_parallelism = true;
    if (job.parallelism.pipeline > 1)
        job.parallelism.pipeline--;
    else if (job.parallelism.tensor > 1)
        job.parallelism.tensor /= 2;
    else
        return;
    fixture.machine.gpu_count = job.parallelism.tensor * job.parallelism.pipeline * job.parallelism.data;
    ck_assert_int_eq(choose(&fixture, &job, &choice, NULL, &fault), STATUS_OK);
    ck_assert(choice.estimate.memory.footprint.verdict != VERDICT_FITS ||
              choice.estimate.speed.tpot_p95_ms.expected > job.slo_tpot_p95_ms);
}
END_TEST

/* The fewest GPUs hold it, and one node or GPU fewer does not, however it is split. */
START_TEST(the_minimum_is_the_minimum)
{
    struct serving_fixture fixture;
    struct serving_choice choice;
    struct fault fault;
    struct serving_job job = smallest[_i].job;

    serving_fixture_make(&fixture, smallest[_i].model, smallest[_i].gpu, smallest[_i].gpus, &job);
    struct serving_ask ask = { fixture.setup.arch, fixture.setup.params, fixture.setup.machine, fixture.setup.rates,
                               &job };
    uint32_t least = serving_minimum_gpus(&ask);

    ck_assert_uint_ge(least, 1);
    ck_assert_uint_le(least, smallest[_i].gpus);
    for (uint32_t fewer = 0; fewer < 2 && fewer < least; fewer++) {
        uint32_t count = least - fewer * (least > 8 ? 8 : 1);

        fixture.machine = machine_of(&fixture.gpu, count, 0, 0, INTRANODE_UNSAID);
        ck_assert_int_eq(choose(&fixture, &job, &choice, NULL, &fault), STATUS_OK);
        ck_assert_int_eq(choice.estimate.memory.footprint.verdict == VERDICT_DOES_NOT_FIT, fewer > 0);
    }
}
END_TEST

enum { TRIES = 60 };

/* A random job left open in its split, with targets. */
static void
random_ask(struct random *random, struct serving_fixture *fixture, struct serving_job *job)
{
    serving_fixture_random(random, random_below(random, 2), fixture);
    *job = fixture->job;
    job->has_parallelism = false;
    job->context_length = 0;
    job->memory_utilization = 0;
    job->slo_tpot_p95_ms = 5 + 100 * random_unit(random);
    job->slo_ttft_p95_ms = 50 + 5000 * random_unit(random);
}

/* What does the job on a lesser machine does it on a better one. */
START_TEST(a_lesser_machine_never_does_more)
{
    struct random random = random_seeded();
    static struct serving_fixture fixture;
    static struct serving_choice good, lesser;
    struct serving_job job;
    struct fault fault;

    for (int try = 0; try < TRIES; try++) {
        double left = 0.4 + 0.5 * random_unit(&random);

        random_ask(&random, &fixture, &job);
        if (choose(&fixture, &job, &good, NULL, &fault) != STATUS_OK)
            continue;
        switch (random_below(&random, 4)) {
        case 0:
            fixture.machine = machine_of(&fixture.gpu, (fixture.machine.gpu_count + 1) / 2, 0, 0, INTRANODE_UNSAID);
            break;
        case 1:
            fixture.gpu.usable_bytes = (uint64_t)((double)fixture.gpu.usable_bytes * left);
            break;
        case 2:
            fixture.gpu.memory_bytes_per_second *= left;
            break;
        default:
            fixture.machine.link_bytes_per_second *= left;
        }
        ck_assert_int_eq(choose(&fixture, &job, &lesser, NULL, &fault), STATUS_OK);
        ck_assert_msg(lesser.estimate.memory.footprint.verdict >= good.estimate.memory.footprint.verdict, "seed %ju",
                      random.seed);
        if (good.estimate.memory.footprint.verdict != VERDICT_DOES_NOT_FIT &&
            lesser.estimate.memory.footprint.verdict == good.estimate.memory.footprint.verdict)
            ck_assert_msg(serving_worst_miss(&lesser.job, &lesser.estimate.speed) >=
                              serving_worst_miss(&good.job, &good.estimate.speed) * (1 - 1e-9),
                          "seed %ju", random.seed);
    }
}
END_TEST

/* The fewest GPUs that hold a job never grow with the card. */
START_TEST(larger_cards_are_never_more)
{
    struct random random = random_seeded();
    static struct serving_fixture fixture;
    struct serving_job job;

    for (int try = 0; try < TRIES; try++) {
        random_ask(&random, &fixture, &job);
        struct serving_ask ask = { fixture.setup.arch, fixture.setup.params, fixture.setup.machine, fixture.setup.rates,
                                   &job };
        uint32_t small, large;

        fixture.rates.serving_profile_large_card_bytes = 0; /* start-up takes less of small cards: another matter */
        small = serving_minimum_gpus(&ask);
        fixture.gpu.usable_bytes = (uint64_t)((double)fixture.gpu.usable_bytes * (1 + random_unit(&random)));
        large = serving_minimum_gpus(&ask);
        ck_assert_msg(large > 0 ? large <= small || small == 0 : small == 0, "seed %ju", random.seed);
    }
}
END_TEST

/* 9 heads in three groups (HuggingFaceTB/SmolLM-135M): no power of two can share them, three ranks can. */
START_TEST(heads_are_never_cut)
{
    struct serving_fixture fixture;
    struct serving_splits splits;
    struct serving_job job = { .concurrency = 1 };

    serving_fixture_make(&fixture, "smollm-135m", "h100-sxm-80gb", 3, &job);
    serving_splits(&fixture.arch, &fixture.machine, ENGINE_VLLM, &splits);
    ck_assert_uint_eq(splits.count, 2);
    ck_assert_uint_eq(splits.items[0].tensor, 1);
    ck_assert_uint_eq(splits.items[1].tensor, 3);
    serving_splits(&fixture.arch, &fixture.machine, ENGINE_LLAMA_CPP, &splits);
    for (uint32_t i = 0; i < splits.count; i++)
        ck_assert_uint_eq(splits.items[i].tensor, 1);
    ck_assert_uint_eq(splits.items[splits.count - 1].pipeline, 3);
}
END_TEST

/* A state is as large for a short request as for a long one: a longer context that requests do not fill frees none. */
START_TEST(states_of_random_arrivals_are_all_counted)
{
    double cache[2];

    for (uint32_t i = 0; i < COUNT_OF(cache); i++) {
        struct serving_fixture fixture;
        struct serving_choice choice;
        struct fault fault;
        struct serving_job job = { .engine = ENGINE_VLLM,
                                   .input_tokens = 1000,
                                   .output_tokens = 1000,
                                   .context_length = i == 0 ? 2000 : 16000,
                                   .requests_per_second = 2 };

        serving_fixture_make(&fixture, "mamba-2.8b-hf", "a100-sxm-80gb", 1, &job);
        ck_assert_int_eq(choose(&fixture, &job, &choice, NULL, &fault), STATUS_OK);
        cache[i] = footprint_bytes(&choice.estimate.memory.footprint, PART_KV_CACHE);
    }
    ck_assert_double_gt(cache[0], 0);
    ck_assert_double_eq_tol(cache[1], cache[0], 1);
}
END_TEST

/* Clients and the rate that they make lead to each other (J. D. C. Little, 1961), whether or not tokens are written. */
static const struct {
    const char *model;
    uint32_t clients;
} loops[] = { { "bert-base-uncased (BertModel)", 3 }, { "llama-3-8b", 12 } };

START_TEST(a_rate_leads_back_to_its_clients)
{
    struct serving_fixture fixture;
    struct serving_choice choice;
    struct fault fault;
    struct serving_job job = {
        .engine = ENGINE_VLLM, .input_tokens = 400, .output_tokens = 100, .concurrency = loops[_i].clients
    };

    serving_fixture_make(&fixture, loops[_i].model, "l4-24gb", 1, &job);
    ck_assert_int_eq(choose(&fixture, &job, &choice, NULL, &fault), STATUS_OK);
    job.concurrency = 0;
    job.arrival = ARRIVAL_CLOSED_LOOP;
    job.requests_per_second = 0.999 * choice.estimate.speed.requests_per_second.expected;
    ck_assert_int_eq(choose(&fixture, &job, &choice, NULL, &fault), STATUS_OK);
    ck_assert_uint_eq(choice.job.concurrency, loops[_i].clients);
}
END_TEST

int
main(void)
{
    TCase *tcase = tcase_create("serving plans");

    tcase_add_test(tcase, an_unstated_share_is_raised_before_a_no);
    tcase_add_test(tcase, a_format_that_nothing_runs_is_refused_with_one_that_does);
    tcase_add_loop_test(tcase, the_smallest_split_that_does_the_job_is_taken, 0, COUNT_OF(smallest));
    tcase_add_loop_test(tcase, a_smaller_split_would_not_do, 0, COUNT_OF(smallest));
    tcase_add_loop_test(tcase, the_minimum_is_the_minimum, 0, COUNT_OF(smallest));
    tcase_add_test(tcase, a_lesser_machine_never_does_more);
    tcase_add_test(tcase, larger_cards_are_never_more);
    tcase_add_test(tcase, heads_are_never_cut);
    tcase_add_loop_test(tcase, a_rate_leads_back_to_its_clients, 0, COUNT_OF(loops));
    tcase_add_test(tcase, states_of_random_arrivals_are_all_counted);
    return suite_run("serving_plans", tcase);
}
