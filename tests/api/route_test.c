/* The route table, and how paths find their row in any table. */
#include "api/route.h"

#include <ctype.h>
#include <string.h>

#include "tests/support/suite.h"

static enum status
nothing(const struct request *request, const struct service_state *state, struct response *ret_response,
        struct fault *ret_fault)
{
    (void)request;
    (void)state;
    (void)ret_response;
    (void)ret_fault;
    return STATUS_OK;
}

static const struct route table[] = {
    { .method = HTTP_GET, .path = "/things", .handle = nothing },
    { .method = HTTP_POST, .path = "/things", .handle = nothing },
    { .method = HTTP_GET, .path = "/things/{id}", .handle = nothing },
    { .method = HTTP_POST, .path = "/ask", .handle = nothing },
};

static const struct {
    enum http_method method;
    const char *path;
    int row; /* -1: none */
    const char *tail, *allow;
} paths[] = {
    { HTTP_GET, "/things", 0, NULL, "" },
    { HTTP_HEAD, "/things", 0, NULL, "" },
    { HTTP_POST, "/things", 1, NULL, "" },
    { HTTP_GET, "/things/a", 2, "a", "" },
    { HTTP_GET, "/things/aliyun:ecs/x", 2, "aliyun:ecs/x", "" },
    { HTTP_GET, "/things/{id}", 2, "{id}", "" },
    { HTTP_GET, "/things/", -1, NULL, "" },
    { HTTP_GET, "/thing", -1, NULL, "" },
    { HTTP_GET, "/things2", -1, NULL, "" },
    { HTTP_GET, "/", -1, NULL, "" },
    { HTTP_GET, "", -1, NULL, "" },
    { HTTP_DELETE, "/things", -1, NULL, "GET, HEAD, POST, OPTIONS" },
    { HTTP_OPTIONS, "/things/a", -1, NULL, "GET, HEAD, OPTIONS" },
    { HTTP_HEAD, "/ask", -1, NULL, "POST, OPTIONS" },
};

START_TEST(paths_find_their_row)
{
    char allow[64];
    const char *tail;
    const struct route *found =
        route_match(table, COUNT_OF(table), paths[_i].method, paths[_i].path, allow, sizeof allow, &tail);

    ck_assert_msg((found ? found - table : -1) == paths[_i].row, "%s", paths[_i].path);
    ck_assert_str_eq(allow, paths[_i].allow);
    if (paths[_i].tail)
        ck_assert_str_eq(tail, paths[_i].tail);
    else
        ck_assert_ptr_null(tail);
}
END_TEST

static const struct {
    enum http_method method;
    const char *path;
} contract[] = {
    { HTTP_POST, "/estimate" },
    { HTTP_POST, "/recommend" },
    { HTTP_GET, "/catalog" },
    { HTTP_GET, "/catalog/gpus" },
    { HTTP_GET, "/catalog/gpus/h100-sxm-80gb" },
    { HTTP_GET, "/catalog/instances" },
    { HTTP_GET, "/catalog/instances/aliyun:ecs.gn7e-c16g1.16xlarge" },
    { HTTP_GET, "/catalog/servers" },
    { HTTP_GET, "/catalog/servers/dell-xe9680-8xh100" },
    { HTTP_GET, "/catalog/prices" },
    { HTTP_GET, "/catalog/models" },
    { HTTP_GET, "/catalog/storage" },
    { HTTP_GET, "/catalog/networks" },
    { HTTP_GET, "/catalog/providers" },
    { HTTP_GET, "/catalog/fx" },
    { HTTP_GET, "/openapi.yaml" },
    { HTTP_GET, "/livez" },
    { HTTP_GET, "/readyz" },
    { HTTP_GET, "/metrics" },
};

START_TEST(the_contract_has_its_routes)
{
    char allow[64];
    const char *tail;

    ck_assert_msg(route_find(contract[_i].method, contract[_i].path, allow, sizeof allow, &tail) != NULL, "%s",
                  contract[_i].path);
}
END_TEST

START_TEST(rows_are_sound)
{
    for (size_t i = 0; i < route_count; i++) {
        ck_assert_ptr_nonnull(routes[i].handle);
        ck_assert(routes[i].path[0] == '/' && islower((unsigned char)routes[i].operation_id[0]));
        for (size_t j = 0; j < i; j++) {
            ck_assert(routes[i].method != routes[j].method || strcmp(routes[i].path, routes[j].path) != 0);
            ck_assert_str_ne(routes[i].operation_id, routes[j].operation_id);
        }
    }
}
END_TEST

int
main(void)
{
    TCase *tcase = tcase_create("route");

    tcase_add_loop_test(tcase, paths_find_their_row, 0, COUNT_OF(paths));
    tcase_add_loop_test(tcase, the_contract_has_its_routes, 0, COUNT_OF(contract));
    tcase_add_test(tcase, rows_are_sound);
    return suite_run("route", tcase);
}
