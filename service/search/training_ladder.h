/* The ladder of fixes of a training job: what each rung needs to be tried, and the rungs that change the hardware. */
#ifndef SERVICE_SEARCH_TRAINING_LADDER_H
#define SERVICE_SEARCH_TRAINING_LADDER_H

#include "service/search/fixes.h"

/* One ladder under way: every rung changes `asked` a little and asks the same search again. */
struct training_ladder {
    const struct estimate_request *asked;
    const struct catalog *catalog;
    const struct training_choice *before;
    struct fixes *fixes;
    bool memory;  /* it does not fit with room */
    bool traffic; /* links or the host hold it back */
};

/* Adds a member that the fix sets. */
void fix_set(struct fix *fix, enum setting_id id, double value);
void fix_set_gpu(struct fix *fix, const struct gpu *gpu);

/* Estimates the request with a fix merged in, the way the request itself is estimated. false: not legal. */
bool ladder_estimate(const struct training_ladder *ladder, const struct fix *fix, struct training_choice *ret_choice);

/* Adds a fix whose estimate is `after`, when it is better; whether it was. */
bool ladder_add(const struct training_ladder *ladder, struct fix *fix, const struct training_choice *after);

/* Both. */
bool ladder_try(const struct training_ladder *ladder, struct fix *fix);

/* Rungs of other hardware (training_hardware_fixes.c). */
void ladder_more_gpus(const struct training_ladder *ladder);
void ladder_larger_gpu(const struct training_ladder *ladder);
void ladder_faster_network(const struct training_ladder *ladder);

#endif
