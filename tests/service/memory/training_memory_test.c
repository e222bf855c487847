/* Training memory against published readings, the identities of its states, and what no change may do to it. */
#include <math.h>

#include "service/memory/packed_base.h"
#include "tests/service/memory/published_run.h"
#include "tests/support/suite.h"

/* Peaks read from runs: `allocated` by the framework, `reserved` by its pool. */
static const struct published_run published[] = {
#include "tests/service/memory/published_memory.def"
};

START_TEST(published_readings)
{
    const struct published_run *run = &published[_i];
    struct training_case it;
    struct footprint footprint;

    published_case(run, &it);
    training_memory(&it.setup, &footprint);
    double seen = run->figure == ALLOCATED_BYTES ? footprint.allocated_bytes : footprint.reserved_bytes;
    ck_assert_msg(fabs(seen / run->near - 1) <= run->within, "%s row %d: %.4g instead of %.4g", run->source, _i, seen,
                  run->near);
}
END_TEST

/* Bytes a parameter of all model states, on one GPU and with everything sharded over 64. */
static const struct {
    const char *source;
    enum training_precision precision;
    enum optimizer optimizer;
    enum framework framework;
    double bytes;
} recipes[] = {
    { "arXiv:1910.02054 section 3.1", PRECISION_BF16_MIXED, OPTIMIZER_ADAMW, FRAMEWORK_DEEPSPEED, 16 },
    { "Megatron-LM distributed optimizer", PRECISION_BF16_MIXED, OPTIMIZER_ADAMW, FRAMEWORK_MEGATRON, 18 },
    { "PyTorch automatic mixed precision", PRECISION_FP16_MIXED, OPTIMIZER_ADAMW, FRAMEWORK_FSDP, 16 },
    { "all in 16 bit", PRECISION_BF16_PURE, OPTIMIZER_ADAMW, FRAMEWORK_FSDP, 8 },
    { "FP32", PRECISION_FP32, OPTIMIZER_ADAMW, FRAMEWORK_FSDP, 16 },
    { "FP32, no state", PRECISION_FP32, OPTIMIZER_SGD, FRAMEWORK_FSDP, 8 },
    { "arXiv:2302.06675: one momentum", PRECISION_TF32, OPTIMIZER_LION, FRAMEWORK_FSDP, 12 },
    { "arXiv:2110.02861 section 2", PRECISION_BF16_PURE, OPTIMIZER_ADAMW_8BIT, FRAMEWORK_FSDP, 6.03 },
};

static double
state_bytes(const struct training_case *it)
{
    struct footprint footprint;

    training_memory(&it->setup, &footprint);
    return footprint_bytes(&footprint, PART_WEIGHTS) + footprint_bytes(&footprint, PART_GRADIENTS) +
           footprint_bytes(&footprint, PART_MASTER_WEIGHTS) + footprint_bytes(&footprint, PART_OPTIMIZER_STATES);
}

START_TEST(states_a_parameter)
{
    struct training_case it;

    training_case_init(&it, LLAMA_4096_32, "h100-sxm-80gb", 64);
    it.job.precision = recipes[_i].precision;
    it.job.optimizer = recipes[_i].optimizer;
    it.job.framework = recipes[_i].framework;
    double whole = state_bytes(&it) / (double)it.params.total;
    it.setup.plan.sharding = SHARDING_ZERO3;
    double shard = state_bytes(&it) / (double)it.params.total;

    ck_assert_msg(fabs(whole / recipes[_i].bytes - 1) < 0.001, "%s: %g", recipes[_i].source, whole);
    ck_assert_msg(fabs(shard * 64 / whole - 1) < 0.001, "%s: shards of %g", recipes[_i].source, shard);
}
END_TEST

/* arXiv:1910.02054 figure 1: 7.5B parameters on 64 GPUs take 120, 31.4, 16.6 and 1.9 GB each. */
START_TEST(zero_stages_of_the_paper)
{
    static const double gigabytes[] = { 120, 31.4, 16.6, 1.9 };
    struct training_case it;

    training_case_init(&it, LLAMA_4096_32, "h100-sxm-80gb", 64);
    it.job.framework = FRAMEWORK_DEEPSPEED;
    it.setup.plan.sharding = (enum sharding)(SHARDING_NONE + _i);
    double expected = gigabytes[_i] / 7.5 * (double)it.params.total;
    ck_assert_msg(fabs(state_bytes(&it) / expected - 1) < 0.03, "%g instead of %g", state_bytes(&it), expected);
}
END_TEST

