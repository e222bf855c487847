/* Training memory of a network that is known by its work alone: parameters, and activations a sample. */
#ifndef SERVICE_MEMORY_GENERIC_MEMORY_H
#define SERVICE_MEMORY_GENERIC_MEMORY_H

#include "service/memory/footprint.h"
#include "service/memory/training_memory.h"

/* States by recipe as for any network (autocast code: FP32 weights and gradients), the weight copies that autocast
 * keeps, the stated activations (twice in FP32) and scratch of the convolution library. */
void generic_memory_add(const struct training_setup *setup, struct footprint *footprint);

#endif
