#include "api/json/field.h"

#include <math.h>
#include <string.h>

#include "service/base/money.h"
#include "service/job/job.h"
#include "tests/support/suite.h"

enum color { COLOR_UNSAID = 0, COLOR_RED, COLOR_GREEN, COLOR_BLUE };
static const char *const color_names[] = { NULL, "red", "green", "blue_green" };

struct inner {
    uint32_t rank;
};

struct target {
    uint32_t count;
    uint64_t bytes;
    double ratio;
    enum flag spot;
    enum color color;
    char name[8];
    struct money budget;
    bool has_inner;
    struct inner inner;
    struct text_list regions;
    uint32_t colors;
    const json_t *anything;
};

static const struct field inner_fields[] = {
    { .name = "rank",
      .kind = FIELD_U32,
      .offset = offsetof(struct inner, rank),
      .min = 1,
      .max = 8,
      .flags = FIELD_REQUIRED },
};
static const struct field_table inner_table = { "Inner", inner_fields, COUNT_OF(inner_fields) };

#define AT(member) .offset = offsetof(struct target, member)

static const struct field fields[] = {
    { .name = "count", .kind = FIELD_U32, AT(count), .min = 1, .max = 1024, .flags = FIELD_REQUIRED },
    { .name = "bytes", .kind = FIELD_U64, AT(bytes), .min = 0, .max = 9.3e18 },
    { .name = "ratio", .kind = FIELD_REAL, AT(ratio), .min = 0, .max = 1 },
    { .name = "spot", .kind = FIELD_BOOL, AT(spot) },
    { .name = "color", .kind = FIELD_ENUM, AT(color), .names = color_names, .name_count = 4 },
    { .name = "name", .kind = FIELD_TEXT, AT(name), .max = sizeof(((struct target *)NULL)->name) },
    { .name = "budget", .kind = FIELD_MONEY, AT(budget) },
    { .name = "inner",
      .kind = FIELD_OBJECT,
      AT(inner),
      .table = &inner_table,
      .present_offset = offsetof(struct target, has_inner) },
    { .name = "regions", .kind = FIELD_TEXTS, AT(regions), .max = 3 },
    { .name = "colors", .kind = FIELD_ENUMS, AT(colors), .names = color_names, .name_count = 4 },
    { .name = "anything", .kind = FIELD_ANY, AT(anything) },
    { .name = "planned", .kind = FIELD_U32, .flags = FIELD_IN_SCHEMA_ONLY },
};
static const struct field_table table = { "Target", fields, COUNT_OF(fields) };

static struct fault fault;
static json_t *document;

/* Reads a body under "/job"; the document lives until finish(). */
static struct target
read_text(const char *text)
{
    struct target target = { .count = 0 };

    fault_clear(&fault);
    document = json_loads(text, JSON_DECODE_ANY, NULL);
    ck_assert_msg(document != NULL, "%s", text);
    fields_read(&table, document, "/job", &target, &fault);
    return target;
}

static void
finish(void)
{
    json_decref(document);
    document = NULL;
}

START_TEST(every_kind_is_read)
{
    struct target target = read_text(
        "{\"count\":7.0,\"bytes\":9007199254740993,\"ratio\":1,\"spot\":false,\"color\":\"green\",\"name\":\"1234567\","
        "\"budget\":{\"amount\":\"12.5\",\"currency\":\"CNY\"},\"inner\":{\"rank\":8},"
        "\"regions\":[\"a\",\"b\"],\"colors\":[\"red\",\"blue_green\"],\"anything\":[1]}");

    ck_assert(!fault_any(&fault));
    ck_assert_uint_eq(target.count, 7);
    ck_assert_uint_eq(target.bytes, 9007199254740993); /* 2^53 + 1: no double on the way */
    ck_assert_double_eq(target.ratio, 1);
    ck_assert_int_eq(target.spot, FLAG_NO);
    ck_assert_int_eq(target.color, COLOR_GREEN);
    ck_assert_str_eq(target.name, "1234567");
    ck_assert_int_eq(target.budget.micros, 12500000);
    ck_assert_int_eq(target.budget.currency, CURRENCY_CNY);
    ck_assert(target.has_inner);
    ck_assert_uint_eq(target.inner.rank, 8);
    ck_assert_uint_eq(target.regions.count, 2);
    ck_assert_str_eq(target.regions.items[1], "b");
    ck_assert_uint_eq(target.colors, 1 << COLOR_RED | 1 << COLOR_BLUE);
    ck_assert(json_is_array(target.anything));
    finish();
}
END_TEST

START_TEST(null_counts_as_absent)
{
    struct target target = read_text("{\"count\":1,\"inner\":null,\"ratio\":null,\"budget\":null,\"anything\":null}");

    ck_assert(!fault_any(&fault));
    ck_assert(!target.has_inner);
    ck_assert_ptr_null(target.anything);
    finish();
}
END_TEST

