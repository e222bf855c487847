/* Settings from the environment, read by one table that --help prints too. */
#ifndef API_CONFIG_H
#define API_CONFIG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "service/base/result.h"

enum { CONFIG_HOST_SIZE = 256, CONFIG_MAX_ORIGINS = 32, CONFIG_ORIGIN_SIZE = 256 };

/* Where to listen. */
struct config_address {
    char host[CONFIG_HOST_SIZE]; /* without the brackets of IPv6; "" is every address */
    uint32_t port;               /* 0: any free one */
};

struct config_origins {
    size_t count;
    char items[CONFIG_MAX_ORIGINS][CONFIG_ORIGIN_SIZE];
};

struct config {
    struct config_address listen;
    const char *database_url; /* lent by the environment; NULL: the compiled-in catalog. Holds a password */
    double database_poll_seconds, database_timeout_seconds;
    uint32_t workers;     /* 0: as many as the machine suggests */
    uint32_t connections; /* 0: as many as the workers can serve */
    uint64_t connection_memory_bytes;
    double idle_seconds, body_seconds;
    uint64_t body_bytes, all_bodies_bytes;
    uint32_t max_running;   /* 0: as many as there are workers */
    double rate_per_second; /* 0: no limit */
    double rate_burst;      /* 0: twice the rate */
    bool trust_forwarded;
    struct config_origins cors_origins;
    double drain_seconds;
    uint32_t log_level; /* enum log_level */
};

/* Reads all settings out of `environment` ("NAME=value", ends with NULL); an empty value counts as unset. Every bad one
 * is a fault with its name as parameter; a secret's value is not repeated. */
enum status config_read(char *const *environment, struct config *ret_config, struct fault *ret_fault);

/* The next variable, from index *at on, that begins with SIZER_ but is no setting; its name is copied, the setting that
 * was probably meant lent (NULL: none is near). false when there is no further one. */
bool config_next_unknown(char *const *environment, size_t *at, char *ret_name, size_t name_size,
                         const char **ret_suggestion);

/* Prints the table for people: names, defaults, what they mean. */
void config_help(FILE *to);

#endif
