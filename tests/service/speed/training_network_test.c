/* What training asks of the network between nodes. */
#include "service/speed/network_need.h"

#include <math.h>

#include "tests/service/memory/training_case.h"
#include "tests/support/suite.h"

static void
fine_tuning_init(struct training_case *it, enum training_method method, enum sharding sharding, double bits_per_second)
{
    training_case_init(it, LLAMA_4096_32, "a800-sxm-80gb", 16);
    it->machine = machine_of(&it->gpu, 16, 8, bits_per_second, INTRANODE_NVLINK);
    it->job.method = method;
    it->job.lora_rank = 8;
    it->job.lora_targets = LORA_ALL_LINEAR;
    it->job.framework = FRAMEWORK_DEEPSPEED;
    it->job.loss = LOSS_UNFUSED;
    it->job.sequence_length = 1024;
    it->setup.plan.sharding = sharding;
    it->setup.recompute = RECOMPUTE_FULL;
}

static struct network_need
need_of(const struct training_case *it)
{
    struct training_speed speed;
    struct network_need need;

    training_speed(&it->setup, &speed);
    ck_assert(network_need_of(&speed, &it->machine, &need));
    return need;
}

/* hiyouga/LLaMA-Factory#5014: LoRA of an 8B model on two nodes of eight over 10 Gb/s took 90 s a step with ZeRO-3, 4 s
 * in one node; plain data parallel was fine. */
START_TEST(sharded_weights_over_ten_gigabit)
{
    struct training_case it;

    fine_tuning_init(&it, METHOD_LORA, SHARDING_ZERO3, 10e9);
    ck_assert_double_lt(need_of(&it).scaling_efficiency_ratio, 0.1);
    ck_assert_double_gt(need_of(&it).scaling_efficiency_ratio, 0.02);
    fine_tuning_init(&it, METHOD_LORA, SHARDING_NONE, 10e9);
    ck_assert_double_gt(need_of(&it).scaling_efficiency_ratio, 0.8);
}
END_TEST

/* ZeRO-3 moves 3 times the 16-bit weights a micro-batch (arXiv:1910.02054 section 7.2.2), of two nodes half of them
 * through each node's cards. */
START_TEST(bytes_of_a_step)
{
    struct training_case it;
    struct training_speed speed;
    struct network_need need;
    double bytes;

    fine_tuning_init(&it, METHOD_FULL, SHARDING_ZERO3, 100e9);
    training_speed(&it.setup, &speed);
    ck_assert(network_need_of(&speed, &it.machine, &need));
    bytes = need.bits_per_second_per_node / 8 * speed.ideal_step_seconds * it.rates.link_network_share;
    ck_assert_double_eq_tol(bytes / (3 * 2 * (double)it.params.total / 2), 1, 0.01);
}
END_TEST

/* The need is the job's, not the network's that it has; at the rate that is needed little is waited for. */
START_TEST(need_does_not_depend_on_what_there_is)
{
    struct training_case slow, fast;

    fine_tuning_init(&slow, METHOD_FULL, SHARDING_ZERO3, 10e9);
    fine_tuning_init(&fast, METHOD_FULL, SHARDING_ZERO3, 400e9);
    ck_assert_double_eq_tol(need_of(&slow).bits_per_second_per_node / need_of(&fast).bits_per_second_per_node, 1, 1e-9);
    ck_assert_double_gt(need_of(&slow).exposed_seconds_per_step, need_of(&fast).exposed_seconds_per_step);
    ck_assert_double_lt(need_of(&slow).scaling_efficiency_ratio, need_of(&fast).scaling_efficiency_ratio);
    fine_tuning_init(&fast, METHOD_FULL, SHARDING_ZERO3, need_of(&slow).bits_per_second_per_node);
    ck_assert_double_gt(need_of(&fast).scaling_efficiency_ratio, 0.5);
}
END_TEST

START_TEST(more_network_is_never_less_efficient)
{
    double before = 0;

    for (double bits = 1e9; bits < 1e13; bits *= 2) {
        struct training_case it;
        struct network_need need;

        fine_tuning_init(&it, METHOD_FULL, (enum sharding)_i, bits);
        need = need_of(&it);
        ck_assert_double_ge(need.scaling_efficiency_ratio, before);
        ck_assert_double_le(need.scaling_efficiency_ratio, 1);
        before = need.scaling_efficiency_ratio;
    }
    ck_assert_double_gt(before, 0.8);
}
END_TEST

START_TEST(one_node_needs_none)
{
    struct training_case it;
    struct training_speed speed;
    struct network_need need;

    training_case_init(&it, LLAMA_4096_32, "a100-sxm-80gb", 8);
    training_speed(&it.setup, &speed);
    ck_assert(!network_need_of(&speed, &it.machine, &need));
    ck_assert_double_eq(speed.network_busy_seconds, 0);
}
END_TEST

int
main(void)
{
    TCase *tcase = tcase_create("network need");

    tcase_add_test(tcase, sharded_weights_over_ten_gigabit);
    tcase_add_test(tcase, bytes_of_a_step);
    tcase_add_test(tcase, need_does_not_depend_on_what_there_is);
    tcase_add_loop_test(tcase, more_network_is_never_less_efficient, SHARDING_NONE, SHARDING_ZERO3 + 1);
    tcase_add_test(tcase, one_node_needs_none);
    return suite_run("network_need", tcase);
}
