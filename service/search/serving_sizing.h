/* How many copies of a deployment a load takes, and what one copy can take. */
#ifndef SERVICE_SEARCH_SERVING_SIZING_H
#define SERVICE_SEARCH_SERVING_SIZING_H

#include "service/search/serving_plans.h"
#include "service/speed/serving_capacity.h"

/* Copies of a serving replica that the load needs; all 0: not known. */
struct replicas {
    uint32_t minimum;    /* for the mean load */
    uint32_t with_spare; /* the same with one spare: autoscaling goes no lower */
    uint32_t for_peak;   /* for peak_factor times the mean load */
    uint32_t maximum;    /* the peak with one spare: autoscaling goes no higher */
};

struct serving_sizing {
    bool known; /* a GPU was named, and its cache holds something */
    struct serving_capacity capacity;
    struct replicas replicas;
};

/* Load over what one replica takes within the targets, by clients in a closed loop, by rate under random arrivals. */
void serving_sizing(const struct serving_choice *choice, struct serving_sizing *ret_sizing);

#endif
