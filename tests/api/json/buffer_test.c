#include "api/json/buffer.h"

#include <pthread.h>
#include <stdint.h>
#include <string.h>

#include "tests/support/suite.h"

START_TEST(content_survives_growth)
{
    struct buffer *buffer = buffer_take();

    for (unsigned i = 0; i < 100000; i++)
        buffer_append(buffer, (const char *)&i, sizeof i);
    ck_assert(!buffer->failed);
    ck_assert_uint_eq(buffer->size, 100000 * sizeof(unsigned));
    for (unsigned i = 0; i < 100000; i++)
        ck_assert(memcmp(buffer->bytes + i * sizeof i, &i, sizeof i) == 0);
    buffer_give(buffer);
    buffer_pool_done();
}
END_TEST

START_TEST(given_buffer_comes_back_empty)
{
    struct buffer *buffer = buffer_take();

    buffer_append(buffer, "abc", 3);
    buffer->failed = true;
    buffer_give(buffer);
    ck_assert_ptr_eq(buffer_take(), buffer);
    ck_assert_uint_eq(buffer->size, 0);
    ck_assert(!buffer->failed);
    buffer_give(buffer);
    buffer_give(NULL);
    buffer_pool_done();
}
END_TEST

START_TEST(large_buffers_are_not_kept)
{
    struct buffer *buffer = buffer_take(), *next;

    ck_assert(buffer_reserve(buffer, 8 << 20));
    buffer_give(buffer);
    next = buffer_take();
    ck_assert_uint_lt(next->capacity, 8 << 20);
    buffer_give(next);
    buffer_pool_done();
}
END_TEST

START_TEST(impossible_sizes_fail_and_stay_failed)
{
    struct buffer *buffer = buffer_take();

    buffer_append(buffer, "a", 1);
    ck_assert(!buffer_reserve(buffer, SIZE_MAX - 1));
    ck_assert(buffer->failed);
    buffer_append(buffer, "b", 1);
    ck_assert_uint_eq(buffer->size, 1);
    buffer_give(buffer);
    buffer_pool_done();
}
END_TEST

START_TEST(pool_is_bounded)
{
    struct buffer *buffers[200];

    for (size_t i = 0; i < COUNT_OF(buffers); i++)
        buffers[i] = buffer_take();
    for (size_t i = 0; i < COUNT_OF(buffers); i++)
        buffer_give(buffers[i]); /* what is not kept is freed: the leak checker of `make asan` sees both mistakes */
    buffer_pool_done();
}
END_TEST

/* Takes what another thread filled, as a server's worker does, and leaves its pool to the end of the thread. */
static void *
give_elsewhere(void *buffer)
{
    buffer_give(buffer);
    buffer_give(buffer_take());
    return NULL;
}

START_TEST(buffers_may_change_threads)
{
    for (int i = 0; i < 8; i++) {
        pthread_t thread;

        ck_assert_int_eq(pthread_create(&thread, NULL, give_elsewhere, buffer_take()), 0);
        ck_assert_int_eq(pthread_join(thread, NULL), 0);
    }
    buffer_pool_done();
}
END_TEST

int
main(void)
{
    TCase *tcase = tcase_create("buffer");

    tcase_add_test(tcase, content_survives_growth);
    tcase_add_test(tcase, given_buffer_comes_back_empty);
    tcase_add_test(tcase, large_buffers_are_not_kept);
    tcase_add_test(tcase, impossible_sizes_fail_and_stay_failed);
    tcase_add_test(tcase, pool_is_bounded);
    tcase_add_test(tcase, buffers_may_change_threads);
    return suite_run("buffer", tcase);
}