/* A stated total below the counted one makes all parts smaller by the same share, however the model is split. */
START_TEST(a_smaller_stated_total_is_taken_off_evenly)
{
    static const struct parallelism plans[] = {
        { 1, 1, 1, 64, 1, 1, SHARDING_NONE, FLAG_NO },
        { 8, 1, 1, 8, 1, 1, SHARDING_NONE, FLAG_YES },
        { 8, 8, 1, 1, 1, 1, SHARDING_NONE, FLAG_YES },
    };
    struct training_case it;

    training_case_init(&it, LLAMA_4096_32, "h100-sxm-80gb", 64);
    it.setup.plan = plans[_i];
    double whole = state_bytes(&it), total = (double)it.params.total;
    it.arch.extra_parameters = -(int64_t)(it.params.total / 2);
    it.params = model_params_count(&it.arch);
    double left = state_bytes(&it), share = (double)it.params.total / total;

    ck_assert_msg(fabs(left / whole / share - 1) < 1e-9, "%g of %g for %g of the parameters", left, whole, share);
}
END_TEST

static enum verdict
verdict_of(const struct training_case *it)
{
    struct footprint footprint;

    training_memory(&it->setup, &footprint);
    return footprint.verdict;
}

/* hiyouga/LLaMA-Factory#3809 and others: 8B in automatic mixed precision runs out of one 80 GB card. */
START_TEST(full_8b_needs_more_than_one_card)
{
    struct training_case it;

    training_case_init(&it, LLAMA_4096_32, "a100-sxm-80gb", 1);
    it.job.method = METHOD_FULL;
    it.job.framework = FRAMEWORK_HF_TRAINER;
    it.job.loss = LOSS_UNFUSED;
    it.job.sequence_length = 512;
    it.setup.recompute = RECOMPUTE_FULL;
    ck_assert_int_eq(verdict_of(&it), VERDICT_DOES_NOT_FIT);
}
END_TEST

/* artidoro/qlora: 7B and 8B models tune on one 24 GB card. */
START_TEST(qlora_8b_fits_a_4090)
{
    struct training_case it;

    training_case_init(&it, LLAMA_4096_32, "rtx-4090-24gb", 1);
    it.job.method = METHOD_QLORA;
    it.job.framework = FRAMEWORK_HF_TRAINER;
    it.job.loss = LOSS_UNFUSED;
    it.job.sequence_length = 1024;
    it.job.lora_rank = 8;
    it.job.lora_targets = LORA_ALL_LINEAR;
    it.setup.recompute = RECOMPUTE_FULL;
    ck_assert_int_eq(verdict_of(&it), VERDICT_FITS);
}
END_TEST

static void
qlora_case_init(struct training_case *it)
{
    training_case_init(it, LLAMA_4096_32, "a100-sxm-80gb", 1);
    it->job.method = METHOD_QLORA;
    it->job.framework = FRAMEWORK_DEEPSPEED;
    it->job.sequence_length = 128;
    it->job.lora_rank = 64;
    it->job.lora_targets = LORA_ALL_LINEAR;
    it->setup.recompute = RECOMPUTE_FULL;
}

static double
bytes_of(const struct training_case *it, enum part_code code)
{
    struct footprint footprint;

    training_memory(&it->setup, &footprint);
    return footprint_bytes(&footprint, code);
}

/* PEFT, prepare_model_for_kbit_training: what is not packed is cast to FP32, but for a base that GPTQ packed; AutoGPTQ
 * (qlinear_cuda.py) keeps a layer's matrices in 16 bit for its backward pass. */
