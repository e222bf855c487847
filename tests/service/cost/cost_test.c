#include "service/cost/cost.h"

#include "tests/support/suite.h"

/* Bank of China middle rate in round figures: what matters is the arithmetic. */
static const struct exchange_rate rates[] = {
    { .id = "usd-cny", .base = CURRENCY_USD, .quote = CURRENCY_CNY, .rate = 7.0, .rate_date = "2026-01-01" }
};
static const struct catalog catalog = { .fx = rates, .fx_count = 1 };

static struct price
price_of(enum price_type type, enum price_unit unit, double amount, uint32_t term_months)
{
    return (struct price){ .id = "p",
                           .type = type,
                           .unit = unit,
                           .term_months = term_months,
                           .low = money_from_amount(amount, CURRENCY_CNY),
                           .high = money_from_amount(amount, CURRENCY_CNY) };
}

static struct cost
cost_for(const struct price *price, double hours, uint32_t count)
{
    struct cost_terms terms = { .currency = CURRENCY_CNY,
                                .horizon_months = 36,
                                .utilization_ratio = 0.6,
                                .electricity_per_kwh = 0.7,
                                .pue = 1.3,
                                .residual_ratio = 0.3,
                                .hours = hours,
                                .has_total = true };
    struct cost cost;

    ck_assert(cost_of(&catalog, price, count, 10200, &terms, &cost));
    return cost;
}

/* An A100-80 spot hour at 4.2 CNY, four hours a day for a month: 504, not the 1,100 that is told (4.2 x 4 x 30). */
START_TEST(hours_cost_their_price)
{
    struct price price = price_of(PRICE_SPOT, PRICE_PER_HOUR, 4.2, 0);
    struct cost cost = cost_for(&price, 120, 1);

    ck_assert_int_eq(cost.total.micros, 504000000);
    ck_assert_int_eq(cost.per_hour.micros, 4200000);
    ck_assert_int_eq(cost.per_month.micros, 3066000000); /* 730 h */
    ck_assert_uint_eq(cost.line_count, 1);
    ck_assert_int_eq(cost.lines[0].amount.micros, cost.total.micros);
}
END_TEST

START_TEST(subscriptions_are_whole_months)
{
    struct price price = price_of(PRICE_SUBSCRIPTION, PRICE_PER_MONTH, 13748, 1); /* Tencent GT4.4XLARGE96 */

    ck_assert_int_eq(cost_for(&price, 3, 1).total.micros, 13748000000);
    ck_assert_int_eq(cost_for(&price, 730, 1).total.micros, 13748000000);
    ck_assert_int_eq(cost_for(&price, 731, 2).total.micros, 4 * 13748000000);
    price.term_months = 12; /* bound for a year */
    ck_assert_int_eq(cost_for(&price, 731, 1).total.micros, 12 * 13748000000);
}
END_TEST

START_TEST(reserved_hours_are_paid_for_the_term)
{
    struct price price = price_of(PRICE_RESERVED, PRICE_PER_HOUR, 10, 12);

    ck_assert_int_eq(cost_for(&price, 100, 1).total.micros, 12 * 7300 * (int64_t)1000000);
    ck_assert_int_eq(cost_for(&price, 10000, 1).total.micros, (int64_t)100000 * 1000000);
}
END_TEST

/* A machine of 2.8 million CNY that keeps 30 %: 1.96 million over 36 x 730 x 0.6 h = 124.30 CNY an hour, and
 * 10.2 kW x 1.3 x 0.7 = 9.282 CNY of power. */
START_TEST(owning_is_depreciation_and_power)
{
    struct price price = price_of(PRICE_PURCHASE, PRICE_PER_UNIT, 2800000, 0);
    struct cost cost = cost_for(&price, 1000, 1);
    double depreciation = 2800000 * 0.7 / (36 * 730 * 0.6);

    ck_assert_double_eq_tol(money_amount(cost.per_hour), depreciation + 9.282, 1e-5);
    ck_assert_double_eq_tol(money_amount(cost.total), 1000 * (depreciation + 9.282), 1e-2);
    ck_assert_int_eq(cost.purchase.micros, (int64_t)2800000 * 1000000);
    ck_assert_uint_eq(cost.line_count, 2);
}
END_TEST

START_TEST(ranges_rank_at_their_middle_and_show_both_ends)
{
    struct price price = price_of(PRICE_ON_DEMAND, PRICE_PER_HOUR, 1.61, 0);
    struct cost cost;

    price.high = money_from_amount(3.49, CURRENCY_CNY);
    cost = cost_for(&price, 100, 1);
    ck_assert_int_eq(cost.total.micros, 255000000);
    ck_assert_int_eq(cost.total_low.micros, 161000000);
    ck_assert_int_eq(cost.total_high.micros, 349000000);
}
END_TEST

START_TEST(currencies_are_converted_or_refused)
{
    struct price price = price_of(PRICE_ON_DEMAND, PRICE_PER_HOUR, 2, 0);
    struct cost_terms terms = {
        .currency = CURRENCY_CNY, .horizon_months = 1, .utilization_ratio = 1, .hours = 10, .has_total = true
    };
    struct cost cost;

    price.low.currency = price.high.currency = CURRENCY_USD;
    ck_assert(cost_of(&catalog, &price, 1, 0, &terms, &cost));
    ck_assert_int_eq(cost.total.micros, 140000000);
    ck_assert_ptr_nonnull(cost.exchanged);
    price.low.currency = price.high.currency = CURRENCY_KRW;
    ck_assert(!cost_of(&catalog, &price, 1, 0, &terms, &cost));
}
END_TEST

/* Serving has no end: horizon x utilization. */
START_TEST(without_an_end_the_horizon_counts)
{
    struct price price = price_of(PRICE_ON_DEMAND, PRICE_PER_HOUR, 1, 0);

    ck_assert_int_eq(cost_for(&price, 0, 1).total.micros, (int64_t)15768 * 1000000); /* 36 x 730 x 0.6 */
}
END_TEST

int
main(void)
{
    TCase *tcase = tcase_create("money");

    tcase_add_test(tcase, hours_cost_their_price);
    tcase_add_test(tcase, subscriptions_are_whole_months);
    tcase_add_test(tcase, reserved_hours_are_paid_for_the_term);
    tcase_add_test(tcase, owning_is_depreciation_and_power);
    tcase_add_test(tcase, ranges_rank_at_their_middle_and_show_both_ends);
    tcase_add_test(tcase, currencies_are_converted_or_refused);
    tcase_add_test(tcase, without_an_end_the_horizon_counts);
    return suite_run("cost", tcase);
}
