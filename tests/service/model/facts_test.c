/* Lookup, and the tables of keys that nobody reads. */
#include "service/model/facts.h"

#include <string.h>

#include "service/model/keys.h"
#include "tests/support/model_rows.h"
#include "tests/support/suite.h"

static const char *const harmless_keys[] = {
#include "service/model/harmless_keys.def"
};

START_TEST(finds_each_fact_and_marks_it)
{
    struct fact items[] = {
        model_row_fact("/a", "integer", "1"),
        model_row_fact("/a/0", "null", ""),
        model_row_fact("/b", "text", "x"),
        model_row_fact("/layer_types/10", "text", "y"),
        model_row_fact("/layer_types/2", "text", "z"),
    };
    bool used[COUNT_OF(items)];

    for (size_t i = 0; i < COUNT_OF(items); i++) {
        struct facts facts = model_row_facts(items, COUNT_OF(items), used);

        ck_assert_ptr_eq(facts_find(&facts, items[i].path), &items[i]);
        for (size_t j = 0; j < COUNT_OF(items); j++)
            ck_assert(used[j] == (i == j));
    }
    struct facts facts = model_row_facts(items, COUNT_OF(items), used);
    ck_assert_ptr_null(facts_get(&facts, "/a/0")); /* null counts as absent */
    ck_assert(used[1]);
    ck_assert_ptr_null(facts_get(&facts, "/c"));
    facts.count = 0;
    ck_assert_ptr_null(facts_get(&facts, "/a"));
}
END_TEST

START_TEST(harmless_keys_are_sorted_and_found)
{
    for (size_t i = 0; i < COUNT_OF(harmless_keys); i++) {
        ck_assert_msg(keys_harmless(harmless_keys[i]), "%s", harmless_keys[i]);
        if (i > 0)
            ck_assert_msg(strcmp(harmless_keys[i - 1], harmless_keys[i]) < 0, "%s", harmless_keys[i]);
    }
    ck_assert(!keys_harmless("hidden_size"));
    ck_assert(!keys_harmless(""));
}
END_TEST

/* Keys of published configs that no supported class has (configs of Gemma 3n and 4, DeepSeek-V4, MiMo-V2,
 * Nemotron-NAS). */
static const char *const size_keys[] = {
    "num_kv_shared_layers",
    "hidden_size_per_layer_input",
    "global_head_dim",
    "num_global_key_value_heads",
    "o_lora_rank",
    "compress_ratios",
    "swa_head_dim",
    "block_configs",
    "moe_latent_size",
    "attention_bias",
    "bias",
    "num_hash_layers",
    "add_cross_attention",
    "tie_encoder_decoder",
};

START_TEST(size_keys_are_never_passed_over)
{
    for (size_t i = 0; i < COUNT_OF(size_keys); i++) {
        ck_assert_msg(keys_speak_of_size(size_keys[i]), "%s", size_keys[i]);
        ck_assert_msg(!keys_harmless(size_keys[i]), "%s", size_keys[i]);
    }
    ck_assert(!keys_speak_of_size("favourite_colour"));
}
END_TEST

int
main(void)
{
    TCase *tcase = tcase_create("facts");

    tcase_add_test(tcase, finds_each_fact_and_marks_it);
    tcase_add_test(tcase, harmless_keys_are_sorted_and_found);
    tcase_add_test(tcase, size_keys_are_never_passed_over);
    return suite_run("model facts", tcase);
}
