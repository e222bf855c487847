#include "service/feed/feed.h"

#include <math.h>

#include "service/feed/transfer.h"

static void
feed_checkpoint(const struct feed_ask *ask, struct feed *feed)
{
    const struct rates *rates = &ask->catalog->rates;

    feed->checkpoint_bytes = ask->host.checkpoint_bytes;
    feed->keep = ask->checkpoint->keep > 0 ? ask->checkpoint->keep : rates->feed_checkpoints_kept;
    if (!(feed->checkpoint_bytes > 0))
        return;
    feed->write_rate = ask->storage ? storage_write_rate(ask->storage, ask->nodes) : 0;
    feed->write_rate_assumed = !(feed->write_rate > 0);
    if (feed->write_rate_assumed)
        feed->write_rate = rates->feed_checkpoint_bytes_per_second;
    feed->checkpoint = checkpoint_plan_of(ask->checkpoint, feed->checkpoint_bytes, feed->write_rate,
                                          ask->host.gpus * ask->nodes, rates);
}

static void
feed_size(const struct feed_ask *ask, struct feed *feed)
{
    const struct dataset_ask *dataset = ask->dataset;
    double line = dataset->uplink_bits_per_second, growth = fmax(1, dataset->growth_per_year);

    feed->capacity_bytes = feed->size.bytes * growth + feed->keep * feed->checkpoint_bytes;
    if (!(line > 0))
        return;
    feed->upload_seconds = transfer_seconds(feed->size.bytes > 0 ? feed->size.bytes : dataset->daily_bytes, line);
    feed->daily_upload_seconds = transfer_seconds(dataset->daily_bytes, line);
}

void
feed_of(const struct feed_ask *ask, struct feed *ret_feed)
{
    const struct rates *rates = &ask->catalog->rates;
    struct feed feed = { .has_host = ask->has_job, .storage_share = 1, .gpu_utilization_ratio = 1 };
    struct host_ask host = ask->host;

    dataset_size_of(ask->dataset, ask->tokens_per_sample, rates, &feed.size);
    feed.has_pace = ask->samples_per_second > 0 && feed.size.sample_bytes > 0;
    if (feed.has_pace) {
        feed.read = read_need_of(&feed.size, ask->samples_per_second, rates);
        feed.enough = storage_enough(ask->catalog, &feed.read, feed.size.file_per_sample, ask->nodes);
        if (ask->storage)
            feed.storage_share = storage_share(ask->storage, &feed.read, feed.size.file_per_sample, ask->nodes);
    }
    host.samples_per_second = ask->samples_per_second / ask->nodes;
    if (ask->has_job)
        host_need_of(&host, &feed.size, ask->dataset->kind, rates, &feed.host);
    feed.gpu_utilization_ratio = fmin(feed.storage_share, ask->has_job ? feed.host.cpu_share : 1);
    feed_checkpoint(ask, &feed);
    feed_size(ask, &feed);
    *ret_feed = feed;
}
