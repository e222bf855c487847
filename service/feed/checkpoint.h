/* How long checkpoints take and how often they pay. */
#ifndef SERVICE_FEED_CHECKPOINT_H
#define SERVICE_FEED_CHECKPOINT_H

#include <stdint.h>

#include "service/hardware/rates.h"
#include "service/job/data.h"

struct checkpoint_plan {
    double write_seconds;
    double interval_minutes;         /* as asked; else the shortest within the asked share of time; else the optimum */
    double optimal_interval_minutes; /* Young 1974: sqrt(2 x write x mean time between interruptions) */
    double overhead_ratio;           /* write / interval: training stands still while it is written */
};

/* `bytes` of one checkpoint, written with `bytes_per_second`, of a job on so many GPUs. One GPU is interrupted every
 * feed.gpu_hours_per_interruption; a job as often as all its GPUs together. */
struct checkpoint_plan checkpoint_plan_of(const struct checkpoint_ask *ask, double bytes, double bytes_per_second,
                                          uint32_t gpus, const struct rates *rates);

#endif
