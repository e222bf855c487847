#include "tests/support/schema.h"

#include <math.h>
#include <regex.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "service/base/quantity.h"

enum { PLACE_SIZE = 512, TOKEN_SIZE = 256, BRANCH_REPORT_SIZE = 2048 };

/* One value against one schema, and where in the document's value that is. */
struct check {
    const json_t *document;
    unsigned flags;
    size_t violations;
    char *report;
    size_t report_size, report_used;
};

static void check_value(struct check *check, const json_t *schema, const json_t *value, const char *place);

static void __attribute__((format(printf, 3, 4)))
violation(struct check *check, const char *place, const char *format, ...)
{
    char line[PLACE_SIZE + 512];
    int size = snprintf(line, sizeof line, "%s: ", *place ? place : "(root)");
    va_list arguments;

    va_start(arguments, format);
    (void)vsnprintf(line + size, sizeof line - (size_t)size, format, arguments);
    va_end(arguments);
    check->violations++;
    if (check->report_used + strlen(line) + 2 > check->report_size)
        return;
    check->report_used +=
        (size_t)snprintf(check->report + check->report_used, check->report_size - check->report_used, "%s\n", line);
}

/* Undoes ~1 and ~0 of a pointer's token. */
static void
unescape(const char *from, size_t size, char *to)
{
    size_t at = 0;

    for (size_t i = 0; i < size && at + 1 < TOKEN_SIZE; i++) {
        bool escaped = from[i] == '~' && i + 1 < size;

        to[at++] = !escaped ? from[i] : from[i + 1] == '1' ? '/' : '~';
        i += escaped;
    }
    to[at] = '\0';
}

const json_t *
schema_at(const json_t *document, const char *pointer)
{
    char token[TOKEN_SIZE];

    while (document && *pointer == '/') {
        size_t size = strcspn(++pointer, "/");

        unescape(pointer, size, token);
        document = json_is_array(document) ? json_array_get(document, strtoul(token, NULL, 10))
                                           : json_object_get(document, token);
        pointer += size;
    }
    return document;
}

static bool
is_of_type(const json_t *value, const char *type)
{
    double number = json_number_value(value);

    if (strcmp(type, "object") == 0)
        return json_is_object(value);
    if (strcmp(type, "array") == 0)
        return json_is_array(value);
    if (strcmp(type, "string") == 0)
        return json_is_string(value);
    if (strcmp(type, "boolean") == 0)
        return json_is_boolean(value);
    if (strcmp(type, "null") == 0)
        return json_is_null(value);
    if (strcmp(type, "number") == 0)
        return json_is_number(value);
    return strcmp(type, "integer") == 0 && json_is_number(value) && number == floor(number);
}

static void
check_type(struct check *check, const json_t *type, const json_t *value, const char *place)
{
    size_t index;
    const json_t *one;

    if (json_is_string(type) && is_of_type(value, json_string_value(type)))
        return;
    json_array_foreach(type, index, one)
    {
        if (is_of_type(value, json_string_value(one)))
            return;
    }
    violation(check, place, "is not of type %s", json_is_string(type) ? json_string_value(type) : "(any of the list)");
}

/* Numbers are equal by value, whether written 1 or 1.0. */
static bool
is_equal(const json_t *a, const json_t *b)
{
    if (json_is_number(a) && json_is_number(b))
        return json_number_value(a) == json_number_value(b);
    return json_equal(a, b);
}

static void
check_enum(struct check *check, const json_t *names, const json_t *value, const char *place)
{
    size_t index;
    const json_t *name;
    char *text;

    json_array_foreach(names, index, name)
    {
        if (is_equal(name, value))
            return;
    }
    text = json_dumps(value, JSON_ENCODE_ANY | JSON_COMPACT);
    violation(check, place, "%.80s is none of the enum", text ? text : "?");
    free(text);
}

static size_t
character_count(const char *text)
{
    size_t count = 0;

    for (; *text; text++)
        count += (*text & 0xC0) != 0x80;
    return count;
}

static void
check_pattern(struct check *check, const char *pattern, const char *text, const char *place)
{
    regex_t compiled;

    if (regcomp(&compiled, pattern, REG_EXTENDED | REG_NOSUB) != 0) {
        violation(check, place, "the pattern %s is no POSIX expression", pattern);
        return;
    }
    if (regexec(&compiled, text, 0, NULL, 0) != 0)
        violation(check, place, "\"%.80s\" does not match %s", text, pattern);
    regfree(&compiled);
}

/* Keywords that bound one value by one number. */
static bool
check_bound(struct check *check, const char *keyword, double bound, const json_t *value, const char *place)
{
    bool text = json_is_string(value), array = json_is_array(value), number = json_is_number(value);
    double size = text    ? (double)character_count(json_string_value(value))
                  : array ? (double)json_array_size(value)
                          : json_number_value(value);
    const struct {
        const char *keyword;
        bool concerns, broken;
    } rows[] = {
        { "minimum", number, size < bound },           { "maximum", number, size > bound },
        { "exclusiveMinimum", number, size <= bound }, { "exclusiveMaximum", number, size >= bound },
        { "minLength", text, size < bound },           { "maxLength", text, size > bound },
        { "minItems", array, size < bound },           { "maxItems", array, size > bound },
    };

    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        if (strcmp(keyword, rows[i].keyword) != 0)
            continue;
        if (rows[i].concerns && rows[i].broken)
            violation(check, place, "%.10g breaks %s %.10g", size, keyword, bound);
        return true;
    }
    return false;
}

static void
join(char *to, const char *place, const char *token)
{
    (void)snprintf(to, PLACE_SIZE, "%s/%s", place, token);
}

