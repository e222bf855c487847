/* A serving job on seed hardware with a published model, ready to be estimated. */
#ifndef TESTS_SUPPORT_SERVING_FIXTURE_H
#define TESTS_SUPPORT_SERVING_FIXTURE_H

#include "service/memory/serving_memory.h"
#include "service/speed/serving_speed.h"
#include "tests/support/random.h"

/* `setup` points into the fixture: not to be copied. */
struct serving_fixture {
    struct model_arch arch;
    struct model_params params;
    struct gpu gpu;
    struct machine machine;
    struct rates rates;
    struct serving_job job;
    struct serving_setup setup;
};

/* `model` is a row of tests/data/models, `gpu` one of the seed's (NULL: none named). What the job leaves unsaid is
 * filled in; without a split all GPUs are one tensor group. Aborts when there is no such row. */
void serving_fixture_make(struct serving_fixture *fixture, const char *model, const char *gpu, uint32_t gpus,
                          const struct serving_job *job);

/* One of some models on GPUs that hold it, under any engine, load and lengths. */
void serving_fixture_random(struct random *random, bool poisson, struct serving_fixture *fixture);

/* Estimates it. */
void serving_fixture_run(const struct serving_fixture *fixture, struct serving_memory *ret_memory,
                         struct serving_speed *ret_speed);

#endif
