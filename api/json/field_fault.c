/* Short texts for faults: of values, of what a field takes, of what was probably meant. */
#include "api/json/field_fault.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "service/base/text.h"

void
field_value_text(const json_t *value, bool quoted, char *text)
{
    switch (json_typeof(value)) {
    case JSON_STRING:
        text_format(text, FAULT_TEXT_SIZE, quoted ? "\"%s\"" : "%s", json_string_value(value));
        return;
    case JSON_INTEGER:
        text_format(text, FAULT_TEXT_SIZE, "%lld", (long long)json_integer_value(value));
        return;
    case JSON_REAL:
        text_format(text, FAULT_TEXT_SIZE, "%.15g", json_real_value(value));
        return;
    case JSON_TRUE:
    case JSON_FALSE:
        text_copy(text, FAULT_TEXT_SIZE, json_is_true(value) ? "true" : "false");
        return;
    case JSON_OBJECT:
        text_copy(text, FAULT_TEXT_SIZE, "object");
        return;
    case JSON_ARRAY:
        text_copy(text, FAULT_TEXT_SIZE, "array");
        return;
    case JSON_NULL:
        text_copy(text, FAULT_TEXT_SIZE, "null");
        return;
    }
}

void
field_names_text(const char *const *names, size_t count, char *text)
{
    static const char more[] = "|...";
    size_t length;

    text_copy(text, FAULT_TEXT_SIZE, "one of ");
    length = strlen(text);
    for (size_t i = 0, written = 0; i < count; i++) {
        size_t size = names[i] ? strlen(names[i]) : 0;

        if (!names[i])
            continue;
        if (length + 1 + size + sizeof more > FAULT_TEXT_SIZE) {
            text_copy(text + length, FAULT_TEXT_SIZE - length, more);
            return;
        }
        text_format(text + length, FAULT_TEXT_SIZE - length, written++ > 0 ? "|%s" : "%s", names[i]);
        length = strlen(text);
    }
}

static void
number_text(double number, char *text, size_t size)
{
    text_format(text, size, fabs(number) < 1e15 && number == floor(number) ? "%.0f" : "%.6g", number);
}

/* "integer 1..1024", "number > 0" has no form here: bounds are inclusive; an end without bound is left open. */
static void
bounds_text(const char *kind, double min, double max, double open_above, char *text)
{
    char low[32], high[32];

    number_text(min, low, sizeof low);
    number_text(max, high, sizeof high);
    if (max >= open_above)
        text_format(text, FAULT_TEXT_SIZE, "%s >= %s", kind, low);
    else
        text_format(text, FAULT_TEXT_SIZE, "%s %s..%s", kind, low, high);
}

void
field_expected(const struct field *field, char *text)
{
    switch (field->kind) {
    case FIELD_U32:
        bounds_text("integer", field->min, field->max, UINT32_MAX, text);
        return;
    case FIELD_U64:
        bounds_text("integer", field->min, field->max, 9223372036854775807.0, text);
        return;
    case FIELD_REAL:
        bounds_text("number", field->min, field->max, DBL_MAX, text);
        return;
    case FIELD_BOOL:
        text_copy(text, FAULT_TEXT_SIZE, "true|false");
        return;
    case FIELD_ENUM:
        field_names_text(field->names, field->name_count, text);
        return;
    case FIELD_TEXT:
        text_format(text, FAULT_TEXT_SIZE, "string of at most %.0f bytes", field->max - 1);
        return;
    case FIELD_MONEY:
        text_copy(text, FAULT_TEXT_SIZE, "{\"amount\": \"12.34\", \"currency\": \"CNY\"}");
        return;
    case FIELD_OBJECT:
        text_copy(text, FAULT_TEXT_SIZE, "object");
        return;
    case FIELD_TEXTS:
        text_copy(text, FAULT_TEXT_SIZE, "array of strings");
        return;
    case FIELD_ENUMS:
        text_copy(text, FAULT_TEXT_SIZE, "array of strings");
        return;
    case FIELD_ANY:
        text_copy(text, FAULT_TEXT_SIZE, "");
        return;
    }
}

static bool
is_number_text(const char *text)
{
    char *end;

    (void)strtod(text, &end);
    return end != text && *end == '\0' && strspn(text, "+-.0123456789eE") == strlen(text);
}

/* What a value of the wrong form was probably meant to be; "" when that is not plain. */
static void
suggest(const struct field *field, const json_t *value, char *text)
{
    const char *string = json_string_value(value), *nearest = NULL;
    bool wants_number = field->kind == FIELD_U32 || field->kind == FIELD_U64 || field->kind == FIELD_REAL;
    bool wants_list = field->kind == FIELD_TEXTS || field->kind == FIELD_ENUMS;

    text_copy(text, FAULT_TEXT_SIZE, "");
    if (!string)
        return;
    if (wants_number && is_number_text(string))
        text_copy(text, FAULT_TEXT_SIZE, string);
    else if (field->kind == FIELD_BOOL && (strcmp(string, "true") == 0 || strcmp(string, "false") == 0))
        text_copy(text, FAULT_TEXT_SIZE, string);
    else if (wants_list)
        text_format(text, FAULT_TEXT_SIZE, "[\"%s\"]", string);
    else if (field->kind == FIELD_ENUM)
        nearest = text_nearest(string, field->names, field->name_count);
    if (nearest)
        text_copy(text, FAULT_TEXT_SIZE, nearest);
}

void
field_fault(const struct field *field, enum fault_code code, const char *pointer, const json_t *value,
            const char *suggestion, struct fault *fault)
{
    char was[FAULT_TEXT_SIZE], expected[FAULT_TEXT_SIZE], meant[FAULT_TEXT_SIZE];

    field_value_text(value, code == FAULT_WRONG_TYPE, was);
    field_expected(field, expected);
    if (suggestion)
        text_copy(meant, sizeof meant, suggestion);
    else
        suggest(field, value, meant);
    fault_add(fault, code, pointer, was, expected, meant);
}
