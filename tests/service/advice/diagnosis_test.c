/* Diagnoses of jobs that people asked about in public, and bounds that every one keeps. */
#include "service/advice/diagnosis.h"

#include <string.h>

#include "service/base/quantity.h"
#include "tests/support/seed_rates.h"
#include "tests/support/suite.h"

static const struct storage_tier disk = { .media = "hdd", .scope = "device" }, fast = { .media = "nvme" };

static bool
has(const struct diagnosis *diagnosis, const char *code)
{
    for (uint32_t i = 0; i < diagnosis->count; i++)
        if (strcmp(diagnosis->items[i].code, code) == 0)
            return true;
    return false;
}

/* gpu, cpu, memory, peak, step, data, workers; below 0: not said */
static const struct {
    const char *source;
    struct observed_ask observed;
    const struct storage_tier *storage;
    uint32_t cores, gpus, gpus_per_node;
    const char *first, *also;
} asked[] = {
    { "pytorch/examples#164: 7.7 of 8.0 s waiting for data",
      { true, 0, -1, -1, -1, 8.01, 7.72, -1 },
      NULL,
      0,
      1,
      1,
      "data_loading_cpu_bound",
      NULL },
    { "pytorch/pytorch#680: 7.1 of 7.5 s on a hard disk, 2 to 3 of 12 cores busy",
      { true, -1, 0.25, -1, -1, 7.5, 7.07, 10 },
      &disk,
      12,
      2,
      2,
      "data_loading_storage_bound",
      NULL },
    { "the same without the name of the disk",
      { true, -1, 0.25, -1, -1, 7.5, 7.07, -1 },
      NULL,
      0,
      1,
      1,
      "data_loading_storage_bound",
      NULL },
    { "GPU below half, CPU high (whisper-finetune#20)",
      { true, 0.35, 0.95, 0.88, -1, 0.9, 0.6, 192 },
      &fast,
      48,
      8,
      8,
      "data_loading_cpu_bound",
      "memory_full_is_not_load" },
    { "embeddings-benchmark/mteb#1331: 104 workers on 23 cores",
      { true, 0.3, 0.9, -1, -1, -1, -1, 104 },
      NULL,
      23,
      1,
      1,
      "data_loading_cpu_bound",
      "too_many_workers" },
    { "no wait for data, CPUs idle, one node: launches",
      { true, 0.4, 0.2, -1, -1, 1, 0.01, -1 },
      NULL,
      0,
      1,
      1,
      "small_kernels_or_launch_bound",
      NULL },
    { "the same over nodes: communication",
      { true, 0.4, 0.2, -1, -1, 1, 0.01, -1 },
      NULL,
      0,
      16,
      8,
      "communication_bound",
      NULL },
    { "well used", { true, 0.95, 0.3, 0.97, -1, 1, 0.01, 8 }, NULL, 64, 8, 8, "healthy", NULL },
};

static void
run(size_t i, struct diagnosis *ret_diagnosis)
{
    static const struct gpu gpu = { .id = "test", .gpus_per_node = 8, .usable_bytes = 80000000000 };
    static struct answer answer;
    struct rates rates = seed_rates();
    struct estimate_request request = { .observed = asked[i].observed };

    memset(&answer, 0, sizeof answer);
    answer.machine = machine_of(&gpu, asked[i].gpus, asked[i].gpus_per_node, 0, INTRANODE_UNSAID);
    request.hardware.storage = asked[i].storage;
    request.hardware.cpu_cores = asked[i].cores;
    diagnose(&request, &answer, &rates, ret_diagnosis);
}

START_TEST(findings_are_what_people_found)
{
    struct diagnosis diagnosis;

    run((size_t)_i, &diagnosis);
    ck_assert_uint_gt(diagnosis.count, 0);
    ck_assert_msg(strcmp(diagnosis.items[0].code, asked[_i].first) == 0, "%s: %s", asked[_i].source,
                  diagnosis.items[0].code);
    ck_assert_msg(!asked[_i].also || has(&diagnosis, asked[_i].also), "%s", asked[_i].source);
}
END_TEST

/* What is expected of an action is more than there is, never all, and falls down the list. */
START_TEST(actions_help)
{
    struct diagnosis diagnosis;

    run((size_t)_i, &diagnosis);
    for (uint32_t i = 0; i < diagnosis.count; i++) {
        const struct finding *finding = &diagnosis.items[i];
        double last = 1;

        for (uint32_t j = 0; j < finding->action_count; j++) {
            double expected = finding->actions[j].expected_gpu_utilization_ratio;

            ck_assert(expected == 0 || expected > asked[_i].observed.gpu_utilization_ratio);
            ck_assert_double_lt(expected, 1);
            ck_assert_double_le(expected, last);
            last = expected > 0 ? expected : last;
        }
    }
}
END_TEST

START_TEST(nothing_observed_is_nothing_said)
{
    static struct answer answer;
    struct rates rates = seed_rates();
    struct estimate_request request = { 0 };
    struct diagnosis diagnosis;

    memset(&answer, 0, sizeof answer);
    diagnose(&request, &answer, &rates, &diagnosis);
    ck_assert_uint_eq(diagnosis.count, 0);
}
END_TEST

int
main(void)
{
    TCase *tcase = tcase_create("diagnosis");

    tcase_add_loop_test(tcase, findings_are_what_people_found, 0, COUNT_OF(asked));
    tcase_add_loop_test(tcase, actions_help, 0, COUNT_OF(asked));
    tcase_add_test(tcase, nothing_observed_is_nothing_said);
    return suite_run("diagnosis", tcase);
}
