/* Laws that any serving estimate keeps: Little's, monotony in load and hardware, finite ends, overload, what holds it
 * back. */
#include <math.h>

#include "tests/support/random.h"
#include "tests/support/serving_fixture.h"
#include "tests/support/suite.h"

enum { TRIES = 400 };

static void
check_range(const struct range *range)
{
    ck_assert(isfinite(range->low) && isfinite(range->expected) && isfinite(range->high));
    ck_assert(range->low > 0 && range->low <= range->expected && range->expected <= range->high);
}

static void
check_finite(const struct serving_speed *speed)
{
    check_range(&speed->ttft_ms);
    check_range(&speed->ttft_p95_ms);
    check_range(&speed->tpot_ms);
    check_range(&speed->output_tokens_per_second);
    check_range(&speed->requests_per_second);
    ck_assert(isfinite(speed->burst_ttft_ms) && isfinite(speed->saturation_requests_per_second));
    ck_assert(speed->running_sequences >= 1 && speed->one_prefill_ms > 0);
}

/* J. D. C. Little, Operations Research 9(3), 1961: clients = rate x time in the system. */
START_TEST(closed_loops_keep_littles_law)
{
    struct random random = random_seeded();

    for (int try = 0; try < TRIES; try++) {
        struct serving_fixture fixture;
        struct serving_memory memory;
        struct serving_speed speed;

        serving_fixture_random(&random, false, &fixture);
        serving_fixture_run(&fixture, &memory, &speed);
        double seconds = (speed.ttft_ms.expected + (fixture.job.output_tokens - 1) * speed.tpot_ms.expected) / 1000;
        double clients = speed.requests_per_second.expected * seconds;
        ck_assert_msg(fabs(clients / fixture.job.concurrency - 1) < 1e-6, "%s: %f of %u (seed %ju)", fixture.arch.name,
                      clients, fixture.job.concurrency, random.seed);
        ck_assert_double_eq_tol(speed.output_tokens_per_second.expected,
                                speed.requests_per_second.expected * fixture.job.output_tokens,
                                1e-9 * speed.output_tokens_per_second.expected);
        ck_assert(speed.ttft_p95_ms.high >= speed.burst_ttft_ms);
    }
}
END_TEST

/* A longer limit that requests do not come near lets no more of them in. transformers: activations with each sequence.
 */
START_TEST(unused_context_is_no_help)
{
    double wait[2];

    for (uint32_t i = 0; i < 2; i++) {
        struct serving_fixture fixture;
        struct serving_memory memory;
        struct serving_speed speed;
        struct serving_job job = { .engine = ENGINE_TRANSFORMERS,
                                   .input_tokens = 4000,
                                   .output_tokens = 200,
                                   .context_length = i == 0 ? 4200 : 8400,
                                   .concurrency = 400 };

        serving_fixture_make(&fixture, "llama-3-8b", "b200-sxm-180gb", 1, &job);
        serving_fixture_run(&fixture, &memory, &speed);
        wait[i] = speed.ttft_ms.expected;
    }
    ck_assert_double_ge(wait[1], wait[0] * (1 - 1e-9));
}
END_TEST

START_TEST(more_clients_are_never_faster)
{
    struct random random = random_seeded();

    for (int try = 0; try < TRIES; try++) {
        struct serving_fixture fixture;
        struct serving_memory memory;
        struct serving_speed few, many;

        serving_fixture_random(&random, false, &fixture);
        serving_fixture_run(&fixture, &memory, &few);
        fixture.job.concurrency += 1 + (uint32_t)random_below(&random, 200);
        serving_fixture_run(&fixture, &memory, &many);
        ck_assert(many.tpot_ms.expected >= few.tpot_ms.expected * (1 - 1e-9));
        ck_assert(many.ttft_ms.expected >= few.ttft_ms.expected * (1 - 1e-9));
        ck_assert(many.burst_ttft_ms >= few.burst_ttft_ms * (1 - 1e-9));
    }
}
END_TEST

