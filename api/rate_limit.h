/* A token bucket for each client address, in a table that cannot grow. */
#ifndef API_RATE_LIMIT_H
#define API_RATE_LIMIT_H

#include <stdbool.h>
#include <stdint.h>

enum { CLIENT_ADDRESS_SIZE = 16 };

/* An IPv6 address in network order; IPv4 is mapped (::ffff:a.b.c.d). */
struct client_address {
    unsigned char bytes[CLIENT_ADDRESS_SIZE];
};

struct rate_limit;

/* Buckets that hold `burst` requests and gain `per_second` (both above 0). NULL when memory is out. The caller frees.
 */
struct rate_limit *rate_limit_create(double per_second, double burst);
void rate_limit_free(struct rate_limit *limit);

/* Takes one request out of the bucket of `address` at `now` (nanoseconds of a steady clock). false: it is empty, and
 * *ret_wait_seconds says when it will not be, rounded up. An IPv6 client is its /64, for it may use all of that.
 * When the table is full the address unseen for longest loses its bucket. From any thread. */
bool rate_limit_take(struct rate_limit *limit, const struct client_address *address, uint64_t now,
                     unsigned *ret_wait_seconds);

#endif
