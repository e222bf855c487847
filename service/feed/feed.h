/* Everything around the GPUs of one job: host, storage, checkpoints, power. */
#ifndef SERVICE_FEED_FEED_H
#define SERVICE_FEED_FEED_H

#include "service/feed/checkpoint.h"
#include "service/feed/host.h"
#include "service/feed/storage.h"

struct feed_ask {
    const struct catalog *catalog;
    const struct dataset_ask *dataset;
    const struct checkpoint_ask *checkpoint;
    const struct storage_tier *storage; /* NULL: not named */
    uint32_t nodes;
    double tokens_per_sample;  /* sequence length; 0: no text, or no job */
    double samples_per_second; /* the pace of all GPUs; 0: not known */
    bool has_job;              /* whether a node's need is asked */
    struct host_ask host;      /* samples_per_second is filled in from the pace */
};

/* 0: cannot be told, but where said otherwise. */
struct feed {
    struct dataset_size size;
    bool has_host, has_pace;
    struct host_need host;
    struct read_need read;
    double storage_share, gpu_utilization_ratio; /* with has_pace; share of the time that the data keeps GPUs busy */
    const struct storage_tier *enough;           /* with has_pace; NULL: none known */
    double checkpoint_bytes, write_rate;
    bool write_rate_assumed;
    struct checkpoint_plan checkpoint;
    double keep;
    double capacity_bytes, upload_seconds, daily_upload_seconds;
};

void feed_of(const struct feed_ask *ask, struct feed *ret_feed);

#endif
