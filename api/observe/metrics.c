/* Counts requests in shards, so that busy threads do not fight for cache lines, and sums them up when asked. */
#include "api/observe/metrics.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "api/observe/exposition.h"
#include "service/base/quantity.h"

enum { SHARDS = 16, METHODS = HTTP_UNKNOWN + 1, CACHE_LINE = 64 };

/* The statuses that are told apart; the last stands for all others. 0: the client went away before there was one. */
static const int statuses[] = {
    200, 204, 304, 400, 401, 403, 404, 405, 406, 408, 409, 412, 413, 415, 422, 429, 500, 501, 503, 0,
};
enum { STATUSES = COUNT_OF(statuses) };

/* Upper bounds in seconds: constant replies take microseconds, searches up to seconds. */
static const double bounds[] = {
    0.00005, 0.0001, 0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 10,
};
enum { BOUNDS = COUNT_OF(bounds) };

/* What happened on one route, as one shard saw it. */
struct route_counts {
    atomic_uint_fast64_t requests[METHODS][STATUSES];
    atomic_uint_fast64_t buckets[BOUNDS + 1]; /* the last: above all bounds */
    atomic_uint_fast64_t nanoseconds, aborted, bytes_in, bytes_out;
};

struct metrics {
    const struct route *routes;
    size_t route_count;
    size_t *slots; /* of each route: the first with its path, under which it is told */
    atomic_uint_fast64_t events[EVENT_COUNT];
    struct route_counts *counts; /* SHARDS times route_count + 1; the last of a shard: what no route answered */
};

static void
find_slots(struct metrics *metrics)
{
    for (size_t i = 0; i < metrics->route_count; i++) {
        size_t first = 0;

        while (strcmp(metrics->routes[first].path, metrics->routes[i].path) != 0)
            first++;
        metrics->slots[i] = first;
    }
    metrics->slots[metrics->route_count] = metrics->route_count;
}

struct metrics *
metrics_create(const struct route *table, size_t count)
{
    struct metrics *metrics = calloc(1, sizeof *metrics);

    if (!metrics)
        return NULL;
    metrics->routes = table;
    metrics->route_count = count;
    metrics->slots = calloc(count + 1, sizeof *metrics->slots);
    metrics->counts = calloc(SHARDS * (count + 1), sizeof *metrics->counts);
    if (!metrics->slots || !metrics->counts) {
        metrics_free(metrics);
        return NULL;
    }
    find_slots(metrics);
    return metrics;
}

void
metrics_free(struct metrics *metrics)
{
    if (!metrics)
        return;
    free(metrics->slots);
    free(metrics->counts);
    free(metrics);
}

/* Each thread keeps to one shard; with more threads than shards some share one, which is right but slower. */
static unsigned
shard_of_thread(void)
{
    static atomic_uint next;
    static _Thread_local unsigned shard = SHARDS;

    if (shard == SHARDS)
        shard = atomic_fetch_add_explicit(&next, 1, memory_order_relaxed) % SHARDS;
    return shard;
}

static struct route_counts *
counts_of(const struct metrics *metrics, unsigned shard, size_t route_index)
{
    size_t slot = metrics->slots[u64_min(route_index, metrics->route_count)];

    return &metrics->counts[shard * (metrics->route_count + 1) + slot];
}

static void
add(atomic_uint_fast64_t *counter, uint64_t amount)
{
    atomic_fetch_add_explicit(counter, amount, memory_order_relaxed);
}

static size_t
status_index(int status)
{
    size_t i = 0;

    while (i + 1 < STATUSES && statuses[i] != status)
        i++;
    return i;
}

static size_t
bucket_index(double seconds)
{
    size_t i = 0;

    while (i < BOUNDS && seconds > bounds[i])
        i++;
    return i;
}

void
metrics_request(struct metrics *metrics, const struct request_record *record)
{
    struct route_counts *counts = counts_of(metrics, shard_of_thread(), record->route_index);

    add(&counts->requests[record->method][status_index(record->status)], 1);
    add(&counts->buckets[bucket_index((double)record->nanoseconds / 1e9)], 1);
    add(&counts->nanoseconds, record->nanoseconds);
    if (record->aborted)
        add(&counts->aborted, 1);
    if (record->bytes_in > 0)
        add(&counts->bytes_in, record->bytes_in);
    if (record->bytes_out > 0)
        add(&counts->bytes_out, record->bytes_out);
}

void
metrics_event(struct metrics *metrics, enum event event)
{
    add(&metrics->events[event], 1);
}

/* Adds up one counter of a route, `offset` bytes into struct route_counts, over all shards. */
static uint64_t
sum(const struct metrics *metrics, size_t route_index, size_t offset)
{
    uint64_t total = 0;

    for (unsigned shard = 0; shard < SHARDS; shard++) {
        const char *counts = (const char *)counts_of(metrics, shard, route_index);

        total +=
            atomic_load_explicit((const atomic_uint_fast64_t *)(const void *)(counts + offset), memory_order_relaxed);
    }
    return total;
}

#define SUM(metrics, route_index, member) sum(metrics, route_index, offsetof(struct route_counts, member))

static const char *
route_name(const struct metrics *metrics, size_t route_index)
{
    return route_index < metrics->route_count ? metrics->routes[route_index].path : "other";
}

