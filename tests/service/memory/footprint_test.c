/* Sums and the verdict's borders. */
#include "service/memory/footprint.h"

#include "tests/support/suite.h"

static struct footprint
of_parts(double allocated, double beside, double slack)
{
    struct footprint footprint = { .band_low = 0.9, .band_high = 1.1 };

    (void)footprint_add(&footprint, PART_WEIGHTS, allocated / 2);
    (void)footprint_add(&footprint, PART_ACTIVATIONS, allocated / 2);
    (void)footprint_add(&footprint, PART_COMMUNICATION, beside / 2);
    (void)footprint_add(&footprint, PART_RUNTIME, beside / 2);
    (void)footprint_add(&footprint, PART_FRAGMENTATION, slack);
    footprint_sum(&footprint);
    return footprint;
}

START_TEST(totals_are_sums_of_parts)
{
    struct footprint footprint = of_parts(60, 4, 3);

    ck_assert_double_eq(footprint.allocated_bytes, 60);
    ck_assert_double_eq(footprint.required_bytes, 64);
    ck_assert_double_eq(footprint.reserved_bytes, 67);
    ck_assert_double_eq(footprint_bytes(&footprint, PART_WEIGHTS), 30);
    ck_assert_double_eq(footprint_bytes(&footprint, PART_KV_CACHE), 0);
}
END_TEST

/* required > usable: does not fit; reserved within nine tenths and its high bound within all: fits. */
START_TEST(borders_of_the_verdict)
{
    static const struct {
        double allocated, usable, band_high;
        enum verdict verdict;
    } rows[] = {
        { 90, 0, 1, VERDICT_UNKNOWN },
        { 90, 100, 1, VERDICT_FITS },
        { 90.5, 100, 1, VERDICT_TIGHT },
        { 90, 100, 1.12, VERDICT_TIGHT },
        { 80, 100, 1.25, VERDICT_FITS },
        { 80, 100, 1.26, VERDICT_TIGHT },
        { 100, 100, 1, VERDICT_TIGHT },
        { 100.5, 100, 1, VERDICT_DOES_NOT_FIT },
        { 1.0 / 0.0, 100, 1, VERDICT_DOES_NOT_FIT },
    };

    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct footprint footprint = of_parts(rows[i].allocated, 0, 0);

        footprint.usable_bytes = rows[i].usable;
        footprint.band_high = rows[i].band_high;
        ck_assert_msg(footprint_verdict(&footprint) == rows[i].verdict, "row %zu: %s", i,
                      verdict_name(footprint_verdict(&footprint)));
    }
}
END_TEST

/* The allocator gives its cache back before it fails: slack alone never makes a job too large. */
START_TEST(slack_makes_tight_not_too_large)
{
    struct footprint footprint = of_parts(90, 8, 20);

    footprint.usable_bytes = 100;
    ck_assert_int_eq(footprint_verdict(&footprint), VERDICT_TIGHT);
}
END_TEST

START_TEST(no_part_beyond_the_array)
{
    struct footprint footprint = { 0 };

    for (int i = 0; i < 3 * MAX_PARTS; i++)
        footprint_add(&footprint, PART_WORKSPACE, 1)->values[9] = i;
    ck_assert_uint_eq(footprint.part_count, MAX_PARTS);
}
END_TEST

START_TEST(names_are_the_contracts)
{
    ck_assert_str_eq(part_code_name(PART_GATHERED_PARAMETERS), "gathered_parameters");
    ck_assert_str_eq(part_code_name(PART_FRAGMENTATION), "fragmentation");
    ck_assert_str_eq(part_code_name(PART_CODE_COUNT), "");
    ck_assert_str_eq(verdict_name(VERDICT_DOES_NOT_FIT), "does_not_fit");
}
END_TEST

int
main(void)
{
    TCase *tcase = tcase_create("footprint");

    tcase_add_test(tcase, totals_are_sums_of_parts);
    tcase_add_test(tcase, borders_of_the_verdict);
    tcase_add_test(tcase, slack_makes_tight_not_too_large);
    tcase_add_test(tcase, no_part_beyond_the_array);
    tcase_add_test(tcase, names_are_the_contracts);
    return suite_run("footprint", tcase);
}
