/* Growing byte buffers, reused from a pool of each thread. */
#ifndef API_JSON_BUFFER_H
#define API_JSON_BUFFER_H

#include <stdbool.h>
#include <stddef.h>

struct buffer {
    char *bytes;
    size_t size, capacity;
    bool failed;         /* memory ran out: the content is not whole */
    struct buffer *next; /* in the pool */
    struct buffer_loan {
        void (*give_back)(void *owner); /* NULL: bytes are the buffer's own */
        void *owner;
        char *own_bytes; /* meanwhile put aside */
        size_t own_capacity;
    } loan;
};

/* An empty buffer from the calling thread's pool (or new). NULL when memory is out. */
struct buffer *buffer_take(void);

/* Back to the calling thread's pool, or freed when the pool is full or the buffer is unusually large. NULL is fine. */
void buffer_give(struct buffer *buffer);

/* Frees the calling thread's pool. */
void buffer_pool_done(void);

/* Makes room for `size` more bytes; false (and failed set) when memory is out. */
bool buffer_reserve(struct buffer *buffer, size_t size);
void buffer_append(struct buffer *buffer, const char *bytes, size_t size);

/* Makes an empty buffer hold bytes that stay another's and are not written to, until the buffer is given back (or
 * emptied and written to anew): then give_back(owner) is called. */
void buffer_lend(struct buffer *buffer, char *bytes, size_t size, void (*give_back)(void *owner), void *owner);

#endif
