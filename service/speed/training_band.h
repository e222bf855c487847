/* How far the truth of training throughput may lie from what is expected. */
#ifndef SERVICE_SPEED_TRAINING_BAND_H
#define SERVICE_SPEED_TRAINING_BAND_H

#include "service/memory/training_memory.h"

struct throughput_band {
    double low, high; /* truth / expected */
};

/* By how well runs of the kind are known: stated dense pre-training, an open plan, experts or recurrent layers, HF
 * code, encoders, convolutions; wider for devices without measurements and for CPU offload. */
struct throughput_band throughput_band_of(const struct training_setup *setup);

#endif
