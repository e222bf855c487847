/* Bytes a layer keeps, against arXiv:2205.05198 section 4 and what a schedule holds in flight. */
#include "service/memory/activation.h"

#include "tests/service/memory/training_case.h"
#include "tests/support/suite.h"

static struct activation_bytes
activation_of(const struct training_case *it, bool last)
{
    struct activation_bytes activation;
    struct stage stage;

    stage_of(&it->setup, last, &stage);
    activation_bytes_of(&it->setup, &stage, &activation);
    return activation;
}

/* Equation 4 without its two dropout masks: 34 - 2 bytes a hidden element; a head's log-sum-exp is FP32. Divided by
 * tensor ranks it is 32 / t with sequence parallelism and (8 + 24 / t) without; equation 6 adds 5 n s / t without a
 * fused kernel. */
START_TEST(korthikanti_a_layer)
{
    double h = 12288, n = 96, s = 2048;
    struct training_case it;

    training_case_init(&it, GPT_12288_80, "a100-sxm-80gb", 8);
    it.job.sequence_length = (uint32_t)s;
    ck_assert_double_eq(activation_of(&it, false).kept / 80, 32 * h + 4 * n);
    it.setup.plan = (struct parallelism){ 8, 1, 1, 1, 1, 1, SHARDING_NONE, FLAG_YES };
    ck_assert_double_eq(activation_of(&it, false).kept / 80, (32 * h + 4 * n) / 8);
    it.setup.plan.sequence_parallel = FLAG_NO;
    ck_assert_double_eq(activation_of(&it, false).kept / 80, 8 * h + (24 * h + 4 * n) / 8);
    it.job.attention = ATTENTION_KERNEL_EAGER;
    ck_assert_double_eq(activation_of(&it, false).kept / 80, 8 * h + (24 * h + 4 * n) / 8 + 5 * n * s / 8);
    it.setup.recompute = RECOMPUTE_SELECTIVE; /* drops the scores again */
    ck_assert_double_eq(activation_of(&it, false).kept / 80, 8 * h + (24 * h + 4 * n) / 8);
}
END_TEST

/* Full recompute keeps 2 s b h a layer (section 4.2.3, last paragraph). */
START_TEST(full_recompute_keeps_inputs)
{
    struct training_case it;

    training_case_init(&it, GPT_12288_80, "a100-sxm-80gb", 8);
    it.setup.recompute = RECOMPUTE_FULL;
    struct activation_bytes activation = activation_of(&it, false);
    ck_assert_double_eq(activation.kept, 0);
    ck_assert_double_eq(activation.checkpoints * activation.checkpoint, 80 * 2.0 * 12288);
    ck_assert_double_gt(activation.work, 0);
    it.setup.recompute_share = 0.25;
    activation = activation_of(&it, false);
    ck_assert_double_eq(activation.checkpoints, 20);
    ck_assert_double_eq(activation.kept, 60 * (32 * 12288.0 + 4 * 96));
}
END_TEST

/* Equation 2 whole, s b h (34 + 5 n s / h): BERT keeps the masks of its dropouts, its norms and GELU are one kernel
 * each in any framework. FP32 doubles all but the masks. */
START_TEST(korthikanti_an_encoder)
{
    double h = 1024, n = 16, s = 384;
    struct training_case it;

    training_case_init(&it, GPT_12288_80, "a100-sxm-80gb", 1);
    it.arch.causal = false;
    it.arch.hidden_size = (uint32_t)h;
    it.arch.kinds[0].head_count = it.arch.kinds[0].kv_head_count = (uint32_t)n;
    it.arch.kinds[0].head_size = (uint32_t)(h / n);
    it.arch.kinds[0].intermediate_size = (uint32_t)(4 * h);
    it.job.framework = FRAMEWORK_HF_TRAINER;
    it.job.attention = ATTENTION_KERNEL_EAGER;
    it.job.sequence_length = (uint32_t)s;
    ck_assert_double_eq(activation_of(&it, false).kept / 80 - 4 * n, 34 * h + 5 * n * s);
    it.job.precision = PRECISION_TF32;
    ck_assert_double_eq(activation_of(&it, false).kept / 80 - 4 * n, 66 * h + 9 * n * s);
}
END_TEST

