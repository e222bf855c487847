/* Break-even of a node of 8 H100 (320,000 USD, 10.2 kW) against rents, as worked out from published prices. */
#include "service/cost/buy_or_rent.h"

#include "service/base/quantity.h"
#include "tests/support/seed_rates.h"
#include "tests/support/suite.h"

static struct rates rates;

static void
set_up(void)
{
    rates = seed_rates();
}

static struct cost_terms
terms_of(double utilization)
{
    return (struct cost_terms){ .currency = CURRENCY_USD,
                                .horizon_months = 36,
                                .utilization_ratio = utilization,
                                .electricity_per_kwh = 0.1,
                                .pue = 1.3,
                                .residual_ratio = 0.3 };
}

/* With 3,000 USD a month for room, power and support: 22 months at 3 USD a GPU-hour, 16 at 4, 10 at 6, 43 at 3 USD and
 * 60 % use (arithmetic on the prices of GPU TCO pages; hyperscalers' list prices give the 8 months of some). */
static const struct {
    double gpu_hour, utilization, months;
} published[] = { { 3, 1, 22 }, { 4, 1, 16 }, { 6, 1, 10 }, { 3, 0.6, 43 } };

START_TEST(months_to_break_even)
{
    struct cost_terms terms = terms_of(published[_i].utilization);
    struct buy_or_rent result = buy_or_rent_of(8 * published[_i].gpu_hour, 320000, 10200, &terms, &rates);

    ck_assert_double_eq_tol(result.break_even_months, published[_i].months, 0.08 * published[_i].months);
}
END_TEST

/* At a fifth of the time renting is far cheaper at 2 to 4 USD; around the clock owning is, at 3 and 4. */
START_TEST(use_decides)
{
    for (double gpu_hour = 2; gpu_hour <= 4; gpu_hour++) {
        struct cost_terms seldom = terms_of(0.2), always = terms_of(1);

        ck_assert_int_eq(buy_or_rent_of(8 * gpu_hour, 320000, 10200, &seldom, &rates).verdict, VERDICT_RENT);
        if (gpu_hour >= 3)
            ck_assert_int_eq(buy_or_rent_of(8 * gpu_hour, 320000, 10200, &always, &rates).verdict, VERDICT_BUY);
    }
}
END_TEST

/* At the use that breaks even over the horizon, rent and ownership less what the machine is worth are the same. */
START_TEST(break_even_is_where_both_cost_the_same)
{
    struct cost_terms terms = terms_of(0.5);
    double use = buy_or_rent_of(24, 320000, 10200, &terms, &rates).break_even_utilization_ratio;

    terms.utilization_ratio = use;

    struct buy_or_rent result = buy_or_rent_of(24, 320000, 10200, &terms, &rates);
    uint32_t last = result.series_count - 1;

    ck_assert_double_eq(result.series[last].month, 36);
    ck_assert_double_eq_tol(money_amount(result.series[last].rent_total),
                            money_amount(result.series[last].buy_total) - 0.3 * 320000, 1);
    ck_assert_double_eq(money_amount(result.series[0].buy_total), 320000);
    ck_assert_int_eq(result.verdict, VERDICT_HYBRID);
}
END_TEST

/* A rent below the cost of power never pays a machine; long horizons keep to the length of the series. */
START_TEST(absurd_ends)
{
    struct cost_terms terms = terms_of(1);
    struct buy_or_rent result = buy_or_rent_of(0.5, 320000, 10200, &terms, &rates);

    ck_assert_double_eq(result.break_even_months, 0);
    ck_assert_int_eq(result.verdict, VERDICT_RENT);
    terms.horizon_months = 600;
    result = buy_or_rent_of(24, 320000, 10200, &terms, &rates);
    ck_assert_uint_le(result.series_count, MAX_SERIES);
    ck_assert_double_eq(result.series[result.series_count - 1].month, 600);
    terms.horizon_months = 0.1;
    ck_assert_uint_eq(buy_or_rent_of(24, 320000, 10200, &terms, &rates).series_count, 2);
}
END_TEST

int
main(void)
{
    TCase *tcase = tcase_create("buy_or_rent");

    tcase_add_checked_fixture(tcase, set_up, NULL);
    tcase_add_loop_test(tcase, months_to_break_even, 0, COUNT_OF(published));
    tcase_add_test(tcase, use_decides);
    tcase_add_test(tcase, break_even_is_where_both_cost_the_same);
    tcase_add_test(tcase, absurd_ends);
    return suite_run("buy_or_rent", tcase);
}