static void
check_names(struct check *check, const json_t *schema, const json_t *object, const char *place)
{
    size_t index;
    const char *name;
    const json_t *required;
    json_t *text;

    json_array_foreach(json_object_get(schema, "required"), index, required)
    {
        if (!json_object_get(object, json_string_value(required)))
            violation(check, place, "lacks \"%s\"", json_string_value(required));
    }
    if (!json_object_get(schema, "propertyNames"))
        return;
    json_object_foreach((json_t *)object, name, text)
    {
        json_t *key = json_string(name);

        check_value(check, json_object_get(schema, "propertyNames"), key, place);
        json_decref(key);
    }
}

static void
check_members(struct check *check, const json_t *schema, const json_t *object, const char *place)
{
    const json_t *properties = json_object_get(schema, "properties");
    const json_t *others = json_object_get(schema, "additionalProperties");
    bool closed = json_is_false(others) || (!others && properties && check->flags & SCHEMA_CLOSED);
    char at[PLACE_SIZE];
    const char *name;
    json_t *member;

    check_names(check, schema, object, place);
    json_object_foreach((json_t *)object, name, member)
    {
        const json_t *own = json_object_get(properties, name);

        join(at, place, name);
        if (own)
            check_value(check, own, member, at);
        else if (closed)
            violation(check, at, "is not in the schema");
        else if (json_is_object(others))
            check_value(check, others, member, at);
    }
}

static void
check_items(struct check *check, const json_t *items, const json_t *array, const char *place)
{
    char at[PLACE_SIZE], token[24];
    size_t index;
    const json_t *item;

    json_array_foreach(array, index, item)
    {
        (void)snprintf(token, sizeof token, "%zu", index);
        join(at, place, token);
        check_value(check, items, item, at);
    }
}

/* allOf, anyOf and oneOf: how many of the alternatives hold. What the others lack is told when that is not enough. */
static void
check_alternatives(struct check *check, const char *keyword, const json_t *schemas, const json_t *value,
                   const char *place)
{
    char why[BRANCH_REPORT_SIZE] = "";
    struct check branch = { check->document, check->flags, 0, why, sizeof why, 0 };
    size_t held = 0, index;
    const json_t *schema;

    json_array_foreach(schemas, index, schema)
    {
        size_t before = branch.violations;

        check_value(&branch, schema, value, place);
        held += branch.violations == before;
    }
    if (strcmp(keyword, "allOf") == 0   ? held == json_array_size(schemas)
        : strcmp(keyword, "oneOf") == 0 ? held == 1
                                        : held > 0)
        return;
    violation(check, place, "%zu of %zu schemas of %s hold: %s", held, json_array_size(schemas), keyword, why);
}

static bool
is_annotation(const char *keyword)
{
    static const char *const known[] = { "title",
                                         "description",
                                         "default",
                                         "example",
                                         "examples",
                                         "format",
                                         "deprecated",
                                         "readOnly",
                                         "writeOnly",
                                         "externalDocs",
                                         "required",
                                         "properties",
                                         "additionalProperties",
                                         "propertyNames" };

    for (size_t i = 0; i < COUNT_OF(known); i++)
        if (strcmp(keyword, known[i]) == 0)
            return true;
    return strncmp(keyword, "x-", 2) == 0;
}

static void
check_keyword(struct check *check, const char *keyword, const json_t *rule, const json_t *value, const char *place)
{
    if (is_annotation(keyword))
        return; /* of these, those about members have been looked at together */
    if (strcmp(keyword, "type") == 0)
        check_type(check, rule, value, place);
    else if (strcmp(keyword, "enum") == 0)
        check_enum(check, rule, value, place);
    else if (strcmp(keyword, "const") == 0) {
        if (!is_equal(rule, value))
            violation(check, place, "is not the constant");
    } else if (strcmp(keyword, "pattern") == 0) {
        if (json_is_string(value))
            check_pattern(check, json_string_value(rule), json_string_value(value), place);
    } else if (strcmp(keyword, "items") == 0) {
        if (json_is_array(value))
            check_items(check, rule, value, place);
    } else if (strcmp(keyword, "allOf") == 0 || strcmp(keyword, "anyOf") == 0 || strcmp(keyword, "oneOf") == 0)
        check_alternatives(check, keyword, rule, value, place);
    else if (!check_bound(check, keyword, json_number_value(rule), value, place))
        violation(check, place, "has the keyword \"%s\", which is not understood here", keyword);
}

static void
check_value(struct check *check, const json_t *schema, const json_t *value, const char *place)
{
    const char *reference = json_string_value(json_object_get(schema, "$ref"));
    const char *keyword;
    json_t *rule;

    if (reference) {
        const json_t *target = *reference == '#' ? schema_at(check->document, reference + 1) : NULL;

        if (target)
            check_value(check, target, value, place);
        else
            violation(check, place, "\"%s\" leads nowhere", reference);
    }
    if (json_is_object(value))
        check_members(check, schema, value, place);
    json_object_foreach((json_t *)schema, keyword, rule)
    {
        if (strcmp(keyword, "$ref") != 0)
            check_keyword(check, keyword, rule, value, place);
    }
}

size_t
schema_validate(const json_t *document, const json_t *schema, const json_t *value, unsigned flags, char *report,
                size_t report_size)
{
    struct check check = { document, flags, 0, report, report_size, 0 };

    if (report_size > 0)
        report[0] = '\0';
    if (!json_is_object(schema)) {
        violation(&check, "", "there is no schema");
        return check.violations;
    }
    check_value(&check, schema, value, "");
    return check.violations;
}
