#include "tests/accuracy/cases.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "api/handlers/estimate.h"
#include "api/handlers/recommend.h"
#include "tests/support/seed_catalog.h"

static const char *
text_of(const json_t *object, const char *name, const char *otherwise)
{
    const char *text = json_string_value(json_object_get(object, name));

    return text ? text : otherwise;
}

void
case_source(const char *source, char ret_name[CASE_NAME_SIZE])
{
    static const char scheme[] = "github:", fork[] = " (fork of ";
    const char *start = strncmp(source, scheme, sizeof scheme - 1) == 0 ? source + sizeof scheme - 1 : source;
    size_t length = strcspn(start, " ");
    const char *name = memchr(start, '/', length);
    const char *origin = start + length;

    if (!name || strncmp(origin, fork, sizeof fork - 1) != 0) {
        snprintf(ret_name, CASE_NAME_SIZE, "%.*s", (int)(name ? length : strlen(start)), start);
        return;
    }
    origin += sizeof fork - 1;
    snprintf(ret_name, CASE_NAME_SIZE, "%.*s%.*s", (int)strcspn(origin, ")"), origin,
             (int)(length - (size_t)(name - start)), name);
}

static void
add(struct cases *cases, json_t *row)
{
    struct accuracy_case *item;

    if (cases->count == cases->capacity) {
        cases->capacity = cases->capacity ? 2 * cases->capacity : 256;
        cases->items = realloc(cases->items, cases->capacity * sizeof *cases->items);
        if (!cases->items)
            abort();
    }
    item = &cases->items[cases->count++];
    item->row = row;
    item->id = text_of(row, "id", "");
    item->slice = text_of(row, "slice", "");
    item->path = text_of(row, "path", "/estimate");
    item->request = json_object_get(row, "request");
    item->expect = json_object_get(row, "expect");
    item->gpu = text_of(json_object_get(item->request, "hardware"), "gpu", "");
    item->engine = text_of(json_object_get(item->request, "serving"), "engine", "");
    case_source(text_of(row, "source", ""), item->source);
}

void
cases_read(struct cases *cases, const char *path)
{
    FILE *file = fopen(path, "re");
    char *line = NULL;
    size_t capacity = 0;

    if (!file) {
        perror(path);
        exit(2);
    }
    while (getline(&line, &capacity, file) > 0) {
        json_error_t error;
        json_t *row = json_loads(line, 0, &error);

        if (!row) {
            fprintf(stderr, "%s: %s\n", path, error.text);
            exit(2);
        }
        add(cases, row);
    }
    free(line);
    fclose(file);
}

void
cases_read_named(struct cases *cases, const char *name)
{
    char path[512];

    snprintf(path, sizeof path, "%s/tests/data/accuracy/%s.jsonl", PROJECT_ROOT, name);
    cases_read(cases, path);
}

void
cases_done(struct cases *cases)
{
    for (size_t i = 0; i < cases->count; i++)
        json_decref(cases->items[i].row);
    free(cases->items);
    *cases = (struct cases){ 0 };
}

json_t *
case_ask(const struct accuracy_case *asked, struct fault *ret_fault, bool *ret_broken)
{
    struct service_state state = { .version = "accuracy", .catalog = seed_catalog(), .slot = seed_catalog_slot() };
    struct request request = { .method = HTTP_POST, .path = asked->path };
    struct response response = { .status = 200, .body = buffer_take() };
    char *text = json_dumps(asked->request, JSON_COMPACT);
    json_t *reply = NULL;
    enum status status;

    request.body = text;
    request.body_size = strlen(text);
    fault_clear(ret_fault);
    status = strcmp(asked->path, "/recommend") == 0 ? handle_recommend(&request, &state, &response, ret_fault)
                                                    : handle_estimate(&request, &state, &response, ret_fault);
    if (status == STATUS_OK)
        reply = json_loadb(response.body->bytes, response.body->size, 0, NULL);
    *ret_broken = status == STATUS_OK ? !reply : ret_fault->code == FAULT_INTERNAL;
    buffer_give(response.body);
    free(text);
    return reply;
}
