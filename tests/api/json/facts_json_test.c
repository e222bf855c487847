#include "api/json/facts_json.h"

#include <string.h>

#include "service/base/text.h"
#include "tests/support/suite.h"

static struct fault fault;
static struct facts_store store;
static struct facts facts;
static json_t *config;

static enum status
flatten(const char *text)
{
    fault_clear(&fault);
    config = json_loads(text, JSON_DECODE_ANY, NULL);
    ck_assert_msg(config != NULL, "%s", text);
    facts_store_init(&store);
    return facts_flatten(config, "/model/config", &store, &facts, &fault);
}

static void
done(void)
{
    facts_store_done(&store);
    json_decref(config);
}

static void
check_sorted(void)
{
    for (size_t i = 1; i < facts.count; i++)
        ck_assert_msg(strcmp(facts.items[i - 1].path, facts.items[i].path) < 0, "%s before %s", facts.items[i - 1].path,
                      facts.items[i].path);
}

START_TEST(each_kind_becomes_a_fact)
{
    ck_assert_int_eq(flatten("{\"b\":true,\"i\":-5,\"r\":0.5,\"w\":32.0,\"big\":1e300,\"t\":\"x\",\"n\":null,"
                             "\"l\":[\"a\",\"b\"],\"o\":{\"k\":1}}"),
                     STATUS_OK);
    check_sorted();
    ck_assert_uint_eq(facts.count, 12);
    ck_assert_int_eq(facts_get(&facts, "/b")->kind, FACT_BOOL);
    ck_assert_int_eq(facts_get(&facts, "/b")->integer, 1);
    ck_assert_int_eq(facts_get(&facts, "/i")->kind, FACT_INTEGER);
    ck_assert_int_eq(facts_get(&facts, "/i")->integer, -5);
    ck_assert_double_eq(facts_get(&facts, "/i")->real, -5);
    ck_assert_int_eq(facts_get(&facts, "/r")->kind, FACT_REAL);
    ck_assert_double_eq(facts_get(&facts, "/r")->real, 0.5);
    ck_assert_int_eq(facts_get(&facts, "/w")->kind, FACT_INTEGER);
    ck_assert_int_eq(facts_get(&facts, "/w")->integer, 32);
    ck_assert_int_eq(facts_get(&facts, "/big")->kind, FACT_REAL);
    ck_assert_str_eq(facts_get(&facts, "/t")->text, "x");
    ck_assert_ptr_null(facts_get(&facts, "/n"));
    ck_assert_int_eq(facts_get(&facts, "/l")->kind, FACT_LIST);
    ck_assert_int_eq(facts_get(&facts, "/l")->integer, 2);
    ck_assert_str_eq(facts_get(&facts, "/l/1")->text, "b");
    ck_assert_int_eq(facts_get(&facts, "/o")->kind, FACT_OBJECT);
    ck_assert_int_eq(facts_get(&facts, "/o/k")->integer, 1);
    ck_assert_ptr_null(facts_get(&facts, "/absent"));
    done();
}
END_TEST

START_TEST(order_is_of_bytes_whatever_the_names)
{
    char text[2048] = "{\"a\":{\"z\":1},\"a-b\":2,\"a.b\":{\"c\":3},\"a/b\":4,\"a~b\":5,\"l\":[";

    for (int i = 0; i < 123; i++)
        strcat(text, i == 0 ? "0" : ",0");
    strcat(text, "],\"\":6,\"\U0001F600\":7,\"\uFB33\":8}");
    ck_assert_int_eq(flatten(text), STATUS_OK);
    check_sorted();
    ck_assert_int_eq(facts_get(&facts, "/a/z")->integer, 1);
    ck_assert_int_eq(facts_get(&facts, "/a~1b")->integer, 4);
    ck_assert_int_eq(facts_get(&facts, "/a~0b")->integer, 5);
    ck_assert_int_eq(facts_get(&facts, "/")->integer, 6);
    for (int i = 0; i < 123; i++) {
        char path[FACT_PATH_SIZE];

        text_format(path, sizeof path, "/l/%d", i);
        ck_assert_ptr_nonnull(facts_get(&facts, path));
    }
    done();
}
END_TEST

START_TEST(what_was_read_is_marked)
{
    ck_assert_int_eq(flatten("{\"a\":1,\"b\":2}"), STATUS_OK);
    facts_get(&facts, "/b");
    ck_assert(!facts.used[0]);
    ck_assert(facts.used[1]);
    done();
}
END_TEST

