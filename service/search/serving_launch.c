#include "service/search/serving_launch.h"

#include <math.h>
#include <string.h>

#include "service/base/quantity.h"
#include "service/base/text.h"
#include "service/memory/serving_split.h"

/* What engines call things; NULL: they have no such thing. */
struct words {
    enum engine engine;
    const char *program;
    const char *tensor, *pipeline, *context, *sequences, *share, *cache;
    const char *one_pass;                     /* for networks that write no tokens */
    const char *cache_names[KV_FORMAT_COUNT]; /* "" is what it does anyhow */
    bool no_gguf, no_nf4, gguf_alone;         /* llama.cpp's files, bitsandbytes, nothing but such files */
    const char *vendor;                       /* the one whose GPUs it runs on; NULL: several */
};

static const struct words vocabulary[] = {
    { .engine = ENGINE_VLLM,
      .program = "vllm serve \"$MODEL\"",
      .tensor = "--tensor-parallel-size",
      .pipeline = "--pipeline-parallel-size",
      .context = "--max-model-len",
      .sequences = "--max-num-seqs",
      .share = "--gpu-memory-utilization",
      .cache = "--kv-cache-dtype",
      .one_pass = "--runner pooling",
      .cache_names = { [KV_FP16] = "",
                       [KV_BF16] = "",
                       [KV_FP8] = "fp8",
                       [KV_INT8] = "int8_per_token_head",
                       [KV_INT4] = "int4_per_token_head" } },
    { .engine = ENGINE_SGLANG,
      .program = "python -m sglang.launch_server --model-path \"$MODEL\"",
      .tensor = "--tp-size",
      .pipeline = "--pp-size",
      .context = "--context-length",
      .sequences = "--max-running-requests",
      .share = "--mem-fraction-static",
      .cache = "--kv-cache-dtype",
      .one_pass = "--is-embedding",
      .cache_names = { [KV_FP16] = "", [KV_BF16] = "", [KV_FP8] = "fp8_e4m3" } },
    { .engine = ENGINE_TENSORRT_LLM,
      .program = "trtllm-serve \"$MODEL\"",
      .tensor = "--tp_size",
      .pipeline = "--pp_size",
      .context = "--max_seq_len",
      .sequences = "--max_batch_size",
      .share = "--kv_cache_free_gpu_memory_fraction",
      .no_gguf = true,
      .no_nf4 = true,
      .vendor = "NVIDIA",
      .cache_names = { [KV_FP16] = "", [KV_BF16] = "", [KV_FP8] = "fp8" } },
    { .engine = ENGINE_LMDEPLOY,
      .program = "lmdeploy serve api_server \"$MODEL\"",
      .tensor = "--tp",
      .context = "--session-len",
      .sequences = "--max-batch-size",
      .share = "--cache-max-entry-count",
      .no_gguf = true,
      .no_nf4 = true,
      .cache = "--quant-policy",
      .cache_names = { [KV_FP16] = "", [KV_BF16] = "", [KV_INT8] = "8", [KV_INT4] = "4" } },
    { .engine = ENGINE_LLAMA_CPP,
      .program = "llama-server --model \"$MODEL_FILE\"",
      .context = "--ctx-size",
      .sequences = "--parallel",
      .cache = "--cache-type-k",
      .gguf_alone = true,
      .one_pass = "--embedding",
      .cache_names = { [KV_FP16] = "f16",
                       [KV_BF16] = "bf16",
                       [KV_INT8] = "q8_0",
                       [KV_INT4] = "q4_0",
                       [KV_FP32] = "f32" } },
};

/* A command as it grows. */
struct launch {
    const struct words *words;
    const struct serving_job *job;
    const struct serving_setup *setup;
    double context, sequences; /* that fit */
    char *command;
};

static const struct words *
words_of(enum engine engine)
{
    for (size_t i = 0; i < COUNT_OF(vocabulary); i++)
        if (vocabulary[i].engine == engine)
            return &vocabulary[i];
    return NULL;
}

bool
serving_launch_has_cache(enum engine engine, enum kv_format format)
{
    const struct words *words = words_of(engine);

    return words == NULL || words->cache_names[format] != NULL;
}

bool
serving_launch_has_weights(enum engine engine, enum weight_format format)
{
    const struct words *words = words_of(engine);
    bool gguf = weight_format_is_gguf(format), fp4 = format == WEIGHT_MXFP4 || format == WEIGHT_NVFP4;

    if (words == NULL)
        return true;
    if (words->gguf_alone)
        return gguf || fp4 || weight_format_bits(format) > 15;
    return !(words->no_gguf && gguf) && !(words->no_nf4 && format == WEIGHT_NF4);
}

bool
serving_launch_has_gpu(enum engine engine, const struct gpu *gpu)
{
    const struct words *words = words_of(engine);

    return words == NULL || words->vendor == NULL || gpu == NULL || text_equal(words->vendor, gpu->vendor);
}

