/* Bytes of a shard over the slot's and the host memory's rates. */
#include "service/speed/offload_time.h"

#include "service/memory/gathered.h"
#include "service/memory/optimizer.h"
#include "service/speed/communication_time.h"

struct offload_work
offload_work_of(const struct training_setup *setup)
{
    const struct training_job *job = setup->job;
    const struct rates *rates = setup->rates;
    struct state_bytes bytes = state_bytes_of(rates, job->precision, job->optimizer, job->framework);
    bool sharded = setup->plan.sharding >= SHARDING_ZERO1;
    double ranks = (double)setup->plan.data * setup->plan.context, traffic = rates->training_optimizer_bytes;
    struct offload_work work = {
        .link_rate = setup->machine->gpu->pcie_bytes_per_second * rates->training_offload_link_share,
    };
    struct local_parameters local;

    local_parameters_of(setup, &local);
    work.parameters = local.dense / (sharded ? ranks : 1) + local.experts / (sharded ? local.expert_ranks : 1);
    if (method_is_adapter(job->method))
        return work;
    work.sent_bytes_each = bytes.gradient + 2;
    work.stepped_bytes_each = (job->precision == PRECISION_BF16_PURE ? traffic / 2 : traffic) + 2 * bytes.states;
    return work;
}

struct offload_seconds
offload_seconds_of(const struct training_setup *setup, double busy)
{
    const struct training_job *job = setup->job;
    const struct rates *rates = setup->rates;
    struct offload_seconds seconds = { 0, 0 };
    struct offload_work work;

    if (job->offload != OFFLOAD_OPTIMIZER && job->offload != OFFLOAD_ALL)
        return seconds;
    work = offload_work_of(setup);
    seconds.link = work.parameters * work.sent_bytes_each / work.link_rate;
    seconds.step = work.parameters * setup->machine->gpus_per_node * work.stepped_bytes_each /
                   rates->training_offload_host_bytes_per_second;
    if (job->offload == OFFLOAD_ALL && setup->plan.sharding == SHARDING_ZERO3) {
        double sweeps = setup->recompute == RECOMPUTE_FULL ? 3 : 2;
        double stream = setup->accumulation_steps * sweeps * 2 * work.parameters / work.link_rate;
        double hidden = rates->training_zero3_overlap * busy;

        seconds.link += stream > hidden ? stream - hidden : 0;
    }
    return seconds;
}
