/* Token buckets, with a clock of our own. */
#include "api/rate_limit.h"

#include <pthread.h>
#include <stdatomic.h>
#include <string.h>

#include "tests/support/suite.h"

static const uint64_t second = 1000000000;

static struct client_address
ipv4(unsigned last)
{
    struct client_address address = { { [10] = 0xFF, [11] = 0xFF, [12] = 10 } };

    address.bytes[13] = (unsigned char)(last >> 16);
    address.bytes[14] = (unsigned char)(last >> 8);
    address.bytes[15] = (unsigned char)last;
    return address;
}

START_TEST(a_burst_then_the_rate)
{
    struct rate_limit *limit = rate_limit_create(2, 5);
    struct client_address address = ipv4(1);
    unsigned wait = 0;

    for (int i = 0; i < 5; i++)
        ck_assert(rate_limit_take(limit, &address, second, &wait));
    ck_assert(!rate_limit_take(limit, &address, second, &wait));
    ck_assert_uint_eq(wait, 1); /* half a second, rounded up */
    ck_assert(!rate_limit_take(limit, &address, second + second / 4, &wait));
    ck_assert(rate_limit_take(limit, &address, second + second / 2, &wait));
    ck_assert(!rate_limit_take(limit, &address, second + second / 2, &wait));
    /* over a long time as many as the rate allows, and no more than a burst is saved up */
    for (int i = 0; i < 5; i++)
        ck_assert(rate_limit_take(limit, &address, 100 * second, &wait));
    ck_assert(!rate_limit_take(limit, &address, 100 * second, &wait));
    rate_limit_free(limit);
}
END_TEST

START_TEST(slow_rates_say_how_long)
{
    struct rate_limit *limit = rate_limit_create(0.1, 0.1); /* a bucket holds one request at least */
    struct client_address address = ipv4(1);
    unsigned wait = 0;

    ck_assert(rate_limit_take(limit, &address, second, &wait));
    ck_assert(!rate_limit_take(limit, &address, second, &wait));
    ck_assert_uint_eq(wait, 10);
    ck_assert(!rate_limit_take(limit, &address, 4 * second, &wait));
    ck_assert_uint_eq(wait, 7);
    ck_assert(rate_limit_take(limit, &address, 12 * second, &wait));
    rate_limit_free(limit);
}
END_TEST

START_TEST(addresses_do_not_share)
{
    struct rate_limit *limit = rate_limit_create(1, 1);
    unsigned wait;

    for (unsigned i = 0; i < 200; i++) {
        struct client_address address = ipv4(i);

        ck_assert(rate_limit_take(limit, &address, second, &wait));
        ck_assert(!rate_limit_take(limit, &address, second, &wait));
    }
    rate_limit_free(limit);
}
END_TEST

START_TEST(an_ipv6_network_shares)
{
    struct rate_limit *limit = rate_limit_create(1, 1);
    struct client_address here = { { 0x20, 0x01, 0x0D, 0xB8, [15] = 1 } }, there = here, elsewhere = here;
    unsigned wait;

    there.bytes[8] = 0xAB;
    elsewhere.bytes[7] = 1;
    ck_assert(rate_limit_take(limit, &here, second, &wait));
    ck_assert(!rate_limit_take(limit, &there, second, &wait));
    ck_assert(rate_limit_take(limit, &elsewhere, second, &wait));
    rate_limit_free(limit);
}
END_TEST

/* A flood of addresses takes the places of those unseen for longest: who asks all the time keeps its empty bucket. */
START_TEST(a_flood_does_not_refill_the_busy)
{
    struct rate_limit *limit = rate_limit_create(0.001, 1);
    struct client_address busy = ipv4(0);
    unsigned wait;

    ck_assert(rate_limit_take(limit, &busy, second, &wait));
    for (unsigned i = 1; i < 40000; i++) {
        struct client_address address = ipv4(i);

        ck_assert(rate_limit_take(limit, &address, second + i, &wait));
        if (i % 64 == 0)
            ck_assert(!rate_limit_take(limit, &busy, second + i, &wait));
    }
    rate_limit_free(limit);
}
END_TEST

enum { THREADS = 4, TAKES = 20000 };

struct taker {
    struct rate_limit *limit;
    atomic_uint *taken;
};

static void *
take_many(void *of)
{
    struct taker *taker = of;
    struct client_address address = ipv4(7);
    unsigned wait;

    for (int i = 0; i < TAKES; i++)
        if (rate_limit_take(taker->limit, &address, second, &wait))
            atomic_fetch_add(taker->taken, 1);
    return NULL;
}

START_TEST(threads_take_no_more_than_there_is)
{
    atomic_uint taken = 0;
    struct taker taker = { rate_limit_create(1, 1000), &taken };
    pthread_t threads[THREADS];

    for (int i = 0; i < THREADS; i++)
        pthread_create(&threads[i], NULL, take_many, &taker);
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    ck_assert_uint_eq(atomic_load(&taken), 1000);
    rate_limit_free(taker.limit);
}
END_TEST

int
main(void)
{
    TCase *tcase = tcase_create("rate_limit");

    tcase_add_test(tcase, a_burst_then_the_rate);
    tcase_add_test(tcase, slow_rates_say_how_long);
    tcase_add_test(tcase, addresses_do_not_share);
    tcase_add_test(tcase, an_ipv6_network_shares);
    tcase_add_test(tcase, a_flood_does_not_refill_the_busy);
    tcase_add_test(tcase, threads_take_no_more_than_there_is);
    return suite_run("rate_limit", tcase);
}
