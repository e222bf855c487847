/* Replies of the catalog that were rendered before: what many callers ask for is made once a version. */
#ifndef API_HANDLERS_CATALOG_CACHE_H
#define API_HANDLERS_CATALOG_CACHE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "api/http/response.h"

enum { REPLY_KEY_SIZE = 1024 };

/* What a reply depends on, whole, so that no two replies are taken for each other; and a fingerprint of it. */
struct reply_key {
    uint64_t fingerprint;
    size_t size;
    bool is_whole; /* false: longer than REPLY_KEY_SIZE; such a reply is not kept */
    char bytes[REPLY_KEY_SIZE];
};

void reply_key_begin(struct reply_key *key);
void reply_key_add(struct reply_key *key, const void *bytes, size_t size);

/* A rendered body, lent until catalog_cache_release(). */
struct cached_reply {
    atomic_uint references;
    const struct reply_key *key;
    char *body;
    size_t size;
    const char *link; /* Link header, "" when there is none */
};

/* NULL when it is not held. */
struct cached_reply *catalog_cache_find(const struct reply_key *key);

/* Keeps a copy, unless it is too large; what is used least recently goes. */
void catalog_cache_keep(const struct reply_key *key, const char *body, size_t size, const char *link);

/* Takes void so that it can end a loan of the body (buffer_lend). */
void catalog_cache_release(void *reply);

/* Frees all. Nobody else uses it any more. */
void catalog_cache_done(void);

#endif