/* One rule broken a row, in a body that is right otherwise. */
static const struct {
    const char *body;
    enum fault_code code;
    const char *pointer, *expected, *suggestion;
} broken[] = {
    { "{}", FAULT_MISSING_MEMBER, "/job/count", "integer 1..1024", "" },
    { "{\"count\":null}", FAULT_MISSING_MEMBER, "/job/count", "integer 1..1024", "" },
    { "[]", FAULT_WRONG_TYPE, "/job", "object", "" },
    { "{\"count\":0}", FAULT_OUT_OF_RANGE, "/job/count", "integer 1..1024", "" },
    { "{\"count\":1025}", FAULT_OUT_OF_RANGE, "/job/count", "integer 1..1024", "" },
    { "{\"count\":-1}", FAULT_OUT_OF_RANGE, "/job/count", "integer 1..1024", "" },
    { "{\"count\":1e30}", FAULT_OUT_OF_RANGE, "/job/count", "integer 1..1024", "" },
    { "{\"count\":1.5}", FAULT_WRONG_TYPE, "/job/count", "integer 1..1024", "" },
    { "{\"count\":\"8\"}", FAULT_WRONG_TYPE, "/job/count", "integer 1..1024", "8" },
    { "{\"count\":true}", FAULT_WRONG_TYPE, "/job/count", "integer 1..1024", "" },
    { "{\"count\":1,\"bytes\":-1}", FAULT_OUT_OF_RANGE, "/job/bytes", "integer >= 0", "" },
    { "{\"count\":1,\"ratio\":1.01}", FAULT_OUT_OF_RANGE, "/job/ratio", "number 0..1", "" },
    { "{\"count\":1,\"ratio\":false}", FAULT_WRONG_TYPE, "/job/ratio", "number 0..1", "" },
    { "{\"count\":1,\"ratio\":\"50%\"}", FAULT_WRONG_TYPE, "/job/ratio", "number 0..1", "" },
    { "{\"count\":1,\"spot\":\"true\"}", FAULT_WRONG_TYPE, "/job/spot", "true|false", "true" },
    { "{\"count\":1,\"spot\":1}", FAULT_WRONG_TYPE, "/job/spot", "true|false", "" },
    { "{\"count\":1,\"color\":\"gren\"}", FAULT_UNKNOWN_VALUE, "/job/color", "one of red|green|blue_green", "green" },
    { "{\"count\":1,\"color\":\"Red\"}", FAULT_UNKNOWN_VALUE, "/job/color", "one of red|green|blue_green", "red" },
    { "{\"count\":1,\"color\":\"\"}", FAULT_UNKNOWN_VALUE, "/job/color", "one of red|green|blue_green", "" },
    { "{\"count\":1,\"color\":1}", FAULT_WRONG_TYPE, "/job/color", "one of red|green|blue_green", "" },
    { "{\"count\":1,\"name\":\"12345678\"}", FAULT_OUT_OF_RANGE, "/job/name", "string of at most 7 bytes", "" },
    { "{\"count\":1,\"name\":5}", FAULT_WRONG_TYPE, "/job/name", "string of at most 7 bytes", "" },
    { "{\"count\":1,\"inner\":[]}", FAULT_WRONG_TYPE, "/job/inner", "object", "" },
    { "{\"count\":1,\"inner\":{}}", FAULT_MISSING_MEMBER, "/job/inner/rank", "integer 1..8", "" },
    { "{\"count\":1,\"inner\":{\"rank\":9}}", FAULT_OUT_OF_RANGE, "/job/inner/rank", "integer 1..8", "" },
    { "{\"count\":1,\"inner\":{\"rank\":1,\"ran\":2}}", FAULT_UNKNOWN_MEMBER, "/job/inner/ran", "one of rank", "rank" },
    { "{\"count\":1,\"regions\":\"x\"}", FAULT_WRONG_TYPE, "/job/regions", "array of strings", "[\"x\"]" },
    { "{\"count\":1,\"regions\":[\"a\",2]}", FAULT_WRONG_TYPE, "/job/regions/1", "string", "" },
    { "{\"count\":1,\"regions\":[\"a\",\"b\",\"c\",\"d\"]}", FAULT_TOO_MANY_ITEMS, "/job/regions", "3", "" },
    { "{\"count\":1,\"colors\":[\"red\",\"bleu_green\"]}", FAULT_UNKNOWN_VALUE, "/job/colors/1",
      "one of red|green|blue_green", "blue_green" },
    { "{\"count\":1,\"colors\":[null]}", FAULT_WRONG_TYPE, "/job/colors/0", "one of red|green|blue_green", "" },
    { "{\"count\":1,\"colour\":\"red\"}", FAULT_UNKNOWN_MEMBER, "/job/colour", NULL, "color" },
    { "{\"count\":1,\"colour\":null}", FAULT_UNKNOWN_MEMBER, "/job/colour", NULL, "color" },
    { "{\"count\":1,\"a/b~c\":1}", FAULT_UNKNOWN_MEMBER, "/job/a~1b~0c", NULL, "" },
    { "{\"count\":1,\"planned\":1}", FAULT_UNKNOWN_MEMBER, "/job/planned", NULL, "" },
    { "{\"count\":1,\"budget\":500}", FAULT_WRONG_TYPE, "/job/budget", NULL,
      "{\"amount\": \"500\", \"currency\": \"CNY\"}" },
    { "{\"count\":1,\"budget\":{\"amount\":500,\"currency\":\"CNY\"}}", FAULT_WRONG_TYPE, "/job/budget/amount", NULL,
      "\"500\"" },
    { "{\"count\":1,\"budget\":{\"amount\":12.5,\"currency\":\"CNY\"}}", FAULT_WRONG_TYPE, "/job/budget/amount", NULL,
      "\"12.5\"" },
    { "{\"count\":1,\"budget\":{\"amount\":\"12,5\",\"currency\":\"CNY\"}}", FAULT_WRONG_TYPE, "/job/budget/amount",
      NULL, "" },
    { "{\"count\":1,\"budget\":{\"amount\":\"-1\",\"currency\":\"CNY\"}}", FAULT_OUT_OF_RANGE, "/job/budget/amount",
      NULL, "" },
    { "{\"count\":1,\"budget\":{\"amount\":\"1\",\"currency\":\"cny\"}}", FAULT_UNKNOWN_VALUE, "/job/budget/currency",
      NULL, "CNY" },
    { "{\"count\":1,\"budget\":{\"amount\":\"1\",\"currency\":5}}", FAULT_WRONG_TYPE, "/job/budget/currency", NULL,
      "" },
    { "{\"count\":1,\"budget\":{\"amount\":\"1\"}}", FAULT_MISSING_MEMBER, "/job/budget/currency", NULL, "" },
    { "{\"count\":1,\"budget\":{\"currency\":\"CNY\",\"amount\":null}}", FAULT_MISSING_MEMBER, "/job/budget/amount",
      NULL, "" },
    { "{\"count\":1,\"budget\":{\"currency\":\"CNY\",\"amount\":\"1\",\"amout\":1}}", FAULT_UNKNOWN_MEMBER,
      "/job/budget/amout", NULL, "amount" },
};

