/* A figure never improves when a resource is taken away, and a larger job never needs less. */
#include "service/memory/footprint.h"
#include "service/speed/serving_capacity.h"
#include "tests/support/random.h"
#include "tests/support/serving_fixture.h"
#include "tests/support/suite.h"

enum { TRIES = 300 };

static const double rounding = 1e-9;
static const double communication_buffers = 2e9; /* what GPUs of a group need beside what they share, and more */

/* The fixture's job under a closed loop or random arrivals, and its figures. */
struct run {
    struct serving_fixture fixture;
    struct serving_memory memory;
    struct serving_speed speed;
};

static void
again(struct run *run)
{
    serving_fixture_run(&run->fixture, &run->memory, &run->speed);
}

/* A copy whose setup points into itself. */
static void
copy(struct run *to, const struct run *from)
{
    *to = *from;
    to->fixture.machine.gpu = &to->fixture.gpu;
    to->fixture.setup.arch = &to->fixture.arch;
    to->fixture.setup.params = &to->fixture.params;
    to->fixture.setup.machine = &to->fixture.machine;
    to->fixture.setup.rates = &to->fixture.rates;
    to->fixture.setup.job = &to->fixture.job;
}

/* What is left of the memory, or of the share of it that the engine may take. */
START_TEST(less_memory_is_never_better)
{
    struct random random = random_seeded();
    static struct run much, little;

    for (int try = 0; try < TRIES; try++) {
        double left = 0.5 + 0.49 * random_unit(&random);

        serving_fixture_random(&random, random_below(&random, 2), &much.fixture);
        much.fixture.rates.serving_profile_large_card_bytes =
            0; /* start-up takes less of small cards: another matter */
        copy(&little, &much);
        if (random_below(&random, 2))
            little.fixture.gpu.usable_bytes = (uint64_t)((double)little.fixture.gpu.usable_bytes * left);
        else
            little.fixture.job.memory_utilization *= left;
        again(&much);
        again(&little);
        ck_assert_int_ge(little.memory.footprint.verdict, much.memory.footprint.verdict);
        if (little.memory.offload.used) /* layers make room for the cache */
            continue;
        ck_assert(little.memory.kv_budget_bytes <= much.memory.kv_budget_bytes);
        ck_assert(little.memory.capacity_tokens <= much.memory.capacity_tokens);
        ck_assert(little.memory.max_concurrency <= much.memory.max_concurrency);
        ck_assert(little.memory.max_context_length <= much.memory.max_context_length);
        ck_assert_msg(little.speed.overloaded ||
                          little.speed.ttft_p95_ms.expected >= much.speed.ttft_p95_ms.expected * (1 - rounding),
                      "seed %ju", random.seed);
        ck_assert_msg(little.speed.output_tokens_per_second.expected <=
                          much.speed.output_tokens_per_second.expected * (1 + rounding),
                      "seed %ju", random.seed);
        ck_assert_msg(little.speed.saturation_requests_per_second <=
                          much.speed.saturation_requests_per_second * (1 + rounding),
                      "seed %ju", random.seed);
    }
}
END_TEST

/* More sequences at once, longer ones, and wider formats of weights and cache. */
START_TEST(larger_jobs_never_need_less)
{
    struct random random = random_seeded();
    static struct run small, large;

    for (int try = 0; try < TRIES; try++) {
        serving_fixture_random(&random, false, &small.fixture);
        copy(&large, &small);
        switch (random_below(&random, 4)) {
        case 0:
            large.fixture.job.concurrency += 1 + (uint32_t)random_below(&random, 300);
            break;
        case 1:
            large.fixture.job.context_length += 1 + (uint32_t)random_below(&random, 5000);
            break;
        case 2:
            small.fixture.job.kv_cache_precision = KV_FP8;
            large.fixture.job.kv_cache_precision = KV_BF16;
            break;
        default:
            small.fixture.job.precision = WEIGHT_FP8;
            large.fixture.job.precision = WEIGHT_BF16;
        }
        again(&small);
        again(&large);
        ck_assert(large.memory.footprint.required_bytes >= small.memory.footprint.required_bytes);
        ck_assert_int_ge(large.memory.footprint.verdict, small.memory.footprint.verdict);
        ck_assert(large.memory.max_context_length <= small.memory.max_context_length ||
                  large.fixture.job.context_length > small.fixture.job.context_length);
    }
}
END_TEST