static void
add_words(const struct launch *launch, const char *words)
{
    size_t used = strlen(launch->command);
    bool first = used == 0 || launch->command[used - 1] == '\n';

    text_format(launch->command + used, LAUNCH_SIZE - used, "%s%s", first ? "" : " ", words);
}

static void
add(const struct launch *launch, const char *option, const char *value)
{
    add_words(launch, option);
    if (value[0])
        add_words(launch, value);
}

static void
add_number(const struct launch *launch, const char *option, double value)
{
    char digits[32];

    text_format(digits, sizeof digits, value == floor(value) ? "%.0f" : "%.4g", value);
    add(launch, option, digits);
}

static void
add_ways(const struct launch *launch, const char *option, uint32_t ways)
{
    if (ways > 1)
        add_number(launch, option, ways);
}

static bool
spreads_attention(const struct launch *launch)
{
    return serving_attention_is_data_parallel(&launch->setup->plan, launch->setup->arch);
}

static uint32_t
nodes_of(const struct launch *launch)
{
    const struct machine *machine = launch->setup->machine;

    return (uint32_t)u64_ceil_div(serving_gpus_per_replica(&launch->setup->plan), machine->gpus_per_node);
}

/* Ranks of attention with a cache each, over the same GPUs as the experts. */
static void
add_split(const struct launch *launch)
{
    const struct parallelism *plan = &launch->setup->plan;
    bool spread = spreads_attention(launch);

    switch (launch->words->engine) {
    case ENGINE_VLLM:
        add_ways(launch, launch->words->tensor, plan->tensor);
        if (spread) {
            add_ways(launch, "--data-parallel-size", plan->data);
            add(launch, "--enable-expert-parallel", "");
        }
        break;
    case ENGINE_SGLANG:
        add_ways(launch, launch->words->tensor, spread ? plan->tensor * plan->data : plan->tensor);
        if (spread) {
            add_ways(launch, "--dp-size", plan->data);
            add_ways(launch, "--ep-size", plan->expert);
            add(launch, "--enable-dp-attention", "");
        }
        break;
    case ENGINE_TENSORRT_LLM:
        add_ways(launch, launch->words->tensor, spread ? plan->tensor * plan->data : plan->tensor);
        if (spread)
            add_ways(launch, "--ep_size", plan->expert);
        break;
    case ENGINE_UNSAID:
    case ENGINE_LMDEPLOY:
    case ENGINE_LLAMA_CPP:
    case ENGINE_TRANSFORMERS:
        if (launch->words->tensor)
            add_ways(launch, launch->words->tensor, plan->tensor);
        break;
    }
    if (launch->words->pipeline)
        add_ways(launch, launch->words->pipeline, plan->pipeline);
}

static void
add_nodes(const struct launch *launch)
{
    uint32_t nodes = nodes_of(launch);

    if (nodes <= 1)
        return;
    if (launch->words->engine == ENGINE_VLLM)
        add(launch, "--distributed-executor-backend", "ray");
    else if (launch->words->engine == ENGINE_TENSORRT_LLM)
        add_number(launch, "--gpus_per_node", launch->setup->machine->gpus_per_node);
    else if (launch->words->engine == ENGINE_SGLANG) {
        add_number(launch, "--nnodes", nodes);
        add(launch, "--node-rank", "$NODE_RANK --dist-init-addr $HEAD:20000");
    }
}

/* Engines that turn a 16-bit checkpoint into the format while they load it; of others it must be in that format. */
static bool
converts(enum engine engine, enum weight_format format)
{
    return (engine == ENGINE_VLLM || engine == ENGINE_SGLANG) && (format == WEIGHT_FP8 || format == WEIGHT_NF4);
}

enum weight_format
serving_launch_checkpoint(const struct serving_choice *choice)
{
    const struct model_arch *arch = choice->estimate.setup.arch;
    enum weight_format native = arch->native_format == WEIGHT_UNSAID ? WEIGHT_BF16 : arch->native_format;

    if (choice->job.precision == arch->stored_format || !converts(choice->job.engine, choice->job.precision))
        return choice->job.precision;
    return native;
}

static void
add_format(const struct launch *launch)
{
    enum weight_format format = launch->job->precision, stored = launch->setup->arch->stored_format;
    enum engine engine = launch->words->engine;
    bool python = engine == ENGINE_VLLM || engine == ENGINE_SGLANG;

    if (engine == ENGINE_LMDEPLOY && format == WEIGHT_INT4_AWQ)
        add(launch, "--model-format", "awq");
    else if (engine == ENGINE_LMDEPLOY && format == WEIGHT_INT4_GPTQ)
        add(launch, "--model-format", "gptq");
    if (!python || format == stored)
        return;
    if (format == WEIGHT_FP8)
        add(launch, "--quantization", "fp8");
    else if (format == WEIGHT_NF4)
        add(launch, "--quantization",
            engine == ENGINE_SGLANG ? "bitsandbytes --load-format bitsandbytes" : "bitsandbytes");
    else if (format == WEIGHT_FP16 || format == WEIGHT_FP32)
        add(launch, "--dtype", format == WEIGHT_FP16 ? "float16" : "float32");
}

