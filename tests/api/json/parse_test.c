#include <string.h>

#include "api/json/field.h"
#include "service/base/text.h"
#include "tests/support/suite.h"

enum { MAX_DEPTH = 4 };

static struct fault fault;

static json_t *
parse(const char *text, bool *ret_nan)
{
    fault_clear(&fault);
    return json_parse(text, strlen(text), MAX_DEPTH, ret_nan, &fault);
}

static const struct {
    const char *text;
    enum fault_code code;
    const char *pointer, *value;
} refused[] = {
    { "", FAULT_MALFORMED_JSON, "", "line 1, column 0 (byte 0)" },
    { "{\"a\":1,}", FAULT_MALFORMED_JSON, "", "line 1, column 8 (byte 8)" },
    { "{\"a\":1,\n \"b\" 2}", FAULT_MALFORMED_JSON, "", "line 2, column 6 (byte 14)" },
    { "{\"\u663e\": x}", FAULT_MALFORMED_JSON, "", "line 1, column 7 (byte 9)" },
    { "{} {}", FAULT_MALFORMED_JSON, "", NULL },
    { "{\"a\":\"open", FAULT_MALFORMED_JSON, "", NULL },
    { "{\"a\":\"ends in \\", FAULT_MALFORMED_JSON, "", NULL },
    { "{\"a\":\"\xff\"}", FAULT_MALFORMED_JSON, "", NULL },
    { "{\"a\":\"\\u0000\"}", FAULT_MALFORMED_JSON, "", NULL },
    { "{\"a\":'x'}", FAULT_MALFORMED_JSON, "", NULL },
    { "{\"a\":-NaN}", FAULT_MALFORMED_JSON, "", NULL },
    { "{\"a\":NaNa}", FAULT_MALFORMED_JSON, "", NULL },
    { "{\"a\":1,\"a\":2}", FAULT_DUPLICATE_MEMBER, "/a", "a" },
    { "{\"t\":{\"x\":[0,{\"y\":1,\"z\":\"{\",\"y\":3}]}}", FAULT_DUPLICATE_MEMBER, "/t/x/1/y", "y" },
    { "{\"abcdefghijklmnopqrstuvwxyz\":\"}\",\"abcdefghijklmnopqrstuvwxyz\":1}", FAULT_DUPLICATE_MEMBER,
      "/abcdefghijklmnopqrstuvwxyz", "abcdefghijklmnopqrstuvwxyz" },
    { "{\"a/b\":1,\"a/b\":2}", FAULT_DUPLICATE_MEMBER, "/a~1b", NULL },
    { "{\"a\":9223372036854775808}", FAULT_NUMBER_TOO_LARGE, "/a", "9223372036854775808" },
    { "{\"b\":1,\"a\":[1,{\"c\":-99999999999999999999}]}", FAULT_NUMBER_TOO_LARGE, "/a/1/c", "-99999999999999999999" },
    { "{\"a\":1e400}", FAULT_NUMBER_TOO_LARGE, "/a", "1e400" },
    { "{\"a\":[[[[1]]]]}", FAULT_NESTED_TOO_DEEP, "", NULL },
    { "[1]", FAULT_WRONG_TYPE, "", "array" },
    { "5", FAULT_WRONG_TYPE, "", NULL },
    { "null", FAULT_WRONG_TYPE, "", NULL },
};

START_TEST(refusals_say_what_and_where)
{
    bool nan;

    ck_assert_msg(parse(refused[_i].text, &nan) == NULL, "%s", refused[_i].text);
    ck_assert_msg(fault.code == refused[_i].code, "%s: %s", refused[_i].text, fault_code_name(fault.code));
    ck_assert_uint_eq(fault.item_count, 1);
    ck_assert_str_eq(fault.items[0].pointer, refused[_i].pointer);
    if (refused[_i].value)
        ck_assert_str_eq(fault.items[0].value, refused[_i].value);
}
END_TEST

static const struct {
    const char *text, *same;
    bool nan;
} accepted[] = {
    { "{}", "{}", false },
    { " {\"a\" : [ 1 , 2.5 , null , true ] } \n", "{\"a\":[1,2.5,null,true]}", false },
    { "{\"a\":{\"b\":[[]]}}", "{\"a\":{\"b\":[[]]}}", false },
    { "\xEF\xBB\xBF{\"a\":1}", "{\"a\":1}", false },
    { "{\"a\":9223372036854775807,\"b\":-9223372036854775808}",
      "{\"a\":9223372036854775807,\"b\":-9223372036854775808}", false },
    { "{\"a\":NaN,\"b\":[NaN,Infinity,-Infinity],\"c\":-1}", "{\"a\":null,\"b\":[null,null,null],\"c\":-1}", true },
    { "{\"NaN\":\"Infinity, \\\"NaN\",\"b\":NaN}", "{\"NaN\":\"Infinity, \\\"NaN\",\"b\":null}", true },
    { "{\"NaN\":\"[[[[[[[[ -Infinity\"}", "{\"NaN\":\"[[[[[[[[ -Infinity\"}", false },
};