START_TEST(a_gptq_base_is_not_cast)
{
    struct training_case it;

    qlora_case_init(&it);
    double block = (double)it.params.layers[0].attention + (double)it.params.layers[0].mlp;
    double packed = 32 * block, rest = (double)it.params.total - packed;
    double cast = bytes_of(&it, PART_WEIGHTS), scratch = bytes_of(&it, PART_WORKSPACE);

    ck_assert_double_eq_tol(cast, packed * QLORA_BITS / 8 + 4 * rest, 1);
    it.arch.stored = (struct stored_weights){ .packed = true, .method = "gptq", .linear_bits = 4.156 };
    ck_assert_double_eq_tol(bytes_of(&it, PART_WEIGHTS), packed * 4.156 / 8 + 2 * rest, 1);
    ck_assert_double_eq_tol(bytes_of(&it, PART_WORKSPACE), scratch + 2 * block, 1);
    it.setup.recompute = RECOMPUTE_NONE;
    ck_assert_double_eq_tol(bytes_of(&it, PART_WORKSPACE), scratch + 32 * 2 * block, 1);
    it.arch.stored = (struct stored_weights){ .packed = true, .method = "fp8", .linear_bits = 8 };
    ck_assert_double_eq_tol(bytes_of(&it, PART_WEIGHTS), cast, 1); /* packed anew when it is loaded */
}
END_TEST

/* DeepSpeed, stage_1_and_2.py: the buffers that gradients are reduced from are made whole, however little trains. */
START_TEST(reduce_buckets_are_whole)
{
    struct training_case it;

    qlora_case_init(&it);
    it.setup.plan.sharding = SHARDING_ZERO2;
    ck_assert_double_eq_tol(bytes_of(&it, PART_GATHERED_PARAMETERS), 2 * 2 * 2e8, 1);
}
END_TEST

/* DeepSpeed, stage3.py: a sub-group's gradients are flattened in 16 bit and copied to FP32 before the step. */
START_TEST(deepspeed_steps_with_copies_of_a_sub_group)
{
    struct training_case it;

    training_case_init(&it, LLAMA_4096_32, "b200-sxm-180gb", 1);
    it.job.method = METHOD_FULL;
    it.job.framework = FRAMEWORK_DEEPSPEED;
    it.job.sequence_length = 1;
    it.setup.plan.sharding = SHARDING_ZERO3;
    it.setup.recompute = RECOMPUTE_FULL;
    double gone =
        bytes_of(&it, PART_ACTIVATIONS) + bytes_of(&it, PART_LOGITS) + bytes_of(&it, PART_GATHERED_PARAMETERS);

    ck_assert_double_lt(gone, 6e9);
    ck_assert_double_eq_tol(bytes_of(&it, PART_WORKSPACE), 6 * 1e9 - gone, 1);
}
END_TEST

START_TEST(more_work_never_takes_less)
{
    struct training_case it, more;

    training_case_init(&it, LLAMA_8192_12, "b200-sxm-180gb", 8);
    double before = training_case_allocated(&it);
    for (int change = 0; change < 5; change++) {
        training_case_init(&more, LLAMA_8192_12, "b200-sxm-180gb", 8);
        if (change == 0)
            more.setup.micro_batch_size = 2;
        else if (change == 1)
            more.job.sequence_length *= 2;
        else if (change == 2)
            more.arch.layer_count = more.arch.kinds[0].count = 13;
        else if (change == 3)
            more.job.precision = PRECISION_FP8_MIXED;
        else
            more.job.attention = ATTENTION_KERNEL_EAGER;
        more.params = model_params_count(&more.arch);
        ck_assert_msg(training_case_allocated(&more) > before, "change %d", change);
    }
}
END_TEST

START_TEST(savings_save)
{
    struct training_case it;
    double before;

    training_case_init(&it, LLAMA_8192_12, "b200-sxm-180gb", 8);
    before = training_case_allocated(&it);
    for (enum sharding sharding = SHARDING_ZERO1; sharding <= SHARDING_ZERO2; sharding++) {
        it.setup.plan.sharding = sharding;
        double now = training_case_allocated(&it);
        ck_assert_double_lt(now, before);
        before = now;
    }
    it.setup.recompute = RECOMPUTE_FULL;
    ck_assert_double_lt(training_case_allocated(&it), before);
    it.setup.recompute_share = 0.5;
    double half = training_case_allocated(&it);
    ck_assert_double_lt(half, before);
    it.setup.recompute_share = 0;
    ck_assert_double_gt(half, training_case_allocated(&it));
    it.job.offload = OFFLOAD_OPTIMIZER;
    ck_assert_double_lt(training_case_allocated(&it), half);
}
END_TEST