START_TEST(long_label_lists_stay_closed)
{
    json_t *labels = json_object();
    char *text;

    for (int i = 0; i < 21841; i++) { /* as many as ImageNet-21k has */
        char name[16];

        text_format(name, sizeof name, "%d", i);
        json_object_set_new(labels, name, json_string("label"));
    }
    config = json_pack("{s:o,s:i}", "id2label", labels, "hidden_size", 768);
    text = json_dumps(config, 0);
    json_decref(config);
    ck_assert_int_eq(flatten(text), STATUS_OK);
    ck_assert_uint_eq(facts.count, 2);
    ck_assert_int_eq(facts_get(&facts, "/id2label")->integer, 21841);
    free(text);
    done();
}
END_TEST

START_TEST(too_many_facts_are_refused)
{
    json_t *object = json_object(), *lists = json_array();
    char *text;

    for (int i = 0; i < 10; i++) {
        json_t *list = json_array();

        for (int j = 0; j < MAX_FACT_MODULES; j++)
            json_array_append_new(list, json_integer(j));
        json_array_append_new(lists, list);
    }
    json_object_set_new(object, "l", lists);
    text = json_dumps(object, 0);
    json_decref(object);
    ck_assert_int_eq(flatten(text), STATUS_FAULT);
    ck_assert_int_eq(fault.code, FAULT_TOO_MANY_ITEMS);
    ck_assert_str_eq(fault.items[0].pointer, "/model/config");
    free(text);
    done();
}
END_TEST

/* As many modules as a mixture of 61 layers names, each with an algorithm of its own, are all there. */
START_TEST(modules_are_listed_one_by_one)
{
    json_t *layers = json_object(), *ignored = json_array();
    char *text;

    for (int i = 0; i < 1200; i++) {
        char name[48];

        text_format(name, sizeof name, "model.layers.%d.mlp", i);
        json_object_set_new(layers, name, json_pack("{s:s}", "quant_algo", "FP8"));
        json_array_append_new(ignored, json_string(name));
    }
    config = json_pack("{s:o,s:o}", "ignore", ignored, "quantized_layers", layers);
    text = json_dumps(config, 0);
    json_decref(config);
    ck_assert_int_eq(flatten(text), STATUS_OK);
    ck_assert_uint_eq(facts.count, 2 + 1200 + 2 * 1200);
    ck_assert_str_eq(facts_get(&facts, "/quantized_layers/model.layers.1199.mlp/quant_algo")->text, "FP8");
    free(text);
    done();
}
END_TEST

START_TEST(depth_and_path_are_bounded)
{
    char text[4096] = "";

    for (int i = 0; i < 100; i++)
        strcat(text, "{\"0123456789\":");
    strcat(text, "1");
    for (int i = 0; i < 100; i++)
        strcat(text, "}");
    ck_assert_int_eq(flatten(text), STATUS_OK);
    ck_assert_uint_le(facts.count, MAX_FACT_DEPTH + 1);
    for (size_t i = 0; i < facts.count; i++)
        ck_assert_uint_lt(strlen(facts.items[i].path), FACT_PATH_SIZE);
    done();
}
END_TEST

START_TEST(only_an_object_is_a_config)
{
    ck_assert_int_eq(flatten("[1]"), STATUS_FAULT);
    ck_assert_int_eq(fault.code, FAULT_WRONG_TYPE);
    ck_assert_str_eq(fault.items[0].pointer, "/model/config");
    done();
    ck_assert_int_eq(flatten("{}"), STATUS_OK);
    ck_assert_uint_eq(facts.count, 0);
    done();
}
END_TEST

int
main(void)
{
    TCase *tcase = tcase_create("facts");

    tcase_add_test(tcase, each_kind_becomes_a_fact);
    tcase_add_test(tcase, order_is_of_bytes_whatever_the_names);
    tcase_add_test(tcase, what_was_read_is_marked);
    tcase_add_test(tcase, long_label_lists_stay_closed);
    tcase_add_test(tcase, too_many_facts_are_refused);
    tcase_add_test(tcase, modules_are_listed_one_by_one);
    tcase_add_test(tcase, depth_and_path_are_bounded);
    tcase_add_test(tcase, only_an_object_is_a_config);
    return suite_run("facts_json", tcase);
}
