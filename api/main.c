/* Settings, then the database, then the server; waits for a signal, drains, ends. Alone in knowing all three rooms. */
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "api/config.h"
#include "api/handlers/catalog_cache.h"
#include "api/observe/log.h"
#include "api/observe/metrics.h"
#include "api/probe.h"
#include "api/server.h"
#include "api/version.h"
#include "db/db.h"
#include "service/base/quantity.h"
#include "service/base/text.h"

enum { EXIT_OK = 0, EXIT_FAILED = 1, EXIT_USAGE = 2 };

enum {
    DRAIN_LOOK_MS = 10,  /* between looks at whether all is done */
    DRAIN_QUIET_MS = 60, /* no request for so long: none was on its way any more */
    SENTENCE_SIZE = 512,
};

struct program {
    struct config config;
    struct log log;
    struct observer observer;
    struct catalog_slot slot;
    struct db *db;
    struct server *server;
    const char *origins[CONFIG_MAX_ORIGINS];
};

static const enum event event_of_database[DB_EVENT_KIND_COUNT] = {
    [DB_CATALOG_LOADED] = EVENT_CATALOG_LOADED,       [DB_CATALOG_REFUSED] = EVENT_CATALOG_REFUSED,
    [DB_RELOAD_FAILED] = EVENT_CATALOG_RELOAD_FAILED, [DB_CONNECTION_FAILED] = EVENT_DATABASE_UNREACHABLE,
    [DB_CONNECTION_LOST] = EVENT_DATABASE_LOST,       [DB_CONNECTION_RESTORED] = EVENT_DATABASE_RESTORED,
};

static void
observe_database(void *observer, const struct db_event *event)
{
    const struct {
        const char *name, *text;
    } texts[] = {
        { "table", event->table },
        { "key", event->key },
        { "column", event->column },
        { "why", event->why },
    };
    struct event_field fields[COUNT_OF(texts) + 3];
    size_t count = 0;

    if (event->version > 0)
        fields[count++] = (struct event_field){ .name = "catalog_version", .number = (double)event->version };
    if (event->kind == DB_CATALOG_LOADED)
        fields[count++] = (struct event_field){
            .name = "source",
            .text = event->embedded ? "embedded" : "postgresql",
        };
    if (event->seconds > 0)
        fields[count++] = (struct event_field){ .name = "seconds", .number = event->seconds };
    for (size_t i = 0; i < COUNT_OF(texts); i++)
        if (texts[i].text[0])
            fields[count++] = (struct event_field){ .name = texts[i].name, .text = texts[i].text };
    observe_event(observer, event_of_database[event->kind], fields, count);
}

static struct database_state
database_state(void *db)
{
    struct db_status status = db_status(db);

    return (struct database_state){
        .configured = status.configured,
        .connected = status.connected,
        .snapshot_age_seconds = status.seconds_since_loaded,
    };
}

/* One line for each thing that was wrong, as a person would say it. */
static void
report_fault(const struct program *program, enum event event, const struct fault *fault)
{
    for (size_t i = 0; i < fault->item_count; i++) {
        const struct fault_item *item = &fault->items[i];
        char sentence[SENTENCE_SIZE];
        const struct event_field fields[] = { { .name = "detail", .text = sentence } };

        if (event == EVENT_BAD_SETTING)
            text_format(sentence, sizeof sentence, "%s=%s: expected %s", item->pointer, item->value, item->expected);
        else
            text_format(sentence, sizeof sentence, "%s%s%s%s%s", item->pointer, item->value[0] ? " " : "", item->value,
                        item->pointer[0] ? ": " : "", item->expected);
        observe_event(&program->observer, event, fields, COUNT_OF(fields));
    }
}

static void
report_unknown_settings(const struct program *program)
{
    char name[FAULT_TEXT_SIZE];
    const char *suggestion;
    size_t at = 0;

    while (config_next_unknown(environ, &at, name, sizeof name, &suggestion)) {
        const struct event_field fields[] = {
            { .name = "name", .text = name },
            { .name = "did_you_mean", .text = suggestion },
        };

        observe_event(&program->observer, EVENT_UNKNOWN_SETTING, fields, suggestion ? 2 : 1);
    }
}

static enum status
start_database(struct program *program, struct fault *ret_fault)
{
    const struct db_settings settings = {
        .database_url = program->config.database_url,
        .poll_seconds = program->config.database_poll_seconds,
        .connect_timeout_seconds = program->config.database_timeout_seconds,
        .observe = observe_database,
        .context = &program->observer,
    };

    return db_start(&program->slot, &settings, &program->db, ret_fault);
}

static enum status
start_server(struct program *program, struct fault *ret_fault)
{
    const struct config *config = &program->config;
    struct server_settings settings = {
        .host = config->listen.host,
        .port = (uint16_t)config->listen.port,
        .workers = config->workers,
        .connections = config->connections,
        .connection_memory_bytes = config->connection_memory_bytes,
        .idle_seconds = (unsigned)config->idle_seconds,
        .body_seconds = config->body_seconds,
        .body_bytes = config->body_bytes,
        .all_bodies_bytes = config->all_bodies_bytes,
        .max_running = config->max_running,
        .rate_per_second = config->rate_per_second,
        .rate_burst = config->rate_burst,
        .trust_forwarded = config->trust_forwarded,
        .cors_origins = program->origins,
        .cors_origin_count = config->cors_origins.count,
        .routes = routes,
        .route_count = route_count,
        .slot = &program->slot,
        .observer = &program->observer,
        .version = SIZER_VERSION,
        .database = database_state,
        .database_context = program->db,
    };

    for (size_t i = 0; i < config->cors_origins.count; i++)
        program->origins[i] = config->cors_origins.items[i];
    return server_start(&settings, &program->server, ret_fault);
}