START_TEST(bodies_are_read)
{
    bool nan;
    json_t *read = parse(accepted[_i].text, &nan), *same = json_loads(accepted[_i].same, 0, NULL);

    ck_assert_msg(read != NULL, "%s", accepted[_i].text);
    ck_assert(!fault_any(&fault));
    ck_assert(json_equal(read, same));
    ck_assert_int_eq(nan, accepted[_i].nan);
    json_decref(read);
    json_decref(same);
}
END_TEST

START_TEST(places_are_those_of_the_text_that_was_sent)
{
    bool nan;

    ck_assert_ptr_null(parse("{\"a\":NaN,\n\"b\":[NaN,-Infinity,Infinity],\"c\":\"NaN\" x}", &nan));
    ck_assert_str_eq(fault.items[0].value, "line 2, column 40 (byte 50)");
    ck_assert_ptr_null(parse("{\"a\":NaN,\"b\":[NaN,99999999999999999999]}", &nan));
    ck_assert_str_eq(fault.items[0].pointer, "/b/1");
    ck_assert_str_eq(fault.items[0].value, "99999999999999999999");
    ck_assert_ptr_null(parse("{\"a\":NaN,\"b\":1,\"b\":2}", &nan));
    ck_assert_str_eq(fault.items[0].pointer, "/b");
}
END_TEST

/* Text that is malformed after a bare token, with a number as long as NaN in place of X. */
static const char *const malformed[] = {
    "{\"a\":X,\"b\":\"a long text with a \\q in it\"}",
    "{\"a\":X,\"b\":\"a long text with a \x01 in it\"}",
    "{\"a\":X,\"b\":\"a long text with a \xff in it\"}",
    "{\"a\":X,\"b\":\"a long text without an end",
    "{\"a\":[X,X],\"b\":}",
};

static void
append(char *to, size_t size, const char *text, int length)
{
    size_t at = strlen(to);

    text_format(to + at, size - at, "%.*s", length, text);
}

START_TEST(bare_tokens_do_not_move_places)
{
    char with_token[128] = "", with_number[128] = "", place[FAULT_TEXT_SIZE];
    bool nan;

    for (const char *at = malformed[_i]; *at; at++) {
        append(with_token, sizeof with_token, *at == 'X' ? "NaN" : at, *at == 'X' ? 3 : 1);
        append(with_number, sizeof with_number, *at == 'X' ? "123" : at, *at == 'X' ? 3 : 1);
    }
    ck_assert_ptr_null(parse(with_number, &nan));
    ck_assert_int_eq(fault.code, FAULT_MALFORMED_JSON);
    text_copy(place, sizeof place, fault.items[0].value);
    ck_assert_ptr_null(parse(with_token, &nan));
    ck_assert_int_eq(fault.code, FAULT_MALFORMED_JSON);
    ck_assert_str_eq(fault.items[0].value, place);
}
END_TEST

START_TEST(bytes_of_zero_are_refused)
{
    static const char text[] = "{\"a\":1}\0";
    bool nan;

    fault_clear(&fault);
    ck_assert_ptr_null(json_parse(text, sizeof text - 1, MAX_DEPTH, &nan, &fault));
    ck_assert_int_eq(fault.code, FAULT_MALFORMED_JSON);
}
END_TEST

START_TEST(pointers_escape_their_tokens)
{
    char pointer[16];

    pointer_join(pointer, sizeof pointer, "", "a");
    ck_assert_str_eq(pointer, "/a");
    pointer_join(pointer, sizeof pointer, "/a", "m~n/o");
    ck_assert_str_eq(pointer, "/a/m~0n~1o");
    pointer_join(pointer, sizeof pointer, "/a", "");
    ck_assert_str_eq(pointer, "/a/");
    pointer_join(pointer, sizeof pointer, "/0123456789", "abcdefgh");
    ck_assert_uint_lt(strlen(pointer), sizeof pointer);
    ck_assert(strncmp(pointer, "/0123456789/ab", 13) == 0);
    pointer_join(pointer, sizeof pointer, "/012345678901234567890", "a");
    ck_assert_str_eq(pointer, "/01234567890123");
}
END_TEST

int
main(void)
{
    TCase *tcase = tcase_create("parse");

    tcase_add_loop_test(tcase, refusals_say_what_and_where, 0, COUNT_OF(refused));
    tcase_add_loop_test(tcase, bodies_are_read, 0, COUNT_OF(accepted));
    tcase_add_test(tcase, places_are_those_of_the_text_that_was_sent);
    tcase_add_loop_test(tcase, bare_tokens_do_not_move_places, 0, COUNT_OF(malformed));
    tcase_add_test(tcase, bytes_of_zero_are_refused);
    tcase_add_test(tcase, pointers_escape_their_tokens);
    return suite_run("parse", tcase);
}
