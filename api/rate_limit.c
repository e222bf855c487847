/* Token buckets in sets of a few addresses each; a set is one lock and one place to search. */
#include "api/rate_limit.h"

#include <math.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

enum {
    SETS = 512, /* a power of two */
    WAYS = 16,  /* addresses a set holds: 8192 in all */
    NETWORK_BYTES = 8,
    MAPPED_BYTES = 12, /* what IPv4 addresses begin with */
};

static const double nanoseconds = 1e9; /* of a second */

struct bucket {
    struct client_address address;
    double tokens;
    uint64_t filled; /* when tokens was last brought up to date; 0: the bucket is free */
};

struct set {
    pthread_mutex_t mutex;
    struct bucket buckets[WAYS];
};

struct rate_limit {
    double per_second, burst;
    struct set sets[SETS];
};

struct rate_limit *
rate_limit_create(double per_second, double burst)
{
    struct rate_limit *limit = calloc(1, sizeof *limit);

    if (!limit)
        return NULL;
    limit->per_second = per_second;
    limit->burst = fmax(burst, 1);
    for (unsigned i = 0; i < SETS; i++)
        pthread_mutex_init(&limit->sets[i].mutex, NULL);
    return limit;
}

void
rate_limit_free(struct rate_limit *limit)
{
    if (!limit)
        return;
    for (unsigned i = 0; i < SETS; i++)
        pthread_mutex_destroy(&limit->sets[i].mutex);
    free(limit);
}

/* The address that shares a bucket: all of an IPv4 address, the first half of an IPv6 one. */
static struct client_address
bucket_address(const struct client_address *address)
{
    static const unsigned char mapped[MAPPED_BYTES] = { [10] = 0xFF, [11] = 0xFF };
    struct client_address key = *address;

    if (memcmp(address->bytes, mapped, MAPPED_BYTES) != 0)
        memset(key.bytes + NETWORK_BYTES, 0, CLIENT_ADDRESS_SIZE - NETWORK_BYTES);
    return key;
}

/* Spreads addresses over the sets (the finisher of MurmurHash3, which mixes every bit into every other). */
static unsigned
set_index(const struct client_address *key)
{
    uint64_t half[2], mixed;

    memcpy(half, key->bytes, sizeof half);
    mixed = half[0] * 0x9E3779B97F4A7C15U ^ half[1];
    mixed = (mixed ^ mixed >> 33) * 0xFF51AFD7ED558CCDU;
    mixed = (mixed ^ mixed >> 33) * 0xC4CEB9FE1A85EC53U;
    return (unsigned)((mixed ^ mixed >> 33) % SETS);
}

/* The bucket of `key` in its set; when it has none, the free or oldest one, emptied for it and filled. */
static struct bucket *
bucket_of(struct set *set, const struct client_address *key, double burst, uint64_t now)
{
    struct bucket *oldest = &set->buckets[0];

    for (unsigned i = 0; i < WAYS; i++) {
        struct bucket *bucket = &set->buckets[i];

        if (bucket->filled != 0 && memcmp(&bucket->address, key, sizeof *key) == 0)
            return bucket;
        if (bucket->filled < oldest->filled)
            oldest = bucket;
    }
    *oldest = (struct bucket){ .address = *key, .tokens = burst, .filled = now };
    return oldest;
}

bool
rate_limit_take(struct rate_limit *limit, const struct client_address *address, uint64_t now,
                unsigned *ret_wait_seconds)
{
    struct client_address key = bucket_address(address);
    struct set *set = &limit->sets[set_index(&key)];
    struct bucket *bucket;
    bool taken;

    pthread_mutex_lock(&set->mutex);
    bucket = bucket_of(set, &key, limit->burst, now);
    if (now > bucket->filled) {
        double gained = (double)(now - bucket->filled) / nanoseconds * limit->per_second;

        bucket->tokens = fmin(bucket->tokens + gained, limit->burst);
        bucket->filled = now;
    }
    taken = bucket->tokens >= 1;
    if (taken)
        bucket->tokens -= 1;
    else
        *ret_wait_seconds = (unsigned)fmin(ceil((1 - bucket->tokens) / limit->per_second), 3600);
    pthread_mutex_unlock(&set->mutex);
    return taken;
}
