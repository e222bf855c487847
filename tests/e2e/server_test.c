/* Requests over a real socket to a server of this process (server_start), one at a time: what each is answered with. */
#include <jansson.h>
#include <string.h>
#include <unistd.h>

#include "tests/support/served.h"
#include "tests/support/suite.h"
#include "tests/support/wire.h"

static struct wire_reply reply;

#define HOST "Host: h\r\n"
#define GET(path) "GET " path " HTTP/1.1\r\n" HOST "\r\n"
#define POST(path, headers, body) "POST " path " HTTP/1.1\r\n" HOST headers "\r\n" body

static void
setup(void)
{
    served_start(true);
}

static void
teardown(void)
{
    served_stop();
}

static json_t *
body_json(void)
{
    json_t *parsed = json_loadb(reply.body, reply.body_size, JSON_REJECT_DUPLICATES, NULL);

    ck_assert_msg(parsed != NULL, "not JSON: %s", reply.body);
    return parsed;
}

/* What every reply carries. */
static void
check_common(const char *request)
{
    const char *id = wire_header(&reply, "X-Request-Id");

    ck_assert_msg(id && strlen(id) == 32 && strspn(id, "0123456789abcdef") == 32, "%s", request);
    ck_assert_str_eq(wire_header(&reply, "X-Content-Type-Options"), "nosniff");
    ck_assert_ptr_nonnull(wire_header(&reply, "Cache-Control"));
    ck_assert_ptr_nonnull(wire_header(&reply, "Date"));
}

