/* The causes of a step's seconds, each with a formula that gives them: for replies, not for searching. */
#ifndef SERVICE_SPEED_STEP_PARTS_H
#define SERVICE_SPEED_STEP_PARTS_H

#include "service/memory/footprint.h"
#include "service/speed/training_speed.h"

enum { MAX_STEP_PARTS = 24 };

/* `formula` as in struct part: with `values` put in anyone can recompute `seconds` by hand. */
struct step_part {
    const char *code;
    double seconds;
    const char *formula, *source;
    double values[PART_VALUES];
};

struct step_parts {
    uint32_t count;
    struct step_part items[MAX_STEP_PARTS];
};

/* Those that are above 0; they add up to the step's seconds. The setup names a GPU. */
void step_parts_of(const struct training_setup *setup, struct step_parts *ret_parts);

/* Adds one and returns it for its formula and values. */
struct step_part *step_parts_add(struct step_parts *parts, const char *code, double seconds);

#endif
