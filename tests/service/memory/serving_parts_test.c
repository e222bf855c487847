/* Identities of serving memory: terms and their formulas, the engine's pool, replicas, and what grows with what. */
#include <math.h>

#include "service/memory/serving_memory.h"
#include "service/memory/serving_weights.h"
#include "tests/support/formula.h"
#include "tests/support/random.h"
#include "tests/support/serving_fixture.h"
#include "tests/support/suite.h"

enum { TRIES = 200 };

static const char *const models[] = { "llama-3-8b",
                                      "llama-3-70b",
                                      "mixtral-8x7b",
                                      "deepseek-v3",
                                      "gemma-3-1b",
                                      "qwen3-235b-a22b",
                                      "gpt-oss-120b",
                                      "falcon-7b",
                                      "mamba-2.8b-hf",
                                      "whisper-small",
                                      "qwen2.5-vl-7b",
                                      "jamba-1.5-mini-52b",
                                      "bert-base-uncased (BertModel)" };
static const char *const gpus[] = { "h100-sxm-80gb", "a100-sxm-40gb", "rtx-4090-24gb",   "b200-sxm-180gb",
                                    "l4-24gb",       "mi300x-192gb",  "ascend-910b-64gb" };

/* Any job on any machine; every engine, format and split comes up. */
static void
random_fixture(struct random *random, struct serving_fixture *fixture)
{
    static const uint32_t sizes[] = { 1, 2, 4, 8, 16 };
    uint32_t size = sizes[random_below(random, COUNT_OF(sizes))];
    struct serving_job job = {
        .engine = (enum engine)(1 + random_below(random, 6)),
        .precision = (enum weight_format)(1 + random_below(random, WEIGHT_FORMAT_COUNT - 1)),
        .kv_cache_precision = (enum kv_format)(1 + random_below(random, KV_FORMAT_COUNT - 1)),
        .input_tokens = (uint32_t)(1 + random_below(random, 30000)),
        .output_tokens = (uint32_t)(1 + random_below(random, 3000)),
        .concurrency = (uint32_t)(1 + random_below(random, 300)),
        .memory_utilization = random_below(random, 2) ? 0 : 0.5 + random_unit(random) / 2,
        .has_parallelism = true,
    };

    switch (random_below(random, 4)) {
    case 0:
        job.parallelism = (struct parallelism){ .tensor = size };
        break;
    case 1:
        job.parallelism = (struct parallelism){ .tensor = 1, .pipeline = size };
        break;
    case 2:
        job.parallelism = (struct parallelism){ .tensor = 1, .data = size };
        break;
    default:
        job.parallelism = (struct parallelism){ .tensor = 1, .data = size, .expert = size };
    }
    serving_fixture_make(fixture, models[random_below(random, COUNT_OF(models))],
                         gpus[random_below(random, COUNT_OF(gpus))], size, &job);
}

START_TEST(formulas_give_their_bytes)
{
    struct random random = random_seeded();

    for (int try = 0; try < TRIES; try++) {
        struct serving_fixture fixture;
        struct serving_memory memory;

        random_fixture(&random, &fixture);
        serving_memory(&fixture.setup, &memory);
        for (uint32_t i = 0; i < memory.footprint.part_count; i++) {
            const struct part *part = &memory.footprint.parts[i];
            double bytes = 0;

            ck_assert_msg(formula_value(part->formula, part->values, PART_VALUES, &bytes), "%s", part->formula);
            ck_assert_msg(fabs(bytes - part->bytes) <= 1e-6 * part->bytes + 64, "%s of %s: %f, not %f (seed %ju)",
                          part_code_name(part->code), fixture.arch.name, bytes, part->bytes, random.seed);
            ck_assert_msg(part->source[0] != '\0', "%s has no source", part_code_name(part->code));
        }
    }
}
END_TEST

START_TEST(terms_are_finite_and_add_up)
{
    struct random random = random_seeded();

    for (int try = 0; try < TRIES; try++) {
        struct serving_fixture fixture;
        struct serving_memory memory;
        double sum = 0;

        random_fixture(&random, &fixture);
        serving_memory(&fixture.setup, &memory);
        for (uint32_t i = 0; i < memory.footprint.part_count; i++) {
            ck_assert(isfinite(memory.footprint.parts[i].bytes) && memory.footprint.parts[i].bytes >= 0);
            sum += memory.footprint.parts[i].bytes;
        }
        ck_assert_double_eq_tol(sum, memory.footprint.required_bytes, 1 + sum * 1e-12);
        ck_assert(memory.footprint.reserved_bytes >= memory.footprint.required_bytes - 1);
        ck_assert(memory.footprint.allocated_bytes <= memory.footprint.required_bytes);
        ck_assert(isfinite(memory.capacity_tokens) && memory.capacity_tokens >= 0);
    }
}
END_TEST

