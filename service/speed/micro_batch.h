/* What one micro-batch takes on a mean stage, communication of its layers included. */
#ifndef SERVICE_SPEED_MICRO_BATCH_H
#define SERVICE_SPEED_MICRO_BATCH_H

#include "service/speed/communication_time.h"
#include "service/speed/layer_time.h"

struct micro_batch {
    struct layer_time layers;
    struct layer_exchange exchange;
    struct data_exchange data;
    struct exposed pipeline;
    double forward, backward, recompute, gaps; /* seconds, communication of the layers included */
    double floor;                              /* least seconds of code that Python launches */
    double sums;                               /* passes' worth of tensor and expert communication besides recompute */
};

/* A machine other than the setup's may be given. */
void micro_batch_of(const struct training_setup *setup, const struct machine *machine, const struct layer_work *work,
                    const struct layer_time *layers, struct micro_batch *ret_micro);

/* The last stage carries the head, unless layers are dealt out unevenly to make room for it. */
bool head_is_balanced(const struct training_setup *setup);

#endif
