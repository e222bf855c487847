/* Operations against published counts: the 6 N rule, a table of whole steps, and the share of attention. */
#include "service/speed/flop.h"

#include "service/speed/training_speed.h"
#include "tests/service/memory/training_case.h"
#include "tests/support/suite.h"

/* arXiv:2001.08361 section 2.1: 6 N a token, N without embeddings' look-up; it leaves attention out. */
START_TEST(six_times_parameters)
{
    static const enum known_model models[] = { LLAMA_4096_32, LLAMA_8192_80, QWEN_4096_32, GPT_12288_80 };
    struct model_arch arch;

    known_arch(models[_i], &arch);
    struct model_params params = model_params_count(&arch);
    double passed = (double)(params.total - params.position) - (arch.tied_head ? 0 : (double)params.embedding);
    double flop = 3 * flop_forward_linear_per_token(&arch, &params);
    ck_assert_double_eq_tol(flop / (6 * passed), 1, 0.001); /* biases and norms are no products */
}
END_TEST

/* arXiv:2104.04473 section 4: 96 B s l h^2 (1 + s / 6h + V / 16 l h) with full recompute and attention over the whole
 * square; without recompute three quarters of the layers' part, causal half of the square. */
START_TEST(megatron_formula)
{
    double s = 2048, l = 80, h = 12288, v = 51200;
    struct model_arch arch;

    known_arch(GPT_12288_80, &arch);
    struct model_params params = model_params_count(&arch);
    double paper = 72 * l * h * h * (1 + s / (6 * h) / 2) + 6 * v * h;
    ck_assert_double_eq_tol(flop_training_per_token(&arch, &params, s) / paper, 1, 0.001);
}
END_TEST

/* Routed experts count k times, not E: DeepSeek-V2 has 21B active of 236B (arXiv:2405.04434 abstract). */
START_TEST(experts_count_as_often_as_they_are_met)
{
    struct model_arch arch, all;

    known_arch(DEEPSEEK_V2_4, &arch);
    all = arch;
    all.kinds[1].experts_per_token = all.kinds[1].expert_count;
    struct model_params params = model_params_count(&arch);
    double expert = 3 * 2.0 * 5120 * 1536, layers = 3;
    double more = flop_forward_linear_per_token(&all, &params) - flop_forward_linear_per_token(&arch, &params);
    ck_assert_double_eq_tol(more / (layers * (160 - 6) * expert), 1, 1e-12);
}
END_TEST

START_TEST(attention_by_length_and_window)
{
    struct model_arch arch;

    known_arch(LLAMA_4096_32, &arch);
    double at_8k = flop_forward_attention_per_token(&arch, 8192);
    ck_assert_double_eq(at_8k, 32 * 4.0 * 4096 * 8192 / 2);
    ck_assert_double_eq(flop_forward_attention_per_token(&arch, 16384), 2 * at_8k);
    arch.kinds[0].window_tokens = 8192; /* full at its own length */
    ck_assert_double_eq(flop_forward_attention_per_token(&arch, 8192), at_8k);
    ck_assert_double_lt(flop_forward_attention_per_token(&arch, 1e6), 32 * 4.0 * 4096 * 8192);
    arch.kinds[0].window_tokens = 0;
    arch.causal = false;
    ck_assert_double_eq(flop_forward_attention_per_token(&arch, 8192), 2 * at_8k);
}
END_TEST

/* A frozen matrix is passed once forward and once backward: 4 N a token, and 6 an element of the adapters. */
START_TEST(adapters_spare_the_gradients_of_frozen_weights)
{
    struct training_job job = { .method = METHOD_FULL, .lora_rank = 16, .lora_targets = LORA_ALL_LINEAR };
    struct model_arch arch;

    known_arch(LLAMA_4096_32, &arch);
    struct model_params params = model_params_count(&arch);
    double linear = flop_forward_linear_per_token(&arch, &params);
    double attention = flop_forward_attention_per_token(&arch, 8192);

    ck_assert_double_eq(flop_training_job_per_token(&arch, &params, &job, 8192),
                        flop_training_per_token(&arch, &params, 8192));
    job.method = METHOD_QLORA;
    ck_assert_double_eq_tol(flop_training_job_per_token(&arch, &params, &job, 8192),
                            2 * linear + 3 * attention + 6 * 41943040.0, 1); /* r 16 on Llama-3-8B: 41.94 M */
}
END_TEST

