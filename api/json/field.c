/* The walk over a table of fields: each member of the object finds its field, each kind has its reader. */
#include "api/json/field.h"

#include <math.h>
#include <string.h>

#include "api/json/field_fault.h"
#include "service/base/quantity.h"
#include "service/base/text.h"
#include "service/job/job.h"

enum { MAX_NAMES = 128 }; /* of one table, for suggestions */

/* Where a value goes, and where to say that it cannot. */
struct reading {
    const struct field *field;
    const json_t *value;
    const char *pointer;
    char *target;
    struct fault *fault;
};

static void
refuse(const struct reading *reading, enum fault_code code)
{
    field_fault(reading->field, code, reading->pointer, reading->value, NULL, reading->fault);
}

/* A number within the field's bounds, whole when `whole`. */
static bool
read_number(const struct reading *reading, bool whole, double *ret_number)
{
    double number = json_number_value(reading->value);

    if (!json_is_number(reading->value) || (whole && number != floor(number))) {
        refuse(reading, FAULT_WRONG_TYPE);
        return false;
    }
    if (!(number >= reading->field->min && number <= reading->field->max)) {
        refuse(reading, FAULT_OUT_OF_RANGE);
        return false;
    }
    *ret_number = number;
    return true;
}

static void
read_u32(const struct reading *reading)
{
    uint32_t number32;
    double number;

    if (!read_number(reading, true, &number))
        return;
    if (number < 0 || number > UINT32_MAX) {
        refuse(reading, FAULT_OUT_OF_RANGE);
        return;
    }
    number32 = (uint32_t)number;
    memcpy(reading->target, &number32, sizeof number32);
}

static void
read_u64(const struct reading *reading)
{
    uint64_t number64;
    double number;

    if (!read_number(reading, true, &number))
        return;
    if (number < 0) {
        refuse(reading, FAULT_OUT_OF_RANGE);
        return;
    }
    /* An integer is taken exactly: a double would lose what is beyond 2^53. */
    number64 = json_is_integer(reading->value) ? (uint64_t)json_integer_value(reading->value) : u64_from_double(number);
    memcpy(reading->target, &number64, sizeof number64);
}

static void
read_real(const struct reading *reading)
{
    double number;

    if (read_number(reading, false, &number))
        memcpy(reading->target, &number, sizeof number);
}

static void
read_bool(const struct reading *reading)
{
    enum flag flag = json_is_true(reading->value) ? FLAG_YES : FLAG_NO;

    if (json_is_boolean(reading->value))
        memcpy(reading->target, &flag, sizeof flag);
    else
        refuse(reading, FAULT_WRONG_TYPE);
}

/* The index of a name, SIZE_MAX when it is unknown. */
static size_t
name_index(const struct field *field, const char *name)
{
    for (size_t i = 0; i < field->name_count; i++)
        if (field->names[i] && strcmp(field->names[i], name) == 0)
            return i;
    return SIZE_MAX;
}

static void
read_enum(const struct reading *reading)
{
    const char *name = json_string_value(reading->value);
    size_t index;
    int value;

    if (!name) {
        refuse(reading, FAULT_WRONG_TYPE);
        return;
    }
    index = name_index(reading->field, name);
    if (index == SIZE_MAX) {
        refuse(reading, FAULT_UNKNOWN_VALUE);
        return;
    }
    value = (int)index;
    memcpy(reading->target, &value, sizeof value);
}

static void
read_text(const struct reading *reading)
{
    const char *text = json_string_value(reading->value);
    size_t size = (size_t)reading->field->max;

    if (!text)
        refuse(reading, FAULT_WRONG_TYPE);
    else if (json_string_length(reading->value) >= size)
        refuse(reading, FAULT_OUT_OF_RANGE);
    else
        text_copy(reading->target, size, text);
}

/* Whether a value is an array of at most `limit` items. */
static bool
check_list(const struct reading *reading, size_t limit)
{
    char count[FAULT_TEXT_SIZE], most[FAULT_TEXT_SIZE];

    if (!json_is_array(reading->value)) {
        refuse(reading, FAULT_WRONG_TYPE);
        return false;
    }
    if (json_array_size(reading->value) <= limit)
        return true;
    text_format(count, sizeof count, "%zu", json_array_size(reading->value));
    text_format(most, sizeof most, "%zu", limit);
    fault_add(reading->fault, FAULT_TOO_MANY_ITEMS, reading->pointer, count, most, NULL);
    return false;
}

static void
refuse_item(const struct reading *reading, enum fault_code code, size_t index)
{
    const struct field *field = reading->field;
    struct field item = { .kind = FIELD_TEXT, .max = 1, .names = field->names, .name_count = field->name_count };
    char pointer[FAULT_POINTER_SIZE], token[24], was[FAULT_TEXT_SIZE], expected[FAULT_TEXT_SIZE] = "string";
    const json_t *value = json_array_get(reading->value, index);
    const char *name = json_string_value(value);

    text_format(token, sizeof token, "%zu", index);
    pointer_join(pointer, sizeof pointer, reading->pointer, token);
    field_value_text(value, code == FAULT_WRONG_TYPE, was);
    if (field->kind == FIELD_ENUMS)
        field_names_text(item.names, item.name_count, expected);
    fault_add(reading->fault, code, pointer, was, expected,
              name ? text_nearest(name, item.names, item.name_count) : NULL);
}