/* What the cache is said to hold is what the verdict goes by. */
START_TEST(asked_load_fits_when_the_cache_holds_it)
{
    struct random random = random_seeded();

    for (int try = 0; try < TRIES; try++) {
        struct serving_fixture fixture;
        struct serving_memory memory;

        random_fixture(&random, &fixture);
        fixture.setup.utilization_assumed = false;
        if (fixture.job.engine == ENGINE_TRANSFORMERS) /* its activations grow with the load as well */
            continue;
        serving_memory(&fixture.setup, &memory);
        double asked = ceil(fixture.job.concurrency / (double)fixture.setup.replicas);
        bool holds = memory.max_concurrency >= asked;
        if (footprint_bytes(&memory.footprint, PART_KV_CACHE) <= 0 || fixture.setup.plan.data > 1 ||
            memory.offload.used)
            continue;
        ck_assert_msg(holds == (memory.footprint.verdict != VERDICT_DOES_NOT_FIT),
                      "%s with %s: %f at once of %f, %s (seed %ju)", fixture.arch.name,
                      engine_names[fixture.job.engine], memory.max_concurrency, asked,
                      verdict_name(memory.footprint.verdict), random.seed);
    }
}
END_TEST

START_TEST(weights_of_a_split_hold_every_element)
{
    for (size_t i = 0; i < COUNT_OF(models); i++) {
        struct serving_fixture fixture;
        struct serving_job job = { .engine = ENGINE_VLLM };

        serving_fixture_make(&fixture, models[i], NULL, 1, &job);
        struct weight_elements all = serving_gpu_elements(&fixture.setup);
        double elements = all.linear + all.latent + all.experts + all.plain;
        ck_assert_double_eq_tol(elements, (double)fixture.params.total, 0.5);
        ck_assert_double_eq_tol(serving_weight_bytes(&fixture.arch, &fixture.params, WEIGHT_BF16),
                                2.0 * (double)fixture.params.total, 1);

        fixture.setup.plan.tensor = 8;
        struct weight_elements eighth = serving_gpu_elements(&fixture.setup);
        double part = eighth.linear + eighth.latent + eighth.experts + eighth.plain;
        ck_assert(part >= elements / 8 && part <= elements);
    }
}
END_TEST

/* FP4 checkpoints keep latent attention in 8 bits (nvidia/DeepSeek-R1-FP4 model card); gpt-oss packs its experts alone
 * (arXiv:2508.10925 section 2.1). */
START_TEST(fp4_leaves_some_matrices_alone)
{
    struct serving_fixture latent, experts;
    struct serving_job job = { .engine = ENGINE_VLLM };

    serving_fixture_make(&latent, "deepseek-v3", NULL, 1, &job);
    struct weight_bits nvfp4 = serving_weight_bits(&latent.arch, WEIGHT_NVFP4);
    ck_assert_double_eq(nvfp4.latent, 8);
    ck_assert_double_eq(nvfp4.experts, 4.5);
    ck_assert_double_eq(nvfp4.plain, 16);

    serving_fixture_make(&experts, "gpt-oss-120b", NULL, 1, &job);
    struct weight_bits mxfp4 = serving_weight_bits(&experts.arch, WEIGHT_MXFP4);
    ck_assert_double_eq(mxfp4.linear, 16);
    ck_assert_double_eq_tol(mxfp4.experts, 4.25, 0.005); /* their biases stay in 16 bits */
}
END_TEST

START_TEST(more_load_never_takes_less)
{
    struct random random = random_seeded();

    for (int try = 0; try < TRIES; try++) {
        struct serving_fixture fixture;
        struct serving_memory less, more;

        random_fixture(&random, &fixture);
        serving_memory(&fixture.setup, &less);
        if (random_below(&random, 2))
            fixture.job.concurrency += (uint32_t)random_below(&random, 100);
        else
            fixture.job.context_length += (uint32_t)random_below(&random, 5000);
        serving_memory(&fixture.setup, &more);
        ck_assert(more.footprint.required_bytes >= less.footprint.required_bytes);
        ck_assert(more.footprint.verdict >= less.footprint.verdict); /* fits < tight < does_not_fit */
    }
}
END_TEST

/* Four replicas of one GPU and 32 requests: eight each. */
START_TEST(replicas_share_the_load)
{
    struct serving_fixture one, four;
    struct serving_memory alone, shared;
    struct serving_job job = { .context_length = 4096, .concurrency = 8, .has_parallelism = true };

    job.parallelism = (struct parallelism){ .tensor = 1, .pipeline = 1, .data = 1 };
    serving_fixture_make(&one, "llama-3-8b", "a100-sxm-80gb", 1, &job);
    job.concurrency = 32;
    job.parallelism.data = 4;
    serving_fixture_make(&four, "llama-3-8b", "a100-sxm-80gb", 4, &job);
    serving_memory(&one.setup, &alone);
    serving_memory(&four.setup, &shared);
    ck_assert_uint_eq(four.setup.replicas, 4);
    ck_assert_double_eq_tol(alone.footprint.required_bytes, shared.footprint.required_bytes, 0.5);
    ck_assert_double_eq_tol(alone.capacity_tokens, shared.capacity_tokens, 0.5);
}
END_TEST