static const struct {
    const char *request;
    int status;
    const char *code;           /* of the problem; NULL: none */
    const char *header, *value; /* that the reply must have */
    bool closes;
} requests[] = {
    { GET("/livez"), 200, NULL, "Content-Type", "application/json", false },
    { GET("/livez?x=1"), 200, NULL, "Cache-Control", "no-store", false },
    { "HEAD /livez HTTP/1.1\r\n" HOST "\r\n", 200, NULL, "Content-Length", "15", false },
    { "OPTIONS /livez HTTP/1.1\r\n" HOST "\r\n", 204, NULL, "Allow", "GET, HEAD, OPTIONS", false },
    { "OPTIONS /echo HTTP/1.1\r\n" HOST "\r\n", 204, NULL, "Accept-Post", "application/json", false },
    { "OPTIONS * HTTP/1.1\r\n" HOST "\r\n", 204, NULL, "Allow", "GET, HEAD, POST, OPTIONS", false },
    { "OPTIONS /nothing HTTP/1.1\r\n" HOST "\r\n", 404, "not_found", NULL, NULL, false },
    { GET("/"), 404, "not_found", "Content-Type", "application/problem+json", false },
    { GET("/livez/"), 404, "not_found", "Content-Language", "en", false },
    { GET("/things/"), 404, "not_found", NULL, NULL, false },
    { POST("/livez", "Content-Length: 2\r\n", "{}"), 405, "method_not_allowed", "Allow", "GET, HEAD, OPTIONS", false },
    { GET("/echo"), 405, "method_not_allowed", "Allow", "POST, OPTIONS", false },
    { "HEAD /echo HTTP/1.1\r\n" HOST "\r\n", 405, NULL, "Allow", "POST, OPTIONS", false },
    { "PUT /echo HTTP/1.1\r\n" HOST "Content-Length: 2\r\n\r\n{}", 405, "method_not_allowed", NULL, NULL, false },
    { "DELETE /echo HTTP/1.1\r\n" HOST "\r\n", 405, "method_not_allowed", NULL, NULL, false },
    { "BREW /livez HTTP/1.1\r\n" HOST "\r\n", 501, "method_unknown", NULL, NULL, false },
    { "TRACE /livez HTTP/1.1\r\n" HOST "\r\n", 501, "method_unknown", NULL, NULL, false },
    { "get /livez HTTP/1.1\r\n" HOST "\r\n", 501, "method_unknown", NULL, NULL, false },
    { "BREW /livez HTTP/1.1\r\n" HOST "Content-Length: 2\r\n\r\n{}", 501, "method_unknown", NULL, NULL, false },
    { POST("/echo", "Content-Length: 7\r\n", "{\"a\":1}"), 200, NULL, "Content-Language", "en", false },
    { POST("/echo", "Content-Length: 0\r\n", ""), 200, NULL, "Content-Length", "0", false },
    { POST("/echo", "", ""), 200, NULL, "Content-Length", "0", false },
    { POST("/echo", "Content-Type: text/xml\r\nContent-Length: 2\r\n", "{}"), 415, "unsupported_media_type",
      "Accept-Post", "application/json", false },
    { POST("/echo", "Content-Type: application/json; charset=utf-8\r\nContent-Length: 2\r\n", "{}"), 200, NULL, NULL,
      NULL, false },
    { POST("/echo", "Content-Encoding: gzip\r\nContent-Length: 2\r\n", "{}"), 415, "unsupported_media_type", NULL, NULL,
      false },
    { POST("/echo", "Content-Encoding: identity\r\nContent-Length: 2\r\n", "{}"), 200, NULL, NULL, NULL, false },
    { POST("/echo", "Accept: text/html\r\nContent-Length: 2\r\n", "{}"), 406, "not_acceptable", NULL, NULL, false },
    { POST("/echo", "Accept: application/json;q=0.5\r\nContent-Length: 2\r\n", "{}"), 200, NULL, NULL, NULL, false },
    { "GET /table HTTP/1.1\r\n" HOST "Accept: text/csv\r\n\r\n", 200, NULL, "Content-Type", "text/csv; charset=utf-8",
      false },
    { "GET /table HTTP/1.1\r\n" HOST "Accept: application/x-ndjson\r\n\r\n", 200, NULL, "Content-Type",
      "application/x-ndjson", false },
    { "GET /table HTTP/1.1\r\n" HOST "Accept: image/png\r\n\r\n", 406, "not_acceptable", NULL, NULL, false },
    { GET("/table"), 200, NULL, "Cache-Control", "no-cache", false },
    { "GET /metrics HTTP/1.1\r\n" HOST "Accept: application/openmetrics-text\r\n\r\n", 200, NULL, "Content-Type",
      "text/plain; version=0.0.4; charset=utf-8", false },
    { POST("/wrong", "Content-Length: 2\r\n", "{}"), 422, "unknown_member", "Cache-Control", "no-store", false },
    { GET("/broken"), 500, "internal", NULL, NULL, false },
    { GET("/a%00b"), 400, "bad_request", NULL, NULL, false },
    { GET("/livez%00"), 400, "bad_request", NULL, NULL, false },
    { GET("/livez%"), 400, "bad_request", NULL, NULL, false },
    { GET("/livez%zz"), 400, "bad_request", NULL, NULL, false },
    { GET("/livez%ff"), 400, "bad_request", NULL, NULL, false },
    { GET("/livez?a=%00"), 400, "bad_request", NULL, NULL, false },
    { GET("/livez?%ff=1"), 400, "bad_request", NULL, NULL, false },
    { GET("/%6Civez"), 200, NULL, NULL, NULL, false },
    { GET("http://h:80/livez?a=1"), 200, NULL, NULL, NULL, false },
    { GET("http://h"), 404, "not_found", NULL, NULL, false },
    { GET("httpx://h/livez"), 404, "not_found", NULL, NULL, false },
    { "GET /livez HTTP/1.1\r\n" HOST HOST "\r\n", 400, "bad_request", NULL, NULL, true },
    { "GET /livez HTTP/1.1\r\n\r\n", 400, "bad_request", NULL, NULL, true },
    { "GET /livez HTTP/1.1\r\nHost: a b\r\n\r\n", 400, "bad_request", NULL, NULL, true },
    { "GET /livez HTTP/1.1\r\nHost: a/b\r\n\r\n", 400, "bad_request", NULL, NULL, true },
    { "GET /livez HTTP/1.1\r\nHost: [::1]:8080\r\n\r\n", 200, NULL, NULL, NULL, false },
    { "GET /livez HTTP/1.0\r\n\r\n", 200, NULL, NULL, NULL, true },
    { POST("/echo", "Content-Length: 2\r\nTransfer-Encoding: chunked\r\n", "2\r\n{}\r\n0\r\n\r\n"), 400, "bad_request",
      NULL, NULL, true },
    { POST("/echo", "Transfer-Encoding: chunked\r\n", "1\r\n{\r\n1\r\n}\r\n0\r\n\r\n"), 200, NULL, "Content-Length",
      "2", false },
    { POST("/echo", "Transfer-Encoding: gzip, chunked\r\n", "0\r\n\r\n"), 400, "bad_request", NULL, NULL, true },
    { POST("/echo", "Transfer-Encoding: identity\r\n", ""), 400, "bad_request", NULL, NULL, true },
    { POST("/echo", "Content-Length: 2\r\nContent-Length: 2\r\n", "{}"), 400, "bad_request", NULL, NULL, true },
    { POST("/echo", "Content-Length : 2\r\n", "{}"), 400, "bad_request", NULL, NULL, true },
    { "POST /echo HTTP/1.0\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n", 400, "bad_request", NULL, NULL, true },
    { "GET /livez HTTP/1.1\r\n" HOST "Connection: close\r\n\r\n", 200, NULL, NULL, NULL, true },
};

