#include "service/recommend/recommend.h"

#include "tests/support/suite.h"

static const struct price documented = { .id = "a", .confidence = 'A' }, weak = { .id = "b", .confidence = 'C' };

static struct candidate
candidate(enum verdict verdict, double total, double hours, double fullness)
{
    struct candidate made = { .price = &documented };

    made.outcome.training_verdict = verdict;
    made.outcome.has_hours = true;
    made.outcome.hours.expected = hours;
    made.outcome.usable_bytes = 100;
    made.outcome.required_bytes = 100 * fullness;
    made.cost.has_total = true;
    made.cost.total = money_from_amount(total, CURRENCY_CNY);
    return made;
}

START_TEST(what_fits_with_room_goes_first)
{
    struct candidate fits = candidate(VERDICT_FITS, 1000, 1, 0.5), tight = candidate(VERDICT_TIGHT, 10, 1, 0.95);

    ck_assert_int_lt(candidate_compare(&fits, &tight, OBJECTIVE_COST), 0);
    ck_assert_int_gt(candidate_compare(&tight, &fits, OBJECTIVE_TIME), 0);
}
END_TEST

START_TEST(each_objective_has_its_order)
{
    struct candidate cheap = candidate(VERDICT_FITS, 10, 100, 0.8), fast = candidate(VERDICT_FITS, 300, 1, 0.7);
    struct candidate even = candidate(VERDICT_FITS, 20, 10, 0.6);

    ck_assert_int_lt(candidate_compare(&cheap, &fast, OBJECTIVE_COST), 0);
    ck_assert_int_lt(candidate_compare(&fast, &cheap, OBJECTIVE_TIME), 0);
    ck_assert_int_lt(candidate_compare(&even, &cheap, OBJECTIVE_BALANCED), 0); /* 200 against 1000 and 300 */
    ck_assert_int_lt(candidate_compare(&even, &fast, OBJECTIVE_BALANCED), 0);
    ck_assert_int_lt(candidate_compare(&even, &fast, OBJECTIVE_HEADROOM), 0);
}
END_TEST

START_TEST(equals_are_told_apart_the_same_way_each_time)
{
    struct candidate a = candidate(VERDICT_FITS, 10, 10, 0.5), b = a;

    ck_assert_int_eq(candidate_compare(&a, &b, OBJECTIVE_COST), 0);
    b.price = &weak;
    ck_assert_int_lt(candidate_compare(&a, &b, OBJECTIVE_COST), 0);
    ck_assert_int_gt(candidate_compare(&b, &a, OBJECTIVE_COST), 0);
}
END_TEST

START_TEST(pareto_keeps_what_nothing_beats_twice)
{
    struct candidate list[] = { candidate(VERDICT_FITS, 10, 100, 0.5), candidate(VERDICT_FITS, 20, 50, 0.5),
                                candidate(VERDICT_FITS, 30, 60, 0.5), candidate(VERDICT_FITS, 40, 10, 0.5) };

    pareto_mark(list, COUNT_OF(list));
    ck_assert(list[0].pareto);
    ck_assert(list[1].pareto);
    ck_assert(!list[2].pareto); /* dearer and slower than the second */
    ck_assert(list[3].pareto);
}
END_TEST

int
main(void)
{
    TCase *tcase = tcase_create("ranking");

    tcase_add_test(tcase, what_fits_with_room_goes_first);
    tcase_add_test(tcase, each_objective_has_its_order);
    tcase_add_test(tcase, equals_are_told_apart_the_same_way_each_time);
    tcase_add_test(tcase, pareto_keeps_what_nothing_beats_twice);
    return suite_run("ranking", tcase);
}
