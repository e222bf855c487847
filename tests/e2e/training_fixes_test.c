/* The ladder of changes that a training job is offered: which rungs a question has, that each holds when it is asked
 * for, and what of the training it changes. */
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "tests/support/contract.h"
#include "tests/support/schema.h"
#include "tests/support/suite.h"

#define TRAIN(model, job, gpu, rest) \
    "{\"model\":\"" model "\",\"training\":{" job "},\"hardware\":{\"gpu\":\"" gpu "\",\"gpus\":" rest "}}"

static const struct {
    const char *request, *bottleneck; /* NULL: whatever */
    const char *offered[14];
} questions[] = {
    /* everything is dearer than it must be */
    { TRAIN("llama-3-8b",
            "\"method\":\"full\",\"sequence_length\":4096,\"micro_batch_size\":4,\"attention\":\"eager\","
            "\"recompute\":\"none\",\"parallelism\":{\"data\":4,\"sharding\":\"none\"}",
            "a100-sxm-80gb", "4"),
      NULL,
      { "smaller_micro_batch", "recompute", "flash_attention", "fused_loss", "zero1", "zero2", "zero3",
        "optimizer_8bit", "pure_bf16", "tensor_parallel", "offload_optimizer", "lora", "qlora", "more_gpus" } },
    /* 16 B a parameter of 70.6e9 over four cards */
    { TRAIN("llama-3-70b",
            "\"method\":\"full\",\"sequence_length\":2048,\"micro_batch_size\":1,\"parallelism\":{\"data\":4,"
            "\"sharding\":\"zero3\"}",
            "a100-sxm-80gb", "4"),
      NULL,
      { "offload_optimizer", "lora", "qlora", "more_gpus", "larger_gpu" } },
    /* weights in ZeRO-3's shards do not fit either */
    { TRAIN("llama-3-70b",
            "\"method\":\"full\",\"sequence_length\":1024,\"micro_batch_size\":1,\"parallelism\":{\"data\":2,"
            "\"sharding\":\"zero3\"}",
            "rtx-4090-24gb", "2"),
      NULL,
      { "offload_all", "more_gpus", NULL } },
    { TRAIN("llama-3-70b", "\"method\":\"pretrain\",\"micro_batch_size\":1,\"parallelism\":{\"tensor\":8,\"data\":4}",
            "l40s-48gb", "32"),
      "network",
      { "pipeline_parallel", "faster_network", "zero3", NULL } },
    /* the network holds it back, nothing else */
    { TRAIN("llama-3-8b", "\"method\":\"full\",\"sequence_length\":2048", "a100-sxm-80gb",
            "16,\"internode_bits_per_second\":10000000000"),
      "network",
      { "lora", "qlora", "faster_network", NULL } },
    /* hiyouga/LLaMA-Factory#5014 */
    { TRAIN("llama-3-8b",
            "\"method\":\"lora\",\"sequence_length\":1024,\"micro_batch_size\":1,\"framework\":\"deepspeed\","
            "\"parallelism\":{\"data\":16,\"sharding\":\"zero3\"}",
            "a800-sxm-80gb", "16,\"internode_bits_per_second\":10000000000"),
      "network",
      { "zero1", "zero2", "faster_network", NULL } },
    /* the host's optimizer holds it back */
    { TRAIN("llama-3-8b",
            "\"method\":\"full\",\"sequence_length\":1024,\"offload\":\"optimizer\",\"parallelism\":{\"data\":4,"
            "\"sharding\":\"zero3\"}",
            "a100-sxm-80gb", "4"),
      "cpu",
      { "lora", NULL } },
};

static const json_t *
fix_of(const json_t *reply, const char *code)
{
    const json_t *fix;
    size_t index;

    json_array_foreach(json_object_get(json_object_get(reply, "training"), "fixes"), index, fix)
    {
        if (strcmp(contract_text(fix, "/code"), code) == 0)
            return fix;
    }
    return NULL;
}

START_TEST(rungs_are_offered)
{
    json_t *reply = contract_post("/estimate", 200, questions[_i].request);

    if (questions[_i].bottleneck)
        ck_assert_str_eq(contract_text(reply, "/training/bottleneck"), questions[_i].bottleneck);
    for (size_t i = 0; i < COUNT_OF(questions[_i].offered) && questions[_i].offered[i]; i++)
        ck_assert_msg(fix_of(reply, questions[_i].offered[i]) != NULL, "%s: no %s", questions[_i].request,
                      questions[_i].offered[i]);
    json_decref(reply);
}
END_TEST

