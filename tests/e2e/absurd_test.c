/* What nobody would run, but a request may say: it is answered within a second, with numbers that hold together. */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "tests/support/contract.h"
#include "tests/support/suite.h"

#define RESNET                                                                                          \
    "{\"parameter_count\":25557032,\"flop_per_sample\":8200000000,\"activation_bytes_per_sample\":8e7," \
    "\"sample\":\"image\"}"

static const struct {
    const char *path, *request;
} absurd[] = {
    { "/estimate", "{\"model\":\"llama-3-8b\",\"training\":{\"method\":\"pretrain\",\"tokens\":1e18,\"epochs\":1e6,"
                   "\"sequence_length\":16777216,\"micro_batch_size\":1048576,\"global_batch_size\":16777216},"
                   "\"hardware\":{\"gpu\":\"h100-sxm-80gb\",\"gpus\":100000,\"gpus_per_node\":1024}}" },
    { "/estimate",
      "{\"model\":\"llama-3-8b\",\"training\":{\"method\":\"full\",\"micro_batch_size\":1048576},"
      "\"hardware\":{\"gpu\":\"h100-sxm-80gb\",\"gpus\":7662}}" }, /* a prime number of GPUs, twice three */
    { "/estimate", "{\"model\":\"deepseek-v3\",\"serving\":{\"context_length\":1073741824,\"input_tokens\":536870912,"
                   "\"output_tokens\":536870912,\"concurrency\":10000000,\"slo\":{\"tpot_p95_ms\":0.001}},"
                   "\"hardware\":{\"gpu\":\"h100-sxm-80gb\",\"gpus\":100000}}" },
    { "/estimate", "{\"model\":\"llama-3-8b\",\"serving\":{\"requests_per_second\":1e7,\"arrival\":\"poisson\","
                   "\"peak_factor\":100,\"memory_utilization\":0.05},\"hardware\":{\"gpu\":\"t4-16gb\",\"gpus\":1}}" },
    { "/estimate", "{\"model\":" RESNET ",\"training\":{\"method\":\"full\",\"framework\":\"megatron\"},"
                   "\"hardware\":{\"gpu\":\"a100-sxm-80gb\",\"gpus\":1000}}" }, /* nothing that Megatron could split */
    { "/estimate", "{\"model\":" RESNET ",\"training\":{\"method\":\"pretrain\",\"framework\":\"megatron\"},"
                   "\"hardware\":{\"gpu\":\"a100-sxm-80gb\"}}" },
    { "/estimate", "{\"model\":{\"parameter_count\":100000000000000},\"training\":{\"method\":\"qlora\"}}" },
    { "/estimate", "{\"model\":{\"parameter_count\":4000000000,\"layer_count\":32,\"hidden_size\":4096},"
                   "\"training\":{\"method\":\"qlora\"},\"hardware\":{\"gpu\":\"rtx-4090-24gb\"}}" },
    { "/estimate",
      "{\"model\":{\"parameter_count\":1000,\"flop_per_sample\":1e21,\"activation_bytes_per_sample\":1e15},"
      "\"training\":{\"method\":\"full\"},\"hardware\":{\"gpu\":\"h100-sxm-80gb\"}}" },
    { "/estimate", "{\"model\":\"llama-3-8b\",\"training\":{\"method\":\"lora\"}," /* only its integers are known */
                   "\"hardware\":{\"gpu\":\"mlu290-32gb\",\"gpus\":2}}" },
    { "/estimate", "{\"hardware\":{\"gpu\":\"h100-sxm-80gb\",\"gpus\":100000}}" },
    { "/recommend", "{\"model\":\"deepseek-v3\",\"training\":{\"method\":\"pretrain\",\"tokens\":1e18},\"limit\":200,"
                    "\"constraints\":{\"deadline_hours\":0.001,\"budget\":{\"amount\":\"0\",\"currency\":\"CNY\"}}}" },
    { "/recommend", "{\"model\":\"llama-3-8b\",\"serving\":{\"concurrency\":10000000,\"context_length\":1073741824},"
                    "\"horizon_months\":600,\"utilization_ratio\":1}" },
};

static double
now_seconds(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

/* Every number is one and not below zero, every range in order. */
static void
check_numbers(const json_t *value, const char *where)
{
    const json_t *low = json_object_get(value, "low"), *expected = json_object_get(value, "expected"),
                 *high = json_object_get(value, "high"), *item;
    const char *name;
    size_t index;

    if (json_is_number(value))
        ck_assert_msg(isfinite(json_number_value(value)) && json_number_value(value) >= 0, "%s: %g", where,
                      json_number_value(value));
    if (json_is_number(low) && json_is_number(expected) && json_is_number(high))
        ck_assert_msg(json_number_value(low) <= json_number_value(expected) &&
                          json_number_value(expected) <= json_number_value(high),
                      "%s: %g, %g, %g", where, json_number_value(low), json_number_value(expected),
                      json_number_value(high));
    json_object_foreach((json_t *)value, name, item)
    {
        if (strcmp(name, "parts") != 0 || strcmp(where, "model") != 0) /* there, what was stated less is taken off */
            check_numbers(item, name);
    }
    json_array_foreach(value, index, item) check_numbers(item, where);
}

/* The contract's rule, from the very bytes of the reply. */
static void
check_training_verdict(const json_t *training)
{
    const json_t *memory = json_object_get(training, "memory_per_gpu");
    double usable = json_number_value(json_object_get(memory, "usable_bytes"));
    double required = json_number_value(json_object_get(memory, "required_bytes"));
    double reserved = json_number_value(json_object_get(memory, "reserved_bytes"));
    double high = json_number_value(json_object_get(memory, "high_bytes"));
    const char *verdict = required > usable                            ? "does_not_fit"
                          : reserved <= 0.9 * usable && high <= usable ? "fits"
                                                                       : "tight";

    if (training)
        ck_assert_str_eq(json_string_value(json_object_get(training, "verdict")), usable > 0 ? verdict : "unknown");
}

START_TEST(it_is_answered_with_numbers)
{
    double began = now_seconds();
    json_t *reply = contract_post(absurd[_i].path, 200, absurd[_i].request);

    ck_assert_msg(now_seconds() - began < 1 || getenv("CK_TIMEOUT_MULTIPLIER"), "took %.1f s", now_seconds() - began);
    check_numbers(reply, "");
    check_training_verdict(json_object_get(reply, "training"));
    json_decref(reply);
}
END_TEST

int
main(void)
{
    TCase *tcase = tcase_create("absurd");

    tcase_add_unchecked_fixture(tcase, contract_start, contract_stop);
    tcase_add_loop_test(tcase, it_is_answered_with_numbers, 0, COUNT_OF(absurd));
    return suite_run("absurd", tcase);
}
