/* Memory of serving on one GPU: weights, cache, what the engine needs beside, and how many tokens then fit. */
#ifndef SERVICE_MEMORY_SERVING_MEMORY_H
#define SERVICE_MEMORY_SERVING_MEMORY_H

#include "service/hardware/machine.h"
#include "service/job/job.h"
#include "service/memory/footprint.h"

/* One job on one machine under one given split. All lent; `job` is complete. The machine's GPUs hold `replicas`
 * independent copies of tensor x pipeline GPUs each (attention data-parallel: one copy over data GPUs). */
struct serving_setup {
    const struct model_arch *arch;
    const struct model_params *params;
    const struct machine *machine;
    const struct rates *rates;
    const struct serving_job *job;
    struct parallelism plan;
    uint32_t replicas;
    bool utilization_assumed; /* memory_utilization was not stated */
};

/* What of a file that does not fit stays in host memory (llama.cpp); see serving_offload.h. */
struct serving_offload {
    bool used;
    uint32_t gpu_layers;         /* on the GPUs, the output counted as one */
    uint32_t host_layers;        /* wholly in host memory */
    uint32_t host_expert_layers; /* of which only the experts are */
    double host_linear_bytes, host_expert_bytes, host_cache_bytes, host_bytes; /* the last is their sum */
};

struct serving_memory {
    struct footprint footprint; /* usable_bytes: what the driver reports x memory_utilization */
    double weight_bytes;        /* whole model, this format */
    double kv_bytes_per_token;  /* whole model, one copy */
    double kv_bytes_per_token_per_gpu;
    /* 0 where no GPU is named */
    double kv_budget_bytes;         /* on one GPU, what is left for the cache */
    double capacity_tokens;         /* of one replica, at the asked context where windows matter; block-rounded down */
    double max_concurrency;         /* sequences of the asked context at once, one replica */
    double max_context_length;      /* one sequence alone, at most the model's maximum */
    struct serving_offload offload; /* where used, the cache has room for what was asked, and for no more */
};

/* True when some engine of today runs this format on this GPU (weight-only counts); false: no kernel exists.
 * *ret_weight_only: it runs, but only the storage is smaller, the arithmetic is 16 bit. */
bool serving_format_runs(const struct gpu *gpu, enum weight_format format, bool *ret_weight_only);

/* GPUs that one replica takes under a plan: tensor x pipeline (x data when expert > 1 and data > 1). */
uint32_t serving_gpus_per_replica(const struct parallelism *plan);

/* Weight bytes of the whole model in a format: linears at its bits, embedding, head and norms at 16; GGUF: the whole
 * file at its mean bits. */
double
serving_weight_bytes(const struct model_arch *arch, const struct model_params *params, enum weight_format format);

/* Verdict: weights + engine + cache of concurrency x context against utilisation x capacity. */
void serving_memory(const struct serving_setup *setup, struct serving_memory *ret_memory);

#endif
