/* A small table under one lock; bodies are counted, so that none is copied or freed while the lock is held long. */
#include "api/handlers/catalog_cache.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "api/http/etag.h"

enum {
    KEPT = 64,
    MAX_BODY_BYTES = 4 * 1024 * 1024,
    MAX_ALL_BYTES = 32 * 1024 * 1024,
};

static struct {
    pthread_mutex_t mutex;
    struct slot {
        struct cached_reply *reply; /* NULL: free */
        uint64_t used_at;
    } slots[KEPT];
    uint64_t uses;
    size_t bytes; /* of all bodies in slots */
} cache = { .mutex = PTHREAD_MUTEX_INITIALIZER };

void
reply_key_begin(struct reply_key *key)
{
    key->fingerprint = 0;
    key->size = 0;
    key->is_whole = true;
}

void
reply_key_add(struct reply_key *key, const void *bytes, size_t size)
{
    key->fingerprint = fingerprint(key->fingerprint, bytes, size);
    if (size > sizeof key->bytes - key->size)
        key->is_whole = false;
    if (!key->is_whole)
        return;
    memcpy(key->bytes + key->size, bytes, size);
    key->size += size;
}

static bool
same_key(const struct reply_key *a, const struct reply_key *b)
{
    return a->fingerprint == b->fingerprint && a->size == b->size && memcmp(a->bytes, b->bytes, a->size) == 0;
}

struct cached_reply *
catalog_cache_find(const struct reply_key *key)
{
    struct cached_reply *found = NULL;

    if (!key->is_whole)
        return NULL;
    (void)pthread_mutex_lock(&cache.mutex);
    for (size_t i = 0; i < KEPT && !found; i++) {
        struct slot *slot = &cache.slots[i];

        if (slot->reply && same_key(slot->reply->key, key)) {
            found = slot->reply;
            slot->used_at = ++cache.uses;
            atomic_fetch_add_explicit(&found->references, 1, memory_order_relaxed);
        }
    }
    (void)pthread_mutex_unlock(&cache.mutex);
    return found;
}

void
catalog_cache_release(void *lent)
{
    struct cached_reply *reply = lent;

    if (reply && atomic_fetch_sub_explicit(&reply->references, 1, memory_order_acq_rel) == 1)
        free(reply);
}

/* One allocation: the struct, its key, the link, the body. */
static struct cached_reply *
make_reply(const struct reply_key *key, const char *body, size_t size, const char *link)
{
    size_t link_size = strlen(link) + 1;
    struct cached_reply *reply = malloc(sizeof *reply + sizeof *key + link_size + size);
    char *at;

    if (!reply)
        return NULL;
    at = (char *)(reply + 1);
    memcpy(at, key, sizeof *key);
    reply->key = (const struct reply_key *)(const void *)at;
    at += sizeof *key;
    memcpy(at, link, link_size);
    reply->link = at;
    at += link_size;
    memcpy(at, body, size);
    reply->body = at;
    reply->size = size;
    atomic_init(&reply->references, 1);
    return reply;
}

/* The free slot, or the one that was used least recently. */
static struct slot *
oldest_slot(void)
{
    struct slot *oldest = &cache.slots[0];

    for (size_t i = 0; i < KEPT; i++) {
        if (!cache.slots[i].reply)
            return &cache.slots[i];
        if (cache.slots[i].used_at < oldest->used_at)
            oldest = &cache.slots[i];
    }
    return oldest;
}

static void
empty_slot(struct slot *slot)
{
    if (slot->reply)
        cache.bytes -= slot->reply->size;
    catalog_cache_release(slot->reply);
    slot->reply = NULL;
    slot->used_at = 0;
}

static struct slot *
oldest_full_slot(void)
{
    struct slot *oldest = NULL;

    for (size_t i = 0; i < KEPT; i++) {
        if (cache.slots[i].reply && (!oldest || cache.slots[i].used_at < oldest->used_at))
            oldest = &cache.slots[i];
    }
    return oldest;
}

void
catalog_cache_keep(const struct reply_key *key, const char *body, size_t size, const char *link)
{
    struct cached_reply *reply;
    struct slot *slot;

    if (!key->is_whole || size > MAX_BODY_BYTES)
        return;
    reply = make_reply(key, body, size, link);
    if (!reply)
        return;
    (void)pthread_mutex_lock(&cache.mutex);
    while (cache.bytes + size > MAX_ALL_BYTES && (slot = oldest_full_slot()) != NULL)
        empty_slot(slot);
    slot = oldest_slot();
    empty_slot(slot);
    slot->reply = reply;
    slot->used_at = ++cache.uses;
    cache.bytes += size;
    (void)pthread_mutex_unlock(&cache.mutex);
}

void
catalog_cache_done(void)
{
    for (size_t i = 0; i < KEPT; i++)
        empty_slot(&cache.slots[i]);
}