/* Eager code keeps an FP32 copy for each of two norms and both inputs of SwiGLU's product. */
START_TEST(eager_code_keeps_more)
{
    struct training_case it;

    training_case_init(&it, LLAMA_4096_32, "a100-sxm-80gb", 1);
    double fused = activation_of(&it, false).kept / 32;
    it.job.framework = FRAMEWORK_HF_TRAINER;
    ck_assert_double_eq(activation_of(&it, false).kept / 32 - fused, 8 * 4096 + 2 * 14336.0);
    it.job.framework = FRAMEWORK_FSDP;
    ck_assert_double_eq(activation_of(&it, false).kept / 32 - fused, 2 * 14336.0);
}
END_TEST

/* arXiv:2104.04473 section 2.2: 1F1B keeps p micro-batches on the first stage, one on the last; interleaved
 * p (1 + (p - 1) / (p v)) on the first. */
START_TEST(schedules_hold_micro_batches)
{
    struct training_case it;

    training_case_init(&it, GPT_12288_80, "a100-sxm-80gb", 8);
    it.setup.plan = (struct parallelism){ 1, 8, 1, 1, 1, 1, SHARDING_NONE, FLAG_NO };
    it.setup.accumulation_steps = 64;
    ck_assert_double_eq(activation_of(&it, false).in_flight, 8);
    ck_assert_double_eq(activation_of(&it, true).in_flight, 1);
    it.setup.plan.virtual_stages = 2;
    ck_assert_double_eq(activation_of(&it, false).in_flight, 8 * (1 + 7.0 / 16));
    ck_assert_double_eq(activation_of(&it, true).in_flight, 4.5);
    it.setup.plan.virtual_stages = 1;
    it.setup.accumulation_steps = 3;
    ck_assert_double_eq(activation_of(&it, false).in_flight, 3);
}
END_TEST

/* A layer of experts keeps k copies of its tokens and their widths: k (4 h + 6 f) + shared 6 f + 4 E + 2 h. */
START_TEST(experts_keep_their_tokens)
{
    struct training_case it;

    training_case_init(&it, DEEPSEEK_V2_4, "h100-sxm-80gb", 1);
    it.arch.kinds[0].count = 0;
    it.arch.kinds[1].count = 4;
    it.arch.kinds[1].attention = ATTENTION_NONE;
    double norms = 8 * 5120, routed = 6 * (4 * 5120 + 6 * 1536.0), rest = 6 * 3072 + 4 * 160 + 2 * 5120.0;
    ck_assert_double_eq(activation_of(&it, false).kept / 4, norms + routed + rest);
}
END_TEST

/* Whisper: 1500 positions of sound beside 448 of text (arXiv:2212.04356 section 2.2). */
START_TEST(encoders_read_their_own_length)
{
    struct model_arch arch;

    known_arch(LLAMA_4096_32, &arch);
    ck_assert_double_eq(encoder_tokens_per_token(&arch, 448), 1);
    arch.kinds[0].cross_attention = true;
    arch.hidden_size = 1280;
    arch.max_context_tokens = 448;
    arch.position_elements = (1500 + 448) * 1280ull;
    ck_assert_double_eq(encoder_tokens_per_token(&arch, 448), 1500.0 / 448);
}
END_TEST

int
main(void)
{
    TCase *tcase = tcase_create("activation");

    tcase_add_test(tcase, korthikanti_a_layer);
    tcase_add_test(tcase, korthikanti_an_encoder);
    tcase_add_test(tcase, full_recompute_keeps_inputs);
    tcase_add_test(tcase, eager_code_keeps_more);
    tcase_add_test(tcase, schedules_hold_micro_batches);
    tcase_add_test(tcase, experts_keep_their_tokens);
    tcase_add_test(tcase, encoders_read_their_own_length);
    return suite_run("activation", tcase);
}
