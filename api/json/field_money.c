/* Reads money: an amount as decimal text and the code of its currency. */
#include <string.h>

#include "api/json/field_fault.h"
#include "service/base/text.h"

#define AMOUNT_EXPECTED "decimal string such as \"12.34\""

/* All codes, as names that a mistyped one is compared with. */
static size_t
currency_names(const char *names[CURRENCY_COUNT])
{
    for (int i = CURRENCY_UNSAID + 1; i < CURRENCY_COUNT; i++)
        names[i - 1] = currency_code((enum currency)i);
    return CURRENCY_COUNT - 1;
}

static void
read_currency(const json_t *value, const char *pointer, struct money *money, struct fault *fault)
{
    const char *names[CURRENCY_COUNT], *code = json_string_value(value);
    char expected[FAULT_TEXT_SIZE], was[FAULT_TEXT_SIZE];
    size_t count = currency_names(names);

    money->currency = code ? currency_from_code(code) : CURRENCY_UNSAID;
    if (money->currency != CURRENCY_UNSAID)
        return;
    field_names_text(names, count, expected);
    field_value_text(value, !code, was);
    fault_add(fault, code ? FAULT_UNKNOWN_VALUE : FAULT_WRONG_TYPE, pointer, was, expected,
              code ? text_nearest(code, names, count) : NULL);
}

/* A number as the text it should have been. */
static void
amount_from_number(const json_t *value, const char *form, char *text)
{
    char number[FAULT_TEXT_SIZE];

    field_value_text(value, false, number);
    text_copy(text, FAULT_TEXT_SIZE, "");
    if (json_number_value(value) >= 0 && !strchr(number, 'e'))
        text_format(text, FAULT_TEXT_SIZE, form, number); /* NOLINT(clang-diagnostic-format-nonliteral) */
}

static void
read_amount(const struct field *field, const json_t *value, const char *pointer, struct money *money,
            struct fault *fault)
{
    const char *amount = json_string_value(value);
    char was[FAULT_TEXT_SIZE], suggestion[FAULT_TEXT_SIZE] = "";
    enum fault_code code = FAULT_WRONG_TYPE;

    if (amount && money_parse(amount, &money->micros)) {
        if (field->max <= field->min)
            return;
        if (money_amount(*money) >= field->min && money_amount(*money) <= field->max)
            return;
    }
    if (amount && strspn(amount, "-.0123456789") == strlen(amount))
        code = FAULT_OUT_OF_RANGE;
    if (json_is_number(value))
        amount_from_number(value, "\"%s\"", suggestion);
    field_value_text(value, true, was);
    fault_add(fault, code, pointer, was, AMOUNT_EXPECTED, suggestion);
}

static void
missing(const char *pointer, const char *expected, struct fault *fault)
{
    fault_add(fault, FAULT_MISSING_MEMBER, pointer, NULL, expected, NULL);
}

void
field_money_read(const struct field *field, const json_t *value, const char *pointer, struct money *ret_money,
                 struct fault *fault)
{
    static const char *const members[] = { "amount", "currency" };
    char at[FAULT_POINTER_SIZE], suggestion[FAULT_TEXT_SIZE] = "";
    const char *name;
    json_t *member;

    if (!json_is_object(value)) {
        if (json_is_number(value))
            amount_from_number(value, "{\"amount\": \"%s\", \"currency\": \"CNY\"}", suggestion);
        field_fault(field, FAULT_WRONG_TYPE, pointer, value, suggestion, fault);
        return;
    }
    json_object_foreach((json_t *)value, name, member)
    {
        pointer_join(at, sizeof at, pointer, name);
        if (strcmp(name, "amount") != 0 && strcmp(name, "currency") != 0)
            fault_add(fault, FAULT_UNKNOWN_MEMBER, at, name, "amount|currency", text_nearest(name, members, 2));
        else if (json_is_null(member))
            continue;
        else if (strcmp(name, "amount") == 0)
            read_amount(field, member, at, ret_money, fault);
        else
            read_currency(member, at, ret_money, fault);
    }
    member = json_object_get(value, "amount");
    pointer_join(at, sizeof at, pointer, "amount");
    if (!member || json_is_null(member))
        missing(at, AMOUNT_EXPECTED, fault);
    member = json_object_get(value, "currency");
    pointer_join(at, sizeof at, pointer, "currency");
    if (!member || json_is_null(member))
        missing(at, "one of CNY|USD|...", fault);
}
