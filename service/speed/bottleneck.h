/* What holds a job back: names as in replies. */
#ifndef SERVICE_SPEED_BOTTLENECK_H
#define SERVICE_SPEED_BOTTLENECK_H

enum bottleneck {
    BOTTLENECK_COMPUTE = 0,
    BOTTLENECK_MEMORY_BANDWIDTH,
    BOTTLENECK_INTERCONNECT,
    BOTTLENECK_NETWORK,
    BOTTLENECK_STORAGE,
    BOTTLENECK_CPU,
    BOTTLENECK_COUNT
};

const char *bottleneck_name(enum bottleneck bottleneck);

#endif
