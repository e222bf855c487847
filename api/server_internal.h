/* What the parts of the server share. Only api/server*.c see it, and only they know libmicrohttpd. */
#ifndef API_SERVER_INTERNAL_H
#define API_SERVER_INTERNAL_H

#include <microhttpd.h>
#include <netinet/in.h>
#include <pthread.h>
#include <stdatomic.h>

#include "api/rate_limit.h"
#include "api/server.h"

enum { ALLOW_SIZE = 64 };

struct server {
    struct server_settings settings; /* with every 0 that means "choose" replaced */
    struct MHD_Daemon *daemon;
    struct rate_limit *rate_limit; /* NULL: off */
    uint64_t started;              /* nanoseconds of the steady clock */
    int listen_fd;
    uint16_t port;
    int stop_fd; /* an eventfd: readable when accepting is to end */
    pthread_t acceptor;
    bool accepting; /* the acceptor runs */
    atomic_bool draining;
    atomic_uint running;         /* handlers */
    atomic_uint under_way;       /* requests, from the end of the headers to the end of the reply */
    atomic_uint open;            /* connections */
    atomic_uint *open_of_worker; /* of them, on each worker */
    atomic_size_t held_bytes;    /* of larger bodies */
};

/* One connection's other end. */
struct client {
    struct client_address address;
    char text[INET6_ADDRSTRLEN];
};

/* The headers that matter here; NULL when absent, the first when there are several. Lent by libmicrohttpd until the
 * request is over. */
struct headers {
    const char *accept, *accept_encoding, *accept_language, *content_encoding, *content_length, *content_type, *expect,
        *forwarded_for, *host, *if_none_match, *origin, *request_id, *requested_method, *traceparent,
        *transfer_encoding;
    bool host_twice, content_length_twice, transfer_encoding_twice;
    bool bad_name; /* a name that is no token, as smugglers write them */
};

/* Why a request is not handed to a handler. */
struct refusal {
    enum fault_code code;                     /* FAULT_NONE: it is */
    const char *parameter, *value, *expected; /* what was wrong where; NULL: nothing to say */
    unsigned retry_seconds;                   /* Retry-After; 0: none */
};

/* A request and its reply, from its headers to the end of the reply. */
struct exchange {
    struct request request;
    struct server *server;
    const struct client *client;
    struct headers headers;
    const struct route *route; /* NULL: none answers */
    struct refusal refusal;
    struct buffer *body;         /* NULL: nothing came, or it is thrown away */
    size_t held_bytes;           /* of the server's, for this body */
    uint64_t started, answering; /* nanoseconds */
    uint64_t bytes_in, bytes_out, catalog_version;
    int status;    /* 0: not answered yet */
    bool has_body; /* announced by the headers */
    bool is_options, must_close;
    char allow[ALLOW_SIZE];
    char expected[FAULT_TEXT_SIZE]; /* for the refusal, where it is no constant */
    char trace_id[TRACE_ID_SIZE];
    struct client_address forwarded_address;
    char forwarded[INET6_ADDRSTRLEN];
    struct exchange *next; /* in the free list */
    size_t text_size, text_used;
    char text[]; /* decoded path and query */
};

/* What a thread of libmicrohttpd keeps from request to request. */
struct worker {
    struct exchange *free;
    unsigned free_count;
    uint64_t random[4];
    struct fault fault; /* large: not for the stack of each request */
};

/* libmicrohttpd 0.9.75 asks for 128 events at a time, and when exactly 128 come it waits once more before it serves
 * them. A worker that cannot have 128 never meets that: its connections and its own eventfd stay below. */
enum { CONNECTIONS_A_WORKER = 120 };

/* The worker that libmicrohttpd gives a socket to as long as it has room there. */
static inline unsigned
worker_of_socket(const struct server *server, int fd)
{
    return (unsigned)fd % server->settings.workers;
}

/* server_accept.c: listens at the settings' address and hands connections to the daemon until told to stop. */
enum status accept_listen(struct server *server, struct fault *ret_fault);
bool accept_start(struct server *server);
void accept_stop(struct server *server); /* and closes the listening socket; more than once is fine */

/* server_client.c */
void client_notify(void *server, struct MHD_Connection *connection, void **socket_context,
                   enum MHD_ConnectionNotificationCode code);
const struct client *client_of(struct MHD_Connection *connection);
/* The last hop of X-Forwarded-For; false when it is no address. */
bool client_forwarded(const char *header, struct client_address *ret_address, char ret_text[INET6_ADDRSTRLEN]);

/* server_headers.c: reads all headers in one pass. */
void headers_read(struct MHD_Connection *connection, struct headers *ret_headers);

/* server_worker.c: the calling thread's, made when first asked for, freed when the thread ends. NULL: no memory. */
struct worker *worker_of_thread(void);
void worker_request_id(struct worker *worker, char ret_id[REQUEST_ID_SIZE]);
/* A zeroed exchange with room for `text_size` bytes of text; given back to any thread. */
struct exchange *worker_exchange(size_t text_size);
void worker_give_back(struct exchange *exchange);
uint64_t now_nanoseconds(void);

/* server_exchange.c: libmicrohttpd's callbacks. */
enum MHD_Result exchange_step(void *server, struct MHD_Connection *connection, const char *url, const char *method,
                              const char *version, const char *upload_data, size_t *upload_data_size, void **state);
void exchange_done(void *server, struct MHD_Connection *connection, void **state, enum MHD_RequestTerminationCode code);

/* server_judge.c: all that can be said from the headers: the route, or why the request is refused. */
void judge(struct exchange *exchange, struct MHD_Connection *connection, const char *url, const char *version);
size_t body_limit(const struct exchange *exchange); /* bytes */
void refuse_too_large(struct exchange *exchange);

/* server_answer.c: what to reply to a complete request. */
void answer_make(struct exchange *exchange, struct response *ret_response);

/* server_reply.c: queues a reply, takes its body. */
enum MHD_Result reply_queue(struct exchange *exchange, struct MHD_Connection *connection, struct response *response);

#endif
