/* Data, checkpoints and lines against figures that others published. */
#include "service/feed/feed.h"

#include <math.h>

#include "service/base/quantity.h"
#include "service/feed/transfer.h"
#include "tests/support/seed_rates.h"
#include "tests/support/suite.h"

static struct rates rates;

static void
set_up(void)
{
    rates = seed_rates();
}

/* MLPerf Storage 1.0 (github:mlcommons/storage_results_v1.0): samples a second of emulated GPUs that the storage kept
 * nine tenths busy or more, and what it was read with. */
static const struct {
    const char *source;
    double samples, bytes, samples_per_second, bytes_per_second;
} mlperf[] = {
    { "YanRongTech F8000X, ResNet-50, 96 H100", 19200000, 2201472000000, 161410, 18507200000 },
    { "Lightbits Labs, ResNet-50, 198 H100", 39600000, 4540536000000, 337590, 38708400000 },
    { "HPE Cray C500, U-Net 3D, 3 H100", 10500, 1539306594000, 58.613, 8592680000 },
    { "Nutanix, U-Net 3D, 8 A100", 28000, 4104817584000, 81.98, 12018200000 },
};

START_TEST(reads_are_what_storage_was_asked_for)
{
    struct dataset_ask ask = { .present = true,
                               .samples = mlperf[_i].samples,
                               .bytes = mlperf[_i].bytes,
                               .mean_file_bytes = 143439660,
                               .format = DATASET_TFRECORD,
                               .kind = SAMPLE_RECORD };
    struct dataset_size size;

    dataset_size_of(&ask, 0, &rates, &size);
    struct read_need need = read_need_of(&size, mlperf[_i].samples_per_second, &rates);
    ck_assert_msg(fabs(need.bytes_per_second / mlperf[_i].bytes_per_second - 1) < 0.01, "%s: %g", mlperf[_i].source,
                  need.bytes_per_second);
}
END_TEST

/* ImageNet on 8 A100: 16621 pictures a second (NVIDIA DeepLearningExamples, ResNet-50) of 110 kB. An ESSD PL2 gives
 * 750 MB/s (Alibaba Cloud's block storage documentation): 41 % of the 1.83 GB/s. */
START_TEST(a_slow_disk_starves_the_gpus)
{
    struct dataset_ask ask = { .bytes = 1e12, .mean_file_bytes = 110000, .format = DATASET_JPEG_FILES };
    const struct storage_tier disk = { .scope = "volume", .max_read_bytes_per_second = 750e6, .max_iops = 1e5 };
    const struct storage_tier spinning = { .scope = "device", .max_read_bytes_per_second = 270e6, .max_iops = 152 };
    struct dataset_size size;

    dataset_size_of(&ask, 0, &rates, &size);
    ck_assert_double_eq_tol(size.samples, 9.09e6, 0.01e6);
    struct read_need need = read_need_of(&size, 16621, &rates);
    ck_assert_double_eq_tol(need.bytes_per_second, 1.83e9, 0.01e9);
    ck_assert_double_eq(need.reads_per_second, 16621);
    ck_assert_double_eq_tol(storage_share(&disk, &need, true, 1), 0.41, 0.005);
    ck_assert_double_eq_tol(storage_share(&disk, &need, true, 2), 0.82, 0.01);
    ck_assert_double_lt(storage_share(&spinning, &need, true, 1), 0.01); /* 152 seeks a second */
    ck_assert_double_gt(storage_share(&spinning, &need, false, 1), 0.1);
    ck_assert_str_eq(dataset_tier(size.bytes, &rates), "large");
}
END_TEST

/* huggingface/pytorch-image-models#1491: an A100 takes 2470 to 2600 pictures a second, 10 loader processes unpack
 * 1923; NVIDIA DeepLearningExamples: 8 A100 take 16621. */
START_TEST(cores_that_unpack_pictures)
{
    const struct dataset_size size = { .decoded = true, .sample_bytes = 110000 };
    struct host_ask ask = { .gpus = 1, .nodes = 1, .samples_per_second = 2600, .micro_batch_size = 512 };
    struct host_need need;

    host_need_of(&ask, &size, SAMPLE_IMAGE, &rates, &need);
    ck_assert_double_ge(need.cpu_cores, 10);
    ck_assert_double_le(need.cpu_cores, 14);
    ask.cpu_cores = 10;
    host_need_of(&ask, &size, SAMPLE_IMAGE, &rates, &need);
    ck_assert_double_eq_tol(need.cpu_share * 2600, 1923, 0.1 * 1923);
    ck_assert_uint_eq(need.workers_per_gpu, 9);
    ask = (struct host_ask){ .gpus = 8, .nodes = 1, .samples_per_second = 16621, .micro_batch_size = 256 };
    host_need_of(&ask, &size, SAMPLE_IMAGE, &rates, &need);
    ck_assert_double_ge(need.cpu_cores, 60);
    ck_assert_double_le(need.cpu_cores, 110);
}
END_TEST

