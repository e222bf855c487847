/* Constants fitted without one source (GPU, engine) at a time, and how far those fits are from what was left out. */
#ifndef TESTS_ACCURACY_LEAVE_OUT_H
#define TESTS_ACCURACY_LEAVE_OUT_H

#include "tests/accuracy/refit.h"
#include "tests/accuracy/score.h"

enum leave_key {
    LEAVE_SOURCE = 0, /* whoever published: a repository, with all its pages */
    LEAVE_GPU,        /* by id: a card with another memory size or bus is another GPU */
    LEAVE_GENERATION, /* of GPUs that behave alike: no card of its kind was seen */
    LEAVE_ENGINE,     /* of serving, in all its versions */
    LEAVE_KEY_COUNT
};
extern const char *const leave_key_names[LEAVE_KEY_COUNT];

/* What a target belongs to under a key; "" when to nothing, then it is never left out. */
const char *leave_key_of(const struct runs *runs, const struct target *target, enum leave_key key);

/* "accuracy_train_memory" -> "train_memory" */
const char *slice_short(const char *slice);

struct left_out {
    struct score by_slice; /* of readings that the fit had not seen */
    struct score by_name;  /* "source, slice" */
    size_t fits;
    double lowest[MAX_CONSTANTS], highest[MAX_CONSTANTS]; /* of each constant over the fits */
};

/* One fit a name. `ask->left_out` is not read. Ended with left_out_done. */
void leave_out(const struct refit_ask *ask, const struct reach *reach, enum leave_key key, struct left_out *ret_out);
void left_out_done(struct left_out *out);

/* Readings of the targets for which chosen[i] (NULL: of all) under these constants, added by slice and, when by_name is
 * not NULL, by "name, slice". */
void score_targets(const struct runs *runs, const struct rates *rates, const bool *chosen, const char *name,
                   struct score *by_slice, struct score *by_name);

#endif