START_TEST(each_rule_refuses)
{
    const struct fault_item *item = &fault.items[0];

    read_text(broken[_i].body);
    ck_assert_msg(fault.item_count == 1, "%s: %zu faults", broken[_i].body, fault.item_count);
    ck_assert_msg(item->code == broken[_i].code, "%s: %s", broken[_i].body, fault_code_name(item->code));
    ck_assert_str_eq(item->pointer, broken[_i].pointer);
    if (broken[_i].expected)
        ck_assert_str_eq(item->expected, broken[_i].expected);
    ck_assert_msg(strcmp(item->suggestion, broken[_i].suggestion) == 0, "%s: %s", broken[_i].body, item->suggestion);
    finish();
}
END_TEST

START_TEST(all_faults_come_at_once)
{
    read_text("{\"count\":0,\"ratio\":2,\"colour\":1,\"inner\":{\"rnk\":1},\"colors\":[\"x\",5],\"budget\":{}}");
    ck_assert_uint_eq(fault.item_count, 9);
    ck_assert_int_eq(fault.code, FAULT_OUT_OF_RANGE);
    finish();
}
END_TEST

START_TEST(more_faults_than_are_kept_are_counted)
{
    char body[4096] = "{\"count\":1";

    for (int i = 0; i < MAX_FAULT_ITEMS + 5; i++)
        snprintf(body + strlen(body), sizeof body - strlen(body), ",\"zz%d\":1", i);
    strcat(body, "}");
    read_text(body);
    ck_assert_uint_eq(fault.item_count, MAX_FAULT_ITEMS);
    ck_assert_uint_eq(fault.more_count, 5);
    finish();
}
END_TEST

START_TEST(long_lists_of_names_are_cut_between_names)
{
    static const char *const names[] = { "aaaaaaaaaaaaaaaaaaaaaaaaa", "bbbbbbbbbbbbbbbbbbbbbbbbbbbbb",
                                         "ccccccccccccccccccccccccccccc", "ddddddddddddddddddddddddd" };
    static const struct field long_field = { .name = "x", .kind = FIELD_ENUM, .names = names, .name_count = 4 };
    static const struct field_table long_table = { "Long", &long_field, 1 };
    json_t *body = json_loads("{\"x\":\"q\"}", 0, NULL);
    int target = 0;

    fault_clear(&fault);
    fields_read(&long_table, body, "", &target, &fault);
    ck_assert_str_eq(fault.items[0].expected, "one of aaaaaaaaaaaaaaaaaaaaaaaaa|bbbbbbbbbbbbbbbbbbbbbbbbbbbbb|...");
    json_decref(body);
}
END_TEST

int
main(void)
{
    TCase *tcase = tcase_create("field");

    tcase_add_test(tcase, every_kind_is_read);
    tcase_add_test(tcase, null_counts_as_absent);
    tcase_add_loop_test(tcase, each_rule_refuses, 0, COUNT_OF(broken));
    tcase_add_test(tcase, all_faults_come_at_once);
    tcase_add_test(tcase, more_faults_than_are_kept_are_counted);
    tcase_add_test(tcase, long_lists_of_names_are_cut_between_names);
    return suite_run("field", tcase);
}
