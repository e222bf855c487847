/* What a complete request gets: a handler's answer, what a path can do, or a problem. */
#include <string.h>

#include "api/http/negotiate.h"
#include "api/http/problem.h"
#include "api/server_internal.h"
#include "service/base/text.h"

enum { BUSY_RETRY_SECONDS = 1 };

static void
response_clear(struct response *response)
{
    response->status = 200;
    response->media = MEDIA_JSON;
    response->header_count = 0;
    if (response->body)
        response->body->size = 0;
}

static void
write_problem(const struct exchange *exchange, const struct fault *fault, struct response *response)
{
    const struct request *request = &exchange->request;

    response_clear(response);
    response->status = problem_status(fault_any(fault) ? fault->code : FAULT_INTERNAL);
    response->media = MEDIA_PROBLEM;
    response_header(response, "Content-Language", language_name(request->language));
    if (response->body)
        problem_write(response->body, fault, request->language, request->request_id);
}

static void
write_retry(struct response *response, unsigned seconds)
{
    char text[16];

    text_format(text, sizeof text, "%u", seconds);
    response_header(response, "Retry-After", text);
}

static void
answer_refusal(const struct exchange *exchange, const struct refusal *refusal, struct response *response)
{
    struct fault *fault = &worker_of_thread()->fault;
    struct fault_item *item;

    fault_clear(fault);
    if (refusal->parameter) {
        item = fault_add(fault, refusal->code, refusal->parameter, refusal->value, refusal->expected, NULL);
        if (item)
            item->is_parameter = true;
    }
    fault->code = refusal->code;
    write_problem(exchange, fault, response);
    if (refusal->code == FAULT_METHOD_NOT_ALLOWED)
        response_header(response, "Allow", exchange->allow);
    if (refusal->code == FAULT_UNSUPPORTED_MEDIA_TYPE)
        response_header(response, "Accept-Post", media_type_name(MEDIA_JSON));
    if (refusal->retry_seconds > 0)
        write_retry(response, refusal->retry_seconds);
}

static void
answer_options(const struct exchange *exchange, struct response *response)
{
    response->status = 204;
    response->media = MEDIA_NONE;
    response_header(response, "Allow", exchange->allow);
    if (strstr(exchange->allow, "POST"))
        response_header(response, "Accept-Post", media_type_name(MEDIA_JSON));
}

static void
fill_state(const struct server *server, struct service_state *state)
{
    const struct server_settings *settings = &server->settings;
    struct database_state database = settings->database(settings->database_context);

    state->draining = atomic_load(&server->draining);
    state->database_configured = database.configured;
    state->database_connected = database.connected;
    state->snapshot_age_seconds = database.snapshot_age_seconds;
    state->uptime_seconds = (double)(now_nanoseconds() - server->started) / 1e9;
    state->connection_count = atomic_load(&server->open);
    state->running_count = atomic_load(&server->under_way);
    state->metrics = settings->observer->metrics;
}

/* Runs the handler on one snapshot of the catalog. */
static void
run(struct exchange *exchange, struct response *response)
{
    static const struct refusal not_ready = { .code = FAULT_NOT_READY, .retry_seconds = BUSY_RETRY_SECONDS };
    const struct server_settings *settings = &exchange->server->settings;
    const struct route *route = exchange->route;
    struct fault *fault = &worker_of_thread()->fault;
    struct service_state state = { .version = settings->version, .slot = settings->slot };
    struct snapshot *snapshot = NULL;

    if (route->needs_catalog || route->flags & ROUTE_STATE)
        snapshot = catalog_acquire(settings->slot, 0);
    if (route->needs_catalog && !snapshot) {
        answer_refusal(exchange, &not_ready, response);
        return;
    }
    if (snapshot) {
        state.catalog = snapshot->catalog;
        exchange->catalog_version = snapshot->catalog->version;
    }
    if (route->flags & ROUTE_STATE)
        fill_state(exchange->server, &state);
    fault_clear(fault);
    if (route->handle(&exchange->request, &state, response, fault) != STATUS_OK)
        write_problem(exchange, fault, response);
    else if (route->flags & ROUTE_PROSE)
        response_header(response, "Content-Language", language_name(exchange->request.language));
    if (snapshot)
        catalog_release(snapshot);
}

/* Runs the handler unless too many run. */
static void
answer_route(struct exchange *exchange, struct response *response)
{
    static const struct refusal overloaded = { .code = FAULT_OVERLOADED, .retry_seconds = BUSY_RETRY_SECONDS };
    struct server *server = exchange->server;
    bool limited = !(exchange->route->flags & ROUTE_HEALTH);

    if (limited && atomic_fetch_add(&server->running, 1) >= server->settings.max_running)
        answer_refusal(exchange, &overloaded, response);
    else
        run(exchange, response);
    if (limited)
        atomic_fetch_sub(&server->running, 1);
}

void
answer_make(struct exchange *exchange, struct response *ret_response)
{
    ret_response->body = buffer_take();
    response_clear(ret_response);
    if (exchange->refusal.code != FAULT_NONE)
        answer_refusal(exchange, &exchange->refusal, ret_response);
    else if (exchange->is_options)
        answer_options(exchange, ret_response);
    else
        answer_route(exchange, ret_response);
    if (ret_response->body && ret_response->body->failed) {
        static const struct refusal no_memory = { .code = FAULT_INTERNAL };

        ret_response->body->failed = false; /* the little that a problem takes is there: it was taken before */
        answer_refusal(exchange, &no_memory, ret_response);
    }
}
