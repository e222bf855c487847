/* What the data set asks of storage, and whether a given storage keeps up. */
#ifndef SERVICE_FEED_STORAGE_H
#define SERVICE_FEED_STORAGE_H

#include "service/catalog/catalog.h"
#include "service/feed/dataset.h"

struct read_need {
    double bytes_per_second, reads_per_second;
};

/* Reads that keep all GPUs busy at a pace. A file a sample costs at least one read; else reads are of
 * feed.read_bytes. */
struct read_need read_need_of(const struct dataset_size *size, double samples_per_second, const struct rates *rates);

/* Share of the need that a storage delivers, at most 1; 1 too where its limits are not known. Storage of a node's own
 * (a device, a volume) counts once a node. */
double
storage_share(const struct storage_tier *storage, const struct read_need *need, bool file_per_sample, uint32_t nodes);

/* Bytes a second that checkpoints are written with, of all nodes; 0: not known. */
double storage_write_rate(const struct storage_tier *storage, uint32_t nodes);

/* The plainest storage that keeps up: local devices in the order of their speed for one node, a parallel file system
 * for several and for what no device reaches. NULL: no such row. */
const struct storage_tier *
storage_enough(const struct catalog *catalog, const struct read_need *need, bool file_per_sample, uint32_t nodes);

#endif
