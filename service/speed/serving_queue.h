/* Requests that arrive at random: how many run at once, and how long a first token waits. */
#ifndef SERVICE_SPEED_SERVING_QUEUE_H
#define SERVICE_SPEED_SERVING_QUEUE_H

#include "service/speed/serving_cycle.h"

/* Poisson arrivals at a rate. The sequences that run, n = rate x (out - 1) x token time (Little), and the share rho of
 * the time that prompts take from decoding settle each other:
 *   t_token = t_decode(n) / (1 - rho)
 *   t_first = t_1 + (step in progress) + rho / (1 - rho) t_1 / 2       M/D/1 (Kleinrock, Queueing Systems I, 5.6)
 * and the slowest of twenty waits for the 95th percentile of that queue, and for a whole step. Prompts that arrive in
 * the time of one step share a pass. `most_sequences` bounds n, and who finds all places taken waits for one; what
 * arrives beyond what is served waits without bound: false, and the first token is that of a request which comes after
 * serving.overload_seconds of it. */
bool serving_poisson(const struct serving_flow *flow, double requests_per_second, struct serving_pace *ret_pace);

/* A flow's saturation: the closed loop with a full cache; and the rate at which the equations above fill it, where that
 * is less. */
double serving_closed_saturation(const struct serving_flow *flow);
double serving_poisson_saturation(const struct serving_flow *flow);

#endif
