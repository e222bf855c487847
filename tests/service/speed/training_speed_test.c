/* Training speed against published runs, and the laws that any estimate of it must keep. */
#include "service/speed/training_speed.h"

#include <math.h>

#include "service/speed/optimizer_time.h"
#include "tests/service/memory/published_run.h"
#include "tests/support/suite.h"

static const struct published_run published[] = {
#include "tests/service/speed/published_speed.def"
};

static double
figure_of(const struct published_run *run, const struct training_speed *speed)
{
    switch (run->figure) {
    case STEP_SECONDS:
        return speed->step_seconds;
    case TOKENS_PER_SECOND_PER_GPU:
        return speed->tokens_per_step / speed->step_seconds / run->gpus;
    case TFLOPS_PER_GPU:
        return speed->flop_per_step / speed->step_seconds / run->gpus / 1e12;
    case ALLOCATED_BYTES:
    case RESERVED_BYTES:
        break;
    }
    return 0;
}

START_TEST(published_runs)
{
    const struct published_run *run = &published[_i];
    struct training_case it;
    struct training_speed speed;

    published_case(run, &it);
    training_speed(&it.setup, &speed);
    double seen = figure_of(run, &speed);
    ck_assert_msg(fabs(seen / run->near - 1) <= run->within, "%s row %d: %.4g instead of %.4g", run->source, _i, seen,
                  run->near);
}
END_TEST

static double
seconds_of(const struct training_case *it)
{
    struct training_speed speed;

    training_speed(&it->setup, &speed);
    return speed.step_seconds;
}

/* 70B in every kind of parallelism over four nodes. */
static void
spread_case(struct training_case *it)
{
    training_case_init(it, LLAMA_8192_80, "h100-sxm-80gb", 32);
    it->setup.plan = (struct parallelism){ 4, 2, 1, 2, 2, 1, SHARDING_ZERO1, FLAG_YES };
    it->setup.accumulation_steps = 8;
    it->setup.recompute = RECOMPUTE_FULL;
}

static double
sum_of_causes(const struct training_time *time)
{
    const double *cause = (const double *)time;
    double sum = 0;

    for (size_t i = 0; i < sizeof(*time) / sizeof(double); i++)
        sum += cause[i];
    return sum;
}

START_TEST(causes_add_up)
{
    struct training_case it;
    struct training_speed speed;

    spread_case(&it);
    it.job.framework = (enum framework)(FRAMEWORK_MEGATRON + _i % 4);
    it.job.offload = _i > 3 ? OFFLOAD_ALL : OFFLOAD_NONE;
    it.setup.plan.sharding = (enum sharding)(SHARDING_NONE + _i % 4);
    training_speed(&it.setup, &speed);
    ck_assert_double_eq_tol(sum_of_causes(&speed.time), speed.step_seconds, 1e-9 * speed.step_seconds);
    ck_assert_double_ge(speed.step_seconds, speed.ideal_step_seconds);
    ck_assert_double_lt(speed.band_low, 1);
    ck_assert_double_gt(speed.band_high, 1);
}
END_TEST

static void
make_better(struct training_case *it, int what)
{
    switch (what) {
    case 0:
        it->gpu.bf16_flop_per_second *= 1.5;
        it->gpu.tdp_watts *= 2;
        break;
    case 1:
        it->gpu.memory_bytes_per_second *= 2;
        break;
    case 2:
        it->machine.link_bytes_per_second *= 2;
        break;
    case 3:
        it->machine.network_bytes_per_second *= 2;
        break;
    default:
        it->setup.recompute = RECOMPUTE_NONE;
    }
}

START_TEST(better_hardware_and_less_work_are_never_slower)
{
    struct training_case it;

    spread_case(&it);
    double before = seconds_of(&it);
    make_better(&it, _i);
    ck_assert_double_lt(seconds_of(&it), before);
}
END_TEST

START_TEST(more_work_is_never_faster)
{
    struct training_case it, more;

    spread_case(&it);
    double before = seconds_of(&it);
    for (int change = 0; change < 4; change++) {
        spread_case(&more);
        if (change == 0)
            more.setup.micro_batch_size = 2;
        else if (change == 1)
            more.setup.accumulation_steps++;
        else if (change == 2)
            more.job.sequence_length *= 2;
        else
            more.job.attention = ATTENTION_KERNEL_EAGER;
        ck_assert_double_gt(seconds_of(&more), before);
    }
}
END_TEST

