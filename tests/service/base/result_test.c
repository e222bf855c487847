#include "service/base/result.h"

#include <string.h>

#include "tests/support/suite.h"

START_TEST(codes_have_names_of_their_own)
{
    for (int i = FAULT_NONE + 1; i < FAULT_COUNT; i++) {
        ck_assert_uint_gt(strlen(fault_code_name((enum fault_code)i)), 0);
        for (int j = FAULT_NONE + 1; j < i; j++)
            ck_assert_str_ne(fault_code_name((enum fault_code)i), fault_code_name((enum fault_code)j));
    }
    ck_assert_str_eq(fault_code_name(FAULT_NONE), "");
    ck_assert_str_eq(fault_code_name(FAULT_UNKNOWN_MEMBER), "unknown_member");
}
END_TEST

START_TEST(first_fault_decides)
{
    static struct fault fault;
    const struct fault_item *item;

    fault_clear(&fault);
    ck_assert(!fault_any(&fault));
    item = fault_add(&fault, FAULT_OUT_OF_RANGE, "/a", "5", "integer 1..4", NULL);
    fault_add(&fault, FAULT_WRONG_TYPE, "/b", NULL, NULL, NULL);
    ck_assert(fault_any(&fault));
    ck_assert_int_eq(fault.code, FAULT_OUT_OF_RANGE);
    ck_assert_uint_eq(fault.item_count, 2);
    ck_assert_str_eq(item->pointer, "/a");
    ck_assert_str_eq(item->value, "5");
    ck_assert_str_eq(item->expected, "integer 1..4");
    ck_assert_str_eq(item->suggestion, "");
    ck_assert(!item->is_parameter);
    fault_clear(&fault);
    ck_assert_uint_eq(fault.item_count, 0);
}
END_TEST

START_TEST(too_many_faults_are_counted)
{
    static struct fault fault;

    fault_clear(&fault);
    for (int i = 0; i < MAX_FAULT_ITEMS; i++)
        ck_assert_ptr_nonnull(fault_add(&fault, FAULT_WRONG_TYPE, "", NULL, NULL, NULL));
    ck_assert_ptr_null(fault_add(&fault, FAULT_WRONG_TYPE, "", NULL, NULL, NULL));
    ck_assert_uint_eq(fault.item_count, MAX_FAULT_ITEMS);
    ck_assert_uint_eq(fault.more_count, 1);
}
END_TEST

static enum status
fails_at_second(int *ret_calls)
{
    *ret_calls = 1;
    TRY(STATUS_OK);
    *ret_calls = 2;
    TRY(STATUS_FAULT);
    *ret_calls = 3;
    return STATUS_OK;
}

START_TEST(try_passes_a_fault_up)
{
    int calls;

    ck_assert_int_eq(fails_at_second(&calls), STATUS_FAULT);
    ck_assert_int_eq(calls, 2);
}
END_TEST

int
main(void)
{
    TCase *tcase = tcase_create("result");

    tcase_add_test(tcase, codes_have_names_of_their_own);
    tcase_add_test(tcase, first_fault_decides);
    tcase_add_test(tcase, too_many_faults_are_counted);
    tcase_add_test(tcase, try_passes_a_fault_up);
    return suite_run("result", tcase);
}