static void
check_fix(const char *request, const json_t *fix)
{
    json_t *changed = json_loads(request, 0, NULL), *reply;
    char *body;

    contract_merge(changed, json_object_get(fix, "change"));
    body = json_dumps(changed, JSON_COMPACT);
    reply = contract_post("/estimate", 200, body);
    ck_assert_msg(strcmp(contract_text(reply, "/training/verdict"), contract_text(fix, "/verdict")) == 0 &&
                      contract_count(reply, "/training/memory_per_gpu/allocated_bytes") ==
                          contract_count(fix, "/allocated_bytes"),
                  "%s: %s", contract_text(fix, "/code"), body);
    json_decref(reply);
    json_decref(changed);
    free(body);
}

START_TEST(rungs_hold_when_asked_for)
{
    json_t *reply = contract_post("/estimate", 200, questions[_i].request);
    const json_t *fix;
    size_t index;

    json_array_foreach(json_object_get(json_object_get(reply, "training"), "fixes"), index, fix)
    {
        check_fix(questions[_i].request, fix);
    }
    json_decref(reply);
}
END_TEST

static bool
changes(const json_t *fix, const char *what)
{
    const json_t *change;
    size_t index;

    json_array_foreach(json_object_get(fix, "changes_training"), index, change)
    {
        if (strcmp(json_string_value(change), what) == 0)
            return true;
    }
    return false;
}

static const struct {
    const char *code, *changes; /* NULL: nothing */
} changed[] = {
    { "recompute", NULL },
    { "flash_attention", NULL },
    { "fused_loss", NULL },
    { "zero3", NULL },
    { "optimizer_8bit", "optimizer" },
    { "pure_bf16", "precision" },
    { "lora", "method" },
    { "qlora", "method" },
    { "more_gpus", "batch" }, /* no global batch was stated, so it grows with the GPUs */
    { "smaller_micro_batch", NULL },
};

START_TEST(what_changes_the_training_says_so)
{
    json_t *reply = contract_post("/estimate", 200, questions[0].request);
    const json_t *fix = fix_of(reply, changed[_i].code), *notice;
    size_t index, notices = 0;

    ck_assert_ptr_nonnull(fix);
    if (changed[_i].changes)
        ck_assert(changes(fix, changed[_i].changes));
    else
        ck_assert_ptr_null(json_object_get(fix, "changes_training"));
    json_array_foreach(json_object_get(reply, "notices"), index, notice)
    {
        notices += strcmp(contract_text(notice, "/code"), "convergence_may_change") == 0;
    }
    ck_assert_uint_eq(notices, 4); /* batch, precision, optimizer, method */
    json_decref(reply);
}
END_TEST

/* Causes of a step add up to it, and rates are what a step holds over its time. */
START_TEST(a_step_is_the_sum_of_its_causes)
{
    json_t *reply = contract_post("/estimate", 200, questions[_i].request);
    const json_t *training = json_object_get(reply, "training"), *speed = json_object_get(training, "throughput"),
                 *part;
    double step = json_number_value(json_object_get(json_object_get(speed, "step_seconds"), "expected")), sum = 0;
    double tokens = json_number_value(json_object_get(json_object_get(speed, "tokens_per_second"), "expected"));
    size_t index;

    json_array_foreach(json_object_get(training, "step_parts"), index, part)
    {
        sum += json_number_value(json_object_get(part, "seconds"));
        ck_assert(contract_text(part, "/formula")[0] && contract_text(part, "/source")[0]);
    }
    ck_assert_double_eq_tol(sum, step, 1e-4 * step);
    ck_assert_double_eq_tol(json_number_value(json_object_get(speed, "tokens_per_step")) / step, tokens, 1e-4 * tokens);
    json_decref(reply);
}
END_TEST

/* What fits with room, and waits for nothing but arithmetic, is offered nothing. */
START_TEST(nothing_to_fix)
{
    json_t *reply = contract_post(
        "/estimate", 200, TRAIN("llama-3-8b", "\"method\":\"lora\",\"sequence_length\":2048", "h100-sxm-80gb", "1"));

    ck_assert_str_eq(contract_text(reply, "/training/verdict"), "fits");
    ck_assert_uint_eq(json_array_size(json_object_get(json_object_get(reply, "training"), "fixes")), 0);
    ck_assert_str_eq(contract_text(reply, "/training/plan/rule"), "fastest_that_fits");
    json_decref(reply);
}
END_TEST

int
main(void)
{
    TCase *tcase = tcase_create("training fixes");

    tcase_set_timeout(tcase, 60);
    tcase_add_unchecked_fixture(tcase, contract_start, contract_stop);
    tcase_add_loop_test(tcase, rungs_are_offered, 0, COUNT_OF(questions));
    tcase_add_loop_test(tcase, rungs_hold_when_asked_for, 0, COUNT_OF(questions));
    tcase_add_loop_test(tcase, what_changes_the_training_says_so, 0, COUNT_OF(changed));
    tcase_add_loop_test(tcase, a_step_is_the_sum_of_its_causes, 0, COUNT_OF(questions));
    tcase_add_test(tcase, nothing_to_fix);
    return suite_run("training_fixes", tcase);
}
