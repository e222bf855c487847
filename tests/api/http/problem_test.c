/* Problems: every member of RFC 9457 and ours, in both languages, for every code. */
#include "api/http/problem.h"

#include <jansson.h>
#include <string.h>

#include "api/i18n/message.h"
#include "tests/support/suite.h"

static struct fault fault;

static json_t *
problem(enum language language)
{
    struct buffer *out = buffer_take();
    json_t *parsed;

    problem_write(out, &fault, language, "0123456789abcdef");
    ck_assert(!out->failed);
    parsed = json_loadb(out->bytes, out->size, JSON_REJECT_DUPLICATES, NULL);
    ck_assert_ptr_nonnull(parsed);
    buffer_give(out);
    return parsed;
}

static const char *
text(const json_t *object, const char *name)
{
    return json_string_value(json_object_get(object, name));
}

START_TEST(every_code_has_its_sentences)
{
    enum fault_code code = (enum fault_code)_i;

    for (int language = 0; language < LANGUAGE_COUNT; language++) {
        json_t *parsed;
        char id[64];

        fault_clear(&fault);
        fault.code = code;
        parsed = problem((enum language)language);
        ck_assert_int_eq(json_integer_value(json_object_get(parsed, "status")), problem_status(code));
        ck_assert_str_eq(text(parsed, "code"), fault_code_name(code));
        ck_assert_ptr_eq(strstr(text(parsed, "type"), "/problems/"), text(parsed, "type"));
        ck_assert_str_eq(text(parsed, "type") + strlen("/problems/"), fault_code_name(code));
        ck_assert_str_eq(text(parsed, "request_id"), "0123456789abcdef");
        (void)snprintf(id, sizeof id, "title.%s", fault_code_name(code));
        ck_assert_str_ne(text(parsed, "title"), id); /* what an unknown id would be written as */
        (void)snprintf(id, sizeof id, "fault.%s", fault_code_name(code));
        ck_assert_str_ne(text(parsed, "detail"), id);
        ck_assert_ptr_null(json_object_get(parsed, "errors"));
        json_decref(parsed);
    }
}
END_TEST

START_TEST(all_faults_at_once)
{
    json_t *parsed, *errors, *first, *second;

    fault_clear(&fault);
    fault_add(&fault, FAULT_UNKNOWN_MEMBER, "/training/metod", "metod", NULL, "method");
    fault_add(&fault, FAULT_OUT_OF_RANGE, "/training/epochs", "-1", "number 0..1000", NULL);
    fault.items[1].is_parameter = true;
    parsed = problem(LANGUAGE_EN);
    errors = json_object_get(parsed, "errors");
    ck_assert_uint_eq(json_array_size(errors), 2);
    first = json_array_get(errors, 0);
    second = json_array_get(errors, 1);
    ck_assert_str_eq(text(first, "pointer"), "/training/metod");
    ck_assert_str_eq(text(first, "code"), "unknown_member");
    ck_assert_str_eq(text(first, "suggestion"), "method");
    ck_assert_ptr_null(json_object_get(first, "expected"));
    ck_assert_str_eq(text(second, "parameter"), "/training/epochs");
    ck_assert_str_eq(text(second, "expected"), "number 0..1000");
    ck_assert_str_eq(text(second, "value"), "-1");
    ck_assert_ptr_null(json_object_get(second, "suggestion"));
    ck_assert_str_eq(text(parsed, "code"), "unknown_member"); /* the first decides */
    ck_assert_int_eq(json_integer_value(json_object_get(parsed, "status")), 422);
    ck_assert_ptr_null(json_object_get(parsed, "more_errors"));
    json_decref(parsed);
}
END_TEST

START_TEST(too_many_faults_are_counted)
{
    json_t *parsed;

    fault_clear(&fault);
    for (int i = 0; i < MAX_FAULT_ITEMS + 3; i++)
        fault_add(&fault, FAULT_UNKNOWN_MEMBER, "/x", NULL, NULL, NULL);
    parsed = problem(LANGUAGE_ZH_CN);
    ck_assert_uint_eq(json_array_size(json_object_get(parsed, "errors")), 64); /* the contract's number */
    ck_assert_int_eq(json_integer_value(json_object_get(parsed, "more_errors")), 3);
    json_decref(parsed);
}
END_TEST

START_TEST(language_changes_only_sentences)
{
    json_t *english, *chinese;

    fault_clear(&fault);
    fault_add(&fault, FAULT_MISSING_MEMBER, "/model", NULL, NULL, NULL);
    english = problem(LANGUAGE_EN);
    chinese = problem(LANGUAGE_ZH_CN);
    ck_assert_str_ne(text(english, "title"), text(chinese, "title"));
    ck_assert_str_ne(text(english, "detail"), text(chinese, "detail"));
    json_object_del(english, "title");
    json_object_del(chinese, "title");
    json_object_del(english, "detail");
    json_object_del(chinese, "detail");
    json_object_del(json_array_get(json_object_get(english, "errors"), 0), "detail");
    json_object_del(json_array_get(json_object_get(chinese, "errors"), 0), "detail");
    ck_assert(json_equal(english, chinese));
    json_decref(english);
    json_decref(chinese);
}
END_TEST

START_TEST(no_code_is_our_own_fault)
{
    json_t *parsed;

    fault_clear(&fault);
    parsed = problem(LANGUAGE_EN);
    ck_assert_int_eq(json_integer_value(json_object_get(parsed, "status")), 500);
    ck_assert_str_eq(text(parsed, "code"), "internal");
    json_decref(parsed);
}
END_TEST

int
main(void)
{
    TCase *tcase = tcase_create("problem");

    tcase_add_loop_test(tcase, every_code_has_its_sentences, FAULT_NONE + 1, FAULT_COUNT);
    tcase_add_test(tcase, all_faults_at_once);
    tcase_add_test(tcase, too_many_faults_are_counted);
    tcase_add_test(tcase, language_changes_only_sentences);
    tcase_add_test(tcase, no_code_is_our_own_fault);
    return suite_run("problem", tcase);
}
