#include "service/feed/storage.h"

#include <math.h>

#include "service/base/quantity.h"
#include "service/base/text.h"

struct read_need
read_need_of(const struct dataset_size *size, double samples_per_second, const struct rates *rates)
{
    struct read_need need = { .bytes_per_second = samples_per_second * size->sample_bytes };
    double reads = need.bytes_per_second / rates->feed_read_bytes;

    need.reads_per_second = size->file_per_sample ? fmax(reads, samples_per_second) : reads;
    return need;
}

static bool
is_of_each_node(const struct storage_tier *storage)
{
    return text_equal(storage->scope, "device") || text_equal(storage->scope, "volume");
}

double
storage_share(const struct storage_tier *storage, const struct read_need *need, bool file_per_sample, uint32_t nodes)
{
    double times = is_of_each_node(storage) ? nodes : 1, share = 1;

    if (storage->max_read_bytes_per_second > 0 && need->bytes_per_second > 0)
        share = fmin(share, storage->max_read_bytes_per_second * times / need->bytes_per_second);
    /* shards are read one after another, which no limit of random reads holds back */
    if (file_per_sample && storage->max_iops > 0 && need->reads_per_second > 0)
        share = fmin(share, storage->max_iops * times / need->reads_per_second);
    return share;
}

double
storage_write_rate(const struct storage_tier *storage, uint32_t nodes)
{
    return storage->max_write_bytes_per_second * (is_of_each_node(storage) ? nodes : 1);
}

const struct storage_tier *
storage_enough(const struct catalog *catalog, const struct read_need *need, bool file_per_sample, uint32_t nodes)
{
    static const char *const devices[] = { "sata-ssd", "nvme-gen3", "nvme-gen4", "nvme-gen5", "nvme-raid0" };

    for (size_t i = 0; i < COUNT_OF(devices) && nodes <= 1; i++) {
        const struct storage_tier *storage = catalog_storage(catalog, devices[i]);

        if (storage && storage_share(storage, need, file_per_sample, nodes) >= 1)
            return storage;
    }
    return catalog_storage(catalog, "lustre");
}
