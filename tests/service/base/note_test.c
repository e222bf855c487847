#include "service/base/note.h"

#include <string.h>

#include "service/base/text.h"
#include "tests/support/suite.h"

START_TEST(codes_have_names_of_their_own)
{
    for (int i = NOTICE_NONE + 1; i < NOTICE_COUNT; i++) {
        ck_assert_uint_gt(strlen(notice_code_name((enum notice_code)i)), 0);
        for (int j = NOTICE_NONE + 1; j < i; j++)
            ck_assert_str_ne(notice_code_name((enum notice_code)i), notice_code_name((enum notice_code)j));
    }
    ck_assert_str_eq(notice_code_name(NOTICE_FP8_IS_WEIGHT_ONLY), "fp8_is_weight_only");
    ck_assert_int_eq(notice_severity(NOTICE_OVERLOADED_ARRIVALS), SEVERITY_CRITICAL);
    ck_assert_int_eq(notice_severity(NOTICE_TENSOR_ACROSS_NODES), SEVERITY_WARNING);
    ck_assert_int_eq(notice_severity(NOTICE_NAN_READ_AS_NULL), SEVERITY_INFO);
}
END_TEST

START_TEST(same_remark_at_the_same_place_is_added_once)
{
    static struct notices notices;
    struct notice *first = notice_add(&notices, NOTICE_GPU_NOT_MEASURED, "/hardware/gpu");

    first->number[0] = 7;
    ck_assert_ptr_eq(notice_add(&notices, NOTICE_GPU_NOT_MEASURED, "/hardware/gpu"), first);
    ck_assert_double_eq(first->number[0], 7);
    ck_assert_ptr_ne(notice_add(&notices, NOTICE_GPU_NOT_MEASURED, ""), first);
    ck_assert_ptr_ne(notice_add(&notices, NOTICE_PRICE_IS_RANGE, "/hardware/gpu"), first);
    ck_assert_uint_eq(notices.count, 3);
    ck_assert_str_eq(notices.items[0].pointer, "/hardware/gpu");
    ck_assert_str_eq(notices.items[1].pointer, "");
}
END_TEST

START_TEST(long_pointers_are_still_the_same)
{
    static struct notices notices;
    char pointer[2 * NOTE_POINTER_SIZE];
    struct notice *first;

    memset(pointer, 'p', sizeof pointer - 1);
    pointer[sizeof pointer - 1] = '\0';
    first = notice_add(&notices, NOTICE_PRICE_IS_RANGE, pointer);
    ck_assert_uint_eq(strlen(first->pointer), NOTE_POINTER_SIZE - 1);
    ck_assert_ptr_eq(notice_add(&notices, NOTICE_PRICE_IS_RANGE, pointer), first);
}
END_TEST

START_TEST(one_too_many_is_lent_and_counted)
{
    static struct notices notices;
    struct notice *lost;

    for (int i = 0; i < MAX_NOTES; i++) {
        char pointer[16];

        text_format(pointer, sizeof pointer, "/%d", i);
        notice_add(&notices, NOTICE_PRICE_IS_RANGE, pointer);
    }
    lost = notice_add(&notices, NOTICE_PRICE_UNDATED, "/x");
    ck_assert_ptr_nonnull(lost);
    lost->number[3] = 1;
    ck_assert_uint_eq(notices.count, MAX_NOTES);
    ck_assert_uint_eq(notices.dropped, 1);
    ck_assert_str_eq(notices.items[MAX_NOTES - 1].pointer, "/47");
}
END_TEST

int
main(void)
{
    TCase *tcase = tcase_create("note");

    tcase_add_test(tcase, codes_have_names_of_their_own);
    tcase_add_test(tcase, same_remark_at_the_same_place_is_added_once);
    tcase_add_test(tcase, long_pointers_are_still_the_same);
    tcase_add_test(tcase, one_too_many_is_lent_and_counted);
    return suite_run("note", tcase);
}
