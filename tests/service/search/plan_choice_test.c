/* The chosen plan: nothing legal beats it, its rule is told, its memory follows the job. */
#include <string.h>

#include "service/parallel/plan.h"
#include "service/search/legal_plans.h"
#include "service/search/training_plans.h"
#include "tests/service/memory/known_models.h"
#include "tests/support/random.h"
#include "tests/support/seed_rates.h"
#include "tests/support/suite.h"

/* A question and what it points to: built in place. */
struct question {
    struct model_arch arch;
    struct model_params params;
    struct gpu gpu;
    struct machine machine;
    struct rates rates;
    struct training_job job;
    struct training_ask ask;
};

static void
question_init(struct question *it, enum known_model model, const char *gpu, uint32_t gpus, enum training_method method)
{
    memset(it, 0, sizeof *it);
    known_arch(model, &it->arch);
    it->params = model_params_count(&it->arch);
    it->gpu = seed_gpu(gpu);
    it->rates = seed_rates();
    it->machine = machine_of(&it->gpu, gpus, 0, 0, INTRANODE_UNSAID);
    it->job.method = method;
    it->ask = (struct training_ask){ &it->arch, &it->params, &it->machine, &it->rates, &it->job };
}

static void
choose(const struct question *it, struct training_choice *ret_choice)
{
    struct fault fault;

    fault_clear(&fault);
    ck_assert_int_eq(training_plan_choose(&it->ask, ret_choice, NULL, &fault), STATUS_OK);
}

static double
allocated(const struct question *it)
{
    struct training_choice choice;

    choose(it, &choice);
    return choice.estimate.memory.allocated_bytes;
}

/* --- nothing legal beats it --- */

struct rival {
    const struct question *question;
    const struct training_choice *chosen;
    uint64_t plans;
};

static int
rank_of(enum verdict verdict)
{
    return verdict == VERDICT_DOES_NOT_FIT ? 2 : verdict == VERDICT_TIGHT;
}

/* Everything stated, so nothing is searched. */
static void
race(struct rival *rival, const struct training_job *job, const struct parallelism *plan)
{
    struct question stated = *rival->question;
    const struct training_estimate *chosen = &rival->chosen->estimate, *other;
    struct training_choice choice;

    stated.job = *job;
    stated.job.has_parallelism = true;
    stated.job.parallelism = *plan;
    stated.ask.job = &stated.job;
    choose(&stated, &choice);
    other = &choice.estimate;
    rival->plans++;
    ck_assert_int_ge(rank_of(other->memory.verdict), rank_of(chosen->memory.verdict));
    if (rank_of(other->memory.verdict) > rank_of(chosen->memory.verdict))
        return;
    if (other->memory.verdict == VERDICT_DOES_NOT_FIT)
        ck_assert_double_ge(other->memory.required_bytes * (1 + 1e-9), chosen->memory.required_bytes);
    else
        ck_assert_msg(training_samples_per_second(other) < 1.0051 * training_samples_per_second(chosen),
                      "tensor %u pipeline %u x %u data %u micro %u %s: %g a second, not %g", plan->tensor,
                      plan->pipeline, plan->virtual_stages, plan->data, job->micro_batch_size,
                      job->recompute ? recompute_names[job->recompute] : "open", training_samples_per_second(other),
                      training_samples_per_second(chosen));
}

static void
race_every_form(void *context, enum framework framework, const struct parallelism *plan)
{
    struct rival *rival = context;
    struct training_job job = rival->question->job;
    struct parallelism interleaved = *plan;
    uint32_t layers = plan_stage_layers(plan, &rival->question->arch);

    job.framework = framework;
    for (uint32_t chunks = 1; chunks <= layers; chunks++) {
        if (layers % chunks || (chunks > 1 && (plan->pipeline == 1 || framework != FRAMEWORK_MEGATRON)))
            continue;
        interleaved.virtual_stages = chunks;
        for (uint32_t micro = 1; micro <= 32; micro *= 2) {
            if (job.global_batch_size ? job.global_batch_size % ((uint64_t)micro * plan->data) : micro > 1)
                continue;
            job.micro_batch_size = micro;
            for (int level = RECOMPUTE_UNSAID; level <= RECOMPUTE_FULL; level++) { /* unsaid: as much as must be */
                job.recompute = (enum recompute)level;
                race(rival, &job, &interleaved);
            }
        }
    }
}

