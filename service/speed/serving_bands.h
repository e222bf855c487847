/* How far measurements lie from estimates: bands by figure, load and what is known of the software. */
#ifndef SERVICE_SPEED_SERVING_BANDS_H
#define SERVICE_SPEED_SERVING_BANDS_H

#include "service/job/engine.h"
#include "service/speed/serving_speed.h"

/* truth / expected, low and high, about four times in five. */
struct serving_band {
    double low, high;
};

enum serving_figure {
    SERVING_FIRST_TOKEN,
    SERVING_FIRST_TOKEN_P95,
    SERVING_TOKEN,
    SERVING_TOKEN_P95,
    SERVING_THROUGHPUT,
};

/* Wider for an unknown version, and for GPUs and engines that no published measurement stands behind. `full`: more
 * clients than the cache holds. `hosted`: layers in host memory, whose speed nobody knows. */
struct serving_band serving_band_of(const struct serving_setup *setup, const struct engine_traits *traits,
                                    enum serving_figure figure, bool full, bool hosted);

#endif