/* What weights and cache take of a GPU is never more when more GPUs share them. */
START_TEST(wider_splits_never_hold_more)
{
    struct random random = random_seeded();
    static struct run narrow, wide;

    for (int try = 0; try < TRIES; try++) {
        serving_fixture_random(&random, false, &narrow.fixture);
        copy(&wide, &narrow);
        uint32_t *split =
            random_below(&random, 2) ? &wide.fixture.setup.plan.tensor : &wide.fixture.setup.plan.pipeline;

        *split *= 2;
        wide.fixture.machine.gpu_count *= 2;
        again(&narrow);
        again(&wide);
        ck_assert(footprint_bytes(&wide.memory.footprint, PART_WEIGHTS) <=
                  footprint_bytes(&narrow.memory.footprint, PART_WEIGHTS) * (1 + rounding));
        ck_assert(footprint_bytes(&wide.memory.footprint, PART_KV_CACHE) <=
                  footprint_bytes(&narrow.memory.footprint, PART_KV_CACHE) * (1 + rounding));
        if (narrow.memory.weight_bytes > communication_buffers)
            ck_assert(wide.memory.capacity_tokens >= narrow.memory.capacity_tokens);
    }
}
END_TEST

static void
free_the_links(struct serving_fixture *fixture)
{
    fixture->machine.link_bytes_per_second = fixture->machine.network_bytes_per_second = 1e18;
    fixture->gpu.pcie_bytes_per_second = 1e18;
    fixture->rates.serving_nvlink_wait_seconds = fixture->rates.serving_pcie_wait_seconds =
        fixture->rates.serving_network_wait_seconds = 0;
}

/* Were it not for the links, twice the GPUs to a tensor group would always be faster. */
START_TEST(wider_splits_lose_to_links_alone)
{
    struct random random = random_seeded();
    static struct run narrow, wide;

    for (int try = 0; try < TRIES; try++) {
        serving_fixture_random(&random, false, &narrow.fixture);
        narrow.fixture.setup.plan = (struct parallelism){ .tensor = 2, .pipeline = 1, .data = 1, .expert = 1 };
        narrow.fixture.machine.gpu_count = 2;
        narrow.fixture.setup.replicas = 1;
        free_the_links(&narrow.fixture);
        copy(&wide, &narrow);
        wide.fixture.setup.plan.tensor = wide.fixture.machine.gpu_count = 4;
        again(&narrow);
        again(&wide);
        if (narrow.memory.offload.used) /* what is in host memory would cost nothing */
            continue;
        wide.memory.kv_budget_bytes = narrow.memory.kv_budget_bytes = 1e18;
        serving_speed(&narrow.fixture.setup, &narrow.memory, &narrow.speed);
        serving_speed(&wide.fixture.setup, &wide.memory, &wide.speed);
        ck_assert(wide.speed.tpot_ms.expected <= narrow.speed.tpot_ms.expected * (1 + rounding));
        ck_assert(wide.speed.ttft_ms.expected <= narrow.speed.ttft_ms.expected * (1 + rounding));
    }
}
END_TEST

/* Each further token of one request alone looks at a longer context. */
START_TEST(longer_answers_are_never_faster)
{
    struct random random = random_seeded();
    static struct run brief, lengthy;

    for (int try = 0; try < TRIES; try++) {
        serving_fixture_random(&random, false, &brief.fixture);
        brief.fixture.job.concurrency = 1;
        copy(&lengthy, &brief);
        lengthy.fixture.job.output_tokens += 1 + (uint32_t)random_below(&random, 4000);
        again(&brief);
        again(&lengthy);
        ck_assert(lengthy.speed.tpot_ms.expected >= brief.speed.tpot_ms.expected * (1 - rounding));
        ck_assert(lengthy.speed.requests_per_second.expected <= brief.speed.requests_per_second.expected);
    }
}
END_TEST

int
main(void)
{
    TCase *tcase = tcase_create("resources");

    tcase_add_test(tcase, less_memory_is_never_better);
    tcase_add_test(tcase, larger_jobs_never_need_less);
    tcase_add_test(tcase, wider_splits_never_hold_more);
    tcase_add_test(tcase, wider_splits_lose_to_links_alone);
    tcase_add_test(tcase, longer_answers_are_never_faster);
    return suite_run("serving_resources", tcase);
}
