/* Engine generations as one table, oldest first; the last row of an engine is its current one. */
#include "service/job/engine.h"

#include <stddef.h>

#include "service/base/quantity.h"
#include "service/job/defaults.h"

enum { NEWEST = 2000000 };

static const struct {
    enum engine engine;
    unsigned before; /* major x 1000 + minor of the first release that is newer */
    struct engine_traits traits;
} generations[] = {
    { ENGINE_VLLM,
      5,
      { .pool = ENGINE_POOL_OF_TOTAL,
        .windows = ENGINE_WINDOWS_WHOLE,
        .scheduler = ENGINE_SCHEDULER_VLLM,
        .old = true,
        .early = true,
        .prefill_first = true,
        .eager_prefill = true,
        .measured = true } },
    { ENGINE_VLLM,
      8,
      { .pool = ENGINE_POOL_OF_TOTAL,
        .windows = ENGINE_WINDOWS_WHOLE,
        .scheduler = ENGINE_SCHEDULER_VLLM,
        .old = true,
        .prefill_first = true,
        .eager_prefill = true,
        .measured = true } },
    { ENGINE_VLLM,
      10,
      { .pool = ENGINE_POOL_OF_TOTAL,
        .windows = ENGINE_WINDOWS_WHOLE,
        .scheduler = ENGINE_SCHEDULER_VLLM,
        .eager_prefill = true,
        .measured = true } },
    { ENGINE_VLLM,
      NEWEST,
      { .pool = ENGINE_POOL_OF_TOTAL,
        .windows = ENGINE_WINDOWS_GROUPED,
        .scheduler = ENGINE_SCHEDULER_VLLM,
        .eager_prefill = true,
        .measured = true } },
    { ENGINE_SGLANG,
      NEWEST,
      { .pool = ENGINE_POOL_OF_TOTAL,
        .windows = ENGINE_WINDOWS_SHARE,
        .scheduler = ENGINE_SCHEDULER_SGLANG,
        .prefill_first = true,
        .eager_prefill = true,
        .measured = true } },
    { ENGINE_TENSORRT_LLM,
      12,
      { .pool = ENGINE_POOL_OF_FREE,
        .scheduler = ENGINE_SCHEDULER_TENSORRT_LLM,
        .old = true,
        .early = true,
        .prefill_first = true,
        .native_scheduler = true,
        .static_batch = true,
        .measured = true } },
    { ENGINE_TENSORRT_LLM,
      1000,
      { .pool = ENGINE_POOL_OF_FREE,
        .scheduler = ENGINE_SCHEDULER_TENSORRT_LLM,
        .native_scheduler = true,
        .measured = true } },
    { ENGINE_TENSORRT_LLM,
      NEWEST,
      { .pool = ENGINE_POOL_OF_FREE,
        .scheduler = ENGINE_SCHEDULER_TENSORRT_LLM,
        .eager_prefill = true,
        .native_scheduler = true,
        .measured = true } },
    { ENGINE_LMDEPLOY, /* cache_max_entry_count is a share of what is free since 0.2.1 (its documentation); a C++
                          scheduler like TensorRT-LLM's: nothing measured says otherwise */
      NEWEST,
      { .pool = ENGINE_POOL_OF_FREE, .scheduler = ENGINE_SCHEDULER_TENSORRT_LLM, .native_scheduler = true } },
    { ENGINE_LLAMA_CPP,
      NEWEST,
      { .pool = ENGINE_POOL_AS_ASKED,
        .windows = ENGINE_WINDOWS_AND_BATCH,
        .scheduler = ENGINE_SCHEDULER_VLLM,
        .prefill_first = true,
        .measured = true } },
    { ENGINE_TRANSFORMERS,
      4045,
      { .pool = ENGINE_POOL_GROWS,
        .scheduler = ENGINE_SCHEDULER_VLLM,
        .old = true,
        .early = true,
        .prefill_first = true,
        .static_batch = true,
        .measured = true } },
    { ENGINE_TRANSFORMERS,
      NEWEST,
      { .pool = ENGINE_POOL_GROWS,
        .scheduler = ENGINE_SCHEDULER_VLLM,
        .old = true,
        .prefill_first = true,
        .static_batch = true,
        .measured = true } },
};

struct engine_traits
engine_traits_of(enum engine engine, const char *version)
{
    unsigned number = engine_version_number(version, NEWEST - 1);

    for (size_t i = 0; i < COUNT_OF(generations); i++)
        if (generations[i].engine == engine && number < generations[i].before)
            return generations[i].traits;
    return engine_traits_of(ENGINE_VLLM, ""); /* an engine left unsaid is vLLM of today */
}
