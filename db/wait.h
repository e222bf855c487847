/* Waiting that a deadline or a request to stop can end. */
#ifndef DB_WAIT_H
#define DB_WAIT_H

enum wait_result { WAIT_READY = 0, WAIT_TIMEOUT, WAIT_STOPPED };

/* Seconds of a clock that never jumps. */
double clock_seconds(void);

/* Until `fd` (-1: nothing) is ready for `events` of poll(2), `deadline` on that clock is reached, or `stop_fd` becomes
 * readable. Being asked to stop wins. */
enum wait_result wait_for(int fd, short events, int stop_fd, double deadline);

#endif