static void
add_cache(const struct launch *launch)
{
    const char *name = launch->words->cache_names[launch->job->kv_cache_precision];

    if (!name[0] || launch->words->engine == ENGINE_TENSORRT_LLM)
        return;
    add(launch, launch->words->cache, name);
    if (launch->words->engine == ENGINE_LLAMA_CPP)
        add(launch, "--cache-type-v", name);
}

/* trtllm-serve takes some settings from a file alone, and its settings of the cache then all from there. */
static bool
needs_options_file(const struct launch *launch)
{
    return launch->words->engine == ENGINE_TENSORRT_LLM &&
           (launch->words->cache_names[launch->job->kv_cache_precision][0] || spreads_attention(launch));
}

static void
write_options_file(const struct launch *launch)
{
    const char *cache = launch->words->cache_names[launch->job->kv_cache_precision];

    text_format(launch->command, LAUNCH_SIZE,
                "printf '%%s\\n' 'kv_cache_config: { free_gpu_memory_fraction: %.4g%s%s }'%s >options.yaml\n",
                launch->job->memory_utilization, cache[0] ? ", dtype: " : "", cache,
                spreads_attention(launch) ? " 'enable_attention_dp: true'" : "");
}

static void
add_limits(const struct launch *launch)
{
    bool llama_cpp = launch->words->engine == ENGINE_LLAMA_CPP;

    /* llama.cpp divides the context it is given among the sequences */
    add_number(launch, launch->words->context, llama_cpp ? launch->context * launch->sequences : launch->context);
    add_number(launch, launch->words->sequences, launch->sequences);
    if (launch->words->share && !needs_options_file(launch))
        add_number(launch, launch->words->share, launch->job->memory_utilization);
}

/* The asked context as far as it fits. */
static double
fitting_context(const struct serving_choice *choice)
{
    return fmin(choice->job.context_length, floor(choice->estimate.memory.max_context_length));
}

/* As many sequences as keep the targets, or as the cache holds of that context; llama.cpp takes their cache at once. */
static double
fitting_sequences(const struct serving_choice *choice, const struct serving_sizing *sizing)
{
    const struct serving_setup *setup = &choice->estimate.setup;
    double held = fmin(floor(choice->estimate.memory.max_concurrency), setup->rates->serving_most_sequences);
    double most = sizing->capacity.concurrency > 0 ? fmin(held, floor(sizing->capacity.concurrency)) : held;

    if (choice->job.engine == ENGINE_LLAMA_CPP)
        most = fmin(held, (double)serving_sequences_per_group(setup));
    return fmax(1, most);
}

/* All layers and the output, or as many as there is room for. */
static void
add_layers(const struct launch *launch, const struct serving_offload *offload)
{
    add_number(launch, "--n-gpu-layers", offload->used ? offload->gpu_layers : launch->setup->arch->layer_count + 1.0);
    if (offload->host_expert_layers > 0)
        add_number(launch, "--n-cpu-moe", offload->host_expert_layers);
}

/* What can be started at all. */
static bool
can_start(const struct launch *launch)
{
    const struct words *words = launch->words;

    if (words == NULL || (words->pipeline == NULL && launch->setup->plan.pipeline > 1 && words->share != NULL))
        return false;
    if (!serving_launch_has_weights(words->engine, launch->job->precision) ||
        !serving_launch_has_gpu(words->engine, launch->setup->machine->gpu))
        return false;
    if (model_arch_generates(launch->setup->arch))
        return words->cache_names[launch->job->kv_cache_precision] != NULL && launch->context >= 1;
    return words->one_pass != NULL && launch->setup->arch->vocabulary_size > 0;
}

bool
serving_launch(const struct serving_choice *choice, const struct serving_sizing *sizing, char ret_command[LAUNCH_SIZE])
{
    struct launch launch = {
        .words = words_of(choice->job.engine),
        .job = &choice->job,
        .setup = &choice->estimate.setup,
        .context = fitting_context(choice),
        .sequences = fitting_sequences(choice, sizing),
        .command = ret_command,
    };
    bool generates = model_arch_generates(choice->estimate.setup.arch);

    ret_command[0] = '\0';
    if (!can_start(&launch))
        return false;
    if (needs_options_file(&launch))
        write_options_file(&launch);
    add_words(&launch, launch.words->program);
    if (choice->job.engine == ENGINE_LLAMA_CPP)
        add_layers(&launch, &choice->estimate.memory.offload);
    add_split(&launch);
    add_nodes(&launch);
    add_format(&launch);
    if (generates) {
        add_limits(&launch);
        add_cache(&launch);
    } else {
        add_words(&launch, launch.words->one_pass);
        add_number(&launch, launch.words->context, choice->job.context_length);
    }
    if (needs_options_file(&launch))
        add(&launch, "--extra_llm_api_options", "options.yaml");
    return true;
}
