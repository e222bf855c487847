/* The life of a request: begun by its headers, fed its body, answered when it is whole, recorded when it is over. */
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "api/server_internal.h"

/* Bodies up to here are not counted against what all may hold: a full house of them is still small. */
enum { UNCOUNTED_BODY_BYTES = 16 * 1024 };

/* What is thrown away of a body that is refused, in units of the limit, before the connection is cut. */
enum { MAX_DISCARDED_BODIES = 8 };

static uint64_t
announced_bytes(const struct exchange *exchange)
{
    const char *length = exchange->headers.content_length;

    return length ? strtoull(length, NULL, 10) : 0;
}

/* Lets go of what came of the body. */
static void
drop_body(struct exchange *exchange)
{
    if (exchange->held_bytes > 0)
        atomic_fetch_sub(&exchange->server->held_bytes, exchange->held_bytes);
    exchange->held_bytes = 0;
    buffer_give(exchange->body);
    exchange->body = NULL;
}

static struct exchange *
begin(struct server *server, struct MHD_Connection *connection, const char *url, const char *method,
      const char *version)
{
    struct worker *worker = worker_of_thread();
    struct exchange *exchange = worker ? worker_exchange(server->settings.connection_memory_bytes + 1) : NULL;
    const char *id;

    if (!exchange)
        return NULL;
    exchange->server = server;
    exchange->started = now_nanoseconds();
    exchange->client = client_of(connection);
    exchange->request.method = method_from_name(method);
    headers_read(connection, &exchange->headers);
    id = exchange->headers.request_id;
    if (id && request_id_valid(id))
        memcpy(exchange->request.request_id, id, strlen(id) + 1);
    else
        worker_request_id(worker, exchange->request.request_id);
    if (exchange->headers.traceparent)
        trace_id_read(exchange->headers.traceparent, exchange->trace_id);
    if (server->settings.trust_forwarded && exchange->headers.forwarded_for &&
        !client_forwarded(exchange->headers.forwarded_for, &exchange->forwarded_address, exchange->forwarded))
        exchange->forwarded[0] = '\0';
    exchange->has_body = exchange->headers.transfer_encoding || announced_bytes(exchange) > 0;
    judge(exchange, connection, url, version);
    atomic_fetch_add(&server->under_way, 1);
    return exchange;
}

/* Whether a refused request is answered without its body, after which the connection has to end: the body is not to be
 * trusted, waits for our word, or is more than is worth reading. */
static bool
refuses_body(const struct exchange *exchange)
{
    const char *expect = exchange->headers.expect;

    if (exchange->refusal.code == FAULT_NONE || !exchange->has_body)
        return false;
    return exchange->must_close || (expect && strcasecmp(expect, "100-continue") == 0) ||
           announced_bytes(exchange) / MAX_DISCARDED_BODIES > exchange->server->settings.body_bytes;
}

/* Counts a larger body against what all may hold; false when that is too much. */
static bool
hold(struct exchange *exchange, size_t size)
{
    struct server *server = exchange->server;
    size_t more = size - exchange->held_bytes;

    if (size <= UNCOUNTED_BODY_BYTES)
        return true;
    exchange->held_bytes = size;
    return atomic_fetch_add(&server->held_bytes, more) + more <= server->settings.all_bodies_bytes;
}

/* Takes a part of the body in; a refused one is only counted. false: the connection is to be cut. */
static bool
collect(struct exchange *exchange, const char *bytes, size_t size)
{
    const struct server_settings *settings = &exchange->server->settings;

    exchange->bytes_in += size;
    if ((double)(now_nanoseconds() - exchange->started) > settings->body_seconds * 1e9)
        return false;
    if (exchange->refusal.code == FAULT_NONE && exchange->bytes_in > body_limit(exchange))
        refuse_too_large(exchange);
    if (exchange->refusal.code == FAULT_NONE && !hold(exchange, exchange->bytes_in))
        exchange->refusal = (struct refusal){ .code = FAULT_OVERLOADED, .retry_seconds = 1 };
    if (exchange->refusal.code != FAULT_NONE) {
        drop_body(exchange);
        return exchange->bytes_in / MAX_DISCARDED_BODIES <= settings->body_bytes;
    }
    if (!exchange->body)
        exchange->body = buffer_take();
    if (exchange->body)
        buffer_append(exchange->body, bytes, size);
    return exchange->body && !exchange->body->failed;
}

static enum MHD_Result
answer(struct exchange *exchange, struct MHD_Connection *connection)
{
    struct response response;

    exchange->answering = now_nanoseconds();
    if (exchange->body) {
        if (!buffer_reserve(exchange->body, 1))
            return MHD_NO;
        exchange->body->bytes[exchange->body->size] = '\0';
        exchange->request.body_size = exchange->body->size;
    }
    exchange->request.body = exchange->body ? exchange->body->bytes : "";
    answer_make(exchange, &response);
    drop_body(exchange);
    return reply_queue(exchange, connection, &response);
}

/* Called when the headers are there, for each part of the body, and at its end. What is answered at the first call ends
 * the connection (in libmicrohttpd 0.9.75 whatever the method), so all waits for the last, body or not. */
enum MHD_Result
exchange_step(void *server, struct MHD_Connection *connection, const char *url, const char *method, const char *version,
              const char *upload_data, size_t *upload_data_size, void **state)
{
    struct exchange *exchange = *state;

    if (!exchange) {
        *state = exchange = begin(server, connection, url, method, version);
        if (!exchange)
            return MHD_NO;
        if (!refuses_body(exchange))
            return MHD_YES;
        exchange->must_close = true;
        return answer(exchange, connection);
    }
    if (*upload_data_size > 0) {
        size_t size = *upload_data_size;

        *upload_data_size = 0;
        return collect(exchange, upload_data, size) ? MHD_YES : MHD_NO;
    }
    return answer(exchange, connection);
}

static void
record(const struct exchange *exchange, bool completed)
{
    const struct server_settings *settings = &exchange->server->settings;
    const struct route *route = exchange->route;
    struct request_record record = {
        .method = exchange->request.method,
        .route_index = route ? (size_t)(route - settings->routes) : settings->route_count,
        .route = route ? route->path : "other",
        .status = exchange->status,
        .aborted = !completed,
        .nanoseconds = now_nanoseconds() - exchange->started,
        .bytes_in = exchange->bytes_in,
        .bytes_out = exchange->bytes_out,
        .request_id = exchange->request.request_id,
        .trace_id = exchange->trace_id,
        .client = exchange->forwarded[0] ? exchange->forwarded : exchange->client->text,
        .catalog_version = exchange->catalog_version,
    };

    observe_request(settings->observer, &record);
}

void
exchange_done(void *server, struct MHD_Connection *connection, void **state, enum MHD_RequestTerminationCode code)
{
    struct exchange *exchange = *state;

    (void)server;
    (void)connection;
    if (!exchange)
        return;
    *state = NULL;
    record(exchange, code == MHD_REQUEST_TERMINATED_COMPLETED_OK);
    drop_body(exchange);
    atomic_fetch_sub(&exchange->server->under_way, 1);
    worker_give_back(exchange);
}
