/* Networks that answer in one pass: against published rates, and the laws of their queue. */
#include "service/speed/serving_batch.h"

#include <math.h>

#include "service/base/quantity.h"
#include "tests/support/random.h"
#include "tests/support/serving_fixture.h"
#include "tests/support/suite.h"

#define TIMM "huggingface/pytorch-image-models results/benchmark-infer-amp-nchw-pt240-cu124-rtx4090.csv"
#define INFINITY_PAGE "michaelfeil/infinity docs/docs/benchmarking.md"

/* requests a second */
static const struct {
    const char *source, *model, *gpu;
    uint32_t input_tokens, concurrency;
    double measured, tolerance;
} published[] = {
    { TIMM, "resnet-50", "rtx-4090-24gb", 0, 1024, 4217.6, 0.15 },
    { TIMM, "resnet-101", "rtx-4090-24gb", 0, 1024, 2736.75, 0.15 },
    { TIMM, "vit-base-patch16-224 (1000 classes)", "rtx-4090-24gb", 0, 1024, 2787.15, 0.15 },
    /* 256 sentences of 115,000 tokens at 0.54 a second: text-embeddings-inference with flash attention */
    { INFINITY_PAGE, "bert-large-uncased (BertModel)", "l4-24gb", 449, 256, 0.54 * 256, 0.15 },
};

START_TEST(rates_are_met)
{
    struct serving_fixture fixture;
    struct serving_memory memory;
    struct serving_speed speed;
    struct serving_job job = { .input_tokens = published[_i].input_tokens, .concurrency = published[_i].concurrency };

    serving_fixture_make(&fixture, published[_i].model, published[_i].gpu, 1, &job);
    serving_fixture_run(&fixture, &memory, &speed);
    double expected = speed.requests_per_second.expected;

    ck_assert_msg(fabs(expected / published[_i].measured - 1) < published[_i].tolerance, "%s, %s: %f, not %f",
                  published[_i].source, published[_i].model, expected, published[_i].measured);
    ck_assert(speed.requests_per_second.low < published[_i].measured &&
              published[_i].measured < speed.requests_per_second.high);
}
END_TEST

static void
embedding_fixture(struct serving_fixture *fixture, double clients, double rate)
{
    struct serving_job job = { .input_tokens = 200,
                               .concurrency = (uint32_t)clients,
                               .requests_per_second = clients > 0 ? 0 : rate };

    serving_fixture_make(fixture, "bert-base-uncased (BertModel)", "a10-24gb", 1, &job);
}

/* gpustack/gpustack#2412: a reranker was given the cache of a chat model, 13.8 GiB instead of 0.9. */
START_TEST(no_cache_is_kept)
{
    struct serving_fixture fixture;
    struct serving_memory memory;
    struct serving_speed speed;

    embedding_fixture(&fixture, 8, 0);
    serving_fixture_run(&fixture, &memory, &speed);
    ck_assert_double_eq(footprint_bytes(&memory.footprint, PART_KV_CACHE), 0);
    ck_assert_double_eq(memory.kv_bytes_per_token, 0);
    ck_assert_double_lt(memory.footprint.reserved_bytes, 2.5e9);
    ck_assert_double_eq(speed.tpot_ms.expected, 0);
    ck_assert_int_eq(memory.footprint.verdict, VERDICT_FITS);
}
END_TEST

/* J. D. C. Little, Operations Research 9(3), 1961. */
START_TEST(clients_are_rate_times_time)
{
    for (uint32_t clients = 1; clients < 5000; clients *= 3) {
        struct serving_fixture fixture;
        struct serving_memory memory;
        struct serving_speed speed;

        embedding_fixture(&fixture, clients, 0);
        serving_fixture_run(&fixture, &memory, &speed);
        ck_assert_double_eq_tol(speed.requests_per_second.expected * speed.ttft_ms.expected / 1000, clients,
                                1e-6 * clients);
    }
}
END_TEST

/* More load is never faster, a batch never answers fewer a second, and nothing is answered above saturation. */
START_TEST(load_never_helps)
{
    struct random random = random_seeded();

    for (int try = 0; try < 200; try++) {
        struct serving_fixture fixture;
        struct serving_memory memory;
        struct serving_speed less, more;
        bool closed = random_below(&random, 2);
        double load = exp(log(2000) * random_unit(&random));

        embedding_fixture(&fixture, closed ? ceil(load) : 0, load);
        serving_fixture_run(&fixture, &memory, &less);
        embedding_fixture(&fixture, closed ? 1 + ceil(load * 1.3) : 0, load * 1.3);
        serving_fixture_run(&fixture, &memory, &more);
        ck_assert_msg(more.ttft_ms.expected >= less.ttft_ms.expected * (1 - 1e-9), "seed %ju", random.seed);
        ck_assert_msg(more.requests_per_second.expected >= less.requests_per_second.expected * (1 - 1e-9), "seed %ju",
                      random.seed);
        ck_assert(more.requests_per_second.expected <= more.saturation_requests_per_second * (1 + 1e-9));
        ck_assert_int_eq(more.overloaded, !closed && load * 1.3 > more.saturation_requests_per_second);
    }
}
END_TEST

/* An image takes as long as its patches, twice the words of a text at least twice as long. */
START_TEST(longer_inputs_take_longer)
{
    struct serving_fixture fixture;
    struct serving_memory memory;
    struct serving_speed shorter, longer;

    embedding_fixture(&fixture, 256, 0);
    serving_fixture_run(&fixture, &memory, &shorter);
    fixture.job.input_tokens *= 2;
    serving_fixture_run(&fixture, &memory, &longer);
    ck_assert_double_ge(longer.ttft_ms.expected, 1.9 * shorter.ttft_ms.expected);
}
END_TEST

int
main(void)
{
    TCase *tcase = tcase_create("batch");

    tcase_add_loop_test(tcase, rates_are_met, 0, COUNT_OF(published));
    tcase_add_test(tcase, no_cache_is_kept);
    tcase_add_test(tcase, clients_are_rate_times_time);
    tcase_add_test(tcase, load_never_helps);
    tcase_add_test(tcase, longer_inputs_take_longer);
    return suite_run("serving_batch", tcase);
}
