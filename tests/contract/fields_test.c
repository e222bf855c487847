/* The schemas of openapi.yaml against the tables by which bodies are read and rows are written. */
#include <stdio.h>
#include <string.h>

#include "api/json/catalog_columns.h"
#include "api/json/estimate_json.h"
#include "api/json/recommend_json.h"
#include "tests/support/contract.h"
#include "tests/support/schema.h"
#include "tests/support/suite.h"

enum { PLACE_SIZE = 256 };

static void check_table(const struct field_table *table, unsigned depth);

static void
check_type(const json_t *property, const char *type, const char *where)
{
    const char *described = json_string_value(json_object_get(contract_resolve(property), "type"));

    ck_assert_msg(described && strcmp(described, type) == 0, "%s: %s in the document, %s in the program", where,
                  described, type);
}

static void
check_number(const json_t *property, const char *keyword, double expected, const char *where)
{
    const json_t *described = json_object_get(contract_resolve(property), keyword);

    ck_assert_msg(described && json_number_value(described) == expected, "%s: %s %.17g in the document, %.17g here",
                  where, keyword, json_number_value(described), expected);
}

static bool
counts_bytes(const char *name)
{
    size_t size = strlen(name);

    return strcmp(name, "bytes") == 0 || (size > 6 && strcmp(name + size - 6, "_bytes") == 0);
}

/* Numbers: counts are integers, reals numbers, but bytes are whole for callers whatever holds them here. */
static void
check_numeric(const struct field *field, const json_t *property, const char *where)
{
    bool whole = field->kind != FIELD_REAL || counts_bytes(field->name);

    check_type(property, whole ? "integer" : "number", where);
    check_number(property, "minimum", field->min, where);
    check_number(property, "maximum", field->max, where);
}

static void
check_reference(const json_t *property, const char *schema, const char *where)
{
    char reference[PLACE_SIZE];
    const char *described = json_string_value(json_object_get(property, "$ref"));

    (void)snprintf(reference, sizeof reference, "#/components/schemas/%s", schema);
    ck_assert_msg(described && strcmp(described, reference) == 0, "%s: %s, not %s", where, described, reference);
}

static void
check_array(const struct field *field, const json_t *property, const char *where)
{
    const json_t *items = json_object_get(property, "items");

    check_type(property, "array", where);
    check_type(items, "string", where);
    check_number(property, "maxItems", field->max > 0 ? field->max : MAX_LIST_TEXTS, where);
    if (field->kind == FIELD_ENUMS)
        contract_check_names(items, field->names, field->name_count, where);
}

static void
check_field(const struct field *field, const json_t *property, const char *where, unsigned depth)
{
    switch (field->kind) {
    case FIELD_U32:
    case FIELD_U64:
    case FIELD_REAL:
        check_numeric(field, property, where);
        return;
    case FIELD_BOOL:
        check_type(property, "boolean", where);
        return;
    case FIELD_ENUM:
        check_type(property, "string", where);
        contract_check_names(property, field->names, field->name_count, where);
        return;
    case FIELD_TEXT:
        check_type(property, "string", where);
        check_number(property, "maxLength", field->max - 1, where); /* a byte is for the end */
        return;
    case FIELD_MONEY:
        check_reference(property, "Money", where);
        return;
    case FIELD_OBJECT:
        check_reference(property, field->table->schema, where);
        check_table(field->table, depth + 1);
        return;
    case FIELD_TEXTS:
    case FIELD_ENUMS:
        check_array(field, property, where);
        return;
    case FIELD_ANY:
        return;
    }
}

static bool
is_required(const json_t *schema, const char *name)
{
    size_t index;
    const json_t *one;

    json_array_foreach(json_object_get(schema, "required"), index, one)
    {
        if (strcmp(json_string_value(one), name) == 0)
            return true;
    }
    return false;
}

