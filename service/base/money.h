/* Money: whole millionths of its own currency, so that sums are exact. */
#ifndef SERVICE_BASE_MONEY_H
#define SERVICE_BASE_MONEY_H

#include <stdbool.h>
#include <stdint.h>

enum currency {
    CURRENCY_UNSAID = 0,
    CURRENCY_CNY,
    CURRENCY_USD,
    CURRENCY_EUR,
    CURRENCY_GBP,
    CURRENCY_JPY,
    CURRENCY_HKD,
    CURRENCY_SGD,
    CURRENCY_INR,
    CURRENCY_AUD,
    CURRENCY_CAD,
    CURRENCY_CHF,
    CURRENCY_KRW,
    CURRENCY_TWD,
    CURRENCY_COUNT
};

struct money {
    int64_t micros;
    enum currency currency;
};

/* ISO 4217 code of a currency ("CNY"); "" for CURRENCY_UNSAID. */
const char *currency_code(enum currency currency);

/* The currency of an ISO 4217 code, CURRENCY_UNSAID when this program does not know it. */
enum currency currency_from_code(const char *code);

/* `amount` of currency units as money; saturates at the ends of int64. */
struct money money_from_amount(double amount, enum currency currency);

/* money in currency units. */
double money_amount(struct money money);

/* Writes a decimal string rounded to 4 decimals half to even, with at least 2 decimals ("12.34", "0.0125").
 * `text` holds at least MONEY_TEXT_SIZE bytes. */
#define MONEY_TEXT_SIZE 32
void money_text(struct money money, char *text);

/* Reads a decimal string ("500", "12.34", at most 6 decimals, not negative). false when it is none or too large. */
bool money_parse(const char *text, int64_t *ret_micros);

#endif
