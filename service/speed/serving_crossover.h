/* Where quantised weights stop paying: kernels that unpack weights read less and compute more. */
#ifndef SERVICE_SPEED_SERVING_CROSSOVER_H
#define SERVICE_SPEED_SERVING_CROSSOVER_H

#include "service/memory/serving_memory.h"

struct serving_crossover {
    bool known;                 /* the format is unpacked before it is multiplied; else nothing can be lost */
    enum weight_format against; /* the 16-bit format of this GPU */
    double sequences;           /* from so many on, decoded at once in a replica, a step takes longer; 0: never */
    double time_ratio;          /* of a step now to one in `against` */
};

/* Of decode steps at the job's mean context, on the same split. Room for the weights is not asked for: a format that
 * is slower may be the only one that fits. `running` sequences are decoded at once now. */
void serving_crossover(const struct serving_setup *setup, double running, struct serving_crossover *ret_crossover);

#endif
