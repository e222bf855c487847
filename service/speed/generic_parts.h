/* The causes of a step of a network that is known by its work alone. */
#ifndef SERVICE_SPEED_GENERIC_PARTS_H
#define SERVICE_SPEED_GENERIC_PARTS_H

#include "service/speed/step_parts.h"

void generic_parts_add(const struct training_setup *setup, const struct training_time *time, struct step_parts *parts);

#endif
