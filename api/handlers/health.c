/* Health, metrics and the contract. */
#include "api/handlers/health.h"

#include <pthread.h>

#include "api/http/etag.h"
#include "api/json/writer.h"
#include "api/observe/metrics.h"
#include "api/pages/openapi_data.h"

enum status
handle_livez(const struct request *request, const struct service_state *state, struct response *ret_response,
             struct fault *ret_fault)
{
    static const char alive[] = "{\"status\":\"ok\"}";

    (void)request;
    (void)state;
    (void)ret_fault;
    buffer_append(ret_response->body, alive, sizeof alive - 1);
    return STATUS_OK;
}

static const char *
readiness(const struct service_state *state)
{
    if (state->draining)
        return "draining";
    return state->catalog ? "ok" : "starting";
}

static const char *
database_word(const struct service_state *state)
{
    if (!state->database_configured)
        return "not_configured";
    return state->database_connected ? "connected" : "disconnected";
}

enum status
handle_readyz(const struct request *request, const struct service_state *state, struct response *ret_response,
              struct fault *ret_fault)
{
    bool ready = state->catalog && !state->draining;
    struct json_writer writer;

    (void)request;
    (void)ret_fault;
    ret_response->status = ready ? 200 : 503;
    writer_init(&writer, ret_response->body);
    writer_object(&writer, NULL);
    writer_text(&writer, "status", readiness(state));
    writer_text(&writer, "version", state->version);
    writer_bool(&writer, "draining", state->draining);
    writer_text(&writer, "database", database_word(state));
    if (state->catalog) {
        writer_object(&writer, "catalog");
        writer_id(&writer, "version", state->catalog->version);
        writer_text(&writer, "as_of", state->catalog->as_of);
        writer_text(&writer, "source", state->catalog->embedded ? "embedded" : "postgresql");
        if (state->snapshot_age_seconds >= 0)
            writer_real(&writer, "age_seconds", state->snapshot_age_seconds);
        writer_end_object(&writer);
    }
    writer_real(&writer, "uptime_seconds", state->uptime_seconds);
    writer_end_object(&writer);
    if (!ready)
        response_header(ret_response, "Retry-After", "1");
    return STATUS_OK;
}

enum status
handle_metrics(const struct request *request, const struct service_state *state, struct response *ret_response,
               struct fault *ret_fault)
{
    (void)request;
    if (!state->metrics) { /* there was no memory for them */
        ret_fault->code = FAULT_INTERNAL;
        return STATUS_FAULT;
    }
    ret_response->media = MEDIA_TEXT;
    metrics_write(state->metrics, state, ret_response->body);
    return STATUS_OK;
}

static char openapi_etag[ETAG_SIZE];
static pthread_once_t openapi_etag_once = PTHREAD_ONCE_INIT;

static void
make_openapi_etag(void)
{
    etag_write(openapi_etag, fingerprint(0, openapi_yaml, openapi_yaml_size));
}

enum status
handle_openapi(const struct request *request, const struct service_state *state, struct response *ret_response,
               struct fault *ret_fault)
{
    (void)state;
    (void)ret_fault;
    pthread_once(&openapi_etag_once, make_openapi_etag);
    response_header(ret_response, "ETag", openapi_etag);
    ret_response->media = MEDIA_YAML;
    if (etag_matches(request->if_none_match, openapi_etag))
        ret_response->status = 304;
    else
        buffer_append(ret_response->body, (const char *)openapi_yaml, openapi_yaml_size);
    return STATUS_OK;
}
