/* Bytes of a shard over the slot's and the host memory's rates. */
#include "service/speed/offload_time.h"

#include "service/memory/gathered.h"
#include "service/memory/optimizer.h"
#include "service/speed/communication_time.h"

struct offload_seconds
offload_seconds_of(const struct training_setup *setup, double busy)
{
    const struct training_job *job = setup->job;
    const struct rates *rates = setup->rates;
    struct offload_seconds seconds = { 0, 0 };
    struct state_bytes bytes = state_bytes_of(rates, job->precision, job->optimizer, job->framework);
    bool sharded = setup->plan.sharding >= SHARDING_ZERO1, adapter = method_is_adapter(job->method);
    double ranks = (double)setup->plan.data * setup->plan.context, shard, traffic = rates->training_optimizer_bytes;
    double rate = setup->machine->gpu->pcie_bytes_per_second * rates->training_offload_link_share;
    struct local_parameters local;

    if (job->offload != OFFLOAD_OPTIMIZER && job->offload != OFFLOAD_ALL)
        return seconds;
    local_parameters_of(setup, &local);
    shard = local.dense / (sharded ? ranks : 1) + local.experts / (sharded ? local.expert_ranks : 1);
    if (job->precision == PRECISION_BF16_PURE)
        traffic /= 2;
    if (!adapter) {
        traffic += 2 * bytes.states;
        seconds.link = shard * (bytes.gradient + 2) / rate;
        seconds.step = shard * setup->machine->gpus_per_node * traffic / rates->training_offload_host_bytes_per_second;
    }
    if (job->offload == OFFLOAD_ALL && setup->plan.sharding == SHARDING_ZERO3) {
        double sweeps = setup->recompute == RECOMPUTE_FULL ? 3 : 2;
        double stream = setup->accumulation_steps * sweeps * 2 * shard / rate;
        double hidden = rates->training_zero3_overlap * busy;

        seconds.link += stream > hidden ? stream - hidden : 0;
    }
    return seconds;
}
