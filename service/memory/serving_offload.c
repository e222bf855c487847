#include "service/memory/serving_offload.h"

#include <math.h>
#include <string.h>

#include "service/job/engine.h"
#include "service/memory/engine_budget.h"
#include "service/memory/kv_cache.h"
#include "service/memory/serving_split.h"
#include "service/memory/serving_weights.h"

/* Bytes of one layer of each kind. */
struct layer_sizes {
    double linear[MAX_LAYER_KINDS], experts[MAX_LAYER_KINDS], cache[MAX_LAYER_KINDS];
    double output; /* of the head, which counts as a layer */
};

static double
head_bytes(const struct serving_setup *setup, const struct weight_bits *bits)
{
    return (double)setup->arch->vocabulary_size * setup->arch->hidden_size * bits->plain / 8;
}

static struct layer_sizes
measure_layers(const struct serving_setup *setup)
{
    const struct model_arch *arch = setup->arch;
    struct weight_bits bits = serving_weight_bits(arch, setup->job->precision);
    double element = kv_format_bytes(setup->job->kv_cache_precision);
    double sequences = (double)serving_sequences_per_group(setup), context = setup->job->context_length;
    struct layer_sizes sizes = { .output = head_bytes(setup, &bits) };

    for (uint32_t i = 0; i < arch->kind_count; i++) {
        const struct layer_kind *kind = &arch->kinds[i];
        double kept = kind->window_tokens > 0 ? fmin(context, kind->window_tokens) : context;
        struct weight_elements elements = serving_layer_elements(setup, i);

        sizes.experts[i] = elements.experts * bits.experts / 8;
        elements.experts = 0;
        sizes.linear[i] = weight_elements_bytes(&elements, &bits);
        sizes.cache[i] = sequences * kv_cache_layer_bytes_per_gpu(kind, element, kept, context, 1);
    }
    return sizes;
}

/* Bytes for layers on all GPUs together; each but the last may leave room that no whole layer fills. */
static double
room_for_layers(const struct serving_setup *setup, const struct footprint *footprint, double largest)
{
    double gpus = setup->machine->gpu_count;
    double fixed = footprint_bytes(footprint, PART_ACTIVATIONS) + footprint_bytes(footprint, PART_RUNTIME);
    double each = engine_limit_bytes(setup, fixed, setup->job->memory_utilization) - fixed;

    return each > 0 ? gpus * each - (gpus - 1) * largest : 0;
}

/* All layers on the GPUs but the experts of the first ones. */
static bool
leave_experts(const struct model_arch *arch, const struct layer_sizes *sizes, double room,
              struct serving_offload *offload)
{
    double used = sizes->output;
    uint32_t i;

    for (i = 0; i < arch->layer_count; i++)
        used += sizes->linear[arch->kind_of_layer[i]] + sizes->cache[arch->kind_of_layer[i]];
    if (used > room)
        return false;
    for (i = arch->layer_count; i > 0 && used + sizes->experts[arch->kind_of_layer[i - 1]] <= room; i--)
        used += sizes->experts[arch->kind_of_layer[i - 1]];
    offload->gpu_layers = arch->layer_count + 1;
    offload->host_expert_layers = i;
    while (i-- > 0)
        offload->host_expert_bytes += sizes->experts[arch->kind_of_layer[i]];
    return true;
}

/* Whole layers from the last one on, the output before them. */
static void
leave_layers(const struct model_arch *arch, const struct layer_sizes *sizes, double room,
             struct serving_offload *offload)
{
    double used = sizes->output;
    uint32_t first = arch->layer_count;

    if (used > room) {
        offload->host_linear_bytes = sizes->output;
    } else {
        offload->gpu_layers = 1;
        while (first > 0) {
            uint32_t kind = arch->kind_of_layer[first - 1];
            double layer = sizes->linear[kind] + sizes->experts[kind] + sizes->cache[kind];

            if (used + layer > room)
                break;
            used += layer;
            first--;
            offload->gpu_layers++;
        }
    }
    offload->host_layers = first;
    for (uint32_t i = 0; i < first; i++) {
        uint32_t kind = arch->kind_of_layer[i];

        offload->host_linear_bytes += sizes->linear[kind];
        offload->host_expert_bytes += sizes->experts[kind];
        offload->host_cache_bytes += sizes->cache[kind];
    }
}

void
serving_offload_plan(const struct serving_setup *setup, const struct footprint *footprint,
                     struct serving_offload *ret_offload)
{
    const struct model_arch *arch = setup->arch;
    struct layer_sizes sizes;
    double largest = 0, room;
    bool experts = false;

    memset(ret_offload, 0, sizeof(*ret_offload));
    if (setup->job->engine != ENGINE_LLAMA_CPP || footprint->verdict != VERDICT_DOES_NOT_FIT || arch->generic)
        return;
    sizes = measure_layers(setup);
    for (uint32_t i = 0; i < arch->kind_count; i++) {
        largest = fmax(largest, sizes.linear[i] + sizes.experts[i] + sizes.cache[i]);
        experts = experts || sizes.experts[i] > 0;
    }
    room = room_for_layers(setup, footprint, largest);
    ret_offload->used = true;
    if (!experts || !leave_experts(arch, &sizes, room, ret_offload))
        leave_layers(arch, &sizes, room, ret_offload);
    ret_offload->host_bytes =
        ret_offload->host_linear_bytes + ret_offload->host_expert_bytes + ret_offload->host_cache_bytes;
}