static void
write_requests(const struct metrics *metrics, struct buffer *out)
{
    exposition_family(out, "sizer_http_requests_total", "counter",
                      "Requests by method, route and status; status 0 is a client that went away.");
    for (size_t route = 0; route <= metrics->route_count; route++)
        for (size_t method = 0; method < METHODS && metrics->slots[route] == route; method++)
            for (size_t status = 0; status < STATUSES; status++) {
                uint64_t count = SUM(metrics, route, requests[method][status]);

                if (count > 0)
                    exposition_count(out, count, "sizer_http_requests_total{method=\"%s\",route=\"%s\",status=\"%d\"}",
                                     method_name((enum http_method)method), route_name(metrics, route),
                                     statuses[status]);
            }
}

static void
write_duration(const struct metrics *metrics, size_t route, struct buffer *out)
{
    static const char name[] = "sizer_http_request_duration_seconds";
    const char *label = route_name(metrics, route);
    uint64_t count = 0;

    for (size_t i = 0; i <= BOUNDS; i++) {
        count += SUM(metrics, route, buckets[i]);
        if (i < BOUNDS)
            exposition_count(out, count, "%s_bucket{route=\"%s\",le=\"%g\"}", name, label, bounds[i]);
        else
            exposition_count(out, count, "%s_bucket{route=\"%s\",le=\"+Inf\"}", name, label);
    }
    exposition_real(out, (double)SUM(metrics, route, nanoseconds) / 1e9, "%s_sum{route=\"%s\"}", name, label);
    exposition_count(out, count, "%s_count{route=\"%s\"}", name, label);
}

static bool
route_was_used(const struct metrics *metrics, size_t route)
{
    uint64_t count = 0;

    for (size_t i = 0; i <= BOUNDS; i++)
        count += SUM(metrics, route, buckets[i]);
    return count > 0 && metrics->slots[route] == route;
}

/* One counter of each route that was used. */
static void
write_by_route(const struct metrics *metrics, struct buffer *out, const char *name, const char *help, size_t offset)
{
    exposition_family(out, name, "counter", help);
    for (size_t route = 0; route <= metrics->route_count; route++)
        if (route_was_used(metrics, route))
            exposition_count(out, sum(metrics, route, offset), "%s{route=\"%s\"}", name, route_name(metrics, route));
}

static void
write_http(const struct metrics *metrics, struct buffer *out)
{
    write_requests(metrics, out);
    exposition_family(out, "sizer_http_request_duration_seconds", "histogram",
                      "Time from the end of a request's headers to the end of its reply.");
    for (size_t route = 0; route <= metrics->route_count; route++)
        if (route_was_used(metrics, route))
            write_duration(metrics, route, out);
    write_by_route(metrics, out, "sizer_http_requests_aborted_total", "Requests whose reply did not get through.",
                   offsetof(struct route_counts, aborted));
    write_by_route(metrics, out, "sizer_http_request_body_bytes_total", "Bytes of request bodies.",
                   offsetof(struct route_counts, bytes_in));
    write_by_route(metrics, out, "sizer_http_response_body_bytes_total", "Bytes of reply bodies.",
                   offsetof(struct route_counts, bytes_out));
}

static void
write_events(struct metrics *metrics, struct buffer *out)
{
    exposition_family(out, "sizer_events_total", "counter", "Events by name, as the log has them.");
    for (size_t i = 0; i < EVENT_COUNT; i++)
        exposition_count(out, atomic_load_explicit(&metrics->events[i], memory_order_relaxed),
                         "sizer_events_total{event=\"%s\"}", event_name((enum event)i));
}

static void
write_gauge(struct buffer *out, const char *name, const char *help, double value)
{
    exposition_family(out, name, "gauge", help);
    exposition_real(out, value, "%s", name);
}

static void
write_state(const struct service_state *state, struct buffer *out)
{
    exposition_family(out, "sizer_build_info", "gauge", "1, labelled with what is running.");
    exposition_count(out, 1, "sizer_build_info{version=\"%s\"}", state->version);
    write_gauge(out, "sizer_uptime_seconds", "Time since the program began to listen.", state->uptime_seconds);
    write_gauge(out, "sizer_draining", "1 while the program is ending.", state->draining);
    write_gauge(out, "sizer_connections", "Open client connections.", state->connection_count);
    write_gauge(out, "sizer_requests_running", "Requests under way, this one included.", state->running_count);
    write_gauge(out, "sizer_database_configured", "1 when the catalog comes from PostgreSQL.",
                state->database_configured);
    write_gauge(out, "sizer_database_connected", "1 while PostgreSQL is connected.", state->database_connected);
    if (!state->catalog)
        return;
    exposition_family(out, "sizer_catalog_version", "gauge", "Version of the catalog that is served.");
    exposition_count(out, state->catalog->version, "sizer_catalog_version");
    if (state->snapshot_age_seconds >= 0)
        write_gauge(out, "sizer_catalog_age_seconds", "Time since the catalog was last known to be the current one.",
                    state->snapshot_age_seconds);
}

void
metrics_write(struct metrics *metrics, const struct service_state *state, struct buffer *out)
{
    write_state(state, out);
    write_http(metrics, out);
    write_events(metrics, out);
    exposition_process(out);
}