/* stas00/ml-engineering: GPUs x (workers + 1) + 4 cores, two workers for text; never more workers than cores. */
START_TEST(cores_of_text)
{
    const struct dataset_size size = { .sample_bytes = 16384 };
    struct host_ask ask = { .gpus = 8, .nodes = 1, .weight_bytes = 16e9, .checkpoint_bytes = 112e9 };
    struct host_need need;
    double sum = 0;

    host_need_of(&ask, &size, SAMPLE_TEXT, &rates, &need);
    ck_assert_double_eq(need.cpu_cores, 8 * (2 + 1) + 4);
    ck_assert_uint_eq(need.workers_per_gpu, 2);
    ck_assert_double_gt(need.ram_bytes, 112e9);
    for (uint32_t i = 0; i < need.part_count; i++)
        sum += need.parts[i].bytes;
    ck_assert_double_eq(need.ram_bytes, sum);
    ask.cpu_cores = 8;
    host_need_of(&ask, &size, SAMPLE_TEXT, &rates, &need);
    ck_assert_uint_eq(need.workers_per_gpu, 1);
}
END_TEST

/* 70.55e9 parameters of 14 B written with 4 GB/s: 247 s, every 82 minutes for 5 % of the time, 0.29 % once a day. */
START_TEST(checkpoints_of_a_large_model)
{
    struct checkpoint_ask ask = { .max_overhead_ratio = 0.05 };
    double bytes = 70.55e9 * 14;
    struct checkpoint_plan plan = checkpoint_plan_of(&ask, bytes, 4e9, 16, &rates);

    ck_assert_double_eq_tol(plan.write_seconds, 247, 1);
    ck_assert_double_eq_tol(plan.interval_minutes, 82.3, 0.5);
    ck_assert_double_eq_tol(plan.overhead_ratio, 0.05, 1e-9);
    ask = (struct checkpoint_ask){ .interval_minutes = 1440 };
    plan = checkpoint_plan_of(&ask, bytes, 4e9, 16, &rates);
    ck_assert_double_eq_tol(plan.overhead_ratio, 0.0029, 0.00005);
}
END_TEST

/* arXiv:2407.21783 section 3.3.4: 16384 GPUs were interrupted every 3.1 hours. Young's optimum is where writing and
 * half an interval of lost work cost the same. */
START_TEST(the_optimum_is_a_balance)
{
    const struct checkpoint_ask ask = { 0 };
    struct checkpoint_plan plan = checkpoint_plan_of(&ask, 5e12, 1e11, 16384, &rates);
    double between = rates.feed_gpu_hours_per_interruption / 16384 * 60;

    ck_assert_double_eq_tol(between / 60, 3.1, 0.1);
    ck_assert_double_eq(plan.interval_minutes, plan.optimal_interval_minutes);
    ck_assert_double_eq_tol(plan.overhead_ratio, plan.interval_minutes / 2 / between, 1e-9);
}
END_TEST

/* 10 GB over 20 Mb/s are 4000 s, not the 3 minutes of a claim in circulation: those take 444 Mb/s. */
START_TEST(a_line_takes_its_time)
{
    ck_assert_double_eq(transfer_seconds(10e9, 20e6), 4000);
    ck_assert_double_eq_tol(transfer_seconds(10e9, 444.4e6), 180, 0.1);
}
END_TEST

/* Nothing said is nothing needed, and no division by it. */
START_TEST(nothing_said)
{
    const struct dataset_ask ask = { 0 };
    struct dataset_size size;

    dataset_size_of(&ask, 0, &rates, &size);
    ck_assert_double_eq(size.bytes, 0);
    ck_assert_double_eq(size.samples, 0);
    ck_assert_double_eq(size.sample_bytes, 0);
}
END_TEST

int
main(void)
{
    TCase *tcase = tcase_create("feed");

    tcase_add_checked_fixture(tcase, set_up, NULL);
    tcase_add_loop_test(tcase, reads_are_what_storage_was_asked_for, 0, COUNT_OF(mlperf));
    tcase_add_test(tcase, a_slow_disk_starves_the_gpus);
    tcase_add_test(tcase, cores_that_unpack_pictures);
    tcase_add_test(tcase, cores_of_text);
    tcase_add_test(tcase, checkpoints_of_a_large_model);
    tcase_add_test(tcase, the_optimum_is_a_balance);
    tcase_add_test(tcase, a_line_takes_its_time);
    tcase_add_test(tcase, nothing_said);
    return suite_run("feed", tcase);
}
