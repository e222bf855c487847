/* Step time of training in closed form: compute, memory traffic, communication, bubble. */
#ifndef SERVICE_SPEED_TRAINING_SPEED_H
#define SERVICE_SPEED_TRAINING_SPEED_H

#include <stdbool.h>

#include "service/base/quantity.h"
#include "service/memory/training_memory.h"
#include "service/speed/bottleneck.h"

/* Seconds of one optimizer step by cause; they add up to step_seconds. */
struct training_time {
    double linear, memory_traffic, experts, attention, elementwise, recompute, launch_gaps, head, bubble, optimizer;
    double tensor_communication, expert_communication, context_communication, data_communication,
        pipeline_communication;
    double input;     /* waiting for samples even where loading keeps up */
    double host_link; /* offload: weights and gradients over the GPU's slot */
    double host_step; /* offload: the optimizer on the host's cores */
};

struct training_speed {
    struct training_time time;
    double step_seconds;    /* expected */
    double tokens_per_step; /* over all GPUs; 0 for networks without tokens */
    double samples_per_step;
    double flop_per_step; /* model FLOPs, all GPUs: attention causal, no recompute, no frozen weight's gradient */
    double peak_flop_per_second;    /* dense peak of one GPU at the training precision */
    double network_exposed_seconds; /* of step_seconds, between nodes */
    double network_busy_seconds;    /* a step, behind compute or not */
    double ideal_step_seconds;      /* the same GPUs in one ideal node: scaling efficiency = ideal / step */
    double band_low, band_high;     /* truth / expected of throughput */
    enum bottleneck bottleneck;
};

/* Whether there is a GPU whose rate at this precision is known: sources tell of some only how fast integers are. */
bool training_can_be_timed(const struct training_setup *setup);

/* See the source for each term. Sharded groups, rings and exposed shares: rates. Never fails on a checked setup;
 * without a GPU all times are 0 and only the work (flop, tokens, samples) is told. */
void training_speed(const struct training_setup *setup, struct training_speed *ret_speed);

/* The step's seconds alone, for who compares many: step_seconds of training_speed(). The machine has a GPU. */
double training_step_seconds(const struct training_setup *setup, struct training_time *ret_time);

#endif