static const struct {
    enum known_model model;
    const char *gpu;
    uint32_t gpus, global_batch_size, sequence_length; /* 0: unsaid */
} races[] = {
    { LLAMA_4096_32, "h100-sxm-80gb", 8, 64, 0 },         { LLAMA_4096_32, "a100-sxm-40gb", 16, 0, 0 },
    { LLAMA_8192_80, "h100-sxm-80gb", 64, 0, 0 },         { LLAMA_8192_80, "a100-sxm-80gb", 32, 128, 0 },
    { MPT_5120_40_1024, "l40s-48gb", 8, 32, 0 },          { LLAMA_8192_12, "rtx-4090-24gb", 4, 0, 0 },
    { DEEPSEEK_V2_4, "h100-sxm-80gb", 16, 64, 0 },        { LLAMA_8192_80, "a100-sxm-80gb", 8, 0, 0 },
    { MPT_2048_24_512, "rtx-3090-24gb", 2, 0, 0 },        { LLAMA_8192_80, "b200-sxm-180gb", 64, 64, 32768 },
    { LLAMA_8192_80, "h100-sxm-80gb", 64, 1024, 131072 }, { GPT_12288_80, "a100-sxm-40gb", 256, 256, 0 },
    { LLAMA_4096_32, "a100-sxm-40gb", 48, 64, 131072 },   { QWEN_8192_80, "a100-sxm-40gb", 64, 64, 0 },
};

START_TEST(no_legal_plan_is_better)
{
    struct question it;
    struct training_choice chosen;
    struct rival rival = { &it, &chosen, 0 };
    struct training_job job;

    question_init(&it, races[_i].model, races[_i].gpu, races[_i].gpus, METHOD_PRETRAIN);
    it.job.global_batch_size = races[_i].global_batch_size;
    it.job.sequence_length = races[_i].sequence_length;
    choose(&it, &chosen);
    job = chosen.job;
    job.framework = FRAMEWORK_UNSAID;
    legal_plans_data_parallel(&job, races[_i].gpus, race_every_form, &rival);
    legal_plans_model_parallel(&job, &it.arch, &it.machine, race_every_form, &rival);
    ck_assert_uint_gt(rival.plans, 3);
}
END_TEST

/* What trains whole layers runs experts one by one from Python: Megatron wins where it was not ruled out, and a larger
 * card, on which the other fits too, is not slower for it. */
START_TEST(experts_are_trained_where_they_run_best)
{
    static const enum training_method methods[] = { METHOD_FULL, METHOD_LORA };
    struct question it, larger;
    struct training_choice open, stated, roomy;

    question_init(&it, DEEPSEEK_V2_4, "h100-sxm-80gb", 8, methods[_i]);
    question_init(&larger, DEEPSEEK_V2_4, "h200-sxm-141gb", 8, methods[_i]);
    choose(&it, &open);
    choose(&larger, &roomy);
    it.job.framework = FRAMEWORK_MEGATRON;
    choose(&it, &stated);
    ck_assert_double_ge(training_samples_per_second(&open.estimate), training_samples_per_second(&stated.estimate));
    ck_assert_double_ge(training_samples_per_second(&roomy.estimate), training_samples_per_second(&open.estimate));
}
END_TEST

/* --- its rule is told --- */

START_TEST(the_rule_is_told)
{
    struct question it;
    struct training_choice choice;

    question_init(&it, LLAMA_4096_32, "h100-sxm-80gb", 8, METHOD_FULL);
    choose(&it, &choice);
    ck_assert_str_eq(plan_rule_name(choice.rule), "fastest_that_fits");
    it.job.has_parallelism = true;
    it.job.parallelism.data = 8;
    choose(&it, &choice);
    ck_assert_str_eq(plan_rule_name(choice.rule), "stated");
    question_init(&it, GPT_25600_128, "rtx-3090-24gb", 8, METHOD_FULL);
    choose(&it, &choice);
    ck_assert_str_eq(plan_rule_name(choice.rule), "nearest_to_fitting");
    ck_assert_double_gt(choice.estimate.speed.step_seconds, 0); /* still told how long it would take */
    it.machine = machine_of(NULL, 1, 0, 0, INTRANODE_UNSAID);
    choose(&it, &choice);
    ck_assert_str_eq(plan_rule_name(choice.rule), "least_memory");
}
END_TEST

