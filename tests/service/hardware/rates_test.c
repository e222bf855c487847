/* Constants by name and device families by name: each is reached, no two share a place. */
#include "service/hardware/rates.h"

#include <string.h>

#include "service/hardware/gpu.h"
#include "tests/support/suite.h"

START_TEST(each_constant_has_a_place_of_its_own)
{
    struct rates rates;

    memset(&rates, 0, sizeof(rates));
    ck_assert_uint_eq(rates_count() * sizeof(double), sizeof(rates));
    for (size_t i = 0; i < rates_count(); i++)
        ck_assert(rates_set(&rates, rates_name(i), (double)i + 1));
    for (size_t i = 0; i < rates_count(); i++)
        ck_assert_double_eq(*rates_at(&rates, i), (double)i + 1);
}
END_TEST

START_TEST(unknown_constants_change_nothing)
{
    struct rates rates, before;

    memset(&rates, 0, sizeof(rates));
    before = rates;
    ck_assert(!rates_set(&rates, "no.such.rate", 1));
    ck_assert(!rates_set(&rates, "", 1));
    ck_assert_mem_eq(&rates, &before, sizeof(rates));
}
END_TEST

START_TEST(families_are_read_as_they_are_written)
{
    for (int i = 0; i < GPU_FAMILY_COUNT; i++) {
        enum gpu_family family = GPU_FAMILY_COUNT;

        ck_assert(gpu_family_parse(gpu_family_name((enum gpu_family)i), &family));
        ck_assert_int_eq((int)family, i);
    }
}
END_TEST

START_TEST(unknown_families_are_refused)
{
    enum gpu_family family = GPU_FAMILY_HOPPER;

    ck_assert(!gpu_family_parse("Hopper", &family));
    ck_assert(!gpu_family_parse("", &family));
    ck_assert_int_eq(family, GPU_FAMILY_HOPPER);
    ck_assert(gpu_family_is_measured(GPU_FAMILY_HOPPER));
    ck_assert(!gpu_family_is_measured(GPU_FAMILY_ASCEND));
    ck_assert(!gpu_family_is_measured(GPU_FAMILY_CDNA));
}
END_TEST

int
main(void)
{
    TCase *tcase = tcase_create("rates");

    tcase_add_test(tcase, each_constant_has_a_place_of_its_own);
    tcase_add_test(tcase, unknown_constants_change_nothing);
    tcase_add_test(tcase, families_are_read_as_they_are_written);
    tcase_add_test(tcase, unknown_families_are_refused);
    return suite_run("rates", tcase);
}