START_TEST(one_gpu_does_not_communicate)
{
    struct training_case it;
    struct training_speed speed;

    training_case_init(&it, LLAMA_4096_32, "h100-sxm-80gb", 1);
    it.setup.plan.sharding = (enum sharding)(SHARDING_NONE + _i);
    training_speed(&it.setup, &speed);
    ck_assert_double_eq(speed.time.tensor_communication, 0);
    ck_assert_double_eq(speed.time.expert_communication, 0);
    ck_assert_double_eq(speed.time.context_communication, 0);
    ck_assert_double_eq(speed.time.data_communication, 0);
    ck_assert_double_eq(speed.time.pipeline_communication, 0);
    ck_assert_double_eq(speed.time.bubble, 0);
    ck_assert_double_eq(speed.network_exposed_seconds, 0);
    ck_assert_double_eq(speed.ideal_step_seconds, speed.step_seconds);
}
END_TEST

/* arXiv:2104.04473 section 2.2: the bubble is (p - 1) / m of the ideal time, a v-th of that interleaved. */
START_TEST(bubble_vanishes_with_micro_batches)
{
    struct training_case it;
    struct training_speed few, many, interleaved;

    training_case_init(&it, GPT_12288_80, "a100-sxm-80gb", 8);
    it.setup.plan = (struct parallelism){ 1, 8, 1, 1, 1, 1, SHARDING_NONE, FLAG_NO };
    it.setup.accumulation_steps = 8;
    training_speed(&it.setup, &few);
    it.setup.accumulation_steps = 8000;
    training_speed(&it.setup, &many);
    ck_assert_double_eq_tol(few.time.bubble, many.time.bubble, 1e-9);
    ck_assert_double_eq_tol(few.time.bubble / few.step_seconds, 7.0 / (8 + 7), 0.03);
    ck_assert_double_lt(many.time.bubble / many.step_seconds, 0.001);
    it.setup.plan.virtual_stages = 5;
    training_speed(&it.setup, &interleaved);
    ck_assert_double_eq_tol(interleaved.time.bubble, many.time.bubble / 5, 1e-9);
}
END_TEST

/* What holds a job back: the slowest network there is, a slot instead of a switch, short sequences, the host. */
START_TEST(bottleneck_names_the_largest_share)
{
    struct training_case it;
    struct training_speed speed;

    spread_case(&it);
    training_speed(&it.setup, &speed);
    ck_assert_int_eq(speed.bottleneck, BOTTLENECK_COMPUTE);
    it.machine.network_bytes_per_second = 1e8;
    training_speed(&it.setup, &speed);
    ck_assert_int_eq(speed.bottleneck, BOTTLENECK_NETWORK);
    ck_assert_double_lt(speed.ideal_step_seconds, speed.step_seconds / 2);

    training_case_init(&it, LLAMA_4096_32, "h100-sxm-80gb", 8);
    it.setup.plan = (struct parallelism){ 8, 1, 1, 1, 1, 1, SHARDING_NONE, FLAG_YES };
    it.machine = machine_of(&it.gpu, 8, 8, 0, INTRANODE_PCIE);
    training_speed(&it.setup, &speed);
    ck_assert_int_eq(speed.bottleneck, BOTTLENECK_INTERCONNECT);

    training_case_init(&it, LLAMA_4096_32, "a100-sxm-80gb", 1);
    it.job.sequence_length = 128;
    training_speed(&it.setup, &speed);
    ck_assert_int_eq(speed.bottleneck, BOTTLENECK_MEMORY_BANDWIDTH);
    it.job.offload = OFFLOAD_OPTIMIZER;
    training_speed(&it.setup, &speed);
    ck_assert_int_eq(speed.bottleneck, BOTTLENECK_CPU);
}
END_TEST

