/* Adapters' files: base, rank, and the targets that hold what they adapt. */
#include "service/model/adapter.h"

#include <stdio.h>

#include <string.h>

#include "service/model/arch.h"
#include "tests/support/model_rows.h"
#include "tests/support/suite.h"

static struct fault fault;
static bool used[MAX_FACTS];

/* Names between blanks, as they stand in target_modules; "!" in front: one text instead of a list. */
static const struct {
    const char *modules;
    enum lora_targets targets;
    bool exact;
} rows[] = {
    { "q_proj v_proj", LORA_QUERY_VALUE, true },
    { "v_proj q_proj", LORA_QUERY_VALUE, true },
    { "q_proj", LORA_QUERY_VALUE, false },
    { "q_proj k_proj v_proj o_proj", LORA_ATTENTION, true },
    { "q_proj k_proj v_proj", LORA_ATTENTION, false },
    { "query_key_value", LORA_ATTENTION, false },
    { "query_key_value dense dense_h_to_4h dense_4h_to_h", LORA_ALL_LINEAR, true },
    { "q_proj k_proj v_proj o_proj gate_proj up_proj down_proj", LORA_ALL_LINEAR, true },
    { "qkv_proj o_proj gate_up_proj down_proj", LORA_ALL_LINEAR, true },
    { "gate_proj up_proj down_proj", LORA_ALL_LINEAR, false },
    { "q_proj v_proj lm_head", LORA_ALL_LINEAR, false },
    { "model.layers.0.self_attn.q_proj model.layers.0.self_attn.v_proj", LORA_QUERY_VALUE, true },
    { "!all-linear", LORA_ALL_LINEAR, true },
    { "!.*_proj", LORA_ALL_LINEAR, false },
};

static struct adapter adapter;

/* A file with these modules, one more fact, and a rank of 16. */
static bool
read_with(const char *modules, const struct fact *more)
{
    static char names[16][64], paths[16][32];
    static struct fact items[32];
    size_t count = 0, listed = 0;

    items[count++] = model_row_fact("/base_model_name_or_path", "text", "meta-llama/Llama-3.1-8B");
    if (more != NULL && strcmp(more->path, "/r") < 0)
        items[count++] = *more;
    if (more == NULL || strcmp(more->path, "/r") != 0)
        items[count++] = model_row_fact("/r", "integer", "16");
    else
        items[count++] = *more;
    if (modules != NULL && modules[0] == '!') {
        items[count++] = model_row_fact("/target_modules", "text", modules + 1);
    } else if (modules != NULL) {
        struct fact *list = &items[count++];

        while (*modules != '\0') {
            size_t length = strcspn(modules, " ");

            (void)snprintf(names[listed], sizeof(names[0]), "%.*s", (int)length, modules);
            (void)snprintf(paths[listed], sizeof(paths[0]), "/target_modules/%zu", listed);
            items[count++] = model_row_fact(paths[listed], "text", names[listed]);
            listed++;
            modules += length + (modules[length] == ' ');
        }
        *list = (struct fact){ .path = "/target_modules", .kind = FACT_LIST, .integer = (int64_t)listed };
    }
    struct facts facts = model_row_facts(items, count, used);
    fault_clear(&fault);
    return adapter_read(&facts, "/model/config", &adapter, &fault);
}

START_TEST(targets_hold_what_is_adapted)
{
    ck_assert(read_with(rows[_i].modules, NULL));
    ck_assert(!fault_any(&fault));
    ck_assert_str_eq(adapter.base, "meta-llama/Llama-3.1-8B");
    ck_assert_uint_eq(adapter.rank, 16);
    ck_assert_msg(adapter.targets == rows[_i].targets && adapter.exact == rows[_i].exact, "%s: %d %d", rows[_i].modules,
                  adapter.targets, adapter.exact);
}
END_TEST

START_TEST(more_than_matrices_is_told)
{
    struct fact saved = model_row_fact("/modules_to_save", "list", "2");
    struct fact none = model_row_fact("/modules_to_save", "list", "0");
    struct fact kind = model_row_fact("/peft_type", "text", "IA3");
    struct fact lora = model_row_fact("/peft_type", "text", "LORA");
    struct fact rank = model_row_fact("/r", "integer", "0");

    ck_assert(read_with("q_proj v_proj", &saved) && !adapter.exact && !fault_any(&fault));
    ck_assert(read_with("q_proj v_proj", &none) && adapter.exact);
    ck_assert(read_with("q_proj v_proj", &lora) && !fault_any(&fault));
    ck_assert(read_with("q_proj v_proj", &kind));
    ck_assert_str_eq(fault.items[0].pointer, "/model/config/peft_type");
    ck_assert(read_with("q_proj v_proj", &rank));
    ck_assert_str_eq(fault.items[0].pointer, "/model/config/r");
    ck_assert(!read_with(NULL, NULL)); /* a base and a rank alone are no adapter's file */
}
END_TEST

/* 6,815,744 on query and value of Llama-3-8B at rank 16, as peft's print_trainable_parameters() says. */
START_TEST(parameters_are_those_that_peft_prints)
{
    const struct model_row *row = model_row_of("llama-3-8b");
    static struct model_arch arch;
    static struct notices notices;
    struct facts facts;

    ck_assert(read_with("q_proj v_proj", NULL));
    facts = model_row_facts(row->facts, row->fact_count, used);
    ck_assert_int_eq(model_arch_read(&facts, "", &arch, &notices, &fault), STATUS_OK);
    ck_assert_uint_eq(lora_params_count(&arch, adapter.targets, adapter.rank), 6815744);
}
END_TEST

int
main(void)
{
    TCase *tcase = tcase_create("adapters");

    tcase_add_loop_test(tcase, targets_hold_what_is_adapted, 0, COUNT_OF(rows));
    tcase_add_test(tcase, more_than_matrices_is_told);
    tcase_add_test(tcase, parameters_are_those_that_peft_prints);
    return suite_run("adapters", tcase);
}