START_TEST(each_request_has_its_answer)
{
    const char *request = requests[_i].request;
    bool head = strncmp(request, "HEAD ", 5) == 0;
    int fd = wire_open(served_port);

    wire_send(fd, request);
    wire_read(fd, head, &reply);
    ck_assert_msg(reply.status == requests[_i].status, "%s\n-> %d %s", request, reply.status, reply.body);
    check_common(request);
    if (requests[_i].header) {
        const char *value = wire_header(&reply, requests[_i].header);

        ck_assert_msg(value && strcmp(value, requests[_i].value) == 0, "%s\n-> %s: %s", request, requests[_i].header,
                      value);
    }
    if (requests[_i].code) {
        json_t *problem = body_json();

        ck_assert_str_eq(json_string_value(json_object_get(problem, "code")), requests[_i].code);
        ck_assert_str_eq(json_string_value(json_object_get(problem, "request_id")),
                         wire_header(&reply, "X-Request-Id"));
        json_decref(problem);
    }
    if (requests[_i].closes) {
        ck_assert_msg(wire_is_closed(fd), "%s", request);
    } else { /* the connection is still good, and nothing of the last request is left in it */
        wire_send(fd, GET("/livez"));
        wire_read(fd, false, &reply);
        ck_assert_msg(reply.status == 200, "%s", request);
    }
    close(fd);
}
END_TEST

START_TEST(a_body_comes_back_whole)
{
    static char request[40000], body[30000];

    for (size_t i = 0; i < sizeof body - 1; i++)
        body[i] = (char)('a' + i % 26);
    (void)snprintf(request, sizeof request, POST("/echo", "Content-Length: %zu\r\n", "%s"), sizeof body - 1, body);
    wire_ask(served_port, request, &reply);
    ck_assert_int_eq(reply.status, 200);
    ck_assert_uint_eq(reply.body_size, sizeof body - 1);
    ck_assert_int_eq(memcmp(reply.body, body, sizeof body - 1), 0);
    ck_assert_ptr_nonnull(strstr(wire_header(&reply, "Server-Timing"), "total;dur="));
}
END_TEST

START_TEST(tails_and_parameters_are_decoded)
{
    wire_ask(served_port,
             "GET /things/aliyun%3Aecs.gn7e%2Fx/y?q=a+b%2Bc&flag&&%E4%B8%AD=%E6%96%87&e= HTTP/1.1\r\n" HOST
             "Accept-Language: zh-CN,zh;q=0.9\r\n\r\n",
             &reply);
    ck_assert_int_eq(reply.status, 200);
    ck_assert_str_eq(reply.body, "aliyun:ecs.gn7e/x/y\nq=a b+c\nflag=\n中=文\ne=\nzh-CN\n");
    ck_assert_str_eq(wire_header(&reply, "Content-Language"), "zh-CN");
    ck_assert_str_eq(wire_header(&reply, "Vary"), "Accept, Accept-Encoding, Accept-Language");
}
END_TEST

/* More than the memory of a connection could hold are refused too, not left without an answer. */
START_TEST(too_many_parameters)
{
    static const int counts[] = { MAX_QUERY_PARAMETERS + 1, 80, 130, 300, 1000 };

    for (size_t i = 0; i < COUNT_OF(counts); i++) {
        char request[8192] = "GET /things/x?";
        size_t size = strlen(request);

        for (int count = 0; count < counts[i]; count++)
            size += (size_t)snprintf(request + size, sizeof request - size, "a=1&");
        (void)snprintf(request + size, sizeof request - size, " HTTP/1.1\r\n" HOST "\r\n");
        wire_ask(served_port, request, &reply);
        ck_assert_int_eq(reply.status, 400);
        ck_assert_ptr_nonnull(strstr(reply.body, "too_many_parameters"));
        ck_assert_ptr_nonnull(strstr(reply.body, "more than 48"));
    }
}
END_TEST

