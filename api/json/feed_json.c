#include "api/json/feed_json.h"

#include "api/json/formula.h"

static void
host_encode(struct json_writer *writer, const struct host_need *host)
{
    char formula[FORMULA_SIZE];

    writer_object(writer, "host");
    writer_bytes(writer, "ram_bytes", host->ram_bytes);
    writer_array(writer, "ram_parts");
    for (uint32_t i = 0; i < host->part_count; i++) {
        const struct host_part *part = &host->parts[i];

        writer_object(writer, NULL);
        writer_text(writer, "code", part->code);
        writer_bytes(writer, "bytes", part->bytes);
        formula_write(formula, sizeof formula, part->formula, part->values, HOST_PART_VALUES);
        writer_text(writer, "formula", formula);
        writer_end_object(writer);
    }
    writer_end_array(writer);
    writer_bytes(writer, "cpu_cores", host->cpu_cores);
    writer_u64(writer, "loader_workers_per_gpu", host->workers_per_gpu);
    writer_end_object(writer);
}

static void
checkpoint_encode(struct json_writer *writer, const struct feed *feed)
{
    const struct checkpoint_plan *plan = &feed->checkpoint;

    if (!(feed->checkpoint_bytes > 0))
        return;
    writer_bytes(writer, "checkpoint_bytes", feed->checkpoint_bytes);
    writer_real(writer, "checkpoint_write_seconds", plan->write_seconds);
    writer_real(writer, "checkpoint_overhead_ratio", plan->overhead_ratio);
    writer_real(writer, "checkpoint_interval_minutes", plan->interval_minutes);
    writer_real(writer, "checkpoint_optimal_interval_minutes", plan->optimal_interval_minutes);
}

static void
storage_encode(struct json_writer *writer, const struct feed *feed)
{
    if (!(feed->size.bytes > 0) && !(feed->checkpoint_bytes > 0) && !feed->has_pace && !(feed->upload_seconds > 0))
        return;
    writer_object(writer, "storage");
    if (feed->size.bytes > 0)
        writer_bytes(writer, "dataset_bytes", feed->size.bytes);
    checkpoint_encode(writer, feed);
    if (feed->capacity_bytes > 0)
        writer_bytes(writer, "capacity_bytes", feed->capacity_bytes);
    if (feed->has_pace) {
        writer_real(writer, "read_bytes_per_second", feed->read.bytes_per_second);
        writer_real(writer, "read_iops", feed->read.reads_per_second);
        writer_real(writer, "gpu_utilization_ratio", feed->gpu_utilization_ratio);
        if (feed->enough)
            writer_text(writer, "tier", feed->enough->id);
    }
    if (feed->upload_seconds > 0)
        writer_real(writer, "upload_seconds", feed->upload_seconds);
    if (feed->daily_upload_seconds > 0)
        writer_real(writer, "daily_upload_seconds", feed->daily_upload_seconds);
    writer_end_object(writer);
}

static void
power_encode(struct json_writer *writer, const struct power_need *power)
{
    if (!(power->gpu_watts > 0))
        return;
    writer_object(writer, "power");
    writer_real(writer, "gpu_watts", power->gpu_watts);
    writer_real(writer, "node_watts", power->node_watts);
    writer_real(writer, "psu_watts", power->psu_watts);
    writer_end_object(writer);
}

void
feed_encode(struct json_writer *writer, const struct answer *answer)
{
    if (answer->feed.has_host)
        host_encode(writer, &answer->feed.host);
    storage_encode(writer, &answer->feed);
    power_encode(writer, &answer->power);
    if (!answer->compute_tier && !answer->data_tier)
        return;
    writer_object(writer, "tiers");
    if (answer->compute_tier)
        writer_text(writer, "compute", answer->compute_tier);
    if (answer->data_tier)
        writer_text(writer, "data", answer->data_tier);
    writer_end_object(writer);
}
