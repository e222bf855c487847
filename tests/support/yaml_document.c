#include "tests/support/yaml_document.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <yaml.h>

#include "service/base/quantity.h"

static _Noreturn void
give_up(const char *path, size_t line, const char *why)
{
    (void)fprintf(stderr, "%s:%zu: %s\n", path, line + 1, why);
    abort();
}

/* A number by the core schema; NULL when the text is none. */
static json_t *
number_of(const char *text)
{
    const char *digits = text + (*text == '-' || *text == '+');
    char *end;

    if (!*digits || digits[strspn(digits, "0123456789.eE+-")] != '\0' || !strpbrk(digits, "0123456789"))
        return NULL;
    if (digits[strspn(digits, "0123456789")] == '\0') {
        long long value = strtoll(text, &end, 10);

        return *end ? NULL : json_integer(value);
    }
    double real = strtod(text, &end);

    return *end ? NULL : json_real(real);
}

static json_t *
scalar_of(const yaml_node_t *node)
{
    static const struct {
        const char *text;
        int kind;
    } words[] = {
        { "null", JSON_NULL }, { "~", JSON_NULL }, { "", JSON_NULL }, { "true", JSON_TRUE }, { "false", JSON_FALSE }
    };
    const char *text = (const char *)node->data.scalar.value;
    json_t *number;

    if (node->data.scalar.style != YAML_PLAIN_SCALAR_STYLE)
        return json_stringn(text, node->data.scalar.length);
    for (size_t i = 0; i < COUNT_OF(words); i++)
        if (strcmp(text, words[i].text) == 0)
            return words[i].kind == JSON_NULL ? json_null() : json_boolean(words[i].kind == JSON_TRUE);
    number = number_of(text);
    return number ? number : json_string(text);
}

static json_t *
value_of(yaml_document_t *document, int index, const char *path); /* calls itself through the two below */

static json_t *
object_of(yaml_document_t *document, const yaml_node_t *node, const char *path)
{
    json_t *object = json_object();

    for (const yaml_node_pair_t *pair = node->data.mapping.pairs.start; pair < node->data.mapping.pairs.top; pair++) {
        const yaml_node_t *key = yaml_document_get_node(document, pair->key);
        const char *name = (const char *)key->data.scalar.value;

        if (key->type != YAML_SCALAR_NODE)
            give_up(path, key->start_mark.line, "a key that is no scalar");
        if (json_object_get(object, name))
            give_up(path, key->start_mark.line, "a key that stands twice");
        json_object_set_new(object, name, value_of(document, pair->value, path));
    }
    return object;
}

static json_t *
value_of(yaml_document_t *document, int index, const char *path)
{
    const yaml_node_t *node = yaml_document_get_node(document, index);
    json_t *array;

    if (node->type == YAML_SCALAR_NODE)
        return scalar_of(node);
    if (node->type == YAML_MAPPING_NODE)
        return object_of(document, node, path);
    array = json_array();
    for (const yaml_node_item_t *item = node->data.sequence.items.start; item < node->data.sequence.items.top; item++)
        json_array_append_new(array, value_of(document, *item, path));
    return array;
}

json_t *
yaml_document_read(const char *path)
{
    FILE *file = fopen(path, "rb");
    yaml_parser_t parser;
    yaml_document_t document;
    json_t *value;

    if (!file || !yaml_parser_initialize(&parser))
        give_up(path, 0, "cannot be read");
    yaml_parser_set_input_file(&parser, file);
    if (!yaml_parser_load(&parser, &document))
        give_up(path, parser.problem_mark.line, parser.problem ? parser.problem : "no YAML");
    if (!yaml_document_get_root_node(&document))
        give_up(path, 0, "empty");
    value = value_of(&document, 1, path);
    yaml_document_delete(&document);
    yaml_parser_delete(&parser);
    (void)fclose(file);
    return value;
}
