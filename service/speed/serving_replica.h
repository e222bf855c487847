/* One replica of a deployment, ready to be asked how it does under any load. */
#ifndef SERVICE_SPEED_SERVING_REPLICA_H
#define SERVICE_SPEED_SERVING_REPLICA_H

#include "service/memory/serving_memory.h"
#include "service/speed/bottleneck.h"
#include "service/speed/serving_cycle.h"

/* `flow` lends the members beside it: not to be copied. */
struct serving_replica {
    struct engine_traits traits;
    struct serving_pass model;
    struct serving_flow flow;
    enum arrival arrival;   /* of the job */
    bool generates;         /* tokens one after another; else one pass answers */
    double cache_sequences; /* requests of the mean length that the cache holds; flow.most_sequences is at most this */
};

/* `memory` is serving_memory() of the same setup, which names a GPU. */
void serving_replica_make(const struct serving_setup *setup, const struct serving_memory *memory,
                          struct serving_replica *ret_replica);

/* Under a closed loop of so many clients, or random arrivals of so many requests a second; false: it is overloaded. */
bool serving_replica_pace(const struct serving_replica *replica, enum arrival arrival, double load,
                          struct serving_pace *ret_pace);

/* Its flow's saturation, computed; and seconds until the last of some that arrive at once has its
 * first token. */
double serving_replica_saturation(const struct serving_replica *replica);
double serving_replica_burst_seconds(const struct serving_replica *replica, double requests);

/* Requests in a replica at a pace, those that wait included: rate x time (Little's law). */
double serving_replica_requests(const struct serving_replica *replica, const struct serving_pace *pace);

/* What most of the time is spent on. */
enum bottleneck serving_bottleneck(const struct serving_time *spent);

#endif
