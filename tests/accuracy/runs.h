/* Measured runs: each request decoded once, then estimated again and again under other constants. */
#ifndef TESTS_ACCURACY_RUNS_H
#define TESTS_ACCURACY_RUNS_H

#include "service/base/quantity.h"
#include "service/hardware/rates.h"
#include "tests/accuracy/cases.h"

/* Figures that were measured, by their place in a reply. */
enum figure {
    FIGURE_NONE = 0,
    FIGURE_TOKENS_PER_GPU,     /* training, a second */
    FIGURE_SAMPLES_PER_SECOND, /* training */
    FIGURE_STEP_SECONDS,       /* training */
    FIGURE_TFLOPS_PER_GPU,     /* training, model FLOPs */
    FIGURE_TRAINING_ALLOCATED, /* bytes */
    FIGURE_TRAINING_RESERVED,  /* bytes */
    FIGURE_TTFT_MS,
    FIGURE_TPOT_MS,
    FIGURE_OUTPUT_TOKENS, /* serving, a second, all GPUs */
    FIGURE_SERVING_ALLOCATED,
    FIGURE_SERVING_RESERVED,
    FIGURE_COUNT
};
extern const char *const figure_pointers[FIGURE_COUNT];

/* One measured figure of a run: a truth, or (truth 0) a bound that it lies within. */
struct target {
    size_t run;
    enum figure figure;
    double truth, least, most; /* least 0, most INFINITY: no such bound */
    const struct accuracy_case *from;
};

/* Targets of one run stand together: run r has targets [first, first + count). */
struct run {
    void *decoded; /* struct estimate_decoded; its parts point into each other: not moved */
    size_t first, count;
};

struct runs {
    const struct catalog *catalog; /* lent */
    struct run *items;
    size_t count;
    struct target *targets;
    size_t target_count;
};

enum run_kind { RUN_TRAINING, RUN_SERVING };

/* The runs of a kind among the measured cases (slices "accuracy_..."), equal requests taken together. `cases` is lent
 * until runs_done. A request that this program refuses ends it with 2 and a message. */
void runs_read(struct runs *runs, const struct cases *cases, enum run_kind kind, const struct catalog *catalog);
void runs_done(struct runs *runs);

/* Every figure of a run under these constants, with its band; what is not told is NAN. */
void run_estimate(const struct run *run, const struct rates *rates, struct range ret_figures[FIGURE_COUNT]);

#endif
