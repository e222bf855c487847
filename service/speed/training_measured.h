/* Whether published runs of training stand behind a setup: of its device, of its software on such devices, of its size.
 */
#ifndef SERVICE_SPEED_TRAINING_MEASURED_H
#define SERVICE_SPEED_TRAINING_MEASURED_H

#include "service/memory/training_memory.h"

struct training_measured {
    bool device;
    bool software;      /* the framework on a device of the family; encoders and convolutions in any framework */
    bool scale;         /* at most twice as many GPUs as any such run had */
    uint32_t most_gpus; /* of such runs; 0 where there are none */
};

/* `setup` names a GPU. */
struct training_measured training_measured_of(const struct training_setup *setup);

#endif