START_TEST(request_ids_are_echoed_or_made)
{
    char first[64];

    wire_ask(served_port, "GET /livez HTTP/1.1\r\n" HOST "X-Request-Id: my.request_id-1\r\n\r\n", &reply);
    ck_assert_str_eq(wire_header(&reply, "X-Request-Id"), "my.request_id-1");
    wire_ask(served_port, "GET /nothing HTTP/1.1\r\n" HOST "X-Request-Id: my.request_id-1\r\n\r\n", &reply);
    ck_assert_ptr_nonnull(strstr(reply.body, "\"request_id\":\"my.request_id-1\""));
    wire_ask(served_port, "GET /livez HTTP/1.1\r\n" HOST "X-Request-Id: \"quoted\"\r\n\r\n", &reply);
    check_common("a quoted id");
    wire_ask(served_port, "GET /livez HTTP/1.1\r\n" HOST "X-Request-Id: short\r\n\r\n", &reply);
    check_common("a short id");
    strcpy(first, wire_header(&reply, "X-Request-Id"));
    wire_ask(served_port, GET("/livez"), &reply);
    ck_assert_str_ne(wire_header(&reply, "X-Request-Id"), first);
}
END_TEST

START_TEST(pipelined_requests_are_answered_in_order)
{
    int fd = wire_open(served_port);

    wire_send(fd, GET("/livez") POST("/echo", "Content-Length: 3\r\n", "one") GET("/nothing")
                      POST("/echo", "Content-Length: 3\r\n", "two"));
    wire_read(fd, false, &reply);
    ck_assert_str_eq(reply.body, "{\"status\":\"ok\"}");
    wire_read(fd, false, &reply);
    ck_assert_str_eq(reply.body, "one");
    wire_read(fd, false, &reply);
    ck_assert_int_eq(reply.status, 404);
    wire_read(fd, false, &reply);
    ck_assert_str_eq(reply.body, "two");
    close(fd);
}
END_TEST

START_TEST(a_client_that_waits_for_our_word)
{
    int fd = wire_open(served_port);

    wire_send(fd, POST("/echo", "Content-Length: 2\r\nExpect: 100-continue\r\n", ""));
    wire_read(fd, false, &reply);
    ck_assert_int_eq(reply.status, 100);
    wire_send(fd, "{}");
    wire_read(fd, false, &reply);
    ck_assert_int_eq(reply.status, 200);
    ck_assert_str_eq(reply.body, "{}");
    close(fd);
    /* what will be refused is refused before the body is sent */
    fd = wire_open(served_port);
    wire_send(fd, POST("/echo", "Content-Length: 99999999\r\nExpect: 100-continue\r\n", ""));
    wire_read(fd, false, &reply);
    ck_assert_int_eq(reply.status, 413);
    ck_assert(wire_is_closed(fd));
    close(fd);
}
END_TEST

START_TEST(all_faults_of_a_handler)
{
    json_t *problem;

    wire_ask(served_port, POST("/wrong", "Accept-Language: zh\r\nContent-Length: 2\r\n", "{}"), &reply);
    problem = body_json();
    ck_assert_uint_eq(json_array_size(json_object_get(problem, "errors")), 3);
    ck_assert_ptr_null(wire_header(&reply, "ETag")); /* of the answer that was not to be */
    ck_assert_str_eq(wire_header(&reply, "Content-Language"), "zh-CN");
    json_decref(problem);
}
END_TEST

START_TEST(head_is_get_without_body)
{
    char length[32];

    wire_ask(served_port, GET("/things/x"), &reply);
    strcpy(length, wire_header(&reply, "Content-Length"));
    wire_ask(served_port, "HEAD /things/x HTTP/1.1\r\n" HOST "\r\n", &reply);
    ck_assert_int_eq(reply.status, 200);
    ck_assert_str_eq(wire_header(&reply, "Content-Length"), length);
    ck_assert_str_eq(wire_header(&reply, "Content-Language"), "en");
}
END_TEST

int
main(void)
{
    TCase *tcase = tcase_create("server");

    tcase_add_checked_fixture(tcase, setup, teardown);
    tcase_add_loop_test(tcase, each_request_has_its_answer, 0, COUNT_OF(requests));
    tcase_add_test(tcase, a_body_comes_back_whole);
    tcase_add_test(tcase, tails_and_parameters_are_decoded);
    tcase_add_test(tcase, too_many_parameters);
    tcase_add_test(tcase, request_ids_are_echoed_or_made);
    tcase_add_test(tcase, pipelined_requests_are_answered_in_order);
    tcase_add_test(tcase, a_client_that_waits_for_our_word);
    tcase_add_test(tcase, all_faults_of_a_handler);
    tcase_add_test(tcase, head_is_get_without_body);
    return suite_run("server", tcase);
}