/* A figure of a choice is the figure of its plan asked for by itself. */
START_TEST(the_choice_is_complete)
{
    struct question it;
    struct training_choice choice;
    struct training_speed speed;
    struct footprint memory;

    question_init(&it, LLAMA_8192_80, "h100-sxm-80gb", 64, METHOD_PRETRAIN);
    choose(&it, &choice);
    training_memory(&choice.estimate.setup, &memory);
    training_speed(&choice.estimate.setup, &speed);
    ck_assert_double_eq(memory.allocated_bytes, choice.estimate.memory.allocated_bytes);
    ck_assert_double_eq(speed.step_seconds, choice.estimate.speed.step_seconds);
    ck_assert_double_eq(speed.ideal_step_seconds, choice.estimate.speed.ideal_step_seconds);
    ck_assert_double_gt(choice.estimate.speed.flop_per_step, 0);
}
END_TEST

/* --- its memory follows the job --- */

static void
random_question(struct question *it, struct random *random)
{
    static const char *const gpus[] = { "a100-sxm-80gb", "h100-sxm-80gb", "rtx-4090-24gb", "l40s-48gb" };
    static const enum known_model models[] = { LLAMA_4096_32, QWEN_2048_24, MPT_5120_40_1024, DEEPSEEK_V2_4 };
    uint32_t count = 1u << random_below(random, 4);

    question_init(it, models[random_below(random, COUNT_OF(models))], gpus[random_below(random, COUNT_OF(gpus))], count,
                  (enum training_method)(METHOD_PRETRAIN + random_below(random, 5)));
    it->job.precision = random_below(random, 2) ? PRECISION_BF16_MIXED : PRECISION_BF16_PURE;
    it->job.optimizer = (enum optimizer)(OPTIMIZER_ADAMW + random_below(random, 8));
    it->job.sequence_length = 256u << random_below(random, 5);
    it->job.micro_batch_size = 1u << random_below(random, 4);
    it->job.recompute = (enum recompute)(RECOMPUTE_NONE + random_below(random, 3));
    it->job.attention = (enum attention_kernel)(ATTENTION_KERNEL_FLASH + random_below(random, 2));
    it->job.framework = (enum framework)(FRAMEWORK_MEGATRON + random_below(random, 4));
    it->job.has_parallelism = true;
    it->job.parallelism.data = count;
    it->job.parallelism.sharding = it->job.framework == FRAMEWORK_MEGATRON
                                       ? SHARDING_ZERO1
                                       : (enum sharding)(SHARDING_NONE + random_below(random, 4));
}

START_TEST(never_less_memory_for_more)
{
    struct random random = random_seeded();

    for (int i = 0; i < 400; i++) {
        struct question it;
        double before;

        random_question(&it, &random);
        before = allocated(&it);
        it.job.micro_batch_size *= 2;
        ck_assert_msg(allocated(&it) >= before, "batch, seed %ju, round %d", random.seed, i);
        it.job.micro_batch_size /= 2;
        it.job.sequence_length *= 2;
        ck_assert_msg(allocated(&it) >= before, "sequence, seed %ju, round %d", random.seed, i);
        it.job.sequence_length /= 2;
        it.arch.kinds[it.arch.kind_of_layer[it.arch.layer_count - 1]].count++; /* one more like the last */
        it.arch.kind_of_layer[it.arch.layer_count] = it.arch.kind_of_layer[it.arch.layer_count - 1];
        it.arch.layer_count++;
        it.params = model_params_count(&it.arch);
        ck_assert_msg(allocated(&it) >= before, "layers, seed %ju, round %d", random.seed, i);
        it.job.precision = PRECISION_BF16_PURE;
        before = allocated(&it);
        it.job.precision = PRECISION_BF16_MIXED;
        ck_assert_msg(allocated(&it) >= before, "mixed, seed %ju, round %d", random.seed, i);
        it.job.precision = PRECISION_FP32; /* against pure: mixed keeps 16-bit copies beside what is FP32 anyway */
        ck_assert_msg(allocated(&it) >= before, "fp32, seed %ju, round %d", random.seed, i);
    }
}
END_TEST

static double
states(const struct training_choice *choice)
{
    const struct footprint *memory = &choice->estimate.memory;

    return footprint_bytes(memory, PART_WEIGHTS) + footprint_bytes(memory, PART_GRADIENTS) +
           footprint_bytes(memory, PART_MASTER_WEIGHTS) + footprint_bytes(memory, PART_OPTIMIZER_STATES) +
           footprint_bytes(memory, PART_ADAPTER);
}

