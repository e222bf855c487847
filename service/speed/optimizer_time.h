/* The optimizer step on the GPU. */
#ifndef SERVICE_SPEED_OPTIMIZER_TIME_H
#define SERVICE_SPEED_OPTIMIZER_TIME_H

#include "service/memory/training_memory.h"
#include "service/speed/pace.h"

/* What this GPU updates: its shard's elements, bytes read and written of each, and Muon's operations. */
struct optimizer_work {
    double parameters, bytes_each, flop;
};

struct optimizer_work optimizer_work_of(const struct training_setup *setup);

/* Reading and writing weights, gradients, master copy and states once, of the shard that this GPU updates; Muon's
 * Newton-Schulz rounds on top. 0 where the host does it. */
double optimizer_seconds(const struct training_setup *setup, const struct pace *pace);

/* Operations of Muon on one copy of the network: a round on a matrix of m x n (m <= n) makes X X^T, its square and one
 * more product with X, 4 m^2 n + 2 m^3 (arXiv:2502.16982 equation 2). */
double muon_flop(const struct training_setup *setup);

#endif
