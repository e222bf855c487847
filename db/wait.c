/* poll(2) with a deadline and a second descriptor that means "stop". */
#include "db/wait.h"

#include <errno.h>
#include <poll.h>
#include <time.h>

enum { MAX_WAIT_MS = 60000 };

double
clock_seconds(void)
{
    struct timespec now;

    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

/* Rounded up: a wait that ends before its deadline would turn in circles until it is reached. */
static int
milliseconds_until(double deadline)
{
    double left = (deadline - clock_seconds()) * 1000;

    if (left <= 0)
        return 0;
    return left >= MAX_WAIT_MS ? MAX_WAIT_MS : (int)left + 1;
}

enum wait_result
wait_for(int fd, short events, int stop_fd, double deadline)
{
    for (;;) {
        struct pollfd watched[2] = { { .fd = stop_fd, .events = POLLIN }, { .fd = fd, .events = events } };
        int milliseconds = milliseconds_until(deadline);
        int ready = poll(watched, 2, milliseconds);

        if (ready > 0 && watched[0].revents != 0)
            return WAIT_STOPPED;
        if (ready > 0)
            return WAIT_READY;
        if (ready < 0 && errno != EINTR)
            return WAIT_TIMEOUT;
        if (milliseconds == 0)
            return WAIT_TIMEOUT;
    }
}
