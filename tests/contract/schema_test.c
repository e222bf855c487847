/* The validator itself: each keyword kept and broken once. */
#include "tests/support/schema.h"
#include "tests/support/suite.h"

static const char *const document_text =
    "{\"components\": {\"schemas\": {\"Even\": {\"type\": \"integer\", \"enum\": [2, 4]},"
    "\"Node\": {\"type\": \"object\", \"properties\": {\"next\": {\"$ref\": \"#/components/schemas/Node\"}}}},"
    "\"a/b~c\": {\"const\": 1}}}";

static const struct {
    const char *schema, *value;
    size_t violations;
    unsigned flags;
} rows[] = {
    { "{\"type\": \"integer\"}", "1", 0, 0 },
    { "{\"type\": \"integer\"}", "1.0", 0, 0 },
    { "{\"type\": \"integer\"}", "1.5", 1, 0 },
    { "{\"type\": \"integer\"}", "\"1\"", 1, 0 },
    { "{\"type\": \"number\"}", "1", 0, 0 },
    { "{\"type\": \"string\"}", "null", 1, 0 },
    { "{\"type\": [\"string\", \"null\"]}", "null", 0, 0 },
    { "{\"type\": [\"string\", \"null\"]}", "true", 1, 0 },
    { "{\"type\": \"boolean\"}", "false", 0, 0 },
    { "{\"type\": \"array\"}", "{}", 1, 0 },
    { "{\"enum\": [\"a\", null, 1]}", "null", 0, 0 },
    { "{\"enum\": [\"a\", null, 1]}", "1.0", 0, 0 },
    { "{\"enum\": [\"a\"]}", "\"b\"", 1, 0 },
    { "{\"const\": {\"a\": 1}}", "{\"a\": 1}", 0, 0 },
    { "{\"const\": {\"a\": 1}}", "{\"a\": 2}", 1, 0 },
    { "{\"minimum\": 1, \"maximum\": 2}", "2", 0, 0 },
    { "{\"minimum\": 1, \"maximum\": 2}", "2.01", 1, 0 },
    { "{\"minimum\": 1}", "0", 1, 0 },
    { "{\"minimum\": 1}", "\"0\"", 0, 0 }, /* bounds concern numbers only */
    { "{\"exclusiveMinimum\": 0}", "0", 1, 0 },
    { "{\"exclusiveMaximum\": 1}", "0.5", 0, 0 },
    { "{\"maxLength\": 2}", "\"\xE6\x98\xBE\xE5\x8D\xA1\"", 0, 0 }, /* two characters, six bytes */
    { "{\"maxLength\": 2}", "\"abc\"", 1, 0 },
    { "{\"minLength\": 1}", "\"\"", 1, 0 },
    { "{\"pattern\": \"^[0-9]+([.][0-9]{1,6})?$\"}", "\"12.34\"", 0, 0 },
    { "{\"pattern\": \"^[0-9]+([.][0-9]{1,6})?$\"}", "\"-12\"", 1, 0 },
    { "{\"pattern\": \"(\"}", "\"a\"", 1, 0 }, /* no expression */
    { "{\"items\": {\"type\": \"string\"}}", "[\"a\", 1, 2]", 2, 0 },
    { "{\"minItems\": 1, \"maxItems\": 2}", "[]", 1, 0 },
    { "{\"minItems\": 1, \"maxItems\": 2}", "[1, 2, 3]", 1, 0 },
    { "{\"required\": [\"a\", \"b\"]}", "{\"a\": null}", 1, 0 },
    { "{\"properties\": {\"a\": {\"type\": \"string\"}}}", "{\"a\": 1}", 1, 0 },
    { "{\"properties\": {\"a\": {}}}", "{\"b\": 1}", 0, 0 },
    { "{\"properties\": {\"a\": {}}}", "{\"b\": 1}", 1, SCHEMA_CLOSED },
    { "{\"properties\": {\"a\": {}}, \"additionalProperties\": true}", "{\"b\": 1}", 0, SCHEMA_CLOSED },
    { "{\"properties\": {\"a\": {}}, \"additionalProperties\": false}", "{\"b\": 1}", 1, 0 },
    { "{\"additionalProperties\": {\"type\": \"integer\"}}", "{\"b\": 1, \"c\": \"1\"}", 1, 0 },
    { "{\"propertyNames\": {\"enum\": [\"a\"]}}", "{\"a\": 1, \"b\": 2}", 1, 0 },
    { "{\"oneOf\": [{\"type\": \"string\"}, {\"type\": \"null\"}]}", "null", 0, 0 },
    { "{\"oneOf\": [{\"type\": \"string\"}, {\"type\": \"null\"}]}", "1", 1, 0 },
    { "{\"oneOf\": [{\"type\": \"number\"}, {\"type\": \"integer\"}]}", "1", 1, 0 }, /* both */
    { "{\"anyOf\": [{\"type\": \"number\"}, {\"type\": \"integer\"}]}", "1", 0, 0 },
    { "{\"allOf\": [{\"minimum\": 1}, {\"maximum\": 2}]}", "3", 1, 0 },
    { "{\"$ref\": \"#/components/schemas/Even\"}", "4", 0, 0 },
    { "{\"$ref\": \"#/components/schemas/Even\"}", "3", 1, 0 },
    { "{\"$ref\": \"#/components/schemas/Even\", \"maximum\": 3}", "4", 1, 0 }, /* what stands beside counts too */
    { "{\"$ref\": \"#/components/schemas/Odd\"}", "3", 1, 0 },
    { "{\"$ref\": \"#/components/schemas/Node\"}", "{\"next\": {\"next\": {\"next\": 1}}}", 1, 0 },
    { "{\"$ref\": \"#/components/a~1b~0c\"}", "1", 0, 0 },
    { "{\"description\": \"?\", \"x-note\": 1, \"format\": \"int64\"}", "1", 0, 0 },
    { "{\"unevaluatedProperties\": false}", "{}", 1, 0 }, /* not understood: told, not overlooked */
};

START_TEST(keywords_hold)
{
    json_t *document = json_loads(document_text, 0, NULL);
    json_t *schema = json_loads(rows[_i].schema, 0, NULL);
    json_t *value = json_loads(rows[_i].value, JSON_DECODE_ANY, NULL);
    char report[1024];
    size_t violations;

    ck_assert(document && schema && value);
    violations = schema_validate(document, schema, value, rows[_i].flags, report, sizeof report);
    ck_assert_msg(violations == rows[_i].violations, "%s %s: %zu\n%s", rows[_i].schema, rows[_i].value, violations,
                  report);
    ck_assert((report[0] != '\0') == (violations > 0));
    json_decref(document);
    json_decref(schema);
    json_decref(value);
}
END_TEST

START_TEST(no_schema_is_a_violation)
{
    json_t *value = json_integer(1);
    char report[64];

    ck_assert_uint_eq(schema_validate(value, NULL, value, 0, report, sizeof report), 1);
    json_decref(value);
}
END_TEST

int
main(void)
{
    TCase *tcase = tcase_create("schema");

    tcase_add_loop_test(tcase, keywords_hold, 0, COUNT_OF(rows));
    tcase_add_test(tcase, no_schema_is_a_violation);
    return suite_run("schema", tcase);
}
