/* The settings: one row each, and one reader for each kind of value. */
#include "api/config.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "api/observe/log.h"
#include "service/base/quantity.h"
#include "service/base/text.h"

enum setting_kind { KIND_ADDRESS, KIND_SECRET, KIND_COUNT, KIND_BYTES, KIND_REAL, KIND_FLAG, KIND_ORIGINS, KIND_LEVEL };

struct setting {
    const char *name;
    enum setting_kind kind;
    size_t offset;     /* into struct config */
    const char *value; /* unless the environment says otherwise */
    double min, max;   /* of numbers */
    const char *help;
};

#define MEMBER(name) offsetof(struct config, name)

/* Why 8192: a connection's memory is cleared after each request, so more costs throughput, and it holds 7 KB of
 * headers. Why 75 seconds: longer than a load balancer keeps an idle connection, so that it is never ours that ends
 * just when a request comes. */
static const struct setting settings[] = {
    { "SIZER_LISTEN", KIND_ADDRESS, MEMBER(listen), "0.0.0.0:8080", 0, 65535, "address:port to listen on" },
    { "DATABASE_URL", KIND_SECRET, MEMBER(database_url), "", 0, 0,
      "PostgreSQL as libpq reads it; unset: the catalog that is compiled in" },
    { "SIZER_DATABASE_POLL_SECONDS", KIND_REAL, MEMBER(database_poll_seconds), "30", 1, 86400,
      "how often to look for a new catalog when no notice comes" },
    { "SIZER_DATABASE_TIMEOUT_SECONDS", KIND_REAL, MEMBER(database_timeout_seconds), "5", 1, 600,
      "time to connect to PostgreSQL, and for each query" },
    { "SIZER_WORKERS", KIND_COUNT, MEMBER(workers), "0", 0, 256, "threads that serve; 0: the processors, at least 8" },
    { "SIZER_CONNECTIONS", KIND_COUNT, MEMBER(connections), "0", 0, 30720,
      "open connections at once; 0, and at most: 120 a worker" },
    { "SIZER_CONNECTION_MEMORY", KIND_BYTES, MEMBER(connection_memory_bytes), "8192", 2048, 131072,
      "bytes for the headers of a request" },
    { "SIZER_IDLE_SECONDS", KIND_REAL, MEMBER(idle_seconds), "75", 1, 3600, "until a silent connection is closed" },
    { "SIZER_BODY_SECONDS", KIND_REAL, MEMBER(body_seconds), "30", 1, 3600, "for a whole request body to arrive" },
    { "SIZER_BODY_BYTES", KIND_BYTES, MEMBER(body_bytes), "1048576", 1024, 67108864, "bytes of a request body" },
    { "SIZER_BODIES_BYTES", KIND_BYTES, MEMBER(all_bodies_bytes), "67108864", 1048576, 17179869184.0,
      "bytes of all request bodies held at once" },
    { "SIZER_MAX_RUNNING", KIND_COUNT, MEMBER(max_running), "0", 0, 256,
      "requests computed at once, more get 503; 0: as many as workers" },
    { "SIZER_RATE_PER_SECOND", KIND_REAL, MEMBER(rate_per_second), "0", 0, 1e6,
      "requests a second of one client, more get 429; 0: no limit" },
    { "SIZER_RATE_BURST", KIND_REAL, MEMBER(rate_burst), "0", 0, 1e6,
      "requests of one client at once; 0: twice the rate" },
    { "SIZER_TRUST_FORWARDED", KIND_FLAG, MEMBER(trust_forwarded), "false", 0, 1,
      "take the client's address from the last hop of X-Forwarded-For" },
    { "SIZER_CORS_ORIGINS", KIND_ORIGINS, MEMBER(cors_origins), "", 0, 0,
      "origins whose pages may call, by commas: https://portal.example" },
    { "SIZER_DRAIN_SECONDS", KIND_REAL, MEMBER(drain_seconds), "20", 0, 3600,
      "for running requests to end after SIGTERM" },
    { "SIZER_LOG", KIND_LEVEL, MEMBER(log_level), "info", 0, 0, "least level to log: info, warn, error" },
};

static const struct setting *
setting_named(const char *name, size_t size)
{
    for (size_t i = 0; i < COUNT_OF(settings); i++)
        if (strlen(settings[i].name) == size && strncmp(settings[i].name, name, size) == 0)
            return &settings[i];
    return NULL;
}

/* A decimal number that is all of `text`. */
static bool
read_number(const char *text, const struct setting *setting, double *ret_value)
{
    char *end;
    double value;

    if (text[strspn(text, "0123456789.")] != '\0')
        return false;
    errno = 0;
    value = strtod(text, &end);
    if (end == text || *end || errno || !(value >= setting->min && value <= setting->max))
        return false;
    *ret_value = value;
    return true;
}

static bool
read_whole(const char *text, const struct setting *setting, double *ret_value)
{
    return read_number(text, setting, ret_value) && *ret_value == floor(*ret_value);
}

/* "host:port", "[IPv6]:port", ":port" or "port". */
static bool
read_address(const char *text, const struct setting *setting, struct config_address *ret_address)
{
    struct config_address address = { .host = "" };
    const char *port = strrchr(text, ':'), *host = text;
    size_t host_size = port ? (size_t)(port - text) : 0;
    double number;

    port = port ? port + 1 : text;
    if (!read_whole(port, setting, &number) || host_size >= sizeof address.host)
        return false;
    if (host_size >= 2 && host[0] == '[' && host[host_size - 1] == ']') {
        host++;
        host_size -= 2;
    } else if (memchr(host, ':', host_size)) {
        return false; /* an IPv6 address without brackets: where does the port begin? */
    }
    memcpy(address.host, host, host_size);
    address.port = (uint32_t)number;
    *ret_address = address;
    return true;
}