START_TEST(longer_prompts_are_never_faster)
{
    struct random random = random_seeded();

    for (int try = 0; try < TRIES; try++) {
        struct serving_fixture fixture;
        struct serving_memory memory;
        struct serving_speed shorter, longer;

        serving_fixture_random(&random, false, &fixture);
        serving_memory(&fixture.setup, &memory);
        memory.kv_budget_bytes = 1e18; /* a full cache runs fewer long requests at once: another matter */
        serving_speed(&fixture.setup, &memory, &shorter);
        fixture.job.input_tokens += 1 + (uint32_t)random_below(&random, 4000);
        serving_speed(&fixture.setup, &memory, &longer);
        ck_assert(longer.tpot_ms.expected >= shorter.tpot_ms.expected * (1 - 1e-9));
        ck_assert(longer.ttft_ms.expected >= shorter.ttft_ms.expected * (1 - 1e-9));
        ck_assert(longer.one_prefill_ms >= shorter.one_prefill_ms * (1 - 1e-9));
    }
}
END_TEST

static void
slow_down(struct serving_fixture *fixture, uint64_t what, double factor)
{
    struct gpu *gpu = &fixture->gpu;

    switch (what) {
    case 0:
        gpu->memory_bytes_per_second *= factor;
        break;
    case 1:
        gpu->fp32_flop_per_second *= factor;
        gpu->fp16_flop_per_second *= factor;
        gpu->bf16_flop_per_second *= factor;
        gpu->fp8_flop_per_second *= factor;
        gpu->fp4_flop_per_second *= factor;
        break;
    case 2:
        gpu->pcie_bytes_per_second *= factor;
        fixture->machine.link_bytes_per_second *= factor;
        break;
    case 3:
        gpu->tdp_watts = (uint32_t)ceil(gpu->tdp_watts * factor);
        break;
    default:
        fixture->machine.network_bytes_per_second *= factor;
    }
}

START_TEST(lesser_hardware_is_never_faster)
{
    struct random random = random_seeded();

    for (int try = 0; try < TRIES; try++) {
        struct serving_fixture fixture;
        struct serving_memory memory;
        struct serving_speed good, worse;
        uint64_t what = random_below(&random, 5);

        serving_fixture_random(&random, random_below(&random, 2), &fixture);
        serving_fixture_run(&fixture, &memory, &good);
        slow_down(&fixture, what, 0.3 + 0.65 * random_unit(&random));
        serving_fixture_run(&fixture, &memory, &worse);
        ck_assert_msg(worse.tpot_ms.expected >= good.tpot_ms.expected * (1 - 1e-9), "%ju (seed %ju)", (uintmax_t)what,
                      random.seed);
        ck_assert_msg(worse.ttft_ms.expected >= good.ttft_ms.expected * (1 - 1e-9), "%ju (seed %ju)", (uintmax_t)what,
                      random.seed);
        ck_assert(worse.output_tokens_per_second.expected <= good.output_tokens_per_second.expected * (1 + 1e-9));
        ck_assert(worse.saturation_requests_per_second <= good.saturation_requests_per_second * (1 + 1e-9));
    }
}
END_TEST

START_TEST(more_arrivals_are_never_faster)
{
    struct random random = random_seeded();

    for (int try = 0; try < TRIES; try++) {
        struct serving_fixture fixture;
        struct serving_memory memory;
        struct serving_speed quiet, busy;

        serving_fixture_random(&random, true, &fixture);
        serving_fixture_run(&fixture, &memory, &quiet);
        fixture.job.requests_per_second *= 1 + random_unit(&random);
        serving_fixture_run(&fixture, &memory, &busy);
        ck_assert(busy.tpot_ms.expected >= quiet.tpot_ms.expected * (1 - 1e-6));
        ck_assert(busy.ttft_ms.expected >= quiet.ttft_ms.expected * (1 - 1e-6));
        ck_assert(busy.requests_per_second.expected >= quiet.requests_per_second.expected * (1 - 1e-9));
        ck_assert(busy.ttft_p95_ms.expected > busy.ttft_ms.expected);
    }
}
END_TEST

