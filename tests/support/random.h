/* Random input that a failed test can be run with again: SEED=n in the environment, else a fixed one. */
#ifndef TESTS_SUPPORT_RANDOM_H
#define TESTS_SUPPORT_RANDOM_H

#include <inttypes.h>
#include <stdlib.h>

struct random {
    uintmax_t seed; /* to be printed with a failure */
    uint64_t state;
};

static inline struct random
random_seeded(void)
{
    const char *text = getenv("SEED");
    uintmax_t seed = text ? strtoumax(text, NULL, 10) : 20250601;

    return (struct random){ seed, seed };
}

/* SplitMix64 (Steele, Lea, Flood 2014): any seed is a good one. */
static inline uint64_t
random_u64(struct random *random)
{
    uint64_t z = random->state += UINT64_C(0x9E3779B97F4A7C15);

    z = (z ^ (z >> 30)) * UINT64_C(0xBF58476D1CE4E5B9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94D049BB133111EB);
    return z ^ (z >> 31);
}

/* 0 .. limit - 1 */
static inline uint64_t
random_below(struct random *random, uint64_t limit)
{
    return random_u64(random) % limit;
}

/* [0, 1) */
static inline double
random_unit(struct random *random)
{
    return (double)(random_u64(random) >> 11) / 9007199254740992.0;
}

#endif
