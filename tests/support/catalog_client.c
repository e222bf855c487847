/* A request struct, a handler, its reply: what the server does, and no more. */
#include "tests/support/catalog_client.h"

#include <check.h>
#include <string.h>

#include "api/handlers/catalog.h"
#include "api/handlers/catalog_cache.h"
#include "service/base/text.h"
#include "tests/support/seed_catalog.h"

struct request catalog_request;
struct response catalog_response;
struct fault catalog_fault;
static char query_text[1024];

void
catalog_start(const char *path, const char *query)
{
    char *next = query_text;

    memset(&catalog_request, 0, sizeof catalog_request);
    catalog_request.method = HTTP_GET;
    catalog_request.path = path;
    text_copy(query_text, sizeof query_text, query);
    while (*next) {
        struct query_parameter *parameter = &catalog_request.query[catalog_request.query_count++];
        char *end = next + strcspn(next, "&"), *value;

        parameter->name = next;
        next = *end ? end + 1 : end;
        *end = '\0';
        value = strchr(parameter->name, '=');
        parameter->value = value ? value + 1 : end;
        if (value)
            *value = '\0';
    }
}

enum status
catalog_send(void)
{
    struct service_state state = { .version = "test", .catalog = seed_catalog(), .slot = seed_catalog_slot() };
    const char *tail = strchr(catalog_request.path + 1, '/');
    enum status status;

    buffer_give(catalog_response.body);
    memset(&catalog_response, 0, sizeof catalog_response);
    catalog_response.status = 200;
    catalog_response.body = buffer_take();
    fault_clear(&catalog_fault);
    if (!tail)
        return handle_catalog(&catalog_request, &state, &catalog_response, &catalog_fault);
    tail = strchr(tail + 1, '/');
    catalog_request.path_tail = tail ? tail + 1 : NULL;
    status = tail ? handle_catalog_item(&catalog_request, &state, &catalog_response, &catalog_fault)
                  : handle_catalog_list(&catalog_request, &state, &catalog_response, &catalog_fault);
    return status;
}

json_t *
catalog_get(const char *path, const char *query)
{
    json_error_t error;
    json_t *json;

    catalog_start(path, query);
    ck_assert_msg(catalog_send() == STATUS_OK, "%s?%s: %s %s", path, query, fault_code_name(catalog_fault.code),
                  catalog_fault.items[0].pointer);
    ck_assert_int_eq(catalog_response.status, 200);
    json = json_loadb(catalog_response.body->bytes, catalog_response.body->size, JSON_REJECT_DUPLICATES, &error);
    ck_assert_msg(json != NULL, "%s?%s: %s", path, query, error.text);
    return json;
}

const char *
catalog_get_text(const char *path, const char *query)
{
    catalog_start(path, query);
    ck_assert_int_eq(catalog_send(), STATUS_OK);
    buffer_append(catalog_response.body, "", 1);
    return catalog_response.body->bytes;
}

const char *
catalog_header(const char *name)
{
    for (size_t i = 0; i < catalog_response.header_count; i++) {
        if (strcmp(catalog_response.headers[i].name, name) == 0)
            return catalog_response.headers[i].value;
    }
    return NULL;
}

const char *
text_at(const json_t *object, const char *name)
{
    return json_string_value(json_object_get(object, name));
}

double
number_at(const json_t *object, const char *name)
{
    return json_number_value(json_object_get(object, name));
}

const char *
item_id_at(const json_t *reply, size_t i)
{
    return text_at(json_array_get(json_object_get(reply, "items"), i), "id");
}

size_t
catalog_total(const char *path, const char *query)
{
    json_t *reply = catalog_get(path, query);
    size_t count = (size_t)number_at(reply, "total_count");

    json_decref(reply);
    return count;
}

void
catalog_give_back(void)
{
    buffer_give(catalog_response.body);
    catalog_response.body = NULL;
    catalog_cache_done();
}