static void
check_table(const struct field_table *table, unsigned depth)
{
    const json_t *schema = contract_schema(table->schema);
    const json_t *properties = json_object_get(schema, "properties");
    size_t required = 0;

    ck_assert_uint_lt(depth, 8);
    ck_assert_msg(json_is_false(json_object_get(schema, "additionalProperties")), "%s is open", table->schema);
    for (size_t i = 0; i < table->count; i++) {
        const struct field *field = &table->fields[i];
        const json_t *property = json_object_get(properties, field->name);
        char where[PLACE_SIZE];

        (void)snprintf(where, sizeof where, "%s/%s", table->schema, field->name);
        ck_assert_msg(property != NULL, "%s is not in the document", where);
        ck_assert_msg(!(field->flags & FIELD_REQUIRED) == !is_required(schema, field->name), "%s: required?", where);
        required += (field->flags & FIELD_REQUIRED) != 0;
        check_field(field, property, where, depth);
    }
    ck_assert_msg(json_object_size(properties) == table->count, "%s has %zu members in the document, %zu here",
                  table->schema, json_object_size(properties), table->count);
    ck_assert_msg(json_array_size(json_object_get(schema, "required")) == required, "%s: required", table->schema);
}

START_TEST(tables_are_schemas)
{
    static const struct field_table *const tables[] = { &estimate_table, &recommend_table, &model_shape_table,
                                                        &model_config_table };

    check_table(tables[_i], 0);
}
END_TEST

/* --- columns of the catalog --- */

static const char *
column_type(const struct catalog_column *column)
{
    switch (column->kind) {
    case COLUMN_TEXT:
    case COLUMN_LETTER:
    case COLUMN_CURRENCY:
        return "string";
    case COLUMN_U32:
    case COLUMN_U64:
        return "integer";
    case COLUMN_REAL:
    case COLUMN_RATE:
        return "number";
    case COLUMN_BOOL:
    case COLUMN_FLAG:
        return "boolean";
    case COLUMN_ALIASES:
    case COLUMN_PRICES:
        return "array";
    case COLUMN_MONEY:
        return NULL;
    case COLUMN_OF:
        return column->read_kind == COLUMN_IS_TEXT ? "string" : column->read_kind == COLUMN_IS_TRUTH ? "boolean" : NULL;
    }
    return NULL;
}

static void
check_column(const struct catalog_column *column, const json_t *property, const char *where)
{
    const json_t *described = json_object_get(contract_resolve(property), "type");
    const char *type = json_string_value(json_is_array(described) ? json_array_get(described, 0) : described);
    const char *expected = column_type(column);

    if (expected)
        ck_assert_msg(type && strcmp(type, expected) == 0, "%s: %s, not %s", where, type, expected);
}

static void
check_columns(const struct catalog_list *list, const char *schema, size_t more)
{
    const json_t *properties = json_object_get(contract_schema(schema), "properties");

    for (size_t i = 0; i < list->column_count; i++) {
        const json_t *property = json_object_get(properties, list->columns[i].name);
        char where[PLACE_SIZE];

        (void)snprintf(where, sizeof where, "%s/%s", schema, list->columns[i].name);
        ck_assert_msg(property != NULL, "%s is not in the document", where);
        check_column(&list->columns[i], property, where);
    }
    ck_assert_msg(json_object_size(properties) == list->column_count + more, "%s has %zu members in the document",
                  schema, json_object_size(properties));
}

START_TEST(columns_are_schemas)
{
    const struct catalog_list *list = catalog_lists[_i];
    char path[PLACE_SIZE];
    const char *reference;

    (void)snprintf(path, sizeof path, "/catalog/%s/{id}", list->name);
    reference = json_string_value(schema_at(json_object_get(json_object_get(contract_document(), "paths"), path),
                                            "/get/responses/200/content/application~1json/schema/$ref"));
    ck_assert_msg(reference != NULL, "%s", path);
    check_columns(list, strrchr(reference, '/') + 1, 1); /* catalog_version */
}
END_TEST

START_TEST(columns_of_prices_in_offers)
{
    check_columns(&price_members, "OfferPrice", 0);
}
END_TEST

int
main(void)
{
    TCase *tcase = tcase_create("fields");

    tcase_add_loop_test(tcase, tables_are_schemas, 0, 4);
    tcase_add_loop_test(tcase, columns_are_schemas, 0, (int)catalog_list_count);
    tcase_add_test(tcase, columns_of_prices_in_offers);
    return suite_run("fields", tcase);
}
