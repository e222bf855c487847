/* Names of what holds a job back. */
#include "service/speed/bottleneck.h"

const char *
bottleneck_name(enum bottleneck bottleneck)
{
    static const char *const names[BOTTLENECK_COUNT] = {
        [BOTTLENECK_COMPUTE] = "compute",           [BOTTLENECK_MEMORY_BANDWIDTH] = "memory_bandwidth",
        [BOTTLENECK_INTERCONNECT] = "interconnect", [BOTTLENECK_NETWORK] = "network",
        [BOTTLENECK_STORAGE] = "storage",           [BOTTLENECK_CPU] = "cpu",
    };

    return bottleneck < BOTTLENECK_COUNT ? names[bottleneck] : "";
}
