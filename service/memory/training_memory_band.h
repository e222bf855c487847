/* How far the truth of training memory may lie from what is expected. */
#ifndef SERVICE_MEMORY_TRAINING_MEMORY_BAND_H
#define SERVICE_MEMORY_TRAINING_MEMORY_BAND_H

#include "service/memory/training_memory.h"

struct memory_band {
    double low, high; /* truth / expected */
};

/* By how well readings of the kind are known: framework, 4-bit base, offload; wider where sequence or recompute were
 * not stated, and for recipes that nobody published a reading of. */
struct memory_band training_memory_band_of(const struct training_setup *setup);

/* What of the recipe no published reading stands behind, as requests name it: an optimizer, "freeze", a precision, or
 * the framework that trains experts. NULL: nothing. */
const char *training_recipe_unmeasured(const struct training_setup *setup);

#endif
