/* One forward pass against bounds that follow from the data sheet. */
#include "service/speed/serving_pass.h"

#include <math.h>

#include "tests/support/serving_fixture.h"
#include "tests/support/suite.h"

static void
make(struct serving_fixture *fixture, struct serving_pass *pass, const char *model, const char *gpu, uint32_t gpus)
{
    struct serving_job job = {
        .engine = ENGINE_VLLM, .precision = WEIGHT_BF16, .input_tokens = 1000, .output_tokens = 100
    };
    struct engine_traits traits = engine_traits_of(ENGINE_VLLM, "");

    serving_fixture_make(fixture, model, gpu, gpus, &job);
    serving_pass_make(&fixture->setup, &traits, pass);
}

/* A decode step reads every weight but the embedding, at no more than the card's bandwidth (arXiv:2211.05102 2.1). */
START_TEST(decode_is_not_faster_than_its_bytes)
{
    struct serving_fixture fixture;
    struct serving_pass pass;

    make(&fixture, &pass, "llama-3-8b", "h100-sxm-80gb", 1);
    struct serving_time time = serving_pass_time(&pass, &(struct serving_load){ .sequences = 1 });
    double bytes = 2.0 * (double)(fixture.params.total - fixture.params.embedding);
    double least = bytes / fixture.gpu.memory_bytes_per_second;
    ck_assert(serving_pass_seconds(&time) > least);
    /* AccelMark, Meta-Llama-3-8B-Instruct, one H100 SXM, vLLM 0.7.3, one user: 7.74 ms a token */
    ck_assert_double_eq_tol(serving_pass_seconds(&time), 7.74e-3, 0.02 * 7.74e-3);
}
END_TEST

/* Hopper multiplies 64 rows at once: fewer tokens take as long in products, which shows on H20, not on H100. */
START_TEST(few_rows_cost_a_tile_where_operations_are_scarce)
{
    static const char *const cards[] = { "h20-96gb", "h100-sxm-80gb" };
    double longer[2];

    for (size_t i = 0; i < 2; i++) {
        struct serving_fixture fixture;
        struct serving_pass pass;

        make(&fixture, &pass, "llama-3-8b", cards[i], 1);
        struct serving_time one = serving_pass_time(&pass, &(struct serving_load){ .sequences = 1 });
        struct serving_time many = serving_pass_time(&pass, &(struct serving_load){ .sequences = 48 }), without;

        pass.tile_rows = 0;
        without = serving_pass_time(&pass, &(struct serving_load){ .sequences = 1 });
        longer[i] = serving_pass_seconds(&one) / serving_pass_seconds(&without) - 1;
        ck_assert(one.memory + one.compute <= many.memory + many.compute);
    }
    ck_assert(longer[0] > 0.3 && longer[1] > 0 && longer[1] < 0.1);
}
END_TEST

/* 2 operations a parameter and token (arXiv:2001.08361 section 2.1), below the peak. */
START_TEST(prompts_are_not_faster_than_their_operations)
{
    struct serving_fixture fixture;
    struct serving_pass pass;

    make(&fixture, &pass, "llama-3-70b", "h100-sxm-80gb", 1);
    struct serving_time time = serving_pass_time(&pass, &(struct serving_load){ .prompt_tokens = 8192, .prompts = 1 });
    double least = 2.0 * (double)fixture.params.linear * 8192 / fixture.gpu.bf16_flop_per_second;
    ck_assert(serving_pass_seconds(&time) > least);
    ck_assert(serving_pass_seconds(&time) < 2.2 * least);
}
END_TEST

START_TEST(an_empty_pass_takes_no_time)
{
    struct serving_fixture fixture;
    struct serving_pass pass;

    make(&fixture, &pass, "mixtral-8x7b", "h100-sxm-80gb", 2);
    struct serving_time time = serving_pass_time(&pass, &(struct serving_load){ 0 });
    ck_assert_double_eq(serving_pass_seconds(&time), 0);
}
END_TEST

