#include "service/feed/dataset.h"

static bool
is_file_per_sample(const struct dataset_ask *ask)
{
    if (ask->format == DATASET_RAW_FILES || ask->format == DATASET_JPEG_FILES)
        return true;
    return !ask->format && ask->kind != SAMPLE_TEXT && (ask->files > 0 || ask->mean_file_bytes > 0);
}

/* Bytes of one sample where neither the total nor the files tell them. */
static double
usual_sample_bytes(const struct dataset_ask *ask, double tokens_per_sample, const struct rates *rates)
{
    if (ask->kind == SAMPLE_IMAGE || ask->format == DATASET_JPEG_FILES)
        return rates->feed_image_bytes;
    if (ask->kind == SAMPLE_TEXT && tokens_per_sample > 0)
        return tokens_per_sample * rates->feed_token_bytes;
    return 0;
}

static double
bytes_said(const struct dataset_ask *ask, bool file_per_sample)
{
    double files = ask->files > 0 ? ask->files : file_per_sample ? ask->samples : 0;

    return ask->bytes > 0 ? ask->bytes : files * ask->mean_file_bytes;
}

static double
samples_said(const struct dataset_ask *ask, bool file_per_sample, double tokens_per_sample)
{
    if (ask->samples > 0)
        return ask->samples;
    if (file_per_sample && ask->files > 0)
        return ask->files;
    return tokens_per_sample > 0 && ask->tokens > 0 ? ask->tokens / tokens_per_sample : 0;
}

void
dataset_size_of(const struct dataset_ask *ask, double tokens_per_sample, const struct rates *rates,
                struct dataset_size *ret_size)
{
    bool text = ask->kind == SAMPLE_TEXT && ask->format != DATASET_JPEG_FILES;
    struct dataset_size size = { .file_per_sample = is_file_per_sample(ask) };
    double tokens = ask->tokens_per_sample > 0 ? ask->tokens_per_sample : tokens_per_sample;

    size.decoded = ask->kind == SAMPLE_IMAGE || ask->format == DATASET_JPEG_FILES;
    size.bytes = bytes_said(ask, size.file_per_sample);
    size.samples = samples_said(ask, size.file_per_sample, tokens);
    if (text) /* what is read are packed sequences of the job, whatever the documents were */
        size.sample_bytes = usual_sample_bytes(ask, tokens_per_sample > 0 ? tokens_per_sample : tokens, rates);
    else if (size.bytes > 0 && size.samples > 0)
        size.sample_bytes = size.bytes / size.samples;
    else if (size.file_per_sample)
        size.sample_bytes = ask->mean_file_bytes;
    if (!(size.sample_bytes > 0)) {
        size.sample_bytes = usual_sample_bytes(ask, tokens, rates);
        size.sample_bytes_usual = size.sample_bytes > 0;
    }
    if (!(size.bytes > 0) && ask->present)
        size.bytes = text ? (ask->tokens > 0 ? ask->tokens : ask->samples * tokens) * rates->feed_token_bytes
                          : size.samples * size.sample_bytes;
    if (!(size.samples > 0) && size.sample_bytes > 0)
        size.samples = size.bytes / size.sample_bytes;
    *ret_size = size;
}

const char *
dataset_tier(double bytes, const struct rates *rates)
{
    if (bytes < rates->feed_data_small_bytes)
        return "small";
    return bytes > rates->feed_data_large_bytes ? "large" : "medium";
}