/* One request now and then is one request at a time. */
START_TEST(rare_arrivals_meet_an_idle_server)
{
    struct serving_fixture fixture;
    struct serving_memory memory;
    struct serving_speed rare, lone;
    struct serving_job job = {
        .engine = ENGINE_VLLM, .input_tokens = 1000, .output_tokens = 200, .requests_per_second = 1e-6
    };

    serving_fixture_make(&fixture, "llama-3-8b", "h100-sxm-80gb", 1, &job);
    serving_fixture_run(&fixture, &memory, &rare);
    fixture.job.arrival = ARRIVAL_CLOSED_LOOP;
    fixture.job.concurrency = 1;
    serving_fixture_run(&fixture, &memory, &lone);
    ck_assert_double_eq_tol(rare.tpot_ms.expected, lone.tpot_ms.expected, 0.001 * lone.tpot_ms.expected);
    ck_assert_double_eq_tol(rare.ttft_ms.expected, lone.ttft_ms.expected, 0.001 * lone.ttft_ms.expected);
    ck_assert(!rare.overloaded);
}
END_TEST

START_TEST(arrivals_beyond_saturation_are_told)
{
    struct serving_fixture fixture;
    struct serving_memory memory;
    struct serving_speed speed;
    struct serving_job job = {
        .engine = ENGINE_VLLM, .input_tokens = 1000, .output_tokens = 200, .requests_per_second = 1
    };

    serving_fixture_make(&fixture, "llama-3-8b", "h100-sxm-80gb", 1, &job);
    serving_fixture_run(&fixture, &memory, &speed);
    ck_assert(!speed.overloaded);
    fixture.job.requests_per_second = speed.saturation_requests_per_second * 1.01;
    serving_fixture_run(&fixture, &memory, &speed);
    ck_assert(speed.overloaded);
    check_finite(&speed);
    ck_assert_double_eq_tol(speed.requests_per_second.expected, speed.saturation_requests_per_second, 1e-9);
    fixture.job.requests_per_second *= 0.98;
    serving_fixture_run(&fixture, &memory, &speed);
    ck_assert(!speed.overloaded);
}
END_TEST

/* Two replicas answer twice as much, as fast. */
START_TEST(replicas_add_up)
{
    struct serving_fixture one, two;
    struct serving_memory memory;
    struct serving_speed alone, both;
    struct serving_job job = { .engine = ENGINE_VLLM, .input_tokens = 500, .output_tokens = 100, .concurrency = 16 };

    job.has_parallelism = true;
    job.parallelism = (struct parallelism){ .tensor = 1, .pipeline = 1, .data = 1 };
    serving_fixture_make(&one, "llama-3-8b", "a100-sxm-80gb", 1, &job);
    job.concurrency = 32;
    job.parallelism.data = 2;
    serving_fixture_make(&two, "llama-3-8b", "a100-sxm-80gb", 2, &job);
    serving_fixture_run(&one, &memory, &alone);
    serving_fixture_run(&two, &memory, &both);
    ck_assert_double_eq_tol(both.requests_per_second.expected, 2 * alone.requests_per_second.expected, 1e-9);
    ck_assert_double_eq_tol(both.tpot_ms.expected, alone.tpot_ms.expected, 1e-9);
}
END_TEST

/* What each load is known to be held back by. */
static const struct {
    const char *source, *model, *gpu;
    uint32_t gpus;
    struct serving_job job;
    enum bottleneck bottleneck;
} bound[] = {
    { "decoding one sequence reads all weights for each token (arXiv:2211.05102 section 2.1)",
      "llama-3-70b",
      "h100-sxm-80gb",
      4,
      { .engine = ENGINE_VLLM, .precision = WEIGHT_BF16, .input_tokens = 100, .output_tokens = 500, .concurrency = 1 },
      BOTTLENECK_MEMORY_BANDWIDTH },
    { "prompts are bound by arithmetic (arXiv:2308.16369 section 2)",
      "llama-3-70b",
      "h100-sxm-80gb",
      4,
      { .engine = ENGINE_VLLM, .precision = WEIGHT_BF16, .input_tokens = 8000, .output_tokens = 2, .concurrency = 8 },
      BOTTLENECK_COMPUTE },
    { "TP 8 without peer access",
      "llama-3-70b",
      "rtx-4090-24gb",
      8,
      { .engine = ENGINE_VLLM, .precision = WEIGHT_BF16, .input_tokens = 500, .output_tokens = 200, .concurrency = 64 },
      BOTTLENECK_INTERCONNECT },
    { "TP over two nodes with one 10 Gbit/s card each",
      "llama-3.1-405b",
      "a100-sxm-80gb",
      16,
      { .engine = ENGINE_VLLM, .precision = WEIGHT_BF16, .input_tokens = 4000, .output_tokens = 8, .concurrency = 64 },
      BOTTLENECK_NETWORK },
    { "a small network on a large GPU waits for its host",
      "qwen3-0.6b",
      "h100-sxm-80gb",
      1,
      { .engine = ENGINE_VLLM, .input_tokens = 10, .output_tokens = 500, .concurrency = 1 },
      BOTTLENECK_CPU },
};

