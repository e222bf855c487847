/* What surrounds the GPUs of an answer: data, host, storage and power; and what waiting for data does to its pace. */
#include "service/search/surroundings.h"

#include <math.h>

#include "service/memory/training_memory.h"

/* Resumable checkpoint of mixed-precision AdamW: 16-bit weights, FP32 master and two moments (arXiv:1910.02054 3.1). */
enum { CHECKPOINT_BYTES_A_PARAMETER = 2 + 4 + 8 };

static void
ask_training(const struct estimate_request *request, const struct answer *answer, struct feed_ask *ask)
{
    const struct training_estimate *estimate = &answer->training.estimate;
    const struct training_speed *speed = &estimate->speed;
    double step = request->observed.step_seconds > 0 ? request->observed.step_seconds
                  : estimate->timed                  ? speed->step_seconds
                                                     : 0;

    ask->has_job = true;
    ask->samples_per_second = step > 0 ? speed->samples_per_step / step : 0;
    ask->tokens_per_sample = answer->arch->generic ? 0 : answer->training.job.sequence_length;
    ask->host.micro_batch_size = estimate->setup.micro_batch_size;
    ask->host.weight_bytes = 2.0 * (double)answer->params->total;
    ask->host.offload_bytes = answer->offload_host_bytes;
    ask->host.checkpoint_bytes = answer->checkpoint_bytes;
}

static void
assume_feed(const struct estimate_request *request, const struct feed *feed, struct assumptions *assumptions)
{
    if (feed->checkpoint_bytes > 0 && feed->write_rate_assumed)
        assume_number(assumptions, "checkpoint_write_rate", "/hardware/storage", feed->write_rate);
    if (feed->checkpoint_bytes > 0 && !(request->checkpoint.keep > 0))
        assume_number(assumptions, "checkpoints_kept", "/checkpoint/keep", feed->keep);
    if (feed->checkpoint_bytes > 0 && !(request->checkpoint.interval_minutes > 0))
        assume_number(assumptions, "checkpoint_interval", "/checkpoint/interval_minutes",
                      feed->checkpoint.interval_minutes);
    if (feed->size.sample_bytes_usual && request->dataset.kind == SAMPLE_IMAGE)
        assume_number(assumptions, "sample_bytes", "/dataset/mean_file_bytes", feed->size.sample_bytes);
}

/* A step that waits for its data lasts longer; what was observed has waited already. */
static void
slow_down(const struct estimate_request *request, struct answer *answer)
{
    struct training_estimate *estimate = &answer->training.estimate;
    struct training_speed *speed = &estimate->speed;
    double busy = answer->feed.gpu_utilization_ratio, step = speed->step_seconds;

    if (!answer->has_training || !estimate->timed || !answer->feed.has_pace || !(busy > 0) || busy >= 1)
        return;
    speed->bottleneck = answer->feed.storage_share <= busy ? BOTTLENECK_STORAGE : BOTTLENECK_CPU;
    if (request->observed.step_seconds > 0)
        return;
    speed->step_seconds = step / busy;
    speed->time.input += speed->step_seconds - step;
}

/* How long the job takes; only here are the samples of its data known. */
static void
last(const struct estimate_request *request, struct answer *answer)
{
    const struct training_estimate *estimate = &answer->training.estimate;

    answer->has_duration =
        training_duration_hours(estimate, answer->feed.size.samples, request->dataset.tokens, &answer->duration_hours);
    if (!answer->has_duration && estimate->timed)
        notice_add(&answer->notices, NOTICE_NO_LENGTH_OF_JOB, "/training");
}

static void
power_of_machine(const struct estimate_request *request, const struct machine *machine, const struct rates *rates,
                 struct power_need *power)
{
    const struct offer *offer = request->hardware.offer;

    *power = (struct power_need){ 0 };
    if (!machine->gpu || !machine->gpu->tdp_watts)
        return;
    power->gpu_watts = (double)machine->gpu->tdp_watts * machine->gpus_per_node;
    power->node_watts = offer && offer->max_power_watts && !offer_is_host_card(offer)
                            ? offer->max_power_watts
                            : power->gpu_watts * rates->cost_node_power_ratio;
    power->psu_watts = power->node_watts * rates->feed_power_supply_ratio;
}

static const char *
compute_tier(const struct answer *answer, const struct rates *rates)
{
    enum training_method method = answer->training.job.method;
    double parameters = answer->params ? (double)answer->params->total : 0;

    if (!answer->has_training)
        return NULL;
    if (parameters < rates->feed_prototype_parameters)
        return "prototype";
    if (method == METHOD_PRETRAIN || (method == METHOD_FULL && parameters > rates->feed_cluster_parameters))
        return "pretrain";
    return "finetune";
}

void
answer_surroundings(const struct estimate_request *request, const struct catalog *catalog, struct answer *answer)
{
    const struct machine *machine = &answer->machine;
    struct feed_ask ask = { .catalog = catalog,
                            .dataset = &request->dataset,
                            .checkpoint = &request->checkpoint,
                            .storage = request->hardware.storage,
                            .nodes = machine->nodes ? machine->nodes : 1 };

    ask.host.gpus = machine->gpus_per_node ? machine->gpus_per_node : 1;
    ask.host.nodes = ask.nodes;
    ask.host.cpu_cores = request->hardware.cpu_cores;
    if (answer->has_training)
        ask_training(request, answer, &ask);
    else if (request->checkpoint.present && answer->params)
        ask.host.checkpoint_bytes = CHECKPOINT_BYTES_A_PARAMETER * (double)answer->params->total;
    feed_of(&ask, &answer->feed);
    assume_feed(request, &answer->feed, &answer->assumptions);
    slow_down(request, answer);
    if (answer->has_training)
        last(request, answer);
    power_of_machine(request, machine, &catalog->rates, &answer->power);
    answer->compute_tier = compute_tier(answer, &catalog->rates);
    answer->data_tier = answer->feed.size.bytes > 0 && request->dataset.present
                            ? dataset_tier(answer->feed.size.bytes, &catalog->rates)
                            : NULL;
}
