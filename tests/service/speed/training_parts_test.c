/* Each cause of a step: its formula, worked out as a reader would, gives its seconds, and they add up to the step. */
#include "service/speed/step_parts.h"

#include <math.h>
#include <stdio.h>

#include "tests/service/memory/training_case.h"
#include "tests/support/formula.h"
#include "tests/support/random.h"
#include "tests/support/suite.h"

static void
check_parts(const struct training_case *it, const char *what)
{
    struct step_parts parts;
    struct training_speed speed;
    double sum = 0;

    training_speed(&it->setup, &speed);
    step_parts_of(&it->setup, &parts);
    for (uint32_t i = 0; i < parts.count; i++) {
        const struct step_part *part = &parts.items[i];
        double value = 0;

        ck_assert_msg(part->formula[0] && part->source[0], "%s: %s is not explained", what, part->code);
        ck_assert_msg(formula_value(part->formula, part->values, PART_VALUES, &value), "%s: %s", what, part->formula);
        ck_assert_msg(fabs(value - part->seconds) <= 1e-9 * speed.step_seconds + 1e-6 * part->seconds,
                      "%s: %s is %g, its formula %g", what, part->code, part->seconds, value);
        sum += part->seconds;
    }
    ck_assert_msg(fabs(sum - speed.step_seconds) <= 1e-9 * sum, "%s: %g, not %g", what, sum, speed.step_seconds);
}

START_TEST(formulas_give_their_seconds)
{
    struct random random = random_seeded();

    for (int i = 0; i < 500; i++) {
        static const char *const gpus[] = { "a100-sxm-80gb", "h100-sxm-80gb", "b200-sxm-180gb", "rtx-4090-24gb" };
        struct training_case it;
        char what[64];
        uint32_t tensor = 1u << random_below(&random, 4), pipeline = 1u << random_below(&random, 3),
                 data = 1u << random_below(&random, 4), context = 1u << random_below(&random, 2);

        snprintf(what, sizeof what, "seed %ju, round %d", random.seed, i);
        training_case_init(&it, (enum known_model)random_below(&random, KNOWN_MODEL_COUNT),
                           gpus[random_below(&random, COUNT_OF(gpus))], tensor * pipeline * data * context);
        it.arch.causal = random_below(&random, 4) > 0;
        it.job.method = (enum training_method)(METHOD_PRETRAIN + random_below(&random, 5));
        it.job.trainable_layers = 2;
        it.job.lora_rank = 16;
        it.job.lora_targets = LORA_ALL_LINEAR;
        it.job.precision = (enum training_precision)(PRECISION_BF16_MIXED + random_below(&random, 6));
        it.job.optimizer = (enum optimizer)(OPTIMIZER_ADAMW + random_below(&random, 8));
        it.job.framework = (enum framework)(FRAMEWORK_MEGATRON + random_below(&random, 4));
        it.job.attention = (enum attention_kernel)(ATTENTION_KERNEL_FLASH + random_below(&random, 2));
        it.job.offload = (enum offload)(OFFLOAD_NONE + random_below(&random, 3));
        it.job.sequence_length = 256u << random_below(&random, 6);
        it.setup.recompute = (enum recompute)(RECOMPUTE_NONE + random_below(&random, 3));
        it.setup.accumulation_steps = 1 + (uint32_t)random_below(&random, 16);
        it.setup.plan = (struct parallelism){ tensor,
                                              pipeline,
                                              1,
                                              data,
                                              context,
                                              1u << random_below(&random, 3),
                                              (enum sharding)(SHARDING_NONE + random_below(&random, 4)),
                                              tensor > 1 ? FLAG_YES : FLAG_NO };
        check_parts(&it, what);
    }
}
END_TEST

START_TEST(formulas_of_convolutions)
{
    struct training_case it;

    training_case_init(&it, LLAMA_4096_32, "v100-sxm-16gb", 16);
    memset(&it.arch, 0, sizeof(it.arch));
    it.arch.generic = true;
    it.arch.generic_parameters = 25557032;
    it.arch.flop_per_sample = 8.2e9;
    it.arch.depthwise_flop_per_sample = _i & 1 ? 1e8 : 0;
    it.arch.activation_bytes_per_sample = 4 * 11.1e6;
    it.params = model_params_count(&it.arch);
    it.job.precision = _i & 2 ? PRECISION_FP16_MIXED : PRECISION_FP32;
    it.setup.micro_batch_size = _i & 4 ? 256 : 1;
    it.setup.plan.sharding = _i & 8 ? SHARDING_ZERO1 : SHARDING_NONE;
    it.setup.accumulation_steps = 3;
    check_parts(&it, "convolutions");
    it.job.offload = _i & 1 ? OFFLOAD_ALL : OFFLOAD_OPTIMIZER;
    check_parts(&it, "convolutions with states on the host");
    it.job.offload = OFFLOAD_NONE;
    it.job.method = METHOD_LORA;
    check_parts(&it, "convolutions under adapters");
}
END_TEST

int
main(void)
{
    TCase *tcase = tcase_create("step parts");

    tcase_set_timeout(tcase, 30);
    tcase_add_test(tcase, formulas_give_their_seconds);
    tcase_add_loop_test(tcase, formulas_of_convolutions, 0, 16);
    return suite_run("training_parts", tcase);
}
