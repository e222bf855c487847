/* Says of a value that a field refuses what it was, what the field takes and what was probably meant. */
#ifndef API_JSON_FIELD_FAULT_H
#define API_JSON_FIELD_FAULT_H

#include "api/json/field.h"
#include "service/base/money.h"

/* Adds a fault about `value` at `pointer`. The expectation is written from the field ("integer 1..1024"); without a
 * suggestion one is made when the value only has the wrong form ("8" for 8) or is near a name. */
void field_fault(const struct field *field, enum fault_code code, const char *pointer, const json_t *value,
                 const char *suggestion, struct fault *fault);

/* What a field takes, and JSON as a short text: a scalar as it would be written (text without quotes unless `quoted`),
 * "array", "object". Both fill FAULT_TEXT_SIZE bytes. */
void field_expected(const struct field *field, char *text);
void field_value_text(const json_t *value, bool quoted, char *text);

/* "one of a|b|c"; what does not fit is left out whole. */
void field_names_text(const char *const *names, size_t count, char *text);

/* {"amount": "12.34", "currency": "CNY"} at `pointer` into `ret_money`, field's min and max bounding the amount when
 * max is above min. */
void field_money_read(const struct field *field, const json_t *value, const char *pointer, struct money *ret_money,
                      struct fault *fault);

#endif
