/* Convolution networks against published throughput. */
#include "service/speed/training_speed.h"

#include "tests/service/memory/training_case.h"
#include "tests/support/suite.h"

static double
seconds_of(const struct training_case *it)
{
    struct training_speed speed;

    training_speed(&it->setup, &speed);
    return speed.step_seconds;
}

/* ResNet-50 v1.5, images a second: DeepLearningExamples, PyTorch and TensorFlow; timm's table of an RTX 3090. */
static const struct {
    const char *gpu;
    uint32_t gpus;
    enum training_precision precision;
    double images_per_second;
} resnet_50[] = {
    { "a100-sxm-80gb", 1, PRECISION_FP16_MIXED, 2470 },  { "a100-sxm-40gb", 1, PRECISION_FP16_MIXED, 2375 },
    { "a100-sxm-40gb", 8, PRECISION_FP16_MIXED, 17400 }, { "a100-sxm-40gb", 1, PRECISION_TF32, 909 },
    { "v100-sxm-16gb", 1, PRECISION_FP32, 367 },         { "v100-sxm-32gb", 1, PRECISION_FP16_MIXED, 1300 },
    { "v100-sxm-16gb", 8, PRECISION_FP16_MIXED, 9510 },  { "rtx-3090-24gb", 1, PRECISION_FP16_MIXED, 1218 },
};

/* 4.1 GMAC forward; 11.1 M outputs of convolutions, two 16-bit tensors each. */
static void
resnet_50_init(struct training_case *it, const char *gpu, uint32_t gpus)
{
    training_case_init(it, LLAMA_4096_32, gpu, gpus);
    memset(&it->arch, 0, sizeof(it->arch));
    it->arch.generic = true;
    it->arch.generic_parameters = 25557032;
    it->arch.flop_per_sample = 8.2e9;
    it->arch.activation_bytes_per_sample = 4 * 11.1e6;
    it->params = model_params_count(&it->arch);
    it->job.precision = PRECISION_FP16_MIXED;
    it->job.framework = FRAMEWORK_FSDP;
    it->setup.micro_batch_size = 256;
}

START_TEST(a_convolutional_network)
{
    struct training_case it;
    struct training_speed speed;

    resnet_50_init(&it, resnet_50[_i].gpu, resnet_50[_i].gpus);
    it.job.precision = resnet_50[_i].precision;
    training_speed(&it.setup, &speed);
    ck_assert_double_eq(speed.tokens_per_step, 0);
    ck_assert_double_eq_tol(speed.samples_per_step / speed.step_seconds, resnet_50[_i].images_per_second,
                            0.17 * resnet_50[_i].images_per_second);
    ck_assert_double_eq_tol(speed.flop_per_step, resnet_50[_i].gpus * 256 * 3 * 8.2e9, 1);
}
END_TEST

/* A filter a channel runs off the matrix units: the same operations take longer, more operations never less. */
START_TEST(depthwise_work_is_slow)
{
    struct training_case it;
    double plain;

    resnet_50_init(&it, "rtx-3090-24gb", 1);
    plain = seconds_of(&it);
    it.arch.depthwise_flop_per_sample = 0.1 * it.arch.flop_per_sample;
    ck_assert_double_gt(seconds_of(&it), plain);
}
END_TEST

/* One image at a time waits for Python: about as long as a pass over eight. */
START_TEST(small_batches_wait_for_their_kernels)
{
    struct training_case it;
    double one, eight;

    resnet_50_init(&it, "a100-sxm-80gb", 1);
    it.setup.micro_batch_size = 1;
    one = seconds_of(&it);
    it.setup.micro_batch_size = 8;
    eight = seconds_of(&it);
    ck_assert_double_lt(eight, 1.2 * one);
    it.setup.micro_batch_size = 1;
    it.setup.accumulation_steps = 8;
    ck_assert_double_gt(seconds_of(&it), 5 * eight);
}
END_TEST

/* States on the host cross the slot and are stepped at the host's pace: never for nothing (arXiv:2101.06840). */
START_TEST(offload_takes_its_time)
{
    struct training_case it;
    double plain;

    resnet_50_init(&it, "rtx-3090-24gb", 1);
    it.job.offload = OFFLOAD_NONE;
    plain = seconds_of(&it);
    it.job.offload = OFFLOAD_OPTIMIZER;
    ck_assert_double_gt(seconds_of(&it), plain);
}
END_TEST

/* Eight GPUs of a node do less than eight times what one does, and the same in two nodes of four wait less for their
 * hosts. */
START_TEST(a_node_feeds_its_gpus)
{
    struct training_case it;
    struct training_speed one, eight;

    resnet_50_init(&it, "a100-sxm-80gb", 1);
    training_speed(&it.setup, &one);
    ck_assert_double_gt(one.time.input, 0);
    resnet_50_init(&it, "a100-sxm-80gb", 8);
    training_speed(&it.setup, &eight);
    ck_assert_double_eq_tol(eight.time.input, 8 * one.time.input, 1e-12);
    it.machine = machine_of(&it.gpu, 8, 4, 0, INTRANODE_UNSAID);
    training_speed(&it.setup, &eight);
    ck_assert_double_eq_tol(eight.time.input, 4 * one.time.input, 1e-12);
}
END_TEST

int
main(void)
{
    TCase *tcase = tcase_create("training of images");

    tcase_add_loop_test(tcase, a_convolutional_network, 0, COUNT_OF(resnet_50));
    tcase_add_test(tcase, depthwise_work_is_slow);
    tcase_add_test(tcase, small_batches_wait_for_their_kernels);
    tcase_add_test(tcase, offload_takes_its_time);
    tcase_add_test(tcase, a_node_feeds_its_gpus);
    return suite_run("training_vision", tcase);
}
