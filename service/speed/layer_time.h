/* Seconds that the layers of a stage take for one micro-batch, by cause, without communication. */
#ifndef SERVICE_SPEED_LAYER_TIME_H
#define SERVICE_SPEED_LAYER_TIME_H

#include "service/speed/layer_work.h"
#include "service/speed/pace.h"

/* One pass. */
struct pass_time {
    double linear, memory_traffic, experts, attention, elementwise;
};

struct layer_time {
    struct pass_time forward, backward;
    double recomputed;       /* seconds of forward work done again, where that is not simply a share of it */
    double recomputed_share; /* of the forward pass with its communication */
    double backward_share;   /* of the layers that the backward pass reaches */
    double head;             /* forward and backward */
};

/* A product and its two gradients cost the same operations; with a frozen weight one gradient falls away. Flash
 * attention computes its scores again backward: 2.5 times forward (arXiv:2205.14135 section 3.1). */
void layer_time_of(const struct training_setup *setup, const struct layer_work *work, const struct pace *pace,
                   struct layer_time *ret_time);

double pass_seconds(const struct pass_time *pass);

/* Share of the usual time that traffic between products takes where what one layer hands to the next stays in the
 * device's cache: cards of Ada and later have one that holds it (NVIDIA, Ada whitepaper: 72 MB after 6 MB). */
double cached_traffic_share(const struct training_setup *setup);

/* Code that launches module by module from Python cannot go faster than this, seconds for all layers of a stage; each
 * expert of a layer is a module, and under ZeRO-3 gathered by itself. */
double host_floor_seconds(const struct training_setup *setup, double layers);

/* Such code: HF Trainer, and DeepSpeed where it fine-tunes HF models. */
bool runs_hf_modules(const struct training_job *job);

/* Of the layers, those that the backward pass reaches: below the lowest trained one it stops. */
double backward_share(const struct model_arch *arch, const struct training_job *job);

#endif
