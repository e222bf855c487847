/* Bands of training memory: by class of reading, wider where nothing was published. */
#include "service/memory/training_memory_band.h"

#include "tests/service/memory/training_case.h"
#include "tests/support/suite.h"

static struct memory_band
band_of(const struct training_case *it)
{
    struct memory_band band = training_memory_band_of(&it->setup);

    ck_assert(band.low > 0 && band.low < 1 && band.high > 1);
    return band;
}

static const struct {
    enum training_method method;
    enum optimizer optimizer;
    enum training_precision precision;
    enum framework framework;
    enum known_model model;
    const char *unmeasured;
} recipes[] = {
    { METHOD_PRETRAIN, OPTIMIZER_ADAMW, PRECISION_BF16_MIXED, FRAMEWORK_MEGATRON, LLAMA_4096_32, NULL },
    { METHOD_PRETRAIN, OPTIMIZER_ADAMW, PRECISION_BF16_MIXED, FRAMEWORK_MEGATRON, DEEPSEEK_V2_4, NULL },
    { METHOD_FULL, OPTIMIZER_ADAMW_8BIT_PAGED, PRECISION_BF16_PURE, FRAMEWORK_FSDP, LLAMA_4096_32, NULL },
    { METHOD_LORA, OPTIMIZER_ADAMW, PRECISION_BF16_MIXED, FRAMEWORK_HF_TRAINER, LLAMA_4096_32, NULL },
    { METHOD_PRETRAIN, OPTIMIZER_MUON, PRECISION_BF16_MIXED, FRAMEWORK_MEGATRON, LLAMA_4096_32, "muon" },
    { METHOD_FREEZE, OPTIMIZER_ADAMW, PRECISION_BF16_MIXED, FRAMEWORK_HF_TRAINER, LLAMA_4096_32, "freeze" },
    { METHOD_FULL, OPTIMIZER_ADAMW, PRECISION_FP32, FRAMEWORK_HF_TRAINER, LLAMA_4096_32, "fp32" },
    { METHOD_FULL, OPTIMIZER_ADAMW, PRECISION_BF16_MIXED, FRAMEWORK_DEEPSPEED, DEEPSEEK_V2_4, "deepspeed" },
};

START_TEST(recipes_without_readings_are_wider)
{
    struct training_case it;
    struct memory_band plain, band;
    const char *unmeasured;

    training_case_init(&it, LLAMA_4096_32, "a100-sxm-80gb", 1);
    it.job.framework = recipes[_i].framework;
    plain = band_of(&it);
    training_case_init(&it, recipes[_i].model, "a100-sxm-80gb", 1);
    it.job.method = recipes[_i].method;
    it.job.optimizer = recipes[_i].optimizer;
    it.job.precision = recipes[_i].precision;
    it.job.framework = recipes[_i].framework;
    unmeasured = training_recipe_unmeasured(&it.setup);
    ck_assert_pstr_eq(unmeasured, recipes[_i].unmeasured);
    band = band_of(&it);
    if (unmeasured)
        ck_assert(band.low < plain.low && band.high > plain.high);
    else
        ck_assert(band.low == plain.low && band.high == plain.high);
}
END_TEST

START_TEST(what_was_not_stated_is_wider)
{
    struct training_case it;
    struct memory_band stated, assumed;

    training_case_init(&it, LLAMA_4096_32, "a100-sxm-80gb", 1);
    stated = band_of(&it);
    it.setup.sequence_or_recompute_assumed = true;
    assumed = band_of(&it);
    ck_assert(assumed.low < stated.low && assumed.high > stated.high);
    it.job.offload = OFFLOAD_ALL;
    ck_assert_double_gt(band_of(&it).high, assumed.high);
}
END_TEST

int
main(void)
{
    TCase *tcase = tcase_create("training memory band");

    tcase_add_loop_test(tcase, recipes_without_readings_are_wider, 0, COUNT_OF(recipes));
    tcase_add_test(tcase, what_was_not_stated_is_wider);
    return suite_run("training_memory_band", tcase);
}
