/* Decides from its headers alone what becomes of a request: its route, or the first reason to refuse it. */
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "api/http/negotiate.h"
#include "api/server_internal.h"
#include "service/base/quantity.h"
#include "service/base/text.h"

/* The first refusal stands. */
static void
refuse(struct exchange *exchange, enum fault_code code, const char *parameter, const char *value, const char *expected)
{
    if (exchange->refusal.code == FAULT_NONE)
        exchange->refusal = (struct refusal){
            .code = code,
            .parameter = parameter,
            .value = value,
            .expected = expected,
        };
}

/* A host and port in characters that may stand there (RFC 3986, section 3.2.2): links are made of it. */
static bool
host_is_sound(const char *host)
{
    return host[strspn(host, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789.-_~:[]%!$&'()*+,;=")] ==
           '\0';
}

/* What two programs in a row might read differently: refused, and nothing more is read from the connection. */
static void
judge_framing(struct exchange *exchange, const char *version)
{
    const struct headers *headers = &exchange->headers;

    if (headers->bad_name)
        refuse(exchange, FAULT_BAD_REQUEST, "header", "", "name:");
    else if (headers->transfer_encoding && headers->content_length)
        refuse(exchange, FAULT_BAD_REQUEST, "Transfer-Encoding", headers->transfer_encoding, "no Content-Length");
    else if (headers->transfer_encoding &&
             (headers->transfer_encoding_twice || strcasecmp(headers->transfer_encoding, "chunked") != 0 ||
              strcmp(version, MHD_HTTP_VERSION_1_1) != 0))
        refuse(exchange, FAULT_BAD_REQUEST, "Transfer-Encoding", headers->transfer_encoding, "chunked");
    else if (headers->content_length_twice)
        refuse(exchange, FAULT_BAD_REQUEST, "Content-Length", headers->content_length, "1 Content-Length");
    else if (headers->host_twice || (headers->host && !host_is_sound(headers->host)))
        refuse(exchange, FAULT_BAD_REQUEST, "Host", headers->host, "host:port");
    else if (!headers->host && strcmp(version, MHD_HTTP_VERSION_1_1) == 0)
        refuse(exchange, FAULT_BAD_REQUEST, "Host", "", "host:port"); /* RFC 9112, section 3.2 */
    if (exchange->refusal.code != FAULT_NONE)
        exchange->must_close = true;
}

/* Decodes `raw` into the exchange's text; NULL when it is malformed. */
static const char *
decode(struct exchange *exchange, const char *raw)
{
    char *to = exchange->text + exchange->text_used;
    ptrdiff_t size;

    if (strlen(raw) + 1 > exchange->text_size - exchange->text_used)
        return NULL;
    size = percent_decode(to, raw);
    if (size < 0)
        return NULL;
    exchange->text_used += (size_t)size + 1;
    return to;
}

static enum MHD_Result
read_parameter(void *state, enum MHD_ValueKind kind, const char *name, size_t name_size, const char *value,
               size_t value_size)
{
    struct exchange *exchange = state;
    struct request *request = &exchange->request;
    struct query_parameter *parameter = &request->query[request->query_count];

    (void)kind;
    (void)value_size;
    if (name_size == 0 && !value)
        return MHD_YES; /* "?" and "&&" */
    if (request->query_count == MAX_QUERY_PARAMETERS) {
        refuse(exchange, FAULT_TOO_MANY_PARAMETERS, "", "", "48");
        return MHD_NO;
    }
    parameter->name = decode(exchange, name);
    parameter->value = value ? decode(exchange, value) : "";
    if (!parameter->name || !parameter->value) {
        refuse(exchange, FAULT_BAD_REQUEST, "query", "", "UTF-8, %XX");
        return MHD_NO;
    }
    request->query_count++;
    return MHD_YES;
}

/* The path of a target in absolute form, as it is sent to proxies: http://host/path (RFC 9112, section 3.2.2). */
static const char *
skip_authority(const char *url)
{
    size_t size = strncasecmp(url, "http://", 7) == 0 ? 7 : strncasecmp(url, "https://", 8) == 0 ? 8 : 0;

    if (size == 0)
        return url;
    url += size + strcspn(url + size, "/");
    return *url ? url : "/";
}

static void
judge_target(struct exchange *exchange, struct MHD_Connection *connection, const char *url)
{
    struct request *request = &exchange->request;

    request->path = decode(exchange, skip_authority(url));
    if (request->path)
        MHD_get_connection_values_n(connection, MHD_GET_ARGUMENT_KIND, read_parameter, exchange);
    else
        refuse(exchange, FAULT_BAD_REQUEST, "path", "", "UTF-8, %XX");
}

static void
judge_route(struct exchange *exchange)
{
    const struct server_settings *settings = &exchange->server->settings;
    struct request *request = &exchange->request;

    exchange->is_options = request->method == HTTP_OPTIONS;
    if (exchange->is_options && strcmp(request->path, "*") == 0) {
        text_copy(exchange->allow, sizeof exchange->allow, "GET, HEAD, POST, OPTIONS");
        return;
    }
    exchange->route = route_match(settings->routes, settings->route_count, request->method, request->path,
                                  exchange->allow, sizeof exchange->allow, &request->path_tail);
    if (!exchange->route && !exchange->allow[0])
        refuse(exchange, FAULT_NOT_FOUND, "path", request->path, NULL);
    else if (!exchange->route && !exchange->is_options)
        refuse(exchange, FAULT_METHOD_NOT_ALLOWED, "method", method_name(request->method), exchange->allow);
}

static void
judge_rate(struct exchange *exchange)
{
    struct server *server = exchange->server;
    const struct client_address *address = &exchange->client->address;
    unsigned wait;

    if (!server->rate_limit || (exchange->route && exchange->route->flags & ROUTE_HEALTH))
        return;
    if (exchange->forwarded[0])
        address = &exchange->forwarded_address;
    if (rate_limit_take(server->rate_limit, address, exchange->started, &wait))
        return;
    exchange->refusal = (struct refusal){ .code = FAULT_RATE_LIMITED, .retry_seconds = wait }; /* before any other */
}

size_t
body_limit(const struct exchange *exchange)
{
    size_t limit = exchange->server->settings.body_bytes;

    if (exchange->route && exchange->route->max_body_bytes > 0)
        return u64_min(exchange->route->max_body_bytes, limit);
    return limit;
}

void
refuse_too_large(struct exchange *exchange)
{
    text_format(exchange->expected, sizeof exchange->expected, "%zu", body_limit(exchange));
    refuse(exchange, FAULT_BODY_TOO_LARGE, "Content-Length", exchange->headers.content_length, exchange->expected);
}

static void
judge_body(struct exchange *exchange)
{
    const struct headers *headers = &exchange->headers;

    if (exchange->request.method == HTTP_POST && !content_type_is_json(headers->content_type))
        refuse(exchange, FAULT_UNSUPPORTED_MEDIA_TYPE, "Content-Type", headers->content_type, "application/json");
    if (!content_encoding_is_identity(headers->content_encoding))
        refuse(exchange, FAULT_UNSUPPORTED_MEDIA_TYPE, "Content-Encoding", headers->content_encoding, "identity");
    if (headers->content_length && strtoull(headers->content_length, NULL, 10) > body_limit(exchange))
        refuse_too_large(exchange);
}

static void
judge_accept(struct exchange *exchange)
{
    unsigned produces = exchange->route ? exchange->route->produces : 0;

    exchange->request.accept = MEDIA_JSON;
    if (produces == 0)
        return;
    exchange->request.accept = media_negotiate(exchange->headers.accept, produces);
    if (exchange->request.accept != MEDIA_NONE)
        return;
    media_list(produces, exchange->expected, sizeof exchange->expected);
    refuse(exchange, FAULT_NOT_ACCEPTABLE, "Accept", exchange->headers.accept, exchange->expected);
}

void
judge(struct exchange *exchange, struct MHD_Connection *connection, const char *url, const char *version)
{
    struct request *request = &exchange->request;
    const struct headers *headers = &exchange->headers;

    request->language = language_negotiate(headers->accept_language);
    request->accepts_gzip = gzip_accepted(headers->accept_encoding);
    request->if_none_match = headers->if_none_match;
    request->host = headers->host;
    judge_framing(exchange, version);
    if (request->method == HTTP_UNKNOWN)
        refuse(exchange, FAULT_METHOD_UNKNOWN, "method", "", NULL);
    if (exchange->refusal.code == FAULT_NONE)
        judge_target(exchange, connection, url);
    if (exchange->refusal.code != FAULT_NONE)
        return;
    judge_route(exchange);
    judge_rate(exchange);
    judge_body(exchange);
    judge_accept(exchange);
}