START_TEST(adapters_keep_less_than_the_whole)
{
    static const enum training_method methods[] = { METHOD_FULL, METHOD_LORA, METHOD_QLORA };
    double before = 1e300;

    for (size_t i = 0; i < COUNT_OF(methods); i++) {
        struct question it;
        struct training_choice choice;

        question_init(&it, (enum known_model)_i, "h100-sxm-80gb", 1, methods[i]);
        choose(&it, &choice);
        ck_assert_double_lt(states(&choice), before);
        before = states(&choice);
    }
}
END_TEST

/* Sharding more than must be only costs traffic. */
START_TEST(no_more_sharding_than_needed)
{
    struct question it;
    struct training_choice choice;

    question_init(&it, QWEN_2048_24, "h100-sxm-80gb", 8, METHOD_FULL);
    choose(&it, &choice);
    ck_assert_int_lt(choice.estimate.setup.plan.sharding, SHARDING_ZERO3);
    ck_assert_int_eq(choice.estimate.memory.verdict, VERDICT_FITS);
    question_init(&it, LLAMA_8192_80, "h100-sxm-80gb", 64, METHOD_LORA);
    choose(&it, &choice);
    ck_assert_int_eq(choice.estimate.setup.plan.sharding, SHARDING_ZERO3); /* 141 GB of weights */
}
END_TEST

/* --- the fewest GPUs --- */

static const struct {
    enum known_model model;
    const char *gpu;
    enum training_method method;
    uint32_t least, most;
} fewest[] = {
    /* 16 to 18 B a parameter of 8.03e9 are 128 to 145 GB */
    { LLAMA_4096_32, "a100-sxm-80gb", METHOD_FULL, 2, 2 },
    { LLAMA_4096_32, "a100-sxm-80gb", METHOD_LORA, 1, 1 },
    { LLAMA_4096_32, "rtx-3060-12gb", METHOD_QLORA, 1, 1 },
    /* 1.13 to 1.27 TB: two whole nodes of eight */
    { LLAMA_8192_80, "h100-sxm-80gb", METHOD_PRETRAIN, 16, 16 },
    { LLAMA_8192_80, "h100-sxm-80gb", METHOD_LORA, 2, 2 },
};

START_TEST(the_fewest_gpus)
{
    struct question it;
    struct training_choice choice;
    uint32_t minimum;

    question_init(&it, fewest[_i].model, fewest[_i].gpu, 1, fewest[_i].method);
    minimum = training_minimum_gpus(&it.ask);
    ck_assert_uint_ge(minimum, fewest[_i].least);
    ck_assert_uint_le(minimum, fewest[_i].most);
    it.machine = machine_of(&it.gpu, minimum, 0, 0, INTRANODE_UNSAID);
    it.job.recompute = RECOMPUTE_FULL;
    choose(&it, &choice);
    ck_assert_int_ne(choice.estimate.memory.verdict, VERDICT_DOES_NOT_FIT);
    for (uint32_t gpus = 1; gpus < minimum; gpus += gpus < 8 ? 1 : 8) {
        it.machine = machine_of(&it.gpu, gpus, 0, 0, INTRANODE_UNSAID);
        choose(&it, &choice);
        ck_assert_int_eq(choice.estimate.memory.verdict, VERDICT_DOES_NOT_FIT);
    }
}
END_TEST

int
main(void)
{
    TCase *tcase = tcase_create("plan choice");

    tcase_set_timeout(tcase, 60);
    tcase_add_loop_test(tcase, no_legal_plan_is_better, 0, COUNT_OF(races));
    tcase_add_loop_test(tcase, experts_are_trained_where_they_run_best, 0, 2);
    tcase_add_test(tcase, the_rule_is_told);
    tcase_add_test(tcase, the_choice_is_complete);
    tcase_add_test(tcase, never_less_memory_for_more);
    tcase_add_loop_test(tcase, adapters_keep_less_than_the_whole, 0, KNOWN_MODEL_COUNT);
    tcase_add_test(tcase, no_more_sharding_than_needed);
    tcase_add_loop_test(tcase, the_fewest_gpus, 0, COUNT_OF(fewest));
    return suite_run("plan_choice", tcase);
}
