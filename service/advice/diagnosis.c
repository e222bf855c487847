#include "service/advice/diagnosis.h"

#include <math.h>

#include "service/base/text.h"

/* What the rules look at; below 0: not known. */
struct signs {
    const struct rates *rates;
    double gpu, cpu, memory, waiting; /* shares: GPU and CPU at work, GPU memory taken, step spent waiting for data */
    double cores, workers, gpus;      /* of a node; workers: all its loader processes */
    bool slow_disk, many_files, far_apart;
};

static struct finding *
find(struct diagnosis *diagnosis, const char *code, enum severity severity)
{
    struct finding *finding = &diagnosis->items[diagnosis->count++];

    *finding = (struct finding){ .code = code, .severity = severity };
    return finding;
}

static void
act(struct finding *finding, const char *code, double number, double expected)
{
    finding->actions[finding->action_count++] = (struct action){ code, number, expected };
}

/* Use of the GPUs once a share `gain` of the wait is gone: work stays, the step shrinks. */
static double
use_after(const struct signs *signs, double gain)
{
    double busy = signs->gpu, waiting = signs->waiting;

    if (waiting < 0 && busy >= 0) /* all idle time is taken for the wait */
        waiting = 1 - busy;
    if (busy <= 0) /* nothing seen but the wait: what is left of the step is work */
        busy = 1 - waiting;
    return waiting < 0 ? 0 : fmin(signs->rates->advice_utilization_best, busy / (1 - waiting * gain));
}

/* More cores cure what is missing of the need; else the wait as a whole. */
static void
find_cpu_bound(const struct signs *signs, const struct answer *answer, struct diagnosis *diagnosis)
{
    struct finding *finding = find(diagnosis, "data_loading_cpu_bound", SEVERITY_CRITICAL);
    double most = signs->rates->advice_gain_most;

    act(finding, "decode_on_gpu", 0, use_after(signs, most));
    act(finding, "preprocess_offline", 0, use_after(signs, most));
    act(finding, "more_cpu_cores", answer->feed.has_pace ? answer->feed.host.cpu_cores : 0, use_after(signs, most));
    if (signs->cores > 0 && signs->gpus > 0)
        act(finding, "workers_per_gpu", fmax(1, floor(signs->cores / signs->gpus) - 1),
            signs->workers > signs->cores ? use_after(signs, signs->rates->advice_gain_workers) : 0);
}

static void
find_storage_bound(const struct signs *signs, struct diagnosis *diagnosis)
{
    struct finding *finding = find(diagnosis, "data_loading_storage_bound", SEVERITY_CRITICAL);
    double most = signs->rates->advice_gain_most;

    act(finding, "local_nvme", 0, use_after(signs, most));
    if (signs->many_files)
        act(finding, "shard_files", 0, use_after(signs, most));
    act(finding, "cache_in_memory", 0, use_after(signs, most));
}

static bool
waits_for_data(const struct signs *signs)
{
    if (signs->waiting >= 0)
        return signs->waiting >= signs->rates->advice_wait_high;
    return signs->gpu >= 0 && signs->gpu < signs->rates->advice_utilization_low &&
           signs->cpu >= signs->rates->advice_cpu_high;
}

/* Idle CPUs while the step waits: it is the storage that is slow. */
static bool
waits_for_storage(const struct signs *signs)
{
    return signs->slow_disk || (signs->cpu >= 0 && signs->cpu < signs->rates->advice_cpu_low);
}

static void
find_data(const struct signs *signs, const struct answer *answer, struct diagnosis *diagnosis)
{
    bool by_feed = answer->feed.has_pace && answer->feed.storage_share < 1;

    if (!waits_for_data(signs))
        return;
    if (waits_for_storage(signs) || (by_feed && signs->cpu < signs->rates->advice_cpu_high))
        find_storage_bound(signs, diagnosis);
    else
        find_cpu_bound(signs, answer, diagnosis);
}

