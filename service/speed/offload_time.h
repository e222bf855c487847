/* What CPU offload adds to a step: copies over the slot, and the optimizer on the host. */
#ifndef SERVICE_SPEED_OFFLOAD_TIME_H
#define SERVICE_SPEED_OFFLOAD_TIME_H

#include "service/memory/training_memory.h"

struct offload_seconds {
    double link, step;
};

/* What a GPU hands to its host: elements of its shard, bytes of each that go over the slot and that the host reads and
 * writes, and the slot's rate. */
struct offload_work {
    double parameters, sent_bytes_each, stepped_bytes_each, link_rate;
};

struct offload_work offload_work_of(const struct training_setup *setup);

/* The host updates the shards of all GPUs of a node at its memory's rate (arXiv:2101.06840 section 5.1); gradients come
 * down and 16-bit weights go up once a step. With "all" under ZeRO-3 each GPU streams its shard for every sweep of a
 * micro-batch, behind `busy` seconds of compute as far as that reaches. 0 and 0 without offload. */
struct offload_seconds offload_seconds_of(const struct training_setup *setup, double busy);

#endif