START_TEST(adapters_train_faster_than_the_whole)
{
    struct training_case it;

    training_case_init(&it, LLAMA_4096_32, "h100-sxm-80gb", 1);
    it.job.method = METHOD_FULL;
    double whole = seconds_of(&it);
    it.job.method = METHOD_LORA;
    it.job.lora_rank = 8;
    it.job.lora_targets = LORA_ALL_LINEAR;
    double lora = seconds_of(&it);
    it.job.method = METHOD_QLORA;
    ck_assert_double_lt(lora, whole);
    ck_assert_double_gt(seconds_of(&it), lora); /* de-quantising costs */
    it.job.method = METHOD_FREEZE;
    it.job.trainable_layers = 2;
    ck_assert_double_lt(seconds_of(&it), whole);
}
END_TEST

/* LoRA of Llama-3.1-8B on one RTX 4090, two sequences of 2,048 tokens: 3,083 tokens a second (meta-pytorch/torchtune
 * README). Ada's cache holds what a layer hands to the next; a card of the generation before has 6 MB. */
START_TEST(a_large_cache_saves_traffic)
{
    struct training_case it;
    double ada, before;

    training_case_init(&it, LLAMA_4096_32, "rtx-4090-24gb", 1);
    it.job.method = METHOD_LORA;
    it.job.lora_rank = 8;
    it.job.lora_targets = LORA_ALL_LINEAR;
    it.job.precision = PRECISION_BF16_PURE;
    it.job.framework = FRAMEWORK_FSDP;
    it.job.loss = LOSS_CHUNKED;
    it.job.sequence_length = 2048;
    it.setup.micro_batch_size = 2;
    it.setup.recompute = RECOMPUTE_FULL;
    ada = seconds_of(&it);
    ck_assert_double_eq_tol(4096 / ada, 3083, 0.25 * 3083);
    it.gpu.compute_capability = "8.6";
    before = seconds_of(&it);
    ck_assert_double_lt(ada, before);
    it.gpu.compute_capability = "8.9";
    it.setup.micro_batch_size = 64; /* little of it fits: as much time a token, or nearly */
    ck_assert_double_gt(seconds_of(&it) / 32, 0.9 * before);
}
END_TEST

/* Experts that Python launches one after the other, and ZeRO-3 gathers one after the other, s a micro-batch:
 * Qwen3-30B-A3B on 16 A800, 91.2 (modelscope/ms-swift, best practices of Qwen3); its vision form on 8 H100, 166 for 4
 * (hiyouga/LLaMA-Factory#9374); LoRA of Qwen2-57B-A14B on 8 H100, 38 (QwenLM/Qwen3#736). */
static const struct {
    const char *gpu;
    uint32_t gpus;
    enum training_method method;
    uint32_t layers, hidden, experts, active, width, sequence;
    double seconds;
} loops[] = {
    { "a800-sxm-80gb", 16, METHOD_FULL, 48, 2048, 128, 8, 768, 8192, 91.2 },
    { "h100-sxm-80gb", 8, METHOD_FULL, 48, 2048, 128, 8, 768, 4096, 166 / 4.0 },
    { "h100-sxm-80gb", 8, METHOD_LORA, 28, 3584, 64, 8, 2560, 512, 38 },
};

START_TEST(experts_of_python_loops)
{
    struct training_case it;
    double seconds;

    training_case_init(&it, LLAMA_4096_32, loops[_i].gpu, loops[_i].gpus);
    it.arch.layer_count = it.arch.kinds[0].count = loops[_i].layers;
    it.arch.hidden_size = loops[_i].hidden;
    it.arch.kinds[0].mlp = MLP_EXPERTS;
    it.arch.kinds[0].expert_count = loops[_i].experts;
    it.arch.kinds[0].experts_per_token = loops[_i].active;
    it.arch.kinds[0].expert_size = loops[_i].width;
    it.params = model_params_count(&it.arch);
    it.job.method = loops[_i].method;
    it.job.lora_rank = 8;
    it.job.lora_targets = LORA_ATTENTION;
    it.job.framework = FRAMEWORK_DEEPSPEED;
    it.job.sequence_length = loops[_i].sequence;
    it.setup.recompute = RECOMPUTE_FULL;
    it.setup.plan.sharding = SHARDING_ZERO3;
    seconds = seconds_of(&it);
    ck_assert_double_gt(seconds, 0.6 * loops[_i].seconds);
    ck_assert_double_lt(seconds, 1.75 * loops[_i].seconds);
    it.job.framework = FRAMEWORK_MEGATRON; /* grouped products */
    it.setup.plan.sharding = SHARDING_ZERO1;
    ck_assert_double_lt(seconds_of(&it), seconds / 5);
}
END_TEST

