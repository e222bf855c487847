#include "service/speed/serving_host.h"

#include <math.h>

#include "service/memory/serving_cache.h"
#include "service/memory/serving_weights.h"

/* Cards with a display come in desktops, what has HBM or many neighbours in servers. */
static bool
is_server(const struct serving_setup *setup)
{
    const struct machine *machine = setup->machine;
    enum gpu_family family = machine->gpu->family;

    if (machine->host_cores > 0)
        return machine->host_cores > setup->rates->serving_host_server_cores;
    return machine->gpus_per_node > 4 || (family != GPU_FAMILY_GDDR && family != GPU_FAMILY_TURING);
}

double
serving_host_bytes_per_second(const struct serving_setup *setup)
{
    return is_server(setup) ? setup->rates->serving_host_bytes_per_second_server
                            : setup->rates->serving_host_bytes_per_second;
}

static double
share_of(double part, double all)
{
    return all > 0 ? fmin(1, part / all) : 0;
}

/* Bytes of all layers' matrices and of all their experts. */
static void
layer_bytes(const struct serving_setup *setup, double *ret_linear, double *ret_experts)
{
    const struct model_arch *arch = setup->arch;
    struct weight_bits bits = serving_weight_bits(arch, setup->job->precision);

    *ret_linear = *ret_experts = 0;
    for (uint32_t i = 0; i < arch->kind_count; i++) {
        struct weight_elements elements = serving_layer_elements(setup, i);

        *ret_experts += arch->kinds[i].count * elements.experts * bits.experts / 8;
        elements.experts = 0;
        *ret_linear += arch->kinds[i].count * weight_elements_bytes(&elements, &bits);
    }
}

void
serving_host_apply(const struct serving_setup *setup, const struct serving_offload *offload, struct serving_pass *model)
{
    const struct rates *rates = setup->rates;
    double host = serving_host_bytes_per_second(setup), linear, experts, linear_share, expert_share, cache_share;
    double cores = setup->machine->host_cores > 0 ? setup->machine->host_cores : rates->serving_host_cores;
    double bits = weight_format_bits(setup->job->precision), context = setup->job->input_tokens;

    if (!offload->used)
        return;
    layer_bytes(setup, &linear, &experts);
    linear_share = share_of(offload->host_linear_bytes, linear);
    expert_share = share_of(offload->host_expert_bytes, experts);
    cache_share = share_of(offload->host_layers, setup->arch->layer_count);

    model->host_bytes_seconds = offload->host_linear_bytes / host;
    model->host_expert_seconds = offload->host_expert_bytes / host;
    model->host_flop_seconds = 2 * 8 / bits *
                               (offload->host_linear_bytes + offload->host_expert_bytes * (1 - model->expert_missed)) /
                               (cores * rates->serving_host_flop_per_second_core);
    model->host_batch_tokens = rates->serving_host_batch_tokens;
    model->host_stream_seconds = (offload->host_linear_bytes + offload->host_expert_bytes) /
                                 (setup->machine->gpu->pcie_bytes_per_second * rates->serving_pcie_share);
    model->linear_bytes_seconds *= 1 - linear_share;
    model->expert_bytes_seconds *= 1 - expert_share;
    context += setup->job->output_tokens / 2.0; /* as in serving_pass_make() */
    model->cache_seconds = model->cache_seconds * (1 - cache_share) +
                           cache_share * serving_sequence_least_bytes(setup, (uint64_t)context) / host;
}
