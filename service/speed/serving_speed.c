/* Puts passes, cycles and queues of all replicas together. */
#include "service/speed/serving_speed.h"

#include <math.h>
#include <string.h>

#include "service/memory/kv_cache.h"
#include "service/memory/serving_split.h"
#include "service/speed/serving_bands.h"
#include "service/speed/serving_queue.h"

static const double milliseconds = 1000;

/* Requests of the mean length that the cache of one replica holds from first to last token: none is put out again. */
static double
most_sequences(const struct serving_setup *setup, const struct serving_memory *memory)
{
    const struct serving_job *job = setup->job;
    uint64_t tokens = (uint64_t)job->input_tokens + job->output_tokens;
    double each = kv_cache_bytes_per_sequence_per_gpu(setup->arch, kv_format_bytes(job->kv_cache_precision), tokens,
                                                      setup->plan.tensor, setup->plan.pipeline);
    double most = setup->rates->serving_most_sequences;
    double held = each > 0 ? memory->kv_budget_bytes / each * serving_cache_groups(setup) : most;

    return fmax(1, fmin(held, most));
}

static double
start_seconds(const struct rates *rates, const struct serving_job *job, const struct engine_traits *traits)
{
    if (job->engine == ENGINE_LLAMA_CPP || job->engine == ENGINE_TRANSFORMERS)
        return rates->serving_start_seconds_local;
    if (traits->static_batch)
        return 0;
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

static enum bottleneck
bottleneck_of(const struct serving_time *spent)
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

static struct range
banded(double expected, struct serving_band band)
{
    return (struct range){ expected * band.low, expected, expected * band.high };
}

static void
set_figures(const struct serving_setup *setup, const struct engine_traits *traits, const struct serving_pace *pace,
            bool full, struct serving_speed *speed)
{
    struct serving_band first = serving_band_of(setup, traits, SERVING_FIRST_TOKEN, full);
    struct serving_band rate = serving_band_of(setup, traits, SERVING_THROUGHPUT, full);
    double requests = pace->requests_per_second * fmax(1, setup->replicas);

    speed->ttft_ms = banded(pace->first_token_seconds * milliseconds, first);
    speed->ttft_p95_ms = banded(pace->first_token_p95_seconds * milliseconds,
                                serving_band_of(setup, traits, SERVING_FIRST_TOKEN_P95, full));
    speed->tpot_ms = banded(pace->token_seconds * milliseconds, serving_band_of(setup, traits, SERVING_TOKEN, full));
    speed->requests_per_second = banded(requests, rate);
    speed->output_tokens_per_second = banded(requests * setup->job->output_tokens, rate);
    speed->running_sequences = pace->running_sequences;
    speed->bottleneck = bottleneck_of(&pace->spent);
}

void
serving_speed(const struct serving_setup *setup, const struct serving_memory *memory, struct serving_speed *ret_speed)
{
    const struct serving_job *job = setup->job;
    struct engine_traits traits = engine_traits_of(job->engine, job->engine_version);
    double replicas = fmax(1, setup->replicas), clients = ceil(fmax(1, job->concurrency) / replicas);
    struct serving_pass model;
    struct serving_pace pace;
    struct serving_flow flow = {
        .rates = setup->rates,
        .traits = &traits,
        .model = &model,
        .input_tokens = fmax(1, job->input_tokens),
        .output_tokens = fmax(1, job->output_tokens),
        .most_sequences = most_sequences(setup, memory),
        .stages = busy_stages(setup),
        .start_seconds = start_seconds(setup->rates, job, &traits),
    };

    memset(ret_speed, 0, sizeof(*ret_speed));
    serving_pass_make(setup, &traits, &model);
    if (job->arrival == ARRIVAL_POISSON && job->requests_per_second > 0)
        ret_speed->overloaded = !serving_poisson(&flow, job->requests_per_second / replicas, &pace);
    else
        serving_closed_loop(&flow, job->concurrency / replicas, &pace);
    set_figures(setup, &traits, &pace, clients > flow.most_sequences, ret_speed);
    ret_speed->saturation_requests_per_second = serving_saturation(&flow);
    ret_speed->burst_ttft_ms = serving_burst_seconds(&flow, clients) * milliseconds;
    ret_speed->one_prefill_ms =
        (flow.start_seconds + serving_prompt_seconds(&flow, flow.input_tokens, NULL)) * milliseconds;
}
