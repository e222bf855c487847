/* Seconds that a step waits for the links, beyond what runs behind compute. */
#ifndef SERVICE_SPEED_COMMUNICATION_TIME_H
#define SERVICE_SPEED_COMMUNICATION_TIME_H

#include "service/speed/layer_work.h"

/* Exposed seconds, and whether the network between nodes or the links inside one set them. */
struct exposed {
    double seconds;
    bool across;
    double all_seconds;     /* on the links, hidden or not */
    double network_seconds; /* of them, that the network between nodes is busy */
};

/* Of one micro-batch's layers, one direction. A machine other than the setup's may be given. */
struct layer_exchange {
    struct exposed tensor, expert, context;
};

void layer_exchange_of(const struct training_setup *setup, const struct machine *machine, const struct layer_work *work,
                       struct layer_exchange *ret_exchange);

/* Between data ranks, beyond what hides behind the `busy` seconds of one micro-batch. ZeRO-3 gathers weights before
 * forward and backward and scatters gradients in every micro-batch, ZeRO-2 scatters gradients in each (there is nowhere
 * to keep their sum); all else reduces gradients and gathers weights once a step, behind the last micro-batch. */
struct data_exchange {
    struct exposed micro_batch, step;
};

void data_exchange_of(const struct training_setup *setup, const struct machine *machine, double busy,
                      struct data_exchange *ret_exchange);

/* Activations to the next pipeline stage and gradients back, one micro-batch. */
struct exposed pipeline_exchange(const struct training_setup *setup, const struct machine *machine);

/* Parameters on one GPU of a mean stage before sharding, experts apart. */
struct local_parameters {
    double dense, experts, expert_ranks /* that share one expert's states */;
};

void local_parameters_of(const struct training_setup *setup, struct local_parameters *ret_local);

/* Of them those that get a gradient: all, the last layers, or the adapter in place of the network. */
void trained_parameters_of(const struct training_setup *setup, struct local_parameters *ret_local);

#endif
