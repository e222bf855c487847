/* openapi.yaml against the routes and the names that the program is made of. */
#include <stdio.h>
#include <string.h>

#include "api/http/problem.h"
#include "api/json/catalog_columns.h"
#include "api/json/job_json.h"
#include "api/route.h"
#include "api/version.h"
#include "service/recommend/recommend.h"
#include "tests/support/contract.h"
#include "tests/support/schema.h"
#include "tests/support/suite.h"

static const json_t *
paths(void)
{
    return json_object_get(contract_document(), "paths");
}

START_TEST(it_is_of_this_version)
{
    ck_assert_str_eq(contract_text(contract_document(), "/info/version"), SIZER_VERSION);
}
END_TEST

static const char *
method_member(enum http_method method)
{
    static const char *const members[] = { [HTTP_GET] = "get", [HTTP_POST] = "post" };

    ck_assert(method == HTTP_GET || method == HTTP_POST);
    return members[method];
}

START_TEST(each_route_is_in_the_document)
{
    for (size_t i = 0; i < route_count; i++) {
        const struct route *route = &routes[i];
        const json_t *operation = json_object_get(json_object_get(paths(), route->path), method_member(route->method));
        const char *id = json_string_value(json_object_get(operation, "operationId"));

        ck_assert_msg(operation != NULL, "%s %s", method_name(route->method), route->path);
        ck_assert_msg(id && strcmp(id, route->operation_id) == 0, "%s: %s, not %s", route->path, id,
                      route->operation_id);
    }
}
END_TEST

static void
check_route_of(const char *path, const char *member, const json_t *operation, void *context)
{
    bool found = false;

    (void)operation;
    (void)context;
    for (size_t i = 0; i < route_count; i++)
        found = found || (strcmp(routes[i].path, path) == 0 && strcmp(method_member(routes[i].method), member) == 0);
    ck_assert_msg(found, "%s %s", member, path);
}

START_TEST(each_operation_has_a_route)
{
    contract_each_operation(check_route_of, NULL);
}
END_TEST

/* What a route answers in by Accept is what the document says it answers in. */
START_TEST(media_types_are_those_of_the_routes)
{
    static const struct {
        enum media_type media;
        const char *name;
    } types[] = { { MEDIA_JSON, "application/json" },
                  { MEDIA_CSV, "text/csv" },
                  { MEDIA_NDJSON, "application/x-ndjson" } };

    for (size_t i = 0; i < route_count; i++) {
        const json_t *operation =
            json_object_get(json_object_get(paths(), routes[i].path), method_member(routes[i].method));
        const json_t *content = schema_at(operation, "/responses/200/content");

        for (size_t j = 0; j < COUNT_OF(types) && routes[i].produces; j++)
            ck_assert_msg(!(routes[i].produces & 1U << types[j].media) == !json_object_get(content, types[j].name),
                          "%s %s", routes[i].path, types[j].name);
        if (routes[i].produces)
            ck_assert_msg(schema_at(operation, "/responses/406") != NULL, "%s", routes[i].path);
        if (routes[i].flags & ROUTE_CACHEABLE)
            ck_assert_msg(schema_at(operation, "/responses/304") != NULL, "%s", routes[i].path);
        if (!(routes[i].flags & ROUTE_HEALTH))
            ck_assert_msg(schema_at(operation, "/responses/429") && schema_at(operation, "/responses/503"), "%s",
                          routes[i].path);
    }
}
END_TEST

START_TEST(codes_of_faults)
{
    const char *names[FAULT_COUNT] = { NULL };

    for (int code = FAULT_NONE + 1; code < FAULT_COUNT; code++)
        names[code] = fault_code_name((enum fault_code)code);
    contract_check_names(contract_schema("FaultCode"), names, COUNT_OF(names), "FaultCode");
}
END_TEST

struct wanted_status {
    char text[8];
    bool found;
};

static void
look_for_status(const char *path, const char *member, const json_t *operation, void *wanted)
{
    struct wanted_status *status = wanted;

    (void)path;
    (void)member;
    status->found = status->found || json_object_get(json_object_get(operation, "responses"), status->text);
}

/* Each status of a fault is described: by an operation or, where every path can answer it, in the prose. */
START_TEST(statuses_of_faults)
{
    const char *prose = json_string_value(schema_at(contract_document(), "/info/description"));

    for (int code = FAULT_NONE + 1; code < FAULT_COUNT; code++) {
        struct wanted_status status = { .found = false };

        (void)snprintf(status.text, sizeof status.text, "%d", problem_status((enum fault_code)code));
        contract_each_operation(look_for_status, &status);
        ck_assert_msg(status.found || strstr(prose, status.text), "%s: %s", fault_code_name((enum fault_code)code),
                      status.text);
    }
}
END_TEST

