/* What one GPU reaches under a job: measured shares of its data sheet. */
#ifndef SERVICE_SPEED_PACE_H
#define SERVICE_SPEED_PACE_H

#include "service/hardware/machine.h"
#include "service/job/job.h"

/* Operations and bytes a second. */
struct pace {
    double linear;      /* matrix products of the layers, at the training precision */
    double scores;      /* of the head and of adapters: 16 bit even under FP8 */
    double experts;     /* grouped products of routed experts */
    double attention;   /* core and scans: 16 bit even under FP8 */
    double memory;      /* operands of matrix products */
    double elementwise; /* everything between them, whose passes are more than the least by the code's quality */
};

/* Whether a device has units for a training precision; every one has FP32. */
bool precision_is_native(const struct gpu *gpu, enum training_precision precision);

/* Dense peak at a training precision. What a device has no unit for runs in the next wider format it has. */
double peak_flop_per_second(const struct gpu *gpu, enum training_precision precision);

/* Share of the 16-bit peak that matrix products reach once their memory traffic is paid apart. */
double matmul_share(const struct rates *rates, enum gpu_family family);

/* Factor on a share of the peak that a family reaches: what a device's power for its peak lets it reach beside the one
 * that the family was measured on; 1 where that is not known. */
double power_share(const struct gpu *gpu, const struct rates *rates);

struct pace pace_of(const struct gpu *gpu, const struct rates *rates, const struct training_job *job);

#endif
