/* What threads of libmicrohttpd keep: exchanges to use again, a fault to fill, random numbers. */
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <time.h>

#include "api/server_internal.h"

enum { MAX_FREE_EXCHANGES = 64, ID_BYTES = 16 };

static pthread_key_t exit_key;
static pthread_once_t exit_key_once = PTHREAD_ONCE_INIT;
static bool exit_key_made;
static _Thread_local struct worker *worker_here;

static void
thread_exit(void *value)
{
    struct worker *worker = value;

    while (worker->free) {
        struct exchange *exchange = worker->free;

        worker->free = exchange->next;
        free(exchange);
    }
    free(worker);
    worker_here = NULL;
}

static void
make_exit_key(void)
{
    exit_key_made = pthread_key_create(&exit_key, thread_exit) == 0;
}

struct worker *
worker_of_thread(void)
{
    struct worker *worker = worker_here;

    if (worker)
        return worker;
    pthread_once(&exit_key_once, make_exit_key);
    worker = calloc(1, sizeof *worker);
    if (!worker || !exit_key_made || pthread_setspecific(exit_key, worker) != 0) {
        free(worker);
        return NULL;
    }
    if (getrandom(worker->random, sizeof worker->random, 0) != (ssize_t)sizeof worker->random)
        worker->random[0] = now_nanoseconds() ^ (uint64_t)(uintptr_t)worker;
    worker_here = worker;
    return worker;
}

uint64_t
now_nanoseconds(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000U + (uint64_t)now.tv_nsec;
}

static uint64_t
rotate_left(uint64_t value, unsigned bits)
{
    return value << bits | value >> (64 - bits);
}

/* xoshiro256** 1.0 (Blackman and Vigna, https://prng.di.unimi.it/xoshiro256starstar.c): ids must differ, not be secret.
 */
static uint64_t
next_random(uint64_t state[4])
{
    uint64_t result = rotate_left(state[1] * 5, 7) * 9, shifted = state[1] << 17;

    state[2] ^= state[0];
    state[3] ^= state[1];
    state[1] ^= state[2];
    state[0] ^= state[3];
    state[2] ^= shifted;
    state[3] = rotate_left(state[3], 45);
    return result;
}

void
worker_request_id(struct worker *worker, char ret_id[REQUEST_ID_SIZE])
{
    static const char digits[] = "0123456789abcdef";
    uint64_t words[2] = { next_random(worker->random), next_random(worker->random) };

    for (size_t i = 0; i < (size_t)2 * ID_BYTES; i++) {
        ret_id[i] = digits[words[i / ID_BYTES] & 15];
        words[i / ID_BYTES] >>= 4;
    }
    ret_id[(size_t)2 * ID_BYTES] = '\0';
}

struct exchange *
worker_exchange(size_t text_size)
{
    struct worker *worker = worker_of_thread();
    struct exchange *exchange = worker ? worker->free : NULL;

    if (exchange && exchange->text_size >= text_size) {
        worker->free = exchange->next;
        worker->free_count--;
        text_size = exchange->text_size;
    } else {
        exchange = malloc(sizeof *exchange + text_size);
    }
    if (!exchange)
        return NULL;
    memset(exchange, 0, sizeof *exchange);
    exchange->text_size = text_size;
    return exchange;
}

void
worker_give_back(struct exchange *exchange)
{
    struct worker *worker = worker_of_thread();

    if (!worker || worker->free_count >= MAX_FREE_EXCHANGES) {
        free(exchange);
        return;
    }
    exchange->next = worker->free;
    worker->free = exchange;
    worker->free_count++;
}
