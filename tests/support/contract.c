#include "tests/support/contract.h"

#include <check.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "tests/support/program.h"
#include "tests/support/schema.h"
#include "tests/support/yaml_document.h"

enum { URL_SIZE = 1024, POINTER_SIZE = 512, REPORT_SIZE = 8192, LOG_PIPE_BYTES = 1 << 20 };

static struct program_run run;

const json_t *
contract_document(void)
{
    static json_t *document;

    if (!document)
        document = yaml_document_read(PROJECT_ROOT "/openapi.yaml");
    return document;
}

void
contract_start(void)
{
    (void)contract_document();
    program_serve(&run, NULL);
    (void)fcntl(run.log_fd, F_SETPIPE_SZ, LOG_PIPE_BYTES); /* nobody reads the log while tests run */
}

void
contract_stop(void)
{
    ck_assert_int_eq(program_end(&run), 0);
}

const json_t *
contract_schema(const char *name)
{
    char pointer[POINTER_SIZE];
    const json_t *schema;

    (void)snprintf(pointer, sizeof pointer, "/components/schemas/%s", name);
    schema = schema_at(contract_document(), pointer);
    ck_assert_msg(schema != NULL, "no schema %s", name);
    return schema;
}

const json_t *
contract_resolve(const json_t *node)
{
    const char *reference;

    while ((reference = json_string_value(json_object_get(node, "$ref")))) {
        node = schema_at(contract_document(), reference + 1);
        ck_assert_msg(node != NULL, "%s leads nowhere", reference);
    }
    return node;
}

void
contract_check_names(const json_t *schema, const char *const *names, size_t count, const char *where)
{
    const json_t *listed = json_object_get(contract_resolve(schema), "enum"), *one;
    size_t index, expected = 0;

    for (size_t i = 0; i < count; i++) {
        bool found = !names[i];

        expected += names[i] != NULL;
        json_array_foreach(listed, index, one)
        {
            found = found || (json_is_string(one) && strcmp(json_string_value(one), names[i]) == 0);
        }
        ck_assert_msg(found, "%s: the document lacks %s", where, names[i]);
    }
    ck_assert_msg(json_array_size(listed) == expected, "%s: %zu names in the document, %zu in the program", where,
                  json_array_size(listed), expected);
}

void
contract_each_operation(contract_visitor *visit, void *context)
{
    const char *path, *member;
    json_t *item, *operation;

    json_object_foreach(json_object_get(contract_document(), "paths"), path, item)
    {
        json_object_foreach(item, member, operation)
        {
            visit(path, member, operation, context);
        }
    }
}

/* Whether a path is what a template means; {id} at its end is the rest of the path. */
static bool
path_fits(const char *template, const char *path, size_t path_size)
{
    size_t fixed = strcspn(template, "{");

    if (template[fixed] == '\0')
        return fixed == path_size && strncmp(template, path, fixed) == 0;
    return path_size > fixed && strncmp(template, path, fixed) == 0;
}

static const json_t *
operation_of(const char *method, const char *path)
{
    size_t size = strcspn(path, "?");
    char member[16];
    const char *template;
    json_t *item;

    for (size_t i = 0; i <= strlen(method) && i < sizeof member; i++)
        member[i] = (char)(method[i] >= 'A' && method[i] <= 'Z' ? method[i] - 'A' + 'a' : method[i]);
    json_object_foreach(json_object_get(contract_document(), "paths"), template, item)
    {
        if (path_fits(template, path, size) && json_object_get(item, member))
            return json_object_get(item, member);
    }
    return NULL;
}

static void
check_headers(const json_t *response, const struct http_reply *reply, const char *what)
{
    const char *name;
    json_t *header;

    json_object_foreach(json_object_get(response, "headers"), name, header)
    {
        if (strcasecmp(name, "Link") == 0) /* absent on the last page */
            continue;
        ck_assert_msg(http_reply_header(reply, name) != NULL, "%s: no header %s", what, name);
    }
}

