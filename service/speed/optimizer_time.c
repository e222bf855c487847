/* Bytes a parameter over the memory's rate; products of Muon over the matrix rate. */
#include "service/speed/optimizer_time.h"

#include "service/memory/gathered.h"
#include "service/memory/optimizer.h"
#include "service/parallel/matrices.h"
#include "service/speed/communication_time.h"

static double
round_flop(double rows, double columns)
{
    double m = rows < columns ? rows : columns, n = rows < columns ? columns : rows;

    return 4 * m * m * n + 2 * m * m * m;
}

static double
layer_flop(const struct layer_kind *kind, double hidden)
{
    struct layer_matrix matrices[MAX_LAYER_MATRICES];
    uint32_t count = layer_matrices(kind, hidden, 1, 1, matrices);
    double flop = 0;

    for (uint32_t i = 0; i < count; i++)
        flop += round_flop(matrices[i].inputs, matrices[i].outputs);
    if (kind->mlp == MLP_EXPERTS)
        flop += (double)kind->expert_count * (kind->gated ? 3 : 2) * round_flop(hidden, kind->expert_size);
    return flop;
}

double
muon_flop(const struct training_setup *setup)
{
    double flop = 0;

    for (uint32_t i = 0; i < setup->arch->kind_count; i++)
        flop += setup->arch->kinds[i].count * layer_flop(&setup->arch->kinds[i], setup->arch->hidden_size);
    return setup->rates->training_muon_rounds * flop;
}

struct optimizer_work
optimizer_work_of(const struct training_setup *setup)
{
    const struct training_job *job = setup->job;
    const struct parallelism *plan = &setup->plan;
    bool sharded = plan->sharding >= SHARDING_ZERO1;
    double ranks = sharded ? (double)plan->data * plan->context : 1;
    struct optimizer_work work = { .bytes_each = setup->rates->training_optimizer_bytes };
    struct local_parameters local;

    if (job->precision == PRECISION_BF16_PURE)
        work.bytes_each /= 2;
    work.bytes_each += 2 * state_bytes_of(setup->rates, job->precision, job->optimizer, job->framework).states;
    trained_parameters_of(setup, &local);
    work.parameters = local.dense / ranks + local.experts / (sharded ? local.expert_ranks : 1);
    if (job->optimizer == OPTIMIZER_MUON && !method_is_adapter(job->method))
        work.flop = muon_flop(setup) / ((double)plan->tensor * plan->pipeline * ranks);
    return work;
}

double
optimizer_seconds(const struct training_setup *setup, const struct pace *pace)
{
    struct optimizer_work work = optimizer_work_of(setup);

    if (setup->job->offload != OFFLOAD_NONE)
        return 0;
    return work.parameters * work.bytes_each / pace->memory + work.flop / pace->scores;
}
