/* The HTTP server: connections, limits, the life of a request. It calls the handlers of a route table. */
#ifndef API_SERVER_H
#define API_SERVER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "api/observe/observe.h"
#include "api/route.h"
#include "service/base/result.h"
#include "service/catalog/snapshot.h"

/* How the database stands, for handlers that tell. */
struct database_state {
    bool configured, connected;
    double snapshot_age_seconds; /* -1: there is no snapshot yet */
};

/* Everything is lent until server_stop. */
struct server_settings {
    const char *host;                    /* "" is every address */
    uint16_t port;                       /* 0: any free one */
    unsigned workers;                    /* threads, at least 1; 0: the processors, at least 8 */
    unsigned connections;                /* at once; 0, and at most: 120 a worker */
    size_t connection_memory_bytes;      /* for the headers of a request */
    unsigned idle_seconds;               /* until a silent connection is closed */
    double body_seconds;                 /* for a whole body to arrive */
    size_t body_bytes, all_bodies_bytes; /* of one request; of all at once */
    unsigned max_running;                /* handlers at once; 0: as many as workers */
    double rate_per_second, rate_burst;  /* of one client; rate 0: no limit; burst 0: twice the rate */
    bool trust_forwarded;                /* the client is the last hop of X-Forwarded-For */
    const char *const *cors_origins;     /* that may call; "*" is any */
    size_t cors_origin_count;
    const struct route *routes;
    size_t route_count;
    struct catalog_slot *slot;
    const struct observer *observer;
    const char *version;
    struct database_state (*database)(void *context); /* from any thread */
    void *database_context;
};

struct server;

/* Listens and serves. Fault: bad_parameter at SIZER_LISTEN (expected: why) when the address cannot be listened on,
 * internal when threads or memory are not to be had. *ret_server is freed by server_stop. */
enum status server_start(const struct server_settings *settings, struct server **ret_server, struct fault *ret_fault);

/* The port that is listened on. */
uint16_t server_port(const struct server *server);

/* Stops listening: new connections are refused, those that stand are served on, each closed after its next reply. */
void server_drain(struct server *server);

/* Whether no request is under way. */
bool server_is_idle(const struct server *server);

/* Ends all connections and threads and frees `server`. NULL is fine. */
void server_stop(struct server *server);

#endif
