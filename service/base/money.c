/* Exact money: decimal text in and out, codes of currencies. */
#include "service/base/money.h"

#include <math.h>
#include <string.h>

enum { MICROS_PER_UNIT = 1000000, MICROS_PER_LAST_DECIMAL = 100, LAST_DECIMALS_PER_UNIT = 10000 };

static const char *const codes[CURRENCY_COUNT] = {
    [CURRENCY_UNSAID] = "", [CURRENCY_CNY] = "CNY", [CURRENCY_USD] = "USD", [CURRENCY_EUR] = "EUR",
    [CURRENCY_GBP] = "GBP", [CURRENCY_JPY] = "JPY", [CURRENCY_HKD] = "HKD", [CURRENCY_SGD] = "SGD",
    [CURRENCY_INR] = "INR", [CURRENCY_AUD] = "AUD", [CURRENCY_CAD] = "CAD", [CURRENCY_CHF] = "CHF",
    [CURRENCY_KRW] = "KRW", [CURRENCY_TWD] = "TWD",
};

const char *
currency_code(enum currency currency)
{
    return (unsigned)currency < CURRENCY_COUNT ? codes[currency] : "";
}

enum currency
currency_from_code(const char *code)
{
    for (int i = CURRENCY_UNSAID + 1; i < CURRENCY_COUNT; i++)
        if (strcmp(codes[i], code) == 0)
            return (enum currency)i;
    return CURRENCY_UNSAID;
}

struct money
money_from_amount(double amount, enum currency currency)
{
    struct money money = { 0, currency };
    double micros = rint(amount * MICROS_PER_UNIT);

    if (micros >= 9223372036854775808.0) /* 2^63 */
        money.micros = INT64_MAX;
    else if (micros <= -9223372036854775808.0)
        money.micros = INT64_MIN;
    else if (micros == micros)
        money.micros = (int64_t)micros;
    return money;
}

double
money_amount(struct money money)
{
    return (double)money.micros / MICROS_PER_UNIT;
}

/* Writes `value` so that its last digit stands before `end`, at least `digits` of them; returns its first digit. */
static char *
digits_before(char *end, uint64_t value, int digits)
{
    for (; digits > 0 || value > 0; digits--) {
        *--end = (char)('0' + value % 10);
        value /= 10;
    }
    return end;
}

void
money_text(struct money money, char *text)
{
    char all[MONEY_TEXT_SIZE], *end = all + sizeof all, *start;
    uint64_t micros = money.micros < 0 ? 0 - (uint64_t)money.micros : (uint64_t)money.micros;
    uint64_t tens = micros / MICROS_PER_LAST_DECIMAL, rest = micros % MICROS_PER_LAST_DECIMAL;
    int decimals = 4;
    uint64_t fraction;

    if (rest > MICROS_PER_LAST_DECIMAL / 2 || (rest == MICROS_PER_LAST_DECIMAL / 2 && tens % 2 == 1))
        tens++;
    fraction = tens % LAST_DECIMALS_PER_UNIT;
    while (decimals > 2 && fraction % 10 == 0) {
        fraction /= 10;
        decimals--;
    }
    *--end = '\0';
    start = digits_before(end, fraction, decimals);
    *--start = '.';
    start = digits_before(start, tens / LAST_DECIMALS_PER_UNIT, 1);
    if (money.micros < 0 && tens > 0)
        *--start = '-';
    memcpy(text, start, (size_t)(all + sizeof all - start));
}

/* Takes digits into *value (times 10 each); false when it would pass INT64_MAX. */
static bool
take_digits(const char **text, int64_t *value, unsigned *ret_count)
{
    *ret_count = 0;
    for (; **text >= '0' && **text <= '9'; (*text)++, (*ret_count)++)
        if (__builtin_mul_overflow(*value, 10, value) || __builtin_add_overflow(*value, **text - '0', value))
            return false;
    return true;
}

bool
money_parse(const char *text, int64_t *ret_micros)
{
    int64_t value = 0;
    unsigned units, decimals = 0;

    if (!take_digits(&text, &value, &units) || units == 0)
        return false;
    if (*text == '.') {
        text++;
        if (!take_digits(&text, &value, &decimals) || decimals == 0 || decimals > 6)
            return false;
    }
    if (*text != '\0')
        return false;
    for (; decimals < 6; decimals++)
        if (__builtin_mul_overflow(value, 10, &value))
            return false;
    *ret_micros = value;
    return true;
}
