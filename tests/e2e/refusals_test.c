/* What POST /estimate refuses, over a real socket: all faults at once, each at its place, with what was meant. */
#include <stdio.h>
#include <string.h>

#include "tests/support/contract.h"
#include "tests/support/suite.h"

static const struct {
    const char *request;
    long status;
    const char *code;        /* of the whole */
    const char *items[4][3]; /* pointer, code, suggestion (NULL: any) */
} refused[] = {
    { "{\"model\":\"llama-3-8b\",\"training\":{\"method\":\"full\",\"sequence_lenght\":2048}}",
      422,
      "unknown_member",
      { { "/training/sequence_lenght", "unknown_member", "sequence_length" } } },
    { "{\"modle\":\"llama-3-8b\"}", 422, "unknown_member", { { "/modle", "unknown_member", "model" } } },
    { "{\"model\":\"lama-3-8b\",\"training\":{\"method\":\"lroa\",\"micro_batch_size\":0},\"hardware\":{\"gpu\":"
      "\"h100-sxm-8gb\"}}",
      422,
      NULL,
      { { "/model", "model_unknown", "llama-3-8b" },
        { "/training/method", "unknown_value", "lora" },
        { "/training/micro_batch_size", "out_of_range", NULL },
        { "/hardware/gpu", "gpu_unknown", "h100-sxm-80gb" } } },
    { "{\"model\":\"llama-3-8b\",\"training\":{}}",
      422,
      "missing_member",
      { { "/training/method", "missing_member", NULL } } },
    { "{\"hardware\":{\"gpu\":\"4090\",\"instance\":\"autodl:rtx-4090\"}}",
      422,
      "conflicting_members",
      { { "/hardware", "conflicting_members", NULL } } },
    { "{\"model\":{\"model_type\":\"llama\",\"hidden_size\":4096}}",
      422,
      "missing_member",
      { { "/model", "missing_member", NULL } } },
    { "{\"model\":{\"config\":{\"architectures\":[\"NoSuchModelForCausalLM\"],\"hidden_size\":4096}}}",
      422,
      "model_class_unsupported",
      { { NULL } } },
    { "{\"model\":{\"config\":{\"architectures\":[\"Zamba2ForCausalLM\"],\"hidden_size\":2048}}}",
      422,
      "model_weights_shared",
      { { "/model/config/architectures/0", "model_weights_shared", NULL } } },
    { "{\"model\":\"llama-3-8b\",\"serving\":{\"precision\":\"nvfp4\"},\"hardware\":{\"gpu\":\"t4-16gb\"}}",
      422,
      "no_kernel_for_precision",
      { { "/serving/precision", "no_kernel_for_precision", NULL } } },
    { "{\"model\":\"llama-3-8b\",\"training\":{\"method\":\"full\",\"parallelism\":{\"tensor\":3,\"data\":2}},"
      "\"hardware\":{\"gpu\":\"a100-sxm-80gb\",\"gpus\":8}}",
      422,
      "plan_does_not_match_gpus",
      { { NULL } } },
    { "{\"model\":\"llama-3-8b\",\"training\":{\"method\":\"full\",\"parallelism\":{\"tensor\":3,\"data\":2}},"
      "\"hardware\":{\"gpu\":\"a100-sxm-80gb\",\"gpus\":6}}",
      422,
      "out_of_range",
      { { "/training/parallelism/tensor", "out_of_range", NULL } } },
    { "{\"model\":{\"parameter_count\":1000000,\"flop_per_sample\":1e9,\"activation_bytes_per_sample\":1e6},"
      "\"training\":{\"method\":\"freeze\"}}",
      422,
      "unknown_value",
      { { "/training/method", "unknown_value", NULL } } },
    { "{}", 422, "nothing_asked", { { NULL } } },
    { "[]", 422, "wrong_type", { { "", "wrong_type", NULL } } },
    { "{\"model\":", 400, "malformed_json", { { NULL } } },
    { "", 400, "malformed_json", { { NULL } } },
    { "{\"model\":\"a\",\"model\":\"b\"}", 400, "duplicate_member", { { "/model", "duplicate_member", NULL } } },
    { "{\"model\":{\"parameter_count\":99999999999999999999}}", 400, "number_too_large", { { NULL } } },
};

static const json_t *
item_at(const json_t *errors, const char *pointer)
{
    size_t index;
    const json_t *item;

    json_array_foreach(errors, index, item)
    {
        const char *at = json_string_value(json_object_get(item, "pointer"));

        if (at && strcmp(at, pointer) == 0)
            return item;
    }
    return NULL;
}

START_TEST(refusals_name_every_fault)
{
    json_t *problem = contract_post("/estimate", refused[_i].status, refused[_i].request);
    const json_t *errors = json_object_get(problem, "errors");
    size_t count = 0;

    ck_assert_int_eq(contract_count(problem, "/status"), refused[_i].status);
    if (refused[_i].code)
        ck_assert_msg(strcmp(contract_text(problem, "/code"), refused[_i].code) == 0, "%s: %s", refused[_i].request,
                      contract_text(problem, "/code"));
    for (; count < COUNT_OF(refused[_i].items) && refused[_i].items[count][0]; count++) {
        const char *const *expected = refused[_i].items[count];
        const json_t *item = item_at(errors, expected[0]);

        ck_assert_msg(item != NULL, "%s: nothing at %s", refused[_i].request, expected[0]);
        ck_assert_str_eq(contract_text(item, "/code"), expected[1]);
        if (expected[2])
            ck_assert_str_eq(contract_text(item, "/suggestion"), expected[2]);
    }
    if (count > 0)
        ck_assert_uint_eq(json_array_size(errors), count);
    json_decref(problem);
}
END_TEST

START_TEST(more_than_64_faults_are_counted)
{
    char body[4096] = "{\"model\":\"llama-3-8b\"";
    json_t *problem;

    for (int i = 0; i < 70; i++)
        (void)snprintf(body + strlen(body), sizeof body - strlen(body), ",\"wrong_%d\":1", i);
    (void)snprintf(body + strlen(body), sizeof body - strlen(body), "}");
    problem = contract_post("/estimate", 422, body);
    ck_assert_uint_eq(json_array_size(json_object_get(problem, "errors")), 64);
    ck_assert_int_eq(contract_count(problem, "/more_errors"), 6);
    json_decref(problem);
}
END_TEST

int
main(void)
{
    TCase *tcase = tcase_create("refusals");

    tcase_set_timeout(tcase, 60);
    tcase_add_unchecked_fixture(tcase, contract_start, contract_stop);
    tcase_add_loop_test(tcase, refusals_name_every_fault, 0, COUNT_OF(refused));
    tcase_add_test(tcase, more_than_64_faults_are_counted);
    return suite_run("refusals", tcase);
}