static void
check_body(const json_t *response, const struct http_reply *reply, const char *what)
{
    const char *type = http_reply_header(reply, "Content-Type");
    char media[64], report[REPORT_SIZE];
    const json_t *content = json_object_get(response, "content"), *described;
    json_t *body;
    size_t violations;

    if (!content) {
        ck_assert_msg(reply->body_size == 0, "%s: a body that the document does not know", what);
        return;
    }
    (void)snprintf(media, sizeof media, "%.*s", type ? (int)strcspn(type, ";") : 0, type ? type : "");
    described = json_object_get(content, media);
    ck_assert_msg(described != NULL, "%s: the document has no %s there", what, media);
    if (!strstr(media, "json") || strstr(media, "ndjson"))
        return;
    body = http_reply_json(reply);
    violations = schema_validate(contract_document(), json_object_get(described, "schema"), body, SCHEMA_CLOSED, report,
                                 sizeof report);
    ck_assert_msg(violations == 0, "%s: %zu violations:\n%s\n%.3000s", what, violations, report, reply->body);
    json_decref(body);
}

static void
check_reply(const char *method, const char *path, const struct http_reply *reply)
{
    const json_t *operation = operation_of(method, path), *response;
    char status[8], what[URL_SIZE];

    (void)snprintf(what, sizeof what, "%s %.400s -> %ld", method, path, reply->status);
    if (!operation) /* no such path, or not with this method: a problem like any other */
        response = schema_at(contract_document(), "/components/responses/NotFoundProblem");
    else {
        (void)snprintf(status, sizeof status, "%ld", reply->status);
        response = contract_resolve(json_object_get(json_object_get(operation, "responses"), status));
    }
    ck_assert_msg(response != NULL, "%s: a status that the document does not list: %.1000s", what, reply->body);
    check_headers(response, reply, what);
    check_body(response, reply, what);
}

void
contract_send(const char *method, const char *path, const char *const *headers, const char *body,
              struct http_reply *ret_reply)
{
    char url[URL_SIZE];
    struct http_request request = { .method = method, .url = url, .headers = headers, .body = body };

    (void)snprintf(url, sizeof url, "http://127.0.0.1:%u%s", (unsigned)run.port, path);
    http_send(&request, ret_reply);
    if (strcmp(method, "HEAD") != 0 && strcmp(method, "OPTIONS") != 0)
        check_reply(method, path, ret_reply);
}

json_t *
contract_post_in(const char *language, const char *path, long status, const char *body)
{
    char header[64];
    const char *headers[] = { header, NULL };
    struct http_reply reply;
    json_t *parsed;

    (void)snprintf(header, sizeof header, "Accept-Language: %s", language);
    contract_send("POST", path, headers, body, &reply);
    ck_assert_msg(reply.status == status, "%s %.300s -> %ld %.2000s", path, body, reply.status, reply.body);
    ck_assert_str_eq(http_reply_header(&reply, "Content-Language"), language);
    parsed = http_reply_json(&reply);
    http_reply_done(&reply);
    return parsed;
}

json_t *
contract_post(const char *path, long status, const char *body)
{
    return contract_post_in("en", path, status, body);
}

const char *
contract_text(const json_t *value, const char *pointer)
{
    const char *text = json_string_value(schema_at(value, pointer));

    ck_assert_msg(text != NULL, "no text at %s", pointer);
    return text;
}

json_int_t
contract_count(const json_t *value, const char *pointer)
{
    const json_t *found = schema_at(value, pointer);

    ck_assert_msg(json_is_integer(found), "no whole number at %s", pointer);
    return json_integer_value(found);
}

double
contract_number(const json_t *value, const char *pointer)
{
    const json_t *found = schema_at(value, pointer);

    ck_assert_msg(json_is_number(found), "no number at %s", pointer);
    return json_number_value(found);
}

void
contract_merge(json_t *target, const json_t *patch)
{
    const char *name;
    json_t *value;

    json_object_foreach((json_t *)patch, name, value)
    {
        if (json_is_null(value)) {
            json_object_del(target, name);
        } else if (json_is_object(value)) {
            if (!json_is_object(json_object_get(target, name)))
                json_object_set_new(target, name, json_object());
            contract_merge(json_object_get(target, name), value);
        } else {
            json_object_set(target, name, value);
        }
    }
}
