/* Turns a reply into libmicrohttpd's: headers that every reply has, and a body it gives back to the pool. */
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "api/server_internal.h"

/* Headers that a handler may set itself; else they get a default. */
struct own_headers {
    bool cache_control, content_type, vary;
};

static void
give_body_back(void *buffer)
{
    buffer_give(buffer);
}

/* Takes the body of the reply. NULL: no memory. */
static struct MHD_Response *
make_response(struct response *response)
{
    struct buffer *body = response->body;
    struct MHD_Response *made;

    response->body = NULL;
    if (!body || body->size == 0) {
        buffer_give(body);
        return MHD_create_response_from_buffer(0, NULL, MHD_RESPMEM_PERSISTENT);
    }
    made = MHD_create_response_from_buffer_with_free_callback_cls(body->size, body->bytes, give_body_back, body);
    if (!made)
        buffer_give(body);
    return made;
}

static void
add(struct MHD_Response *made, const char *name, const char *value)
{
    (void)MHD_add_response_header(made, name, value); /* without memory the reply goes out without it */
}

static void
add_own(struct MHD_Response *made, const struct response *response, struct own_headers *ret_own)
{
    *ret_own = (struct own_headers){ .vary = false };
    for (size_t i = 0; i < response->header_count; i++) {
        const struct response_header *header = &response->headers[i];

        if (strcasecmp(header->name, MHD_HTTP_HEADER_CACHE_CONTROL) == 0)
            ret_own->cache_control = true;
        else if (strcasecmp(header->name, MHD_HTTP_HEADER_CONTENT_TYPE) == 0)
            ret_own->content_type = true;
        else if (strcasecmp(header->name, MHD_HTTP_HEADER_VARY) == 0)
            ret_own->vary = true;
        add(made, header->name, header->value);
    }
}

static bool
origin_is_allowed(const struct server_settings *settings, const char *origin)
{
    for (size_t i = 0; i < settings->cors_origin_count; i++)
        if (strcmp(settings->cors_origins[i], origin) == 0 || strcmp(settings->cors_origins[i], "*") == 0)
            return true;
    return false;
}

/* https://fetch.spec.whatwg.org/#http-cors-protocol */
static void
add_cors(struct MHD_Response *made, const struct exchange *exchange)
{
    const struct headers *headers = &exchange->headers;

    if (!headers->origin || !origin_is_allowed(&exchange->server->settings, headers->origin))
        return;
    add(made, MHD_HTTP_HEADER_ACCESS_CONTROL_ALLOW_ORIGIN, headers->origin);
    if (exchange->is_options && headers->requested_method) {
        add(made, MHD_HTTP_HEADER_ACCESS_CONTROL_ALLOW_METHODS, exchange->allow);
        add(made, MHD_HTTP_HEADER_ACCESS_CONTROL_ALLOW_HEADERS,
            "Accept, Accept-Language, Authorization, Content-Type, Idempotency-Key, If-Match, If-None-Match, "
            "X-Request-Id, traceparent");
        add(made, MHD_HTTP_HEADER_ACCESS_CONTROL_MAX_AGE, "7200");
        return;
    }
    add(made, MHD_HTTP_HEADER_ACCESS_CONTROL_EXPOSE_HEADERS,
        "Content-Language, ETag, Link, Location, Retry-After, Server-Timing, X-Request-Id");
}

static void
add_vary(struct MHD_Response *made, const struct exchange *exchange, const struct response *response)
{
    bool by_origin = exchange->server->settings.cors_origin_count > 0;
    bool negotiated = response->media == MEDIA_PROBLEM || (exchange->route && exchange->route->flags & ROUTE_PROSE);

    if (negotiated)
        add(made, MHD_HTTP_HEADER_VARY,
            by_origin ? "Accept, Accept-Encoding, Accept-Language, Origin"
                      : "Accept, Accept-Encoding, Accept-Language");
    else if (by_origin)
        add(made, MHD_HTTP_HEADER_VARY, "Origin");
}

static void
add_timing(struct MHD_Response *made, const struct exchange *exchange)
{
    uint64_t microseconds = (now_nanoseconds() - exchange->answering) / 1000;
    char text[48];

    (void)snprintf(text, sizeof text, "total;dur=%u.%03u", (unsigned)(microseconds / 1000),
                   (unsigned)(microseconds % 1000));
    add(made, "Server-Timing", text);
}

static void
add_headers(struct MHD_Response *made, const struct exchange *exchange, const struct response *response)
{
    bool cacheable = exchange->route && exchange->route->flags & ROUTE_CACHEABLE &&
                     (response->status == MHD_HTTP_OK || response->status == MHD_HTTP_NOT_MODIFIED);
    struct own_headers own;

    add_own(made, response, &own);
    if (response->media != MEDIA_NONE && !own.content_type)
        add(made, MHD_HTTP_HEADER_CONTENT_TYPE, media_type_name(response->media));
    add(made, "X-Request-Id", exchange->request.request_id);
    if (!own.cache_control)
        add(made, MHD_HTTP_HEADER_CACHE_CONTROL, cacheable ? "no-cache" : "no-store");
    add(made, "X-Content-Type-Options", "nosniff");
    if (!own.vary)
        add_vary(made, exchange, response);
    if (exchange->request.method == HTTP_POST)
        add_timing(made, exchange);
    add_cors(made, exchange);
    if (exchange->must_close || atomic_load(&exchange->server->draining))
        add(made, MHD_HTTP_HEADER_CONNECTION, "close");
}

enum MHD_Result
reply_queue(struct exchange *exchange, struct MHD_Connection *connection, struct response *response)
{
    size_t size = response->body ? response->body->size : 0;
    struct MHD_Response *made = make_response(response);
    enum MHD_Result queued;

    if (!made)
        return MHD_NO;
    add_headers(made, exchange, response);
    queued = MHD_queue_response(connection, (unsigned)response->status, made);
    MHD_destroy_response(made);
    exchange->status = response->status;
    exchange->bytes_out = exchange->request.method == HTTP_HEAD || response->status == MHD_HTTP_NOT_MODIFIED ? 0 : size;
    return queued;
}
