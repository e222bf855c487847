/* Which setups published runs stand behind, and that bands are wider where none do. */
#include "service/speed/training_measured.h"

#include "service/speed/training_band.h"
#include "tests/service/memory/training_case.h"
#include "tests/support/suite.h"

/* One run of each source, and what it says of its neighbours. */
static const struct {
    const char *source, *gpu;
    uint32_t gpus;
    enum framework framework;
    bool encoder, device, software, scale;
} runs[] = {
    { "Megatron-LM README, H100 weak scaling", "h100-sxm-80gb", 6144, FRAMEWORK_MEGATRON, false, true, true, true },
    { "torchtitan, 512 H100", "h100-sxm-80gb", 512, FRAMEWORK_FSDP, false, true, true, true },
    { "InternEvo, 1024 A100", "a100-sxm-80gb", 1024, FRAMEWORK_DEEPSPEED, false, true, true, true },
    { "Qwen, one A100", "a100-sxm-80gb", 1, FRAMEWORK_HF_TRAINER, false, true, true, true },
    { "Lambda, BERT on one A6000", "rtx-a6000-48gb", 1, FRAMEWORK_HF_TRAINER, true, true, true, true },
    { "none of H20", "h20-96gb", 8, FRAMEWORK_MEGATRON, false, false, true, true },
    { "none of FSDP on Blackwell", "b200-sxm-180gb", 8, FRAMEWORK_FSDP, false, true, false, true },
    { "none of decoders on cards", "rtx-4090-24gb", 1, FRAMEWORK_HF_TRAINER, false, true, false, true },
    { "none so large", "a100-sxm-80gb", 256, FRAMEWORK_FSDP, false, true, true, false },
    { "none of the family", "ascend-910b-64gb", 8, FRAMEWORK_MEGATRON, false, false, false, true },
};

START_TEST(runs_that_were_published)
{
    struct training_case it;
    struct training_measured measured;

    training_case_init(&it, LLAMA_4096_32, runs[_i].gpu, runs[_i].gpus);
    it.job.framework = runs[_i].framework;
    it.arch.causal = !runs[_i].encoder;
    measured = training_measured_of(&it.setup);
    ck_assert_msg(measured.device == runs[_i].device && measured.software == runs[_i].software &&
                      measured.scale == runs[_i].scale,
                  "%s: %d %d %d", runs[_i].source, measured.device, measured.software, measured.scale);
    ck_assert(measured.software == (measured.most_gpus > 0));
}
END_TEST

static double
width_on(const char *gpu, uint32_t gpus, enum framework framework)
{
    struct training_case it;
    struct throughput_band band;

    training_case_init(&it, LLAMA_4096_32, gpu, gpus);
    it.job.framework = framework;
    band = throughput_band_of(&it.setup);
    ck_assert(band.low < 1 && band.high > 1 && band.low > 0);
    return band.high - band.low;
}

START_TEST(bands_are_wider_where_nothing_was_measured)
{
    double measured = width_on("h100-sxm-80gb", 8, FRAMEWORK_MEGATRON);

    ck_assert_double_gt(width_on("h20-96gb", 8, FRAMEWORK_MEGATRON), measured);
    ck_assert_double_gt(width_on("h20-96gb", 8, FRAMEWORK_DEEPSPEED), width_on("h20-96gb", 8, FRAMEWORK_MEGATRON));
    ck_assert_double_gt(width_on("h100-sxm-80gb", 16384, FRAMEWORK_MEGATRON), measured);
    ck_assert_double_gt(width_on("ascend-910b-64gb", 8, FRAMEWORK_MEGATRON),
                        width_on("h20-96gb", 8, FRAMEWORK_MEGATRON));
}
END_TEST

int
main(void)
{
    TCase *tcase = tcase_create("training measured");

    tcase_add_loop_test(tcase, runs_that_were_published, 0, COUNT_OF(runs));
    tcase_add_test(tcase, bands_are_wider_where_nothing_was_measured);
    return suite_run("training_measured", tcase);
}
