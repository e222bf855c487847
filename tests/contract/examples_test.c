/* The examples of openapi.yaml against the running program: what the document shows is what happens. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/support/contract.h"
#include "tests/support/schema.h"
#include "tests/support/suite.h"

enum { REPORT_SIZE = 4096, MAX_HEADERS = 4 };

static const json_t *
paths(void)
{
    return json_object_get(contract_document(), "paths");
}

static void
check_example(const json_t *media, const json_t *value, const char *where)
{
    char report[REPORT_SIZE];
    size_t violations = schema_validate(contract_document(), json_object_get(media, "schema"), value, SCHEMA_CLOSED,
                                        report, sizeof report);

    ck_assert_msg(violations == 0, "%s: %zu violations\n%s", where, violations, report);
}

/* Calls `visit` for each example of a media type object, one or named. */
static void
each_example(const json_t *content, const char *where,
             void (*visit)(const json_t *media, const json_t *example, const char *where))
{
    const char *type, *name;
    json_t *media, *example;
    char at[256];

    json_object_foreach((json_t *)content, type, media)
    {
        if (json_object_get(media, "example"))
            check_example(media, json_object_get(media, "example"), where);
        json_object_foreach(json_object_get(media, "examples"), name, example)
        {
            (void)snprintf(at, sizeof at, "%s %s", where, name);
            visit(media, example, at);
        }
    }
}

/* --- requests --- */

static const char *asked_path;

static void
ask_example(const json_t *media, const json_t *example, const char *where)
{
    const json_t *value = json_object_get(example, "value");
    char *body = json_dumps(value, JSON_COMPACT);
    struct http_reply reply;

    check_example(media, value, where);
    contract_send("POST", asked_path, NULL, body, &reply);
    ck_assert_msg(reply.status == 200, "%s: %ld %s", where, reply.status, reply.body);
    http_reply_done(&reply);
    free(body);
}

static void
ask_examples(const char *path, const char *member, const json_t *operation, void *count)
{
    const json_t *content = schema_at(operation, "/requestBody/content");

    (void)member;
    asked_path = path;
    each_example(content, path, ask_example);
    *(size_t *)count += content != NULL;
}

START_TEST(requests_are_answered)
{
    size_t bodies = 0;

    contract_each_operation(ask_examples, &bodies);
    ck_assert_uint_ge(bodies, 2);
}
END_TEST

/* --- replies --- */

static long asked_status;

/* Lines of equal codes and pointers make two problems equal, whatever the sentences and the id say. */
static void
check_same_problem(const json_t *shown, const json_t *got, const char *where)
{
    const json_t *shown_items = json_object_get(shown, "errors"), *got_items = json_object_get(got, "errors");

    ck_assert_msg(json_equal(json_object_get(shown, "code"), json_object_get(got, "code")), "%s", where);
    ck_assert_msg(json_equal(json_object_get(shown, "detail"), json_object_get(got, "detail")), "%s", where);
    ck_assert_msg(json_equal(shown_items, got_items), "%s", where);
}

static void
ask_again(const json_t *media, const json_t *example, const char *where)
{
    const json_t *asked = json_object_get(example, "x-request"), *value = json_object_get(example, "value");
    const char *body = json_string_value(json_object_get(asked, "body")), *headers[MAX_HEADERS + 1] = { NULL };
    size_t filler = (size_t)json_integer_value(json_object_get(asked, "body_bytes"));
    char *made = filler ? malloc(filler + 1) : NULL;
    struct http_reply reply;
    json_t *parsed;

    check_example(media, value, where);
    if (!asked)
        return; /* the reply to the request of the same name, which is asked above */
    for (size_t i = 0; i < json_array_size(json_object_get(asked, "headers")) && i < MAX_HEADERS; i++)
        headers[i] = json_string_value(json_array_get(json_object_get(asked, "headers"), i));
    if (made) {
        memset(made, ' ', filler);
        made[filler] = '\0';
        body = made;
    }
    contract_send(json_string_value(json_object_get(asked, "method")),
                  json_string_value(json_object_get(asked, "path")), headers, body, &reply);
    ck_assert_msg(reply.status == asked_status, "%s: %ld %.500s", where, reply.status, reply.body);
    parsed = http_reply_json(&reply);
    if (asked_status >= 400)
        check_same_problem(value, parsed, where);
    json_decref(parsed);
    http_reply_done(&reply);
    free(made);
}

/* Of a component the status is not told: it stands in the value, where every problem has it. */
static void
ask_problem_again(const json_t *media, const json_t *example, const char *where)
{
    asked_status = (long)json_integer_value(schema_at(example, "/value/status"));
    ask_again(media, example, where);
}

static void
ask_all_again(const char *path, const char *member, const json_t *operation, void *context)
{
    const char *status;
    json_t *response;
    char where[256];

    (void)context;
    json_object_foreach(json_object_get(operation, "responses"), status, response)
    {
        (void)snprintf(where, sizeof where, "%s %s %s", member, path, status);
        asked_status = strtol(status, NULL, 10);
        each_example(json_object_get(response, "content"), where, ask_again);
    }
}

START_TEST(replies_of_operations)
{
    contract_each_operation(ask_all_again, NULL);
}
END_TEST

START_TEST(replies_that_are_shared)
{
    const json_t *responses = schema_at(contract_document(), "/components/responses");
    const char *name;
    json_t *response;

    json_object_foreach((json_t *)responses, name, response)
    {
        each_example(json_object_get(response, "content"), name, ask_problem_again);
    }
}
END_TEST

/* A reply's example that is no answer to an own x-request has a request of its name. */
START_TEST(each_reply_has_its_request)
{
    static const char *const posts[] = { "/estimate", "/recommend" };

    for (size_t i = 0; i < COUNT_OF(posts); i++) {
        const json_t *operation = json_object_get(json_object_get(paths(), posts[i]), "post");
        const json_t *requests = schema_at(operation, "/requestBody/content/application~1json/examples");
        const json_t *replies = schema_at(operation, "/responses/200/content/application~1json/examples");
        const char *name;
        json_t *reply;

        ck_assert_uint_ge(json_object_size(replies), 2);
        json_object_foreach((json_t *)replies, name, reply)
        {
            ck_assert_msg(json_object_get(requests, name) != NULL, "%s %s", posts[i], name);
        }
    }
}
END_TEST

int
main(void)
{
    TCase *tcase = tcase_create("examples");

    tcase_set_timeout(tcase, 120);
    tcase_add_unchecked_fixture(tcase, contract_start, contract_stop);
    tcase_add_test(tcase, requests_are_answered);
    tcase_add_test(tcase, replies_of_operations);
    tcase_add_test(tcase, replies_that_are_shared);
    tcase_add_test(tcase, each_reply_has_its_request);
    return suite_run("examples", tcase);
}