/* The share found is enough, and one layer less is not. */
START_TEST(recompute_share_is_the_smallest)
{
    struct training_case it;
    struct footprint footprint;

    training_case_init(&it, LLAMA_8192_12, "b200-sxm-180gb", 8);
    it.setup.plan.sharding = SHARDING_ZERO1;
    it.setup.micro_batch_size = 9;
    double share = training_recompute_share(&it.setup, &footprint);
    ck_assert_double_gt(share, 1.0 / 12);
    ck_assert_double_lt(share, 1);
    it.setup.recompute = RECOMPUTE_FULL;
    it.setup.recompute_share = share;
    ck_assert_int_eq(verdict_of(&it), VERDICT_FITS);
    ck_assert_double_eq(training_case_allocated(&it), footprint.allocated_bytes);
    it.setup.recompute_share = share - 1.0 / 12;
    ck_assert_int_ne(verdict_of(&it), VERDICT_FITS);
}
END_TEST

START_TEST(freezing_leaves_states_of_the_last_layers)
{
    struct training_case it;
    struct footprint footprint;

    training_case_init(&it, LLAMA_4096_32, "h100-sxm-80gb", 1);
    it.job.method = METHOD_FREEZE;
    it.job.trainable_layers = 2;
    training_memory(&it.setup, &footprint);
    double layer = (double)it.params.layers[0].attention + (double)it.params.layers[0].mlp;
    ck_assert_double_eq_tol(footprint_bytes(&footprint, PART_OPTIMIZER_STATES), 8 * 2 * layer, 1);
}
END_TEST

/* Both ends of the pipeline are tried: 1F1B keeps p micro-batches alive on the first, the head weighs on the last. */
START_TEST(the_fuller_stage_counts)
{
    struct training_case it;

    training_case_init(&it, LLAMA_4096_32, "h100-sxm-80gb", 8);
    it.setup.plan = (struct parallelism){ 1, 8, 1, 1, 1, 1, SHARDING_NONE, FLAG_NO };
    it.setup.accumulation_steps = 1;
    double one_in_flight = training_case_allocated(&it);
    it.setup.accumulation_steps = 64;
    ck_assert_double_gt(training_case_allocated(&it), one_in_flight * 1.2);
}
END_TEST

START_TEST(absurd_ends_stay_numbers)
{
    struct training_case it;
    struct footprint footprint;

    training_case_init(&it, DEEPSEEK_V2_4, "h100-sxm-80gb", 1);
    it.setup.micro_batch_size = UINT32_MAX;
    it.job.sequence_length = UINT32_MAX;
    it.job.attention = ATTENTION_KERNEL_EAGER;
    training_memory(&it.setup, &footprint);
    ck_assert(isfinite(footprint.reserved_bytes));
    ck_assert_int_eq(footprint.verdict, VERDICT_DOES_NOT_FIT);
    it.setup.plan.data = it.setup.plan.tensor = it.setup.plan.expert = UINT32_MAX;
    it.setup.plan.sharding = SHARDING_ZERO3;
    training_memory(&it.setup, &footprint);
    ck_assert(isfinite(footprint.reserved_bytes));
    it.machine.gpu = NULL;
    training_memory(&it.setup, &footprint);
    ck_assert_int_eq(footprint.verdict, VERDICT_UNKNOWN);
}
END_TEST

int
main(void)
{
    TCase *tcase = tcase_create("training memory");

    tcase_add_loop_test(tcase, published_readings, 0, COUNT_OF(published));
    tcase_add_loop_test(tcase, states_a_parameter, 0, COUNT_OF(recipes));
    tcase_add_loop_test(tcase, zero_stages_of_the_paper, 0, 4);
    tcase_add_loop_test(tcase, a_smaller_stated_total_is_taken_off_evenly, 0, 3);
    tcase_add_test(tcase, full_8b_needs_more_than_one_card);
    tcase_add_test(tcase, qlora_8b_fits_a_4090);
    tcase_add_test(tcase, a_gptq_base_is_not_cast);
    tcase_add_test(tcase, reduce_buckets_are_whole);
    tcase_add_test(tcase, deepspeed_steps_with_copies_of_a_sub_group);
    tcase_add_test(tcase, more_work_never_takes_less);
    tcase_add_test(tcase, savings_save);
    tcase_add_test(tcase, recompute_share_is_the_smallest);
    tcase_add_test(tcase, freezing_leaves_states_of_the_last_layers);
    tcase_add_test(tcase, the_fuller_stage_counts);
    tcase_add_test(tcase, absurd_ends_stay_numbers);
    return suite_run("training_memory", tcase);
}
