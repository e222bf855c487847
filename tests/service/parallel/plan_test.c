/* Which splits are refused, and that all of their faults are told at once. */
#include "service/parallel/plan.h"

#include "tests/service/memory/known_models.h"
#include "tests/support/suite.h"

static enum status
check(struct parallelism plan, enum known_model model, uint32_t gpus, struct fault *fault)
{
    struct model_arch arch;
    struct machine machine = machine_of(NULL, gpus, 8, 0, INTRANODE_UNSAID);

    known_arch(model, &arch);
    fault_clear(fault);
    return plan_check(&plan, &arch, &machine, true, "/training/parallelism", fault);
}

START_TEST(what_is_left_open_is_filled)
{
    struct parallelism plan = plan_filled((struct parallelism){ .tensor = 4, .pipeline = 2 }, 64);

    ck_assert_uint_eq(plan.data, 8);
    ck_assert_uint_eq(plan.context, 1);
    ck_assert_uint_eq(plan.virtual_stages, 1);
    ck_assert_int_eq(plan.sharding, SHARDING_NONE);
    ck_assert_int_eq(plan.sequence_parallel, FLAG_NO);
    ck_assert_uint_eq(plan_gpu_count(&plan), 64);
    plan = plan_filled((struct parallelism){ .tensor = 8 }, 4);
    ck_assert_uint_eq(plan.data, 1); /* too many: left for plan_check */
}
END_TEST

START_TEST(gpus_must_be_used_exactly)
{
    static struct fault fault;

    ck_assert_int_eq(check((struct parallelism){ 2, 2, 1, 2, 1, 1, SHARDING_NONE, FLAG_NO }, LLAMA_4096_32, 8, &fault),
                     STATUS_OK);
    ck_assert_int_eq(check((struct parallelism){ 2, 2, 1, 4, 1, 1, SHARDING_NONE, FLAG_NO }, LLAMA_4096_32, 8, &fault),
                     STATUS_FAULT);
    ck_assert_int_eq(fault.code, FAULT_PLAN_DOES_NOT_MATCH_GPUS);
    ck_assert_str_eq(fault.items[0].pointer, "/training/parallelism");
    ck_assert_str_eq(fault.items[0].value, "16");
    ck_assert_str_eq(fault.items[0].expected, "8");
}
END_TEST

START_TEST(all_limits_are_told)
{
    static struct fault fault;

    ck_assert_int_eq(
        check((struct parallelism){ 256, 8, 4, 1, 1, 320, SHARDING_NONE, FLAG_NO }, DEEPSEEK_V2_4, 2048, &fault),
        STATUS_FAULT);
    ck_assert_uint_eq(fault.item_count, 4);
    ck_assert_str_eq(fault.items[0].pointer, "/training/parallelism/tensor");
    ck_assert_str_eq(fault.items[0].expected, "integer 1..128");
    ck_assert_str_eq(fault.items[1].pointer, "/training/parallelism/pipeline");
    ck_assert_str_eq(fault.items[2].pointer, "/training/parallelism/virtual_stages");
    ck_assert_str_eq(fault.items[3].pointer, "/training/parallelism/expert");
    ck_assert_str_eq(fault.items[3].expected, "integer 1..160");
}
END_TEST

/* Megatron-LM, arguments.py and moe_layer.py: heads and experts are shared evenly or not at all. */
START_TEST(shares_are_even)
{
    static struct fault fault;

    ck_assert_int_eq(check((struct parallelism){ 7, 1, 1, 1, 1, 1, SHARDING_NONE, FLAG_NO }, LLAMA_4096_32, 7, &fault),
                     STATUS_FAULT);
    ck_assert_str_eq(fault.items[0].pointer, "/training/parallelism/tensor");
    ck_assert_str_eq(fault.items[0].expected, "divides 32");
    ck_assert_int_eq(check((struct parallelism){ 1, 1, 1, 6, 1, 6, SHARDING_NONE, FLAG_NO }, DEEPSEEK_V2_4, 6, &fault),
                     STATUS_FAULT);
    ck_assert_str_eq(fault.items[0].pointer, "/training/parallelism/expert");
    ck_assert_str_eq(fault.items[0].expected, "divides 160");
}
END_TEST

/* Experts that a model has not are not spread, and one stage is not interleaved. */
START_TEST(what_is_not_there_is_not_split)
{
    static struct fault fault;

    ck_assert_int_eq(check((struct parallelism){ 1, 1, 4, 8, 1, 8, SHARDING_NONE, FLAG_NO }, LLAMA_4096_32, 8, &fault),
                     STATUS_FAULT);
    ck_assert_uint_eq(fault.item_count, 2);
    ck_assert_str_eq(fault.items[0].pointer, "/training/parallelism/virtual_stages");
    ck_assert_str_eq(fault.items[0].expected, "integer 1..1");
    ck_assert_str_eq(fault.items[1].pointer, "/training/parallelism/expert");
    ck_assert_str_eq(fault.items[1].expected, "integer 1..1");
}
END_TEST

/* Llama-3 405B ran 126 layers in 16 stages (arXiv:2407.21783 section 3.3.2): layers that do not divide are fine. */
START_TEST(uneven_layers_are_fine)
{
    static struct fault fault;
    struct model_arch arch;
    struct parallelism plan = { 1, 5, 1, 1, 1, 1, SHARDING_NONE, FLAG_NO };

    ck_assert_int_eq(check(plan, LLAMA_4096_32, 5, &fault), STATUS_OK);
    known_arch(LLAMA_4096_32, &arch);
    ck_assert_uint_eq(plan_stage_layers(&plan, &arch), 7);
}
END_TEST

START_TEST(other_networks_are_one_piece)
{
    struct model_arch arch = { .generic = true };
    struct parallelism plan = { 2, 1, 1, 4, 1, 1, SHARDING_NONE, FLAG_NO };
    struct machine machine = machine_of(NULL, 8, 8, 0, INTRANODE_UNSAID);
    static struct fault fault;

    fault_clear(&fault);
    ck_assert_int_eq(plan_check(&plan, &arch, &machine, true, "", &fault), STATUS_FAULT);
    plan.tensor = 1;
    plan.data = 8;
    fault_clear(&fault);
    ck_assert_int_eq(plan_check(&plan, &arch, &machine, true, "", &fault), STATUS_OK);
}
END_TEST

START_TEST(absurd_products_saturate)
{
    struct parallelism plan = { UINT32_MAX, UINT32_MAX, 1, UINT32_MAX, UINT32_MAX, 1, SHARDING_NONE, FLAG_NO };

    ck_assert(plan_gpu_count(&plan) == UINT64_MAX);
    ck_assert_uint_eq(plan_filled((struct parallelism){ .tensor = UINT32_MAX, .pipeline = UINT32_MAX }, 8).data, 1);
}
END_TEST

int
main(void)
{
    TCase *tcase = tcase_create("plan");

    tcase_add_test(tcase, what_is_left_open_is_filled);
    tcase_add_test(tcase, gpus_must_be_used_exactly);
    tcase_add_test(tcase, all_limits_are_told);
    tcase_add_test(tcase, shares_are_even);
    tcase_add_test(tcase, what_is_not_there_is_not_split);
    tcase_add_test(tcase, uneven_layers_are_fine);
    tcase_add_test(tcase, other_networks_are_one_piece);
    tcase_add_test(tcase, absurd_products_saturate);
    return suite_run("plan", tcase);
}
