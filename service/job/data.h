/* What surrounds a job: its data, its checkpoints, and what was observed of it. In every member 0 means "not said"
 * unless its comment gives another value. */
#ifndef SERVICE_JOB_DATA_H
#define SERVICE_JOB_DATA_H

#include <stdbool.h>

enum dataset_format {
    DATASET_FORMAT_UNSAID = 0,
    DATASET_RAW_FILES,
    DATASET_JPEG_FILES,
    DATASET_WEBDATASET,
    DATASET_TFRECORD,
    DATASET_LMDB,
    DATASET_PARQUET,
    DATASET_PRETOKENIZED
};

/* What one sample of the model is. */
enum sample_kind { SAMPLE_TEXT = 0, SAMPLE_IMAGE, SAMPLE_AUDIO, SAMPLE_RECORD };

struct dataset_ask {
    bool present;
    double bytes, samples, tokens, tokens_per_sample, files, mean_file_bytes;
    enum dataset_format format;
    double growth_per_year, uplink_bits_per_second, daily_bytes;
    enum sample_kind kind; /* the model's */
};

struct checkpoint_ask {
    bool present;
    double interval_minutes, keep, max_overhead_ratio;
};

/* Below 0: not said (0 can be observed). */
struct observed_ask {
    bool present;
    double gpu_utilization_ratio, cpu_utilization_ratio, gpu_memory_ratio, peak_memory_bytes, step_seconds,
        data_seconds, loader_workers;
};

#endif
