#include "service/feed/host.h"

#include <math.h>

static void
add_part(struct host_need *need, const char *code, double bytes, const char *formula,
         const double values[HOST_PART_VALUES])
{
    struct host_part *part = &need->parts[need->part_count];

    if (!(bytes > 0))
        return;
    need->part_count++;
    *part = (struct host_part){ .code = code, .bytes = bytes, .formula = formula };
    for (int i = 0; i < HOST_PART_VALUES; i++)
        part->values[i] = values[i];
    need->ram_bytes += bytes;
}

/* Workers that a GPU's share of the cores allows: one core is left to the process that trains. */
static double
workers_allowed(const struct host_ask *ask, double wanted)
{
    double most = ask->cpu_cores ? floor((double)ask->cpu_cores / ask->gpus) - 1 : wanted;

    return fmax(1, fmin(wanted, most));
}

static void
need_cores(const struct host_ask *ask, const struct dataset_size *size, enum sample_kind kind,
           const struct rates *rates, struct host_need *need)
{
    double each = kind == SAMPLE_TEXT ? rates->feed_workers_text : rates->feed_workers_other;

    need->cpu_share = 1;
    if (size->decoded && ask->samples_per_second > 0) {
        double decoding = ask->samples_per_second / rates->feed_images_per_core_second;
        double training = rates->feed_rank_cores * ask->gpus;
        double free_cores = fmax(ask->cpu_cores - training, 0.5 * ask->cpu_cores);

        need->cpu_cores = ceil(decoding + training);
        each = ceil(decoding / ask->gpus);
        if (ask->cpu_cores)
            need->cpu_share = fmin(1, free_cores / decoding);
    } else {
        need->cpu_cores = ask->gpus * (each + 1) + rates->feed_system_cores;
    }
    need->workers_per_gpu = (uint32_t)workers_allowed(ask, each);
}

/* Memory while it trains or while it loads, whichever is more: weights are read before anything else is there. */
static void
need_states(const struct host_ask *ask, struct host_need *need)
{
    double staging = ask->checkpoint_bytes / ask->nodes;

    if (ask->offload_bytes > 0) /* states are on the host already: a checkpoint is written from there */
        add_part(need, "offload", ask->offload_bytes, "{0}", (double[HOST_PART_VALUES]){ ask->offload_bytes });
    else if (staging > ask->weight_bytes)
        add_part(need, "checkpoint_staging", staging, "{0} / {1}",
                 (double[HOST_PART_VALUES]){ ask->checkpoint_bytes, ask->nodes });
    else
        add_part(need, "weights_at_loading", ask->weight_bytes, "{0}", (double[HOST_PART_VALUES]){ ask->weight_bytes });
}

void
host_need_of(const struct host_ask *ask, const struct dataset_size *size, enum sample_kind kind,
             const struct rates *rates, struct host_need *ret_need)
{
    struct host_need need = { 0 };
    double workers, batch, sample, ranks = ask->offload_bytes > 0 ? 0 : ask->gpus; /* an offload counts its processes */

    need_cores(ask, size, kind, rates, &need);
    workers = (double)need.workers_per_gpu * ask->gpus;
    batch = ask->micro_batch_size;
    sample = size->decoded ? rates->feed_decoded_image_bytes : size->sample_bytes;
    add_part(&need, "system", rates->feed_system_bytes + ranks * rates->feed_rank_bytes, "{0} + {1} x {2}",
             (double[HOST_PART_VALUES]){ rates->feed_system_bytes, ranks, rates->feed_rank_bytes });
    need_states(ask, &need);
    add_part(&need, "loader", workers * (rates->feed_worker_bytes + rates->feed_prefetch * batch * sample),
             "{0} x ({1} + {2} x {3})",
             (double[HOST_PART_VALUES]){ workers, rates->feed_worker_bytes, rates->feed_prefetch, batch * sample });
    add_part(&need, "page_cache", fmin(size->bytes, rates->feed_page_cache_bytes), "min({0}, {1})",
             (double[HOST_PART_VALUES]){ size->bytes, rates->feed_page_cache_bytes });
    *ret_need = need;
}
