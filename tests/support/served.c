/* Routes whose answers show what the server handed to them. */
#include "tests/support/served.h"

#include <check.h>
#include <stdlib.h>
#include <time.h>

#include "api/handlers/health.h"
#include "api/http/negotiate.h"
#include "api/observe/log.h"
#include "api/observe/metrics.h"

#define JSON MEDIA_BIT(MEDIA_JSON)
#define TABLES (MEDIA_BIT(MEDIA_JSON) | MEDIA_BIT(MEDIA_CSV) | MEDIA_BIT(MEDIA_NDJSON))

#define HANDLER(name)                                                                  \
    static enum status name(__attribute__((unused)) const struct request *request,     \
                            __attribute__((unused)) const struct service_state *state, \
                            __attribute__((unused)) struct response *response,         \
                            __attribute__((unused)) struct fault *fault)

static void
append(struct response *response, const char *text)
{
    buffer_append(response->body, text, strlen(text));
}

HANDLER(echo)
{
    buffer_append(response->body, request->body, request->body_size);
    return STATUS_OK;
}

HANDLER(slow)
{
    long wait_ms = strtol(request->body, NULL, 10);
    struct timespec time = { .tv_sec = wait_ms / 1000, .tv_nsec = wait_ms % 1000 * 1000000 };

    nanosleep(&time, NULL);
    append(response, "{}");
    return STATUS_OK;
}

HANDLER(thing)
{
    append(response, request->path_tail);
    append(response, "\n");
    for (size_t i = 0; i < request->query_count; i++) {
        append(response, request->query[i].name);
        append(response, "=");
        append(response, request->query[i].value);
        append(response, "\n");
    }
    append(response, language_name(request->language));
    append(response, "\n");
    return STATUS_OK;
}

HANDLER(table)
{
    response->media = request->accept;
    append(response, media_type_name(request->accept));
    return STATUS_OK;
}

HANDLER(wrong)
{
    append(response, "half an answer");
    response_header(response, "ETag", "\"half\"");
    fault_add(fault, FAULT_UNKNOWN_MEMBER, "/a", NULL, NULL, "b");
    fault_add(fault, FAULT_OUT_OF_RANGE, "/c", "9", "integer 1..8", NULL);
    fault_add(fault, FAULT_MISSING_MEMBER, "/d", NULL, NULL, NULL);
    return STATUS_FAULT;
}

HANDLER(broken)
{
    return STATUS_FAULT;
}

static const struct route test_routes[] = {
    { HTTP_GET, "/livez", handle_livez, 0, false, "livez", ROUTE_HEALTH, 0 },
    { HTTP_GET, "/readyz", handle_readyz, 0, false, "readyz", ROUTE_HEALTH | ROUTE_STATE, 0 },
    { HTTP_GET, "/metrics", handle_metrics, 0, false, "metrics", ROUTE_HEALTH | ROUTE_STATE, 0 },
    { HTTP_POST, "/echo", echo, 0, true, "echo", ROUTE_PROSE, JSON },
    { HTTP_POST, "/slow", slow, 0, false, "slow", 0, JSON },
    { HTTP_GET, "/things/{id}", thing, 0, true, "thing", ROUTE_PROSE | ROUTE_CACHEABLE, JSON },
    { HTTP_GET, "/table", table, 0, true, "table", ROUTE_CACHEABLE, TABLES },
    { HTTP_POST, "/wrong", wrong, 0, false, "wrong", ROUTE_PROSE, JSON },
    { HTTP_GET, "/broken", broken, 0, false, "broken", 0, JSON },
};

static struct catalog_slot slot;
static struct observer observer;
static const struct catalog catalog = { .version = 7, .as_of = "2026-01-02T03:04:05Z", .embedded = true };
static struct snapshot snapshot;

static struct database_state
no_database(void *context)
{
    (void)context;
    return (struct database_state){ .snapshot_age_seconds = 1.5 };
}

struct server_settings served_settings = {
    .host = "127.0.0.1",
    .connection_memory_bytes = 8192,
    .idle_seconds = 75,
    .body_seconds = 30,
    .body_bytes = 1 << 20,
    .all_bodies_bytes = 64 << 20,
    .routes = test_routes,
    .route_count = sizeof test_routes / sizeof test_routes[0],
    .slot = &slot,
    .observer = &observer,
    .version = "1.2.3",
    .database = no_database,
};
struct server *served_server;
uint16_t served_port;

static void
keep(void *owner)
{
    (void)owner;
}

void
served_start(bool with_catalog)
{
    static struct fault fault;

    catalog_slot_init(&slot);
    if (with_catalog)
        catalog_publish(&slot, &snapshot, &catalog, keep, NULL);
    observer.metrics = metrics_create(test_routes, served_settings.route_count);
    ck_assert_int_eq(server_start(&served_settings, &served_server, &fault), STATUS_OK);
    served_port = server_port(served_server);
}

void
served_stop(void)
{
    server_stop(served_server);
    served_server = NULL;
    catalog_slot_done(&slot);
    metrics_free(observer.metrics);
}