/* Of 8 experts, 2 a token: one token reads a quarter of them, very many read all, never more. */
START_TEST(experts_are_read_as_they_are_hit)
{
    struct serving_fixture fixture;
    struct serving_pass pass;

    make(&fixture, &pass, "mixtral-8x7b", "h100-sxm-80gb", 2);
    ck_assert_double_eq_tol(pass.expert_missed, 0.75, 1e-9);
    pass.expert_flop_seconds = 0;
    pass.linear_flop_seconds = 0;
    pass.head_flop_seconds = 0;
    pass.cache_seconds = 0;
    struct serving_time one = serving_pass_time(&pass, &(struct serving_load){ .sequences = 1 });
    struct serving_time many = serving_pass_time(&pass, &(struct serving_load){ .sequences = 10000 });
    ck_assert_double_eq_tol(one.memory - pass.linear_bytes_seconds - pass.head_bytes_seconds,
                            0.25 * pass.expert_bytes_seconds, 1e-9);
    ck_assert_double_eq_tol(many.memory - pass.linear_bytes_seconds - pass.head_bytes_seconds,
                            pass.expert_bytes_seconds, 1e-9);
}
END_TEST

/* Tensor ranks halve what each reads; one rank has nobody to talk to. */
START_TEST(tensor_ranks_divide_bytes_and_talk)
{
    struct serving_fixture one, two;
    struct serving_pass alone, pair;

    make(&one, &alone, "llama-3-70b", "h200-sxm-141gb", 1);
    make(&two, &pair, "llama-3-70b", "h200-sxm-141gb", 2);
    ck_assert_double_eq_tol(pair.linear_bytes_seconds, alone.linear_bytes_seconds / 2,
                            1e-6 * alone.linear_bytes_seconds);
    ck_assert_double_eq_tol(pair.cache_seconds, alone.cache_seconds / 2, 1e-12);
    ck_assert_double_eq(alone.link_wait_seconds + alone.link_seconds, 0);
    ck_assert(pair.link_wait_seconds > 0 && pair.link_seconds > 0);
}
END_TEST

/* The latent of MLA is whole on every rank (arXiv:2405.04434 section 2.1): its bytes do not shrink. */
START_TEST(latent_cache_is_not_divided)
{
    struct serving_fixture four, eight;
    struct serving_pass less, more;

    make(&four, &less, "deepseek-v3", "h200-sxm-141gb", 4);
    make(&eight, &more, "deepseek-v3", "h200-sxm-141gb", 8);
    ck_assert_double_eq(less.cache_seconds, more.cache_seconds);
    ck_assert(more.latent_seconds < less.latent_seconds);
}
END_TEST

START_TEST(groups_share_the_tokens)
{
    struct serving_fixture fixture;
    struct serving_pass pass;
    struct engine_traits traits = engine_traits_of(ENGINE_TENSORRT_LLM, "1.1");
    struct serving_job job = { .engine = ENGINE_TENSORRT_LLM, .precision = WEIGHT_FP8, .has_parallelism = true };

    job.parallelism = (struct parallelism){ .tensor = 1, .pipeline = 1, .data = 8, .expert = 8 };
    serving_fixture_make(&fixture, "deepseek-v3", "h200-sxm-141gb", 8, &job);
    ck_assert_uint_eq(fixture.setup.replicas, 1);
    serving_pass_make(&fixture.setup, &traits, &pass);
    ck_assert_double_eq(pass.groups, 8);
    ck_assert(pass.link_seconds > 0);
}
END_TEST

int
main(void)
{
    TCase *tcase = tcase_create("pass");

    tcase_add_test(tcase, decode_is_not_faster_than_its_bytes);
    tcase_add_test(tcase, few_rows_cost_a_tile_where_operations_are_scarce);
    tcase_add_test(tcase, prompts_are_not_faster_than_their_operations);
    tcase_add_test(tcase, an_empty_pass_takes_no_time);
    tcase_add_test(tcase, experts_are_read_as_they_are_hit);
    tcase_add_test(tcase, tensor_ranks_divide_bytes_and_talk);
    tcase_add_test(tcase, latent_cache_is_not_divided);
    tcase_add_test(tcase, groups_share_the_tokens);
    return suite_run("serving_pass", tcase);
}