/* Idle GPUs that wait neither for data nor, as far as is known, for CPUs. */
static void
find_idle(const struct signs *signs, const struct answer *answer, struct diagnosis *diagnosis)
{
    double best = signs->rates->advice_utilization_best;
    struct finding *finding;

    if (diagnosis->count || signs->gpu < 0 || signs->gpu >= signs->rates->advice_utilization_good)
        return;
    if (signs->far_apart) {
        finding = find(diagnosis, "communication_bound", SEVERITY_WARNING);
        act(finding, "faster_network", 0, best);
        act(finding, "less_communication", 0, 0);
    } else if (signs->waiting < 0 && signs->cpu < 0) { /* usual cause of both: nothing speaks against it */
        find_cpu_bound(signs, answer, diagnosis);
        diagnosis->items[diagnosis->count - 1].severity = SEVERITY_WARNING;
    } else {
        finding = find(diagnosis, "small_kernels_or_launch_bound", SEVERITY_WARNING);
        act(finding, "larger_batch", 0, best);
        act(finding, "compile_or_graphs", 0, best);
        act(finding, "profile", 0, 0);
    }
}

static void
find_others(const struct signs *signs, struct diagnosis *diagnosis)
{
    const struct rates *rates = signs->rates;
    bool low = signs->gpu >= 0 && signs->gpu < rates->advice_utilization_low;
    struct finding *finding;

    if (signs->workers > 0 && signs->cores > 0 && signs->workers > signs->cores) {
        finding = find(diagnosis, "too_many_workers", SEVERITY_WARNING);
        act(finding, "workers_per_gpu", fmax(1, floor(signs->cores / fmax(1, signs->gpus)) - 1), 0);
    }
    if (low && signs->memory >= rates->advice_memory_full) {
        finding = find(diagnosis, "memory_full_is_not_load", SEVERITY_INFO);
        act(finding, "watch_utilization", 0, 0);
    }
    if (!diagnosis->count && (signs->gpu >= rates->advice_utilization_good || signs->waiting >= 0))
        find(diagnosis, "healthy", SEVERITY_INFO);
}

static struct signs
signs_of(const struct estimate_request *request, const struct answer *answer, const struct rates *rates)
{
    const struct observed_ask *observed = &request->observed;
    const struct storage_tier *storage = request->hardware.storage;
    const struct machine *machine = &answer->machine;
    const struct training_estimate *estimate = &answer->training.estimate;
    enum dataset_format format = request->dataset.format;
    struct signs signs = { .rates = rates, .waiting = -1 };

    signs.gpu = observed->gpu_utilization_ratio;
    signs.cpu = observed->cpu_utilization_ratio;
    signs.memory = observed->gpu_memory_ratio;
    if (observed->step_seconds > 0 && observed->data_seconds >= 0)
        signs.waiting = fmin(rates->advice_wait_most, observed->data_seconds / observed->step_seconds);
    if (signs.memory < 0 && observed->peak_memory_bytes > 0 && machine->gpu)
        signs.memory = observed->peak_memory_bytes / (double)machine->gpu->usable_bytes;
    signs.cores = request->hardware.cpu_cores;
    signs.workers = observed->loader_workers;
    signs.gpus = machine->gpu ? machine->gpus_per_node : 0;
    signs.slow_disk = storage && text_equal(storage->media, "hdd");
    signs.many_files = format == DATASET_RAW_FILES || format == DATASET_JPEG_FILES || !format;
    signs.far_apart = machine->nodes > 1;
    if (answer->has_training && estimate->timed)
        signs.far_apart =
            estimate->speed.bottleneck == BOTTLENECK_NETWORK || estimate->speed.bottleneck == BOTTLENECK_INTERCONNECT;
    return signs;
}

void
diagnose(const struct estimate_request *request, const struct answer *answer, const struct rates *rates,
         struct diagnosis *ret_diagnosis)
{
    struct signs signs = signs_of(request, answer, rates);

    ret_diagnosis->count = 0;
    if (!request->observed.present)
        return;
    find_data(&signs, answer, ret_diagnosis);
    find_idle(&signs, answer, ret_diagnosis);
    find_others(&signs, ret_diagnosis);
}