START_TEST(codes_of_notices)
{
    const char *names[NOTICE_COUNT] = { NULL };

    for (int code = NOTICE_NONE + 1; code < NOTICE_COUNT; code++)
        names[code] = notice_code_name((enum notice_code)code);
    contract_check_names(contract_schema("NoticeCode"), names, COUNT_OF(names), "NoticeCode");
}
END_TEST

START_TEST(codes_of_fixes)
{
    const char *names[FIX_COUNT];

    for (int code = 0; code < FIX_COUNT; code++)
        names[code] = fix_code_name((enum fix_code)code);
    contract_check_names(contract_schema("FixCode"), names, COUNT_OF(names), "FixCode");
}
END_TEST

START_TEST(codes_of_reasons)
{
    const char *names[REASON_COUNT] = { NULL };

    for (int code = REASON_NONE + 1; code < REASON_COUNT; code++)
        names[code] = reason_code_name((enum reason_code)code);
    contract_check_names(contract_schema("ReasonCode"), names, COUNT_OF(names), "ReasonCode");
}
END_TEST

START_TEST(codes_of_parts_verdicts_and_bottlenecks)
{
    const char *parts[PART_CODE_COUNT], *bottlenecks[BOTTLENECK_COUNT], *verdicts[VERDICT_DOES_NOT_FIT + 1];

    for (int code = 0; code < PART_CODE_COUNT; code++)
        parts[code] = part_code_name((enum part_code)code);
    for (int code = 0; code < BOTTLENECK_COUNT; code++)
        bottlenecks[code] = bottleneck_name((enum bottleneck)code);
    for (int code = 0; code <= VERDICT_DOES_NOT_FIT; code++)
        verdicts[code] = verdict_name((enum verdict)code);
    contract_check_names(contract_schema("MemoryPartCode"), parts, COUNT_OF(parts), "MemoryPartCode");
    contract_check_names(contract_schema("Bottleneck"), bottlenecks, COUNT_OF(bottlenecks), "Bottleneck");
    contract_check_names(contract_schema("Verdict"), verdicts, COUNT_OF(verdicts), "Verdict");
}
END_TEST

/* Choices that replies repeat have the names of the requests'. */
START_TEST(choices_of_replies)
{
    const char *weights[WEIGHT_FORMAT_COUNT] = { NULL }, *caches[KV_FORMAT_COUNT] = { NULL };
    const json_t *serving = json_object_get(contract_schema("ServingPlan"), "properties");
    const json_t *training = json_object_get(contract_schema("TrainingPlan"), "properties");

    for (int format = 1; format < WEIGHT_FORMAT_COUNT; format++)
        weights[format] = weight_format_name((enum weight_format)format);
    for (int format = 1; format < KV_FORMAT_COUNT; format++)
        caches[format] = kv_format_name((enum kv_format)format);
    contract_check_names(json_object_get(serving, "precision"), weights, COUNT_OF(weights), "ServingPlan/precision");
    contract_check_names(json_object_get(serving, "kv_cache_precision"), caches, COUNT_OF(caches),
                         "ServingPlan/kv_cache");
    contract_check_names(json_object_get(serving, "engine"), engine_names, COUNT_OF(engine_names),
                         "ServingPlan/engine");
    contract_check_names(json_object_get(training, "sharding"), sharding_names, COUNT_OF(sharding_names), "sharding");
    contract_check_names(json_object_get(training, "recompute"), recompute_names, COUNT_OF(recompute_names),
                         "recompute");
    contract_check_names(json_object_get(training, "framework"), framework_names, COUNT_OF(framework_names),
                         "framework");
    contract_check_names(contract_schema("Currency"), currency_names, COUNT_OF(currency_names), "Currency");
    contract_check_names(contract_schema("PriceType"), price_type_names, COUNT_OF(price_type_names), "PriceType");
}
END_TEST

START_TEST(lists_are_named)
{
    const char *names[16] = { NULL };

    ck_assert_uint_le(catalog_list_count, COUNT_OF(names));
    for (size_t i = 0; i < catalog_list_count; i++)
        names[i] = catalog_lists[i]->name;
    contract_check_names(contract_schema("ListName"), names, catalog_list_count, "ListName");
}
END_TEST

int
main(void)
{
    TCase *tcase = tcase_create("openapi");

    tcase_add_test(tcase, it_is_of_this_version);
    tcase_add_test(tcase, each_route_is_in_the_document);
    tcase_add_test(tcase, each_operation_has_a_route);
    tcase_add_test(tcase, media_types_are_those_of_the_routes);
    tcase_add_test(tcase, codes_of_faults);
    tcase_add_test(tcase, statuses_of_faults);
    tcase_add_test(tcase, codes_of_notices);
    tcase_add_test(tcase, codes_of_fixes);
    tcase_add_test(tcase, codes_of_reasons);
    tcase_add_test(tcase, codes_of_parts_verdicts_and_bottlenecks);
    tcase_add_test(tcase, choices_of_replies);
    tcase_add_test(tcase, lists_are_named);
    return suite_run("openapi", tcase);
}
