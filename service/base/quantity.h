/* Counts and bytes: unsigned arithmetic that saturates instead of wrapping. */
#ifndef SERVICE_BASE_QUANTITY_H
#define SERVICE_BASE_QUANTITY_H

#include <stddef.h>
#include <stdint.h>

#define COUNT_OF(array) (sizeof(array) / sizeof((array)[0]))

#define GIB 1073741824.0 /* bytes */

/* Sum and product that stop at UINT64_MAX: a caller sees an absurd total, never a small wrong one. */
static inline uint64_t
u64_add_sat(uint64_t a, uint64_t b)
{
    uint64_t sum;

    return __builtin_add_overflow(a, b, &sum) ? UINT64_MAX : sum;
}

static inline uint64_t
u64_mul_sat(uint64_t a, uint64_t b)
{
    uint64_t product;

    return __builtin_mul_overflow(a, b, &product) ? UINT64_MAX : product;
}

static inline uint64_t
u64_min(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

static inline uint64_t
u64_max(uint64_t a, uint64_t b)
{
    return a > b ? a : b;
}

/* a / b rounded up; b is not 0. */
static inline uint64_t
u64_ceil_div(uint64_t a, uint64_t b)
{
    return a / b + (a % b != 0);
}

/* Rounds half up to whole bytes; negative becomes 0, what is too large (or not a number) UINT64_MAX. */
static inline uint64_t
u64_from_double(double value)
{
    if (!(value < 18446744073709549568.0))
        return UINT64_MAX;
    return value <= 0 ? 0 : (uint64_t)(value + 0.5);
}

/* An uncertain figure: a band that holds the truth about four times in five. */
struct range {
    double low, expected, high;
};

#endif
