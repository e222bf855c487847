#include "service/feed/checkpoint.h"

#include <math.h>

struct checkpoint_plan
checkpoint_plan_of(const struct checkpoint_ask *ask, double bytes, double bytes_per_second, uint32_t gpus,
                   const struct rates *rates)
{
    struct checkpoint_plan plan = { .write_seconds = bytes / bytes_per_second };
    double between_seconds = rates->feed_gpu_hours_per_interruption * 3600 / (gpus ? gpus : 1);

    /* J. W. Young, A first order approximation to the optimum checkpoint interval, CACM 17(9), 1974 */
    plan.optimal_interval_minutes = sqrt(2 * plan.write_seconds * between_seconds) / 60;
    if (ask->interval_minutes > 0)
        plan.interval_minutes = ask->interval_minutes;
    else if (ask->max_overhead_ratio > 0)
        plan.interval_minutes = plan.write_seconds / ask->max_overhead_ratio / 60;
    else
        plan.interval_minutes = plan.optimal_interval_minutes;
    plan.overhead_ratio = plan.interval_minutes > 0 ? fmin(1, plan.write_seconds / 60 / plan.interval_minutes) : 0;
    return plan;
}