static bool
read_flag(const char *text, bool *ret_flag)
{
    static const char *const words[] = { "false", "true", "0", "1", "no", "yes", "off", "on" };

    for (size_t i = 0; i < COUNT_OF(words); i++)
        if (strcasecmp(text, words[i]) == 0) {
            *ret_flag = i % 2 == 1;
            return true;
        }
    return false;
}

/* An origin is scheme://host[:port], as browsers send it, or "*" for any. */
static bool
origin_is_sound(const char *origin)
{
    const char *host = strstr(origin, "://");

    return strcmp(origin, "*") == 0 || (host && host > origin && host[3] && !strpbrk(host + 3, "/ \t"));
}

static bool
read_origins(const char *text, struct config_origins *ret_origins)
{
    struct config_origins origins = { .count = 0 };

    while (text[strspn(text, ", ")]) {
        char *item = origins.items[origins.count];
        size_t size;

        text += strspn(text, ", ");
        size = strcspn(text, ", ");
        if (origins.count == CONFIG_MAX_ORIGINS || size >= CONFIG_ORIGIN_SIZE)
            return false;
        memcpy(item, text, size);
        item[size] = '\0';
        if (!origin_is_sound(item))
            return false;
        origins.count++;
        text += size;
    }
    *ret_origins = origins;
    return true;
}

static bool
read_level(const char *text, uint32_t *ret_level)
{
    for (uint32_t i = 0; i < LEVEL_COUNT; i++)
        if (strcasecmp(text, log_level_name((enum log_level)i)) == 0) {
            *ret_level = i;
            return true;
        }
    return false;
}

/* Reads a value into its place; false when it is not what the row asks for. */
static bool
read_value(const struct setting *setting, const char *text, struct config *config)
{
    void *place = (char *)config + setting->offset;
    double number;

    switch (setting->kind) {
    case KIND_ADDRESS:
        return read_address(text, setting, place);
    case KIND_SECRET:
        *(const char **)place = *text ? text : NULL;
        return true;
    case KIND_COUNT:
        if (!read_whole(text, setting, &number))
            return false;
        *(uint32_t *)place = (uint32_t)number;
        return true;
    case KIND_BYTES:
        if (!read_whole(text, setting, &number))
            return false;
        *(uint64_t *)place = (uint64_t)number;
        return true;
    case KIND_REAL:
        return read_number(text, setting, place);
    case KIND_FLAG:
        return read_flag(text, place);
    case KIND_ORIGINS:
        return read_origins(text, place);
    case KIND_LEVEL:
        return read_level(text, place);
    }
    __builtin_unreachable();
}

static void
describe_expected(const struct setting *setting, char *text, size_t size)
{
    switch (setting->kind) {
    case KIND_ADDRESS:
        text_copy(text, size, "host:port, port 0..65535");
        return;
    case KIND_COUNT:
    case KIND_BYTES:
        text_format(text, size, "integer %.0f..%.0f", setting->min, setting->max);
        return;
    case KIND_REAL:
        text_format(text, size, "number %.0f..%.0f", setting->min, setting->max);
        return;
    case KIND_FLAG:
        text_copy(text, size, "true|false");
        return;
    case KIND_ORIGINS:
        text_copy(text, size, "scheme://host[:port],...");
        return;
    case KIND_LEVEL:
        text_copy(text, size, "info|warn|error");
        return;
    case KIND_SECRET:
        break;
    }
    text[0] = '\0';
}

static const char *
environment_value(char *const *environment, const char *name)
{
    size_t size = strlen(name);

    for (; *environment; environment++)
        if (strncmp(*environment, name, size) == 0 && (*environment)[size] == '=')
            return *environment + size + 1;
    return NULL;
}

enum status
config_read(char *const *environment, struct config *ret_config, struct fault *ret_fault)
{
    struct config config = { .database_url = NULL };

    fault_clear(ret_fault);
    for (size_t i = 0; i < COUNT_OF(settings); i++) {
        const struct setting *setting = &settings[i];
        const char *text = environment_value(environment, setting->name);
        char expected[FAULT_TEXT_SIZE];
        struct fault_item *item;

        if (!text || !*text)
            text = setting->value;
        if (read_value(setting, text, &config))
            continue;
        describe_expected(setting, expected, sizeof expected);
        item = fault_add(ret_fault, FAULT_BAD_PARAMETER, setting->name, text, expected, NULL);
        if (item)
            item->is_parameter = true;
    }
    if (fault_any(ret_fault))
        return STATUS_FAULT;
    *ret_config = config;
    return STATUS_OK;
}

bool
config_next_unknown(char *const *environment, size_t *at, char *ret_name, size_t name_size, const char **ret_suggestion)
{
    static const char prefix[] = "SIZER_";
    const char *names[COUNT_OF(settings)];

    for (size_t i = 0; i < COUNT_OF(settings); i++)
        names[i] = settings[i].name;
    while (environment[*at]) {
        const char *entry = environment[(*at)++];
        size_t size = strcspn(entry, "=");

        if (strncmp(entry, prefix, sizeof prefix - 1) != 0 || setting_named(entry, size))
            continue;
        text_format(ret_name, name_size, "%.*s", (int)u64_min(size, name_size), entry);
        *ret_suggestion = text_nearest(ret_name, names, COUNT_OF(names));
        return true;
    }
    return false;
}

void
config_help(FILE *to)
{
    for (size_t i = 0; i < COUNT_OF(settings); i++)
        (void)fprintf(to, "  %-31s %s%s%s%s\n", settings[i].name, settings[i].help, *settings[i].value ? " [" : "",
                      settings[i].value, *settings[i].value ? "]" : "");
}
