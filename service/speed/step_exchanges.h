/* The communication of a step as parts with formulas. */
#ifndef SERVICE_SPEED_STEP_EXCHANGES_H
#define SERVICE_SPEED_STEP_EXCHANGES_H

#include "service/speed/micro_batch.h"
#include "service/speed/step_parts.h"

void step_exchanges_add(const struct training_setup *setup, const struct layer_work *work,
                        const struct micro_batch *micro, const struct training_time *time, struct step_parts *parts);

#endif
