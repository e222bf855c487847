/* Host memory of offload and sizes of checkpoints against what people saw. */
#include "tests/service/memory/training_case.h"
#include "tests/support/suite.h"

/* microsoft/DeepSpeed#3448: 32.5B under ZeRO-3 offload takes 750 to 800 GB of one host, 600 are not enough;
 * CVI-SZU/Linly#83: 6.9B takes 160 to 178 GB on 8 GPUs. */
START_TEST(offload_takes_host_memory)
{
    static const struct {
        double parameters;
        uint32_t gpus;
        double least, most;
    } seen[] = { { 32.5e9, 8, 620e9, 1000e9 }, { 6.9e9, 8, 105e9, 205e9 } };

    for (size_t i = 0; i < COUNT_OF(seen); i++) {
        struct training_case it;

        training_case_init(&it, LLAMA_4096_32, "a100-sxm-80gb", seen[i].gpus);
        ck_assert_double_eq(training_offload_host_bytes(&it.setup), 0);
        it.params.total = (uint64_t)seen[i].parameters;
        it.job.offload = OFFLOAD_ALL;
        double all = training_offload_host_bytes(&it.setup);
        ck_assert_double_ge(all, seen[i].least);
        ck_assert_double_le(all, seen[i].most);
        it.job.offload = OFFLOAD_OPTIMIZER;
        ck_assert_double_lt(training_offload_host_bytes(&it.setup), all);
    }
}
END_TEST

/* What is not trained has no states: of a 7B model under LoRA only the 16-bit weights leave the GPU. */
START_TEST(frozen_parameters_have_no_states_on_the_host)
{
    struct training_case it;
    double full, frozen;

    training_case_init(&it, LLAMA_4096_32, "a100-sxm-80gb", 8);
    it.job.framework = FRAMEWORK_DEEPSPEED;
    it.job.offload = OFFLOAD_ALL;
    full = training_offload_host_bytes(&it.setup);
    it.job.method = METHOD_FREEZE;
    it.job.trainable_layers = 8;
    frozen = training_offload_host_bytes(&it.setup);
    ck_assert_double_lt(frozen, 0.5 * full);
    it.job.method = METHOD_LORA;
    it.job.lora_rank = 8;
    it.job.lora_targets = LORA_ALL_LINEAR;
    ck_assert_double_lt(training_offload_host_bytes(&it.setup), frozen);
    it.job.offload = OFFLOAD_OPTIMIZER;
    ck_assert_double_lt(training_offload_host_bytes(&it.setup) - 8 * it.rates.training_offload_rank_bytes,
                        1e9); /* 20 M adapters of 16 bytes */
}
END_TEST

/* CVI-SZU/Linly#83: a host of 94 GB ends the process at 6.9B under ZeRO-3 offload. */
START_TEST(a_small_host_does_not_fit)
{
    struct training_case it;
    struct footprint footprint;

    training_case_init(&it, LLAMA_4096_32, "a100-sxm-80gb", 8);
    it.job.framework = FRAMEWORK_DEEPSPEED;
    it.job.offload = OFFLOAD_ALL;
    it.setup.plan.sharding = SHARDING_ZERO3;
    training_memory(&it.setup, &footprint);
    ck_assert_int_eq(footprint.verdict, VERDICT_FITS);
    it.machine.host_bytes = 94e9;
    training_memory(&it.setup, &footprint);
    ck_assert_int_eq(footprint.verdict, VERDICT_DOES_NOT_FIT);
    it.machine.host_bytes = 512e9;
    training_memory(&it.setup, &footprint);
    ck_assert_int_eq(footprint.verdict, VERDICT_FITS);
    it.machine.host_bytes = 94e9;
    it.job.offload = OFFLOAD_NONE;
    ck_assert(!training_exceeds_host(&it.setup));
}
END_TEST

/* microsoft/DeepSpeed#6598: Llama-3 8B saves 90 GiB of states and 15 GiB of weights, 14 B a parameter;
 * Megatron-DeepSpeed#343: 7B saves 84 GB, 12 B a parameter, without the 16-bit copy. */
START_TEST(checkpoints_of_the_whole)
{
    struct training_case it;

    training_case_init(&it, LLAMA_4096_32, "a100-sxm-80gb", 8);
    it.job.framework = FRAMEWORK_DEEPSPEED;
    ck_assert_double_eq_tol(training_checkpoint_bytes(&it.setup) / GIB, 105, 0.01 * 105);
    it.job.framework = FRAMEWORK_MEGATRON;
    ck_assert_double_eq(training_checkpoint_bytes(&it.setup), 12.0 * (double)it.params.total);
    it.job.precision = PRECISION_BF16_PURE;
    ck_assert_double_eq(training_checkpoint_bytes(&it.setup), 6.0 * (double)it.params.total);
}
END_TEST

START_TEST(checkpoints_of_a_part)
{
    struct training_case it;

    training_case_init(&it, LLAMA_4096_32, "a100-sxm-80gb", 8);
    it.job.framework = FRAMEWORK_HF_TRAINER;
    it.job.method = METHOD_LORA;
    it.job.lora_rank = 16;
    it.job.lora_targets = LORA_ALL_LINEAR;
    ck_assert_double_eq(training_checkpoint_bytes(&it.setup), 14.0 * 41943040); /* published: 41.9 M adapters */
    it.job.method = METHOD_FREEZE;
    it.job.trainable_layers = 2;
    double part = training_checkpoint_bytes(&it.setup);
    ck_assert_double_gt(part, 2.0 * (double)it.params.total);
    it.job.trainable_layers = 40; /* more than there are: all of it */
    ck_assert_double_eq(training_checkpoint_bytes(&it.setup), 14.0 * (double)it.params.total);
    ck_assert_double_lt(part, 14.0 * (double)it.params.total);
}
END_TEST

int
main(void)
{
    TCase *tcase = tcase_create("host");

    tcase_add_test(tcase, offload_takes_host_memory);
    tcase_add_test(tcase, frozen_parameters_have_no_states_on_the_host);
    tcase_add_test(tcase, a_small_host_does_not_fit);
    tcase_add_test(tcase, checkpoints_of_the_whole);
    tcase_add_test(tcase, checkpoints_of_a_part);
    return suite_run("training_host", tcase);
}