START_TEST(bottlenecks_are_the_known_ones)
{
    struct serving_fixture fixture;
    struct serving_memory memory;
    struct serving_speed speed;

    serving_fixture_make(&fixture, bound[_i].model, bound[_i].gpu, bound[_i].gpus, &bound[_i].job);
    if (bound[_i].bottleneck == BOTTLENECK_NETWORK)
        fixture.machine.network_bytes_per_second = 1.25e9 / 8;
    serving_fixture_run(&fixture, &memory, &speed);
    ck_assert_msg(speed.bottleneck == bound[_i].bottleneck, "%s: %s", bound[_i].source,
                  bottleneck_name(speed.bottleneck));
}
END_TEST

START_TEST(absurd_jobs_stay_finite)
{
    static const uint32_t ends[] = { 1, 2, 1000000, UINT32_MAX / 2 };
    struct random random = random_seeded();

    for (int try = 0; try < TRIES; try++) {
        struct serving_fixture fixture;
        struct serving_memory memory;
        struct serving_speed speed;

        serving_fixture_random(&random, random_below(&random, 2), &fixture);
        fixture.job.input_tokens = ends[random_below(&random, COUNT_OF(ends))];
        fixture.job.output_tokens = ends[random_below(&random, COUNT_OF(ends))];
        fixture.job.concurrency = ends[random_below(&random, COUNT_OF(ends))];
        if (fixture.job.requests_per_second > 0)
            fixture.job.requests_per_second = random_below(&random, 2) ? 1e-9 : 1e9;
        serving_fixture_run(&fixture, &memory, &speed);
        check_finite(&speed);
    }
}
END_TEST

/* Nothing measured stands behind these: the same job gets a wider band. */
START_TEST(what_is_not_measured_has_a_wider_band)
{
    struct serving_fixture fixture;
    struct serving_memory memory;
    struct serving_speed known, unknown;
    struct serving_job job = { .engine = ENGINE_TENSORRT_LLM,
                               .engine_version = "1.1",
                               .input_tokens = 500,
                               .output_tokens = 100,
                               .concurrency = 8 };

    serving_fixture_make(&fixture, "llama-3-8b", "h100-sxm-80gb", 1, &job);
    serving_fixture_run(&fixture, &memory, &known);
    fixture.gpu.family = GPU_FAMILY_OTHER;
    serving_fixture_run(&fixture, &memory, &unknown);
    ck_assert(unknown.tpot_ms.high / unknown.tpot_ms.low > known.tpot_ms.high / known.tpot_ms.low);
    fixture.gpu.family = GPU_FAMILY_HOPPER;
    fixture.job.engine_version[0] = '\0';
    serving_fixture_run(&fixture, &memory, &unknown);
    ck_assert(unknown.tpot_ms.high / unknown.tpot_ms.expected > known.tpot_ms.high / known.tpot_ms.expected);
}
END_TEST

int
main(void)
{
    TCase *tcase = tcase_create("laws");

    tcase_add_test(tcase, closed_loops_keep_littles_law);
    tcase_add_test(tcase, unused_context_is_no_help);
    tcase_add_test(tcase, more_clients_are_never_faster);
    tcase_add_test(tcase, longer_prompts_are_never_faster);
    tcase_add_test(tcase, lesser_hardware_is_never_faster);
    tcase_add_test(tcase, more_arrivals_are_never_faster);
    tcase_add_test(tcase, rare_arrivals_meet_an_idle_server);
    tcase_add_test(tcase, arrivals_beyond_saturation_are_told);
    tcase_add_test(tcase, replicas_add_up);
    tcase_add_loop_test(tcase, bottlenecks_are_the_known_ones, 0, COUNT_OF(bound));
    tcase_add_test(tcase, absurd_jobs_stay_finite);
    tcase_add_test(tcase, what_is_not_measured_has_a_wider_band);
    return suite_run("serving_laws", tcase);
}
