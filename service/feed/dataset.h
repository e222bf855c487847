/* A data set's size: bytes, samples, and how they lie in files, from whatever of it was said. */
#ifndef SERVICE_FEED_DATASET_H
#define SERVICE_FEED_DATASET_H

#include "service/hardware/rates.h"
#include "service/job/data.h"

/* 0: cannot be told. */
struct dataset_size {
    double bytes, samples;
    double sample_bytes;     /* on disk */
    bool file_per_sample;    /* one open and read a sample; else shards */
    bool decoded;            /* samples are compressed pictures that CPU cores unpack */
    bool sample_bytes_usual; /* sample_bytes is the usual size of such a sample, not the caller's */
};

/* `tokens_per_sample` is the sequence length of the job (0: none). Text is feed.token_bytes a token; pictures without
 * a stated size are taken to be as large as those of ImageNet. */
void dataset_size_of(const struct dataset_ask *ask, double tokens_per_sample, const struct rates *rates,
                     struct dataset_size *ret_size);

/* small below feed.data_small_bytes, large above feed.data_large_bytes, medium between. */
const char *dataset_tier(double bytes, const struct rates *rates);

#endif