static void
report_listening(const struct program *program)
{
    const struct event_field fields[] = {
        { .name = "address", .text = program->config.listen.host },
        { .name = "port", .number = server_port(program->server) },
    };

    observe_event(&program->observer, EVENT_LISTENING, fields, COUNT_OF(fields));
}

static struct timespec
milliseconds(long count)
{
    return (struct timespec){ .tv_sec = count / 1000, .tv_nsec = count % 1000 * 1000000 };
}

/* Lets requests that are under way end, for as long as the settings allow or until a second signal. */
static void
drain(struct program *program, const sigset_t *signals)
{
    const struct timespec look = milliseconds(DRAIN_LOOK_MS);
    double left_ms = program->config.drain_seconds * 1000;
    long quiet_ms = 0;
    bool hurried = false;

    observe_event(&program->observer, EVENT_DRAINING, NULL, 0);
    server_drain(program->server);
    while (quiet_ms < DRAIN_QUIET_MS && left_ms > 0 && !hurried) {
        hurried = sigtimedwait(signals, NULL, &look) > 0;
        left_ms -= DRAIN_LOOK_MS;
        quiet_ms = server_is_idle(program->server) ? quiet_ms + DRAIN_LOOK_MS : 0;
    }
    if (!server_is_idle(program->server))
        observe_event(&program->observer, EVENT_DRAIN_INCOMPLETE, NULL, 0);
}

static int
serve(struct program *program, struct fault *fault)
{
    sigset_t signals;
    int received;

    sigemptyset(&signals);
    sigaddset(&signals, SIGTERM);
    sigaddset(&signals, SIGINT);
    (void)pthread_sigmask(SIG_BLOCK, &signals, NULL); /* before any thread is made, so that none takes them */
    (void)signal(SIGPIPE, SIG_IGN);                   /* a client that left is no reason to end */
    if (start_database(program, fault) != STATUS_OK) {
        report_fault(program, EVENT_START_FAILED, fault);
        return EXIT_FAILED;
    }
    if (start_server(program, fault) != STATUS_OK) {
        report_fault(program, fault->code == FAULT_BAD_PARAMETER ? EVENT_LISTEN_FAILED : EVENT_START_FAILED, fault);
        return EXIT_FAILED;
    }
    report_listening(program);
    while (sigwait(&signals, &received) != 0)
        ;
    drain(program, &signals);
    return EXIT_OK;
}

static int
run(struct program *program, struct fault *fault)
{
    static const struct event_field version = { .name = "version", .text = SIZER_VERSION };
    int code;

    if (config_read(environ, &program->config, fault) != STATUS_OK) {
        report_fault(program, EVENT_BAD_SETTING, fault);
        return EXIT_USAGE;
    }
    program->log.level = (enum log_level)program->config.log_level;
    program->observer.metrics = metrics_create(routes, route_count);
    observe_event(&program->observer, EVENT_STARTED, &version, 1);
    report_unknown_settings(program);
    catalog_slot_init(&program->slot);
    code = serve(program, fault);
    server_stop(program->server);
    db_stop(program->db);
    catalog_slot_done(&program->slot);
    if (code == EXIT_OK)
        observe_event(&program->observer, EVENT_STOPPED, NULL, 0);
    metrics_free(program->observer.metrics);
    catalog_cache_done();
    buffer_pool_done();
    return code;
}

static int
probe(void)
{
    static struct config config;
    static struct fault fault;

    if (config_read(environ, &config, &fault) != STATUS_OK)
        return EXIT_USAGE;
    return probe_livez(&config.listen) ? EXIT_OK : EXIT_FAILED;
}

static int
help(void)
{
    (void)printf("sizer %s: what deep-learning jobs need, what exists, what to rent or buy. Over HTTP.\n\n"
                 "usage: sizer [serve]     serve until SIGTERM\n"
                 "       sizer --probe     exit code 0 when the server at SIZER_LISTEN lives\n"
                 "       sizer --version\n"
                 "       sizer --help\n\n"
                 "settings, from the environment:\n",
                 SIZER_VERSION);
    config_help(stdout);
    return EXIT_OK;
}

int
main(int argc, char **argv)
{
    static struct program program = { .log = { .fd = STDERR_FILENO }, .observer = { .log = &program.log } };
    static struct fault fault;
    const char *word = argc > 1 ? argv[1] : "serve";

    if (argc <= 2 && strcmp(word, "serve") == 0)
        return run(&program, &fault);
    if (argc == 2 && strcmp(word, "--help") == 0)
        return help();
    if (argc == 2 && strcmp(word, "--version") == 0) {
        (void)printf("sizer %s\n", SIZER_VERSION);
        return EXIT_OK;
    }
    if (argc == 2 && strcmp(word, "--probe") == 0)
        return probe();
    (void)fprintf(stderr, "sizer: unknown argument \"%s\"; sizer --help lists them\n", argc > 1 ? argv[argc - 1] : "");
    return EXIT_USAGE;
}
