/* More of the same GPUs, a larger one, a faster network. */
#include "service/base/quantity.h"
#include "service/base/text.h"
#include "service/search/training_ladder.h"

/* The request on that many GPUs of the same kind, split anew; whole instances or servers when they are named. */
static struct fix
on_more_gpus(const struct training_ladder *ladder, const struct machine *machine, uint32_t gpus)
{
    struct fix fix = { .code = FIX_MORE_GPUS, .number = gpus };

    if (ladder->asked->hardware.offer) {
        uint32_t count = (uint32_t)u64_ceil_div(gpus, machine->gpus_per_node);

        fix_set(&fix, SET_OFFER_COUNT, count);
        fix.number = (double)count * machine->gpus_per_node;
    } else {
        fix_set(&fix, SET_GPUS, gpus);
    }
    if (ladder->asked->training.has_parallelism)
        fix_set(&fix, SET_TRAINING_SPLIT_OPEN, 0);
    if (ladder->asked->serving.has_parallelism) /* of the other job in the request: it no longer uses every GPU */
        fix_set(&fix, SET_SERVING_SPLIT_OPEN, 0);
    return fix;
}

/* As many as can be had: what exceeds one node comes in whole nodes. */
static uint32_t
whole_nodes(const struct machine *machine, uint32_t gpus)
{
    uint32_t node = machine->nodes > 1 ? machine->gpus_per_node : machine->gpu->gpus_per_node;

    return node > 0 && gpus > node ? (uint32_t)u64_ceil_div(gpus, node) * node : gpus;
}

/* The smallest number may be tight: up to four times as many are tried for one that fits with room. */
void
ladder_more_gpus(const struct training_ladder *ladder)
{
    struct machine machine = hardware_machine(&ladder->asked->hardware);
    struct training_ask ask = { ladder->asked->arch, ladder->asked->params, &machine, &ladder->catalog->rates,
                                &ladder->asked->training };
    uint32_t minimum = training_minimum_gpus(&ask);
    enum verdict best_verdict = VERDICT_DOES_NOT_FIT;
    struct fix best;

    for (uint32_t times = 1; minimum && times <= 4 && times * minimum <= MINIMUM_GPUS_LIMIT; times *= 2) {
        uint32_t gpus = whole_nodes(&machine, times * minimum);
        struct fix fix = on_more_gpus(ladder, &machine, gpus);
        struct training_choice after;

        if (gpus <= machine.gpu_count || !ladder_estimate(ladder, &fix, &after))
            continue;
        if (after.estimate.memory.verdict < best_verdict) {
            best = fix;
            best_verdict = after.estimate.memory.verdict;
        }
        if (best_verdict == VERDICT_FITS)
            break;
    }
    if (best_verdict != VERDICT_DOES_NOT_FIT)
        ladder_try(ladder, &best);
}

/* A vendor's GPU with the next more memory than `bytes`, the fastest of those that have as much. NULL after the last.
 */
static const struct gpu *
next_larger(const struct catalog *catalog, const char *vendor, uint64_t bytes)
{
    const struct gpu *next = NULL;

    for (size_t i = 0; i < catalog->gpu_count; i++) {
        const struct gpu *gpu = &catalog->gpus[i];

        if (gpu->usable_bytes > bytes && text_equal(gpu->vendor, vendor) && gpu->bf16_flop_per_second > 0 &&
            (next == NULL || gpu_is_nearer_step(gpu, next)))
            next = gpu;
    }
    return next;
}

static struct fix
on_gpu(const struct training_ladder *ladder, const struct machine *machine, const struct gpu *gpu)
{
    const struct hardware_ask *hardware = &ladder->asked->hardware;
    struct fix fix = { .code = FIX_LARGER_GPU, .text = gpu->id, .number = machine->gpu_count };

    fix_set_gpu(&fix, gpu);
    if (hardware->offer) {
        fix_set(&fix, SET_GPUS, machine->gpu_count);
        fix_set(&fix, hardware->offer->is_server ? SET_SERVER_NONE : SET_INSTANCE_NONE, 0);
        fix_set(&fix, SET_COUNT_NONE, 0);
    }
    return fix;
}

/* The GPU with the least memory, the fastest of such, on which the same number is enough, of the same vendor: one that
 * fits with room if there is any, else one that is tight. */
void
ladder_larger_gpu(const struct training_ladder *ladder)
{
    const struct catalog *catalog = ladder->catalog;
    struct machine machine = hardware_machine(&ladder->asked->hardware);
    const char *vendor = machine.gpu->vendor;
    struct training_choice after;
    struct fix tight;
    bool is_tight = false;

    for (const struct gpu *gpu = next_larger(catalog, vendor, machine.gpu->usable_bytes); gpu != NULL;
         gpu = next_larger(catalog, vendor, gpu->usable_bytes)) {
        struct fix fix = on_gpu(ladder, &machine, gpu);

        if (!ladder_estimate(ladder, &fix, &after))
            continue;
        if (after.estimate.memory.verdict == VERDICT_FITS) {
            ladder_add(ladder, &fix, &after);
            return;
        }
        if (after.estimate.memory.verdict == VERDICT_TIGHT && !is_tight) {
            tight = fix;
            is_tight = true;
        }
    }
    if (is_tight)
        ladder_try(ladder, &tight);
}

/* 400 Gb/s a GPU, as 8-GPU machines for training are built (DGX H100: 8 x 400 Gb/s). */
void
ladder_faster_network(const struct training_ladder *ladder)
{
    struct machine machine = hardware_machine(&ladder->asked->hardware);
    struct fix fix = { .code = FIX_FASTER_NETWORK, .number = 400e9 * machine.gpus_per_node };

    if (machine.nodes <= 1 || machine.network_bytes_per_second >= 50e9)
        return;
    fix_set(&fix, SET_INTERNODE, fix.number);
    ladder_try(ladder, &fix);
}