/* Of experts' adapters a token passes those of the experts it meets. */
START_TEST(adapters_of_experts_count_as_often_as_they_are_met)
{
    struct training_job job = { .method = METHOD_LORA, .lora_rank = 8, .lora_targets = LORA_ALL_LINEAR };
    struct training_job thicker = { .method = METHOD_LORA, .lora_rank = 16, .lora_targets = LORA_ALL_LINEAR };
    struct model_arch arch, one;

    known_arch(DEEPSEEK_V2_4, &arch);
    one = arch;
    one.kinds[1].expert_count = one.kinds[1].experts_per_token; /* all of them are met */
    struct model_params params = model_params_count(&arch), met = model_params_count(&one);
    double adapters = flop_training_job_per_token(&arch, &params, &thicker, 4096) -
                      flop_training_job_per_token(&arch, &params, &job, 4096);

    ck_assert_double_eq_tol(adapters / (flop_training_job_per_token(&one, &met, &thicker, 4096) -
                                        flop_training_job_per_token(&one, &met, &job, 4096)),
                            1, 1e-9);
    ck_assert_double_eq_tol(adapters / (6 * (double)lora_params_count(&one, LORA_ALL_LINEAR, 8)), 1, 1e-9);
}
END_TEST

/* All layers go forward, the last four of 32 backward; the head, frozen, passes its gradient on. */
START_TEST(frozen_layers_go_forward_only)
{
    struct training_job job = { .method = METHOD_FREEZE, .trainable_layers = 4 };
    struct model_arch arch;

    known_arch(LLAMA_4096_32, &arch);
    struct model_params params = model_params_count(&arch);
    double head = 2.0 * (double)params.embedding, layers = flop_forward_linear_per_token(&arch, &params) - head;

    layers += flop_forward_attention_per_token(&arch, 4096);
    ck_assert_double_eq_tol(flop_training_job_per_token(&arch, &params, &job, 4096),
                            2 * head + layers * (1 + 2 * 4.0 / 32), 1);
    job.trainable_layers = 40;
    ck_assert_double_eq_tol(flop_training_job_per_token(&arch, &params, &job, 4096), 2 * head + 3 * layers, 1);
}
END_TEST

/* The lower layers go forward only: less time, and with sharded weights less to gather. */
START_TEST(freezing_spares_the_backward_pass)
{
    struct training_case it;
    struct training_speed speed;
    double full, sent;

    training_case_init(&it, LLAMA_4096_32, "a100-sxm-80gb", 8);
    it.job.framework = FRAMEWORK_FSDP;
    it.job.method = METHOD_FULL;
    it.setup.plan.sharding = SHARDING_ZERO3;
    training_speed(&it.setup, &speed);
    full = speed.step_seconds;
    sent = speed.time.data_communication;
    it.job.method = METHOD_FREEZE;
    it.job.trainable_layers = 2;
    training_speed(&it.setup, &speed);
    ck_assert_double_lt(speed.step_seconds, 0.5 * full);
    ck_assert_double_gt(speed.step_seconds, 0.3 * full);
    ck_assert_double_lt(speed.time.data_communication, 0.5 * sent);
    it.job.trainable_layers = 32;
    training_speed(&it.setup, &speed);
    ck_assert_double_eq_tol(speed.time.data_communication / sent, 1, 0.05);
}
END_TEST

START_TEST(a_sample_of_any_other_network)
{
    struct model_arch arch = { .generic = true, .flop_per_sample = 8.2e9, .generic_parameters = 25557032 };
    struct model_params params = model_params_count(&arch);

    ck_assert_double_eq(flop_training_per_token(&arch, &params, 1), 3 * 8.2e9);
    ck_assert_double_eq(flop_forward_attention_per_token(&arch, 4096), 0);
}
END_TEST

int
main(void)
{
    TCase *tcase = tcase_create("operations");

    tcase_add_loop_test(tcase, six_times_parameters, 0, 4);
    tcase_add_test(tcase, megatron_formula);
    tcase_add_test(tcase, experts_count_as_often_as_they_are_met);
    tcase_add_test(tcase, attention_by_length_and_window);
    tcase_add_test(tcase, adapters_spare_the_gradients_of_frozen_weights);
    tcase_add_test(tcase, adapters_of_experts_count_as_often_as_they_are_met);
    tcase_add_test(tcase, frozen_layers_go_forward_only);
    tcase_add_test(tcase, freezing_spares_the_backward_pass);
    tcase_add_test(tcase, a_sample_of_any_other_network);
    return suite_run("flop", tcase);
}
