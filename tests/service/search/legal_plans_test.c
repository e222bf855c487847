#include "service/search/legal_plans.h"

#include "service/parallel/plan.h"
#include "tests/support/suite.h"

static const struct gpu gpu = { .id = "h100", .gpus_per_node = 8, .nvlink_domain_gpus = 8 };

struct seen {
    uint32_t gpus;
    size_t count, megatron, zero3, wide, experts, staged;
    uint32_t heads;
};

static void
note_plan(void *context, enum framework framework, const struct parallelism *plan)
{
    struct seen *seen = context;

    ck_assert_uint_eq(plan_gpu_count(plan), seen->gpus);
    ck_assert_int_ne(framework, FRAMEWORK_UNSAID);
    ck_assert_uint_eq(seen->heads % plan->tensor, 0);
    ck_assert(plan->sharding != SHARDING_UNSAID);
    if (framework == FRAMEWORK_MEGATRON)
        ck_assert(plan->sharding <= SHARDING_ZERO1);
    seen->count++;
    seen->megatron += framework == FRAMEWORK_MEGATRON;
    seen->zero3 += plan->sharding == SHARDING_ZERO3;
    seen->wide += plan->tensor > 8;
    seen->experts += plan->expert > 1;
    seen->staged += plan->pipeline > 1;
}

static struct model_arch
dense(uint32_t layers, uint32_t heads)
{
    struct model_arch arch = { .layer_count = layers, .kind_count = 1 };

    arch.kinds[0] = (struct layer_kind){
        .count = layers, .attention = ATTENTION_HEADS, .head_count = heads, .kv_head_count = heads, .mlp = MLP_DENSE
    };
    return arch;
}

START_TEST(every_split_uses_every_gpu)
{
    static const uint32_t sizes[] = { 1, 2, 3, 7, 8, 12, 64, 96, 1024 };
    struct training_job job = { .method = METHOD_PRETRAIN, .sequence_length = 4096 };
    struct model_arch arch = dense(80, 64);
    struct machine machine = { .gpu = &gpu, .gpu_count = sizes[_i], .gpus_per_node = sizes[_i] < 8 ? sizes[_i] : 8 };
    struct seen seen = { .gpus = sizes[_i], .heads = 64 };

    legal_plans_data_parallel(&job, sizes[_i], note_plan, &seen);
    ck_assert_uint_ge(seen.count, 1);
    legal_plans_model_parallel(&job, &arch, &machine, note_plan, &seen);
    ck_assert_uint_eq(seen.wide, 0); /* tensor stays inside a node */
}
END_TEST

START_TEST(heads_that_do_not_divide_are_not_split)
{
    struct training_job job = { .method = METHOD_PRETRAIN, .sequence_length = 4096 };
    struct model_arch arch = dense(28, 28); /* Qwen2-7B has 28 heads: 8 does not divide them */
    struct machine machine = { .gpu = &gpu, .gpu_count = 8, .gpus_per_node = 8 };
    struct seen seen = { .gpus = 8, .heads = 28 };

    legal_plans_model_parallel(&job, &arch, &machine, note_plan, &seen);
    ck_assert_uint_ge(seen.count, 1);
}
END_TEST

/* transformers, docs/source/en/perf_train_gpu_many.md: its Trainer runs no pipeline. */
START_TEST(the_trainer_has_no_pipeline)
{
    struct training_job job = { .method = METHOD_FULL, .sequence_length = 4096 };
    struct model_arch arch = dense(80, 64);
    struct machine machine = { .gpu = &gpu, .gpu_count = 16, .gpus_per_node = 8 };
    struct seen any = { .gpus = 16, .heads = 64 }, trainer = any;

    legal_plans_model_parallel(&job, &arch, &machine, note_plan, &any);
    ck_assert_uint_gt(any.staged, 0);
    job.framework = FRAMEWORK_HF_TRAINER;
    legal_plans_model_parallel(&job, &arch, &machine, note_plan, &trainer);
    ck_assert_uint_gt(trainer.count, 0);
    ck_assert_uint_eq(trainer.staged, 0);
}
END_TEST

START_TEST(fine_tuning_tries_each_zero_stage)
{
    struct training_job job = { .method = METHOD_FULL };
    struct seen seen = { .gpus = 8, .heads = 32 };

    legal_plans_data_parallel(&job, 8, note_plan, &seen);
    ck_assert_uint_eq(seen.count, 4); /* none, 1, 2, 3 (arXiv:1910.02054) */
    ck_assert_uint_eq(seen.zero3, 1);
    ck_assert_uint_eq(seen.megatron, 0);
}
END_TEST

START_TEST(experts_are_spread_over_what_divides_them)
{
    struct training_job job = { .method = METHOD_PRETRAIN, .sequence_length = 4096 };
    struct model_arch arch = dense(32, 32);
    struct machine machine = { .gpu = &gpu, .gpu_count = 64, .gpus_per_node = 8 };
    struct seen seen = { .gpus = 64, .heads = 32 };

    arch.kinds[0].mlp = MLP_EXPERTS;
    arch.kinds[0].expert_count = 8; /* Mixtral */
    legal_plans_model_parallel(&job, &arch, &machine, note_plan, &seen);
    ck_assert_uint_ge(seen.experts, 1);
}
END_TEST

START_TEST(a_stated_split_leaves_only_its_sharding_open)
{
    struct training_job job = { .method = METHOD_FULL, .has_parallelism = true, .parallelism = { .data = 4 } };
    struct seen seen = { .gpus = 4, .heads = 32 };

    legal_plans_stated(&job, 4, note_plan, &seen);
    ck_assert_uint_eq(seen.count, 4);
    seen.count = 0;
    job.parallelism.sharding = SHARDING_ZERO2;
    legal_plans_stated(&job, 4, note_plan, &seen);
    ck_assert_uint_eq(seen.count, 1);
}
END_TEST

int
main(void)
{
    TCase *tcase = tcase_create("plans");

    tcase_add_loop_test(tcase, every_split_uses_every_gpu, 0, 9);
    tcase_add_test(tcase, heads_that_do_not_divide_are_not_split);
    tcase_add_test(tcase, the_trainer_has_no_pipeline);
    tcase_add_test(tcase, fine_tuning_tries_each_zero_stage);
    tcase_add_test(tcase, experts_are_spread_over_what_divides_them);
    tcase_add_test(tcase, a_stated_split_leaves_only_its_sharding_open);
    return suite_run("legal_plans", tcase);
}