/* vLLM takes its share of the card; TensorRT-LLM a share of what is free; llama.cpp what it was asked for. */
START_TEST(engines_take_their_pools)
{
    struct serving_fixture fixture;
    struct serving_memory memory;
    struct serving_job job = { .engine = ENGINE_VLLM, .context_length = 2048, .memory_utilization = 0.8 };

    serving_fixture_make(&fixture, "llama-3-8b", "a100-sxm-80gb", 1, &job);
    double card = (double)fixture.gpu.usable_bytes;
    serving_memory(&fixture.setup, &memory);
    ck_assert_double_eq_tol(memory.footprint.reserved_bytes, 0.8 * card, 1);
    ck_assert_int_eq(memory.footprint.verdict, VERDICT_FITS);

    fixture.job.engine = ENGINE_TENSORRT_LLM;
    serving_memory(&fixture.setup, &memory);
    double taken = memory.footprint.required_bytes - footprint_bytes(&memory.footprint, PART_KV_CACHE);
    ck_assert_double_eq_tol(memory.footprint.reserved_bytes, taken + 0.8 * (card - taken), 1);
    ck_assert_double_eq_tol(memory.kv_budget_bytes, 0.8 * (card - taken), 1);

    fixture.job.engine = ENGINE_LLAMA_CPP;
    serving_memory(&fixture.setup, &memory);
    ck_assert_double_eq_tol(memory.footprint.reserved_bytes, memory.footprint.required_bytes, 1);
}
END_TEST

START_TEST(the_verdict_is_against_the_stated_share)
{
    struct serving_fixture fixture;
    struct serving_memory memory;
    struct serving_job job = {
        .engine = ENGINE_VLLM, .precision = WEIGHT_FP8, .context_length = 16384, .concurrency = 8
    };

    serving_fixture_make(&fixture, "deepseek-v3", "h20-96gb", 8, &job);
    fixture.job.memory_utilization = 0.9;
    serving_memory(&fixture.setup, &memory);
    ck_assert(memory.footprint.required_bytes > memory.footprint.usable_bytes);
    ck_assert_int_eq(memory.footprint.verdict, VERDICT_DOES_NOT_FIT);
    fixture.job.memory_utilization = 0.95;
    serving_memory(&fixture.setup, &memory);
    ck_assert(memory.footprint.required_bytes <= memory.footprint.usable_bytes);
    ck_assert_int_eq(memory.footprint.verdict, VERDICT_TIGHT);
}
END_TEST

/* Whatever the engine, the two figures tell the verdict. */
START_TEST(a_no_is_more_than_usable)
{
    struct random random = random_seeded();

    for (int try = 0; try < TRIES; try++) {
        struct serving_fixture fixture;
        struct serving_memory memory;
        const struct footprint *footprint = &memory.footprint;

        random_fixture(&random, &fixture);
        serving_memory(&fixture.setup, &memory);
        ck_assert_msg((footprint->verdict == VERDICT_DOES_NOT_FIT) ==
                          (footprint->required_bytes > footprint->usable_bytes),
                      "%s: verdict %d of %f in %f (seed %ju)", fixture.arch.name, footprint->verdict,
                      footprint->required_bytes, footprint->usable_bytes, random.seed);
    }
}
END_TEST

START_TEST(no_gpu_is_no_verdict)
{
    struct serving_fixture fixture;
    struct serving_memory memory;
    struct serving_job job = { .engine = ENGINE_VLLM, .concurrency = 1000000, .context_length = 1000000 };

    serving_fixture_make(&fixture, "llama-3.1-405b", NULL, 1, &job);
    serving_memory(&fixture.setup, &memory);
    ck_assert_int_eq(memory.footprint.verdict, VERDICT_UNKNOWN);
    ck_assert(isfinite(memory.footprint.required_bytes));
    ck_assert_double_eq(memory.footprint.usable_bytes, 0);
}
END_TEST

int
main(void)
{
    TCase *tcase = tcase_create("identities");

    tcase_add_test(tcase, formulas_give_their_bytes);
    tcase_add_test(tcase, terms_are_finite_and_add_up);
    tcase_add_test(tcase, asked_load_fits_when_the_cache_holds_it);
    tcase_add_test(tcase, weights_of_a_split_hold_every_element);
    tcase_add_test(tcase, fp4_leaves_some_matrices_alone);
    tcase_add_test(tcase, more_load_never_takes_less);
    tcase_add_test(tcase, replicas_share_the_load);
    tcase_add_test(tcase, engines_take_their_pools);
    tcase_add_test(tcase, the_verdict_is_against_the_stated_share);
    tcase_add_test(tcase, a_no_is_more_than_usable);
    tcase_add_test(tcase, no_gpu_is_no_verdict);
    return suite_run("serving_parts", tcase);
}
