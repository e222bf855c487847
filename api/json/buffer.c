/* A bounded free list of byte buffers for each thread. */
#include "api/json/buffer.h"

#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum {
    FIRST_CAPACITY = 16 * 1024,       /* most replies fit */
    MAX_POOLED_CAPACITY = 256 * 1024, /* what grew larger is not kept: lists come rarely */
    MAX_POOLED = 32,
};

struct pool {
    struct buffer *head;
    size_t count;
    bool at_exit; /* this thread's end frees the pool */
};

static _Thread_local struct pool pool;
static pthread_key_t exit_key;
static pthread_once_t exit_key_once = PTHREAD_ONCE_INIT;
static bool exit_key_made;

static void
buffer_free(struct buffer *buffer)
{
    free(buffer->bytes);
    free(buffer);
}

static void
pool_free(struct pool *of)
{
    while (of->head) {
        struct buffer *buffer = of->head;

        of->head = buffer->next;
        buffer_free(buffer);
    }
    of->count = 0;
}

static void
thread_exit(void *value)
{
    struct pool *of = value;

    pool_free(of);
    of->at_exit = false;
}

static void
make_exit_key(void)
{
    exit_key_made = pthread_key_create(&exit_key, thread_exit) == 0;
}

/* Whether what this thread keeps will be freed when it ends; without that nothing is kept. */
static bool
freed_at_exit(void)
{
    if (!pool.at_exit) {
        pthread_once(&exit_key_once, make_exit_key);
        pool.at_exit = exit_key_made && pthread_setspecific(exit_key, &pool) == 0;
    }
    return pool.at_exit;
}

struct buffer *
buffer_take(void)
{
    struct buffer *buffer = pool.head;

    if (buffer) {
        pool.head = buffer->next;
        pool.count--;
        buffer->next = NULL;
        return buffer;
    }
    buffer = calloc(1, sizeof *buffer);
    if (!buffer)
        return NULL;
    buffer->bytes = malloc(FIRST_CAPACITY);
    if (!buffer->bytes) {
        free(buffer);
        return NULL;
    }
    buffer->capacity = FIRST_CAPACITY;
    return buffer;
}

/* Gives lent bytes back and takes the buffer's own again. */
static void
end_loan(struct buffer *buffer)
{
    struct buffer_loan loan = buffer->loan;

    if (!loan.give_back)
        return;
    buffer->bytes = loan.own_bytes;
    buffer->capacity = loan.own_capacity;
    buffer->loan.give_back = NULL;
    loan.give_back(loan.owner);
}

void
buffer_lend(struct buffer *buffer, char *bytes, size_t size, void (*give_back)(void *owner), void *owner)
{
    end_loan(buffer);
    buffer->loan = (struct buffer_loan){ give_back, owner, buffer->bytes, buffer->capacity };
    buffer->bytes = bytes; /* only read: every write goes through buffer_reserve */
    buffer->capacity = buffer->size = size;
}

void
buffer_give(struct buffer *buffer)
{
    if (!buffer)
        return;
    end_loan(buffer);
    if (buffer->capacity > MAX_POOLED_CAPACITY || pool.count >= MAX_POOLED || !freed_at_exit()) {
        buffer_free(buffer);
        return;
    }
    buffer->size = 0;
    buffer->failed = false;
    buffer->next = pool.head;
    pool.head = buffer;
    pool.count++;
}

void
buffer_pool_done(void)
{
    pool_free(&pool);
}

bool
buffer_reserve(struct buffer *buffer, size_t size)
{
    size_t capacity;
    char *bytes;

    if (buffer->loan.give_back && buffer->size > 0)
        buffer->failed = true; /* a mistake of ours: lent bytes are not added to */
    if (buffer->failed)
        return false;
    end_loan(buffer);
    capacity = buffer->capacity;
    if (size <= capacity - buffer->size)
        return true;
    while (capacity - buffer->size < size) {
        if (capacity > SIZE_MAX / 2) {
            buffer->failed = true;
            return false;
        }
        capacity = capacity ? capacity * 2 : FIRST_CAPACITY;
    }
    bytes = realloc(buffer->bytes, capacity);
    if (!bytes) {
        buffer->failed = true;
        return false;
    }
    buffer->bytes = bytes;
    buffer->capacity = capacity;
    return true;
}

void
buffer_append(struct buffer *buffer, const char *bytes, size_t size)
{
    if (size == 0 || !buffer_reserve(buffer, size))
        return;
    memcpy(buffer->bytes + buffer->size, bytes, size);
    buffer->size += size;
}