/* Moonlight (arXiv:2502.16982 section 2.3): five rounds cost a few per cent of a step of millions of tokens; of square
 * matrices 6 n^3 a round. */
START_TEST(muon_orthogonalises)
{
    struct training_case it;
    double adamw, muon, n = 4096;

    training_case_init(&it, LLAMA_4096_32, "h100-sxm-80gb", 8);
    it.setup.plan.sharding = SHARDING_ZERO1;
    it.setup.accumulation_steps = 64;
    adamw = seconds_of(&it);
    it.job.optimizer = OPTIMIZER_MUON;
    muon = seconds_of(&it);
    ck_assert_double_gt(muon, adamw);
    ck_assert_double_lt(muon, 1.05 * adamw);
    it.arch.kinds[0].mlp = MLP_NONE;
    it.arch.kinds[0].kv_head_count = 0; /* query and output alone */
    ck_assert_double_eq(muon_flop(&it.setup), 32 * 5 * 2 * 6 * n * n * n);
}
END_TEST

START_TEST(without_a_gpu_there_is_work_but_no_time)
{
    struct training_case it;
    struct training_speed speed;

    training_case_init(&it, LLAMA_4096_32, "h100-sxm-80gb", 1);
    it.machine = machine_of(NULL, 1, 0, 0, INTRANODE_UNSAID);
    training_speed(&it.setup, &speed);
    ck_assert_double_eq(speed.step_seconds, 0);
    ck_assert_double_eq(speed.tokens_per_step, 4096);
    ck_assert_double_gt(speed.flop_per_step, 0);
}
END_TEST

START_TEST(absurd_ends_stay_numbers)
{
    struct training_case it;
    struct training_speed speed;

    training_case_init(&it, DEEPSEEK_V2_4, "t4-16gb", 1024);
    it.setup.plan =
        (struct parallelism){ 128, 4, 1, UINT32_MAX, UINT32_MAX, 160, (enum sharding)(SHARDING_NONE + _i), FLAG_YES };
    it.setup.micro_batch_size = it.setup.accumulation_steps = UINT32_MAX;
    it.job.sequence_length = UINT32_MAX;
    it.job.attention = ATTENTION_KERNEL_EAGER;
    training_speed(&it.setup, &speed);
    ck_assert(isfinite(speed.step_seconds) && speed.step_seconds > 0);
    ck_assert(isfinite(speed.ideal_step_seconds) && isfinite(speed.flop_per_step));
    it.job.sequence_length = it.setup.micro_batch_size = it.setup.accumulation_steps = 1;
    training_speed(&it.setup, &speed);
    ck_assert(isfinite(speed.step_seconds) && speed.step_seconds > 0);
}
END_TEST

int
main(void)
{
    TCase *tcase = tcase_create("training speed");

    tcase_add_loop_test(tcase, published_runs, 0, COUNT_OF(published));
    tcase_add_loop_test(tcase, causes_add_up, 0, 8);
    tcase_add_loop_test(tcase, better_hardware_and_less_work_are_never_slower, 0, 5);
    tcase_add_test(tcase, more_work_is_never_faster);
    tcase_add_loop_test(tcase, one_gpu_does_not_communicate, 0, 4);
    tcase_add_test(tcase, bubble_vanishes_with_micro_batches);
    tcase_add_test(tcase, bottleneck_names_the_largest_share);
    tcase_add_test(tcase, adapters_train_faster_than_the_whole);
    tcase_add_test(tcase, a_large_cache_saves_traffic);
    tcase_add_loop_test(tcase, experts_of_python_loops, 0, COUNT_OF(loops));
    tcase_add_test(tcase, muon_orthogonalises);
    tcase_add_test(tcase, without_a_gpu_there_is_work_but_no_time);
    tcase_add_loop_test(tcase, absurd_ends_stay_numbers, 0, 4);
    return suite_run("training_speed", tcase);
}
