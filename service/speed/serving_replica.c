/* What passes, cycles and queues of one replica need to know of its setup. */
#include "service/speed/serving_replica.h"

#include <math.h>

#include "service/memory/serving_cache.h"
#include "service/memory/serving_split.h"
#include "service/speed/serving_batch.h"
#include "service/speed/serving_host.h"
#include "service/speed/serving_queue.h"

/* Requests of the mean length that the cache of one replica holds from first to last token: none is put out again. */
static double
cache_sequences(const struct serving_setup *setup, const struct serving_memory *memory)
{
    const struct serving_job *job = setup->job;
    uint64_t tokens = (uint64_t)job->input_tokens + job->output_tokens;
    double each = serving_sequence_bytes(setup, tokens), budget = memory->kv_budget_bytes;

    if (job->engine == ENGINE_TRANSFORMERS && each > 0 && tokens < job->context_length) {
        /* activations take their share with every sequence, however short */
        struct serving_job mean = *job;
        struct serving_setup shorter = *setup;
        struct serving_memory memory_of_mean;

        mean.context_length = (uint32_t)tokens;
        shorter.job = &mean;
        serving_memory(&shorter, &memory_of_mean);
        budget = memory_of_mean.kv_budget_bytes;
    }
    return each > 0 ? budget / each * serving_cache_groups(setup) : HUGE_VAL;
}

static double
start_seconds(const struct rates *rates, const struct serving_job *job, const struct engine_traits *traits)
{
    if (job->engine == ENGINE_LLAMA_CPP || traits->static_batch)
        return rates->serving_start_seconds_local;
    return traits->old ? rates->serving_start_seconds_old : rates->serving_start_seconds;
}

/* Stages of a pipeline each work on a batch of their own; llama.cpp and transformers pass one batch from GPU to GPU. */
static double
busy_stages(const struct serving_setup *setup)
{
    if (setup->job->engine == ENGINE_LLAMA_CPP || setup->job->engine == ENGINE_TRANSFORMERS)
        return 1;
    return serving_ways(setup->plan.pipeline);
}

void
serving_replica_make(const struct serving_setup *setup, const struct serving_memory *memory,
                     struct serving_replica *ret_replica)
{
    const struct serving_job *job = setup->job;

    ret_replica->traits = engine_traits_of(job->engine, job->engine_version);
    ret_replica->generates = model_arch_generates(setup->arch);
    ret_replica->arrival = job->arrival;
    ret_replica->cache_sequences = cache_sequences(setup, memory);
    serving_pass_make(setup, &ret_replica->traits, &ret_replica->model);
    serving_host_apply(setup, &memory->offload, &ret_replica->model);
    ret_replica->flow = (struct serving_flow){
        .rates = setup->rates,
        .traits = &ret_replica->traits,
        .model = &ret_replica->model,
        .input_tokens = fmax(1, job->input_tokens),
        .output_tokens = fmax(1, job->output_tokens),
        .most_sequences = fmax(1, fmin(ret_replica->cache_sequences, setup->rates->serving_most_sequences)),
        .stages = busy_stages(setup),
        .start_seconds = start_seconds(setup->rates, job, &ret_replica->traits),
    };
    if (!ret_replica->generates)
        ret_replica->flow.most_sequences = serving_batch_requests(setup);
    ret_replica->flow.saturation = serving_replica_saturation(ret_replica);
}

bool
serving_replica_pace(const struct serving_replica *replica, enum arrival arrival, double load,
                     struct serving_pace *ret_pace)
{
    if (!replica->generates)
        return arrival == ARRIVAL_POISSON ? serving_batch_poisson(&replica->flow, load, ret_pace)
                                          : serving_batch_closed_loop(&replica->flow, load, ret_pace);
    if (arrival == ARRIVAL_POISSON)
        return serving_poisson(&replica->flow, load, ret_pace);
    serving_closed_loop(&replica->flow, load, ret_pace);
    return true;
}

double
serving_replica_saturation(const struct serving_replica *replica)
{
    if (!replica->generates)
        return serving_batch_saturation(&replica->flow);
    return replica->arrival == ARRIVAL_POISSON ? serving_poisson_saturation(&replica->flow)
                                               : serving_closed_saturation(&replica->flow);
}

double
serving_replica_burst_seconds(const struct serving_replica *replica, double requests)
{
    return replica->generates ? serving_burst_seconds(&replica->flow, requests)
                              : serving_batch_burst_seconds(&replica->flow, requests);
}

double
serving_replica_requests(const struct serving_replica *replica, const struct serving_pace *pace)
{
    double seconds = pace->first_token_seconds + serving_decode_steps(&replica->flow) * pace->token_seconds;

    return pace->requests_per_second * seconds;
}

enum bottleneck
serving_bottleneck(const struct serving_time *spent)
{
    const struct {
        enum bottleneck bottleneck;
        double seconds;
    } causes[] = {
        { BOTTLENECK_MEMORY_BANDWIDTH, spent->memory },
        { BOTTLENECK_COMPUTE, spent->compute },
        { BOTTLENECK_INTERCONNECT, spent->link },
        { BOTTLENECK_NETWORK, spent->network },
        { BOTTLENECK_CPU, spent->host },
    };
    size_t longest = 0;

    for (size_t i = 1; i < sizeof(causes) / sizeof(causes[0]); i++)
        if (causes[i].seconds > causes[longest].seconds)
            longest = i;
    return causes[longest].bottleneck;
}
