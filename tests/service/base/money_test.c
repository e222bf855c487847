#include "service/base/money.h"

#include <math.h>
#include <string.h>

#include "tests/support/random.h"
#include "tests/support/suite.h"

static const struct {
    int64_t micros;
    const char *text;
} written[] = {
    { 0, "0.00" },
    { 12340000, "12.34" },
    { 500000000, "500.00" },
    { 12500, "0.0125" },
    { 1000000, "1.00" },
    { 1100000, "1.10" },
    { 1120000, "1.12" },
    { 1123000, "1.123" },
    { -12340000, "-12.34" },
    /* half to even at the 4th decimal */
    { 50, "0.00" },
    { 150, "0.0002" },
    { 250, "0.0002" },
    { 251, "0.0003" },
    { -150, "-0.0002" },
    { -50, "0.00" },
    { 999999950, "1000.00" },
    { INT64_MAX, "9223372036854.7758" },
    { INT64_MIN, "-9223372036854.7758" },
};

START_TEST(text_is_exact_and_rounds_half_to_even)
{
    char text[MONEY_TEXT_SIZE];

    money_text((struct money){ written[_i].micros, CURRENCY_CNY }, text);
    ck_assert_str_eq(text, written[_i].text);
}
END_TEST

static const struct {
    const char *text;
    int64_t micros;
} parsed[] = {
    { "500", 500000000 },    { "12.34", 12340000 },
    { "0.000001", 1 },       { "0", 0 },
    { "007.5", 7500000 },    { "9223372036854.775807", INT64_MAX },
    { "1.100000", 1100000 },
};

START_TEST(decimal_text_is_parsed)
{
    int64_t micros;

    ck_assert(money_parse(parsed[_i].text, &micros));
    ck_assert_int_eq(micros, parsed[_i].micros);
}
END_TEST

static const char *const refused[] = {
    "",
    ".",
    "1.",
    ".5",
    "-1",
    "+1",
    "1e3",
    "1,5",
    "1.0000001",
    " 1",
    "1 ",
    "0x1",
    "9223372036854.775808",
    "99999999999999999999",
    "NaN",
};

START_TEST(what_is_no_amount_is_refused)
{
    int64_t micros = 42;

    ck_assert_msg(!money_parse(refused[_i], &micros), "%s", refused[_i]);
    ck_assert_int_eq(micros, 42);
}
END_TEST

START_TEST(what_is_written_is_read_back)
{
    struct random random = random_seeded();

    for (int i = 0; i < 10000; i++) {
        int64_t micros = (int64_t)(random_u64(&random) >> 1) / 100 * 100, back;
        char text[MONEY_TEXT_SIZE];

        money_text((struct money){ micros, CURRENCY_USD }, text);
        ck_assert_msg(money_parse(text, &back) && back == micros, "seed %ju: %s", random.seed, text);
    }
}
END_TEST

START_TEST(amounts_saturate)
{
    ck_assert_int_eq(money_from_amount(12.34, CURRENCY_CNY).micros, 12340000);
    ck_assert_int_eq(money_from_amount(-0.0000005, CURRENCY_CNY).micros, 0);
    ck_assert_int_eq(money_from_amount(1e300, CURRENCY_CNY).micros, INT64_MAX);
    ck_assert_int_eq(money_from_amount(-INFINITY, CURRENCY_CNY).micros, INT64_MIN);
    ck_assert_int_eq(money_from_amount(NAN, CURRENCY_CNY).micros, 0);
    ck_assert_double_eq(money_amount((struct money){ 12340000, CURRENCY_CNY }), 12.34);
}
END_TEST

START_TEST(codes_name_their_currency)
{
    ck_assert_str_eq(currency_code(CURRENCY_UNSAID), "");
    ck_assert_str_eq(currency_code(CURRENCY_CNY), "CNY");
    for (int i = CURRENCY_UNSAID + 1; i < CURRENCY_COUNT; i++) {
        ck_assert_uint_eq(strlen(currency_code((enum currency)i)), 3);
        ck_assert_int_eq(currency_from_code(currency_code((enum currency)i)), i);
    }
    ck_assert_int_eq(currency_from_code(""), CURRENCY_UNSAID);
    ck_assert_int_eq(currency_from_code("cny"), CURRENCY_UNSAID);
    ck_assert_int_eq(currency_from_code("XXX"), CURRENCY_UNSAID);
}
END_TEST

int
main(void)
{
    TCase *tcase = tcase_create("money");

    tcase_add_loop_test(tcase, text_is_exact_and_rounds_half_to_even, 0, COUNT_OF(written));
    tcase_add_loop_test(tcase, decimal_text_is_parsed, 0, COUNT_OF(parsed));
    tcase_add_loop_test(tcase, what_is_no_amount_is_refused, 0, COUNT_OF(refused));
    tcase_add_test(tcase, what_is_written_is_read_back);
    tcase_add_test(tcase, amounts_saturate);
    tcase_add_test(tcase, codes_name_their_currency);
    return suite_run("money", tcase);
}