static void
read_texts(const struct reading *reading)
{
    struct text_list list = { .count = 0 };
    size_t limit = reading->field->max > 0 ? (size_t)reading->field->max : MAX_LIST_TEXTS;

    if (!check_list(reading, u64_min(limit, MAX_LIST_TEXTS)))
        return;
    for (size_t i = 0; i < json_array_size(reading->value); i++) {
        const char *text = json_string_value(json_array_get(reading->value, i));

        if (text)
            list.items[list.count++] = text;
        else
            refuse_item(reading, FAULT_WRONG_TYPE, i);
    }
    memcpy(reading->target, &list, sizeof list);
}

static void
read_enums(const struct reading *reading)
{
    uint32_t set = 0;

    if (!check_list(reading, MAX_LIST_TEXTS))
        return;
    for (size_t i = 0; i < json_array_size(reading->value); i++) {
        const char *name = json_string_value(json_array_get(reading->value, i));
        size_t index = name ? name_index(reading->field, name) : SIZE_MAX;

        if (index < 32)
            set |= UINT32_C(1) << index;
        else
            refuse_item(reading, name ? FAULT_UNKNOWN_VALUE : FAULT_WRONG_TYPE, i);
    }
    memcpy(reading->target, &set, sizeof set);
}

static void
read_value(const struct reading *reading)
{
    switch (reading->field->kind) {
    case FIELD_U32:
        read_u32(reading);
        return;
    case FIELD_U64:
        read_u64(reading);
        return;
    case FIELD_REAL:
        read_real(reading);
        return;
    case FIELD_BOOL:
        read_bool(reading);
        return;
    case FIELD_ENUM:
        read_enum(reading);
        return;
    case FIELD_TEXT:
        read_text(reading);
        return;
    case FIELD_MONEY:
        field_money_read(reading->field, reading->value, reading->pointer, (struct money *)(void *)reading->target,
                         reading->fault);
        return;
    case FIELD_OBJECT:
        fields_read(reading->field->table, reading->value, reading->pointer, reading->target, reading->fault);
        return;
    case FIELD_TEXTS:
        read_texts(reading);
        return;
    case FIELD_ENUMS:
        read_enums(reading);
        return;
    case FIELD_ANY:
        memcpy(reading->target, &reading->value, sizeof reading->value);
        return;
    }
}

static const struct field *
field_of(const struct field_table *table, const char *name)
{
    for (size_t i = 0; i < table->count; i++)
        if (!(table->fields[i].flags & FIELD_IN_SCHEMA_ONLY) && strcmp(table->fields[i].name, name) == 0)
            return &table->fields[i];
    return NULL;
}

static void
refuse_member(const struct field_table *table, const char *name, const char *pointer, struct fault *fault)
{
    const char *names[MAX_NAMES];
    char expected[FAULT_TEXT_SIZE];
    size_t count = 0;

    for (size_t i = 0; i < table->count && count < MAX_NAMES; i++)
        if (!(table->fields[i].flags & FIELD_IN_SCHEMA_ONLY))
            names[count++] = table->fields[i].name;
    field_names_text(names, count, expected);
    fault_add(fault, FAULT_UNKNOWN_MEMBER, pointer, name, expected, text_nearest(name, names, count));
}

static void
check_required(const struct field_table *table, const json_t *object, const char *pointer, struct fault *fault)
{
    char at[FAULT_POINTER_SIZE], expected[FAULT_TEXT_SIZE];

    for (size_t i = 0; i < table->count; i++) {
        const struct field *field = &table->fields[i];
        const json_t *value;

        if (!(field->flags & FIELD_REQUIRED))
            continue;
        value = json_object_get(object, field->name);
        if (value && !json_is_null(value))
            continue;
        pointer_join(at, sizeof at, pointer, field->name);
        field_expected(field, expected);
        fault_add(fault, FAULT_MISSING_MEMBER, at, field->name, expected, NULL);
    }
}

void
fields_read(const struct field_table *table, const json_t *object, const char *pointer, void *target,
            struct fault *fault)
{
    static const struct field object_field = { .kind = FIELD_OBJECT };
    char at[FAULT_POINTER_SIZE];
    const char *name;
    json_t *value;

    if (!json_is_object(object)) {
        field_fault(&object_field, FAULT_WRONG_TYPE, pointer, object, NULL, fault);
        return;
    }
    json_object_foreach((json_t *)object, name, value)
    {
        const struct field *field = field_of(table, name);
        struct reading reading = { field, value, at, (char *)target, fault };

        pointer_join(at, sizeof at, pointer, name);
        if (!field) {
            refuse_member(table, name, at, fault);
            continue;
        }
        if (json_is_null(value))
            continue;
        reading.target += field->offset;
        if (field->kind == FIELD_OBJECT && field->present_offset != SIZE_MAX)
            *((bool *)target + field->present_offset) = true;
        read_value(&reading);
    }
    check_required(table, object, pointer, fault);
}
