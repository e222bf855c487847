/* What an engine's generation changes in how it schedules, launches and takes memory. */
#ifndef SERVICE_JOB_ENGINE_H
#define SERVICE_JOB_ENGINE_H

#include "service/job/job.h"

/* How much of a GPU an engine takes for itself. */
enum engine_pool {
    ENGINE_POOL_OF_TOTAL, /* a share of the card: vLLM gpu_memory_utilization, SGLang mem_fraction_static */
    ENGINE_POOL_OF_FREE,  /* all it needs, and for the cache a share of what is then free: TensorRT-LLM, LMDeploy */
    ENGINE_POOL_AS_ASKED, /* the cache of the context it was started with: llama.cpp */
    ENGINE_POOL_GROWS,    /* nothing in advance: transformers */
};

/* How long a first token waits behind the others' prompts differs by scheduler. */
enum engine_scheduler { ENGINE_SCHEDULER_VLLM, ENGINE_SCHEDULER_SGLANG, ENGINE_SCHEDULER_TENSORRT_LLM };

/* What is kept of the layers that look at a window only, in networks that also have others. */
enum engine_windows {
    ENGINE_WINDOWS_KEPT,      /* the window */
    ENGINE_WINDOWS_GROUPED,   /* the window, in groups of layers filled up to one size: vLLM since 0.10 */
    ENGINE_WINDOWS_WHOLE,     /* every token: vLLM before */
    ENGINE_WINDOWS_SHARE,     /* a share of every token: SGLang swa_full_tokens_ratio */
    ENGINE_WINDOWS_AND_BATCH, /* the window and one batch of prompt tokens: llama.cpp */
};

struct engine_traits {
    enum engine_pool pool;
    enum engine_windows windows;
    enum engine_scheduler scheduler;
    bool old;              /* software of 2023-24: slower steps, 4-bit kernels that lag in arithmetic */
    bool early;            /* of its first half: 4-bit kernels that lag in bandwidth too, a cache read head by head */
    bool prefill_first;    /* prompts run before decode steps; else in chunks that ride on them */
    bool eager_prefill;    /* a pass with prompts is launched kernel by kernel from Python */
    bool native_scheduler; /* C++: each sequence costs less host time */
    bool static_batch;     /* the batch is fixed: all its prompts are read, then all decode */
    bool measured;         /* published measurements stand behind its constants */
};

/* Traits of an engine at a version ("0.7.3"); an empty version means the current generation.
 * vLLM 0.5 brought Marlin and FlashAttention decoding, 0.8 the V1 engine, 0.10 groups of layers by window
 * (github.com/vllm-project/vllm releases);
 * TensorRT-LLM 0.12 chunked context, 1.0 the PyTorch runtime (its release notes); transformers 4.45 one rotary table
 * for all layers (huggingface/transformers#31999). */
struct engine_traits engine_traits_of(enum engine engine, const char *version);

#endif
