/* Networks that answer in one pass: requests gather while a pass runs, and the next takes as many as fill it. */
#ifndef SERVICE_SPEED_SERVING_BATCH_H
#define SERVICE_SPEED_SERVING_BATCH_H

#include <stdbool.h>

#include "service/speed/serving_cycle.h"

/* A flow's most_sequences are the requests that fill a pass; its output is one token: the answer, which is the first.
 * Closed loop of N clients: all are in the same pass, or take turns in full ones:
 *   rate = B / t(B), B = min(N, full);  time = N / rate                                    (Little's law)
 * Always true. */
bool serving_batch_closed_loop(const struct serving_flow *flow, double clients, struct serving_pace *ret_pace);

/* Random arrivals: a pass takes the B = rate x t(B) that came during the one before, and one that comes waits for half
 * of it. False when full passes do not keep up (bulk service: N. T. J. Bailey, J. R. Stat. Soc. B 16, 1954). */
bool serving_batch_poisson(const struct serving_flow *flow, double requests_per_second, struct serving_pace *ret_pace);

/* A flow's saturation: full passes, one after the other. */
double serving_batch_saturation(const struct serving_flow *flow);

/* Seconds until the last of some that arrive at once is answered. */
double serving_batch_burst_seconds(const struct serving_flow *flow, double requests);

#endif
