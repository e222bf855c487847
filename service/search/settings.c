#include "service/search/fixes.h"

#include <string.h>

#include "service/base/quantity.h"
#include "service/model/dtype.h"

static const char *const fix_names[FIX_COUNT] = {
    [FIX_SMALLER_MICRO_BATCH] = "smaller_micro_batch",
    [FIX_RECOMPUTE] = "recompute",
    [FIX_FLASH_ATTENTION] = "flash_attention",
    [FIX_FUSED_LOSS] = "fused_loss",
    [FIX_ZERO1] = "zero1",
    [FIX_ZERO2] = "zero2",
    [FIX_ZERO3] = "zero3",
    [FIX_OPTIMIZER_8BIT] = "optimizer_8bit",
    [FIX_PURE_BF16] = "pure_bf16",
    [FIX_TENSOR_PARALLEL] = "tensor_parallel",
    [FIX_PIPELINE_PARALLEL] = "pipeline_parallel",
    [FIX_CONTEXT_PARALLEL] = "context_parallel",
    [FIX_OFFLOAD_OPTIMIZER] = "offload_optimizer",
    [FIX_OFFLOAD_ALL] = "offload_all",
    [FIX_LORA] = "lora",
    [FIX_QLORA] = "qlora",
    [FIX_QUANTIZE_WEIGHTS] = "quantize_weights",
    [FIX_QUANTIZE_KV_CACHE] = "quantize_kv_cache",
    [FIX_SHORTER_CONTEXT] = "shorter_context",
    [FIX_LOWER_CONCURRENCY] = "lower_concurrency",
    [FIX_ATTENTION_DATA_PARALLEL] = "attention_data_parallel",
    [FIX_MORE_GPUS] = "more_gpus",
    [FIX_LARGER_GPU] = "larger_gpu",
    [FIX_FASTER_NETWORK] = "faster_network",
};

const char *
fix_code_name(enum fix_code code)
{
    return fix_names[code];
}

/* How a setting stands in the request: its path, its place in the struct, and how its value is written. */
enum setting_kind { KIND_NUMBER, KIND_REAL, KIND_ENUM, KIND_NULL, KIND_GPU };

struct setting_row {
    const char *path;
    enum setting_kind kind;
    size_t offset;
    const char *const *names;
};

#define TRAINING(member) offsetof(struct estimate_request, training.member)
#define SERVING(member) offsetof(struct estimate_request, serving.member)
#define HARDWARE(member) offsetof(struct estimate_request, hardware.member)

static const struct setting_row rows[SETTING_COUNT] = {
    [SET_METHOD] = { "/training/method", KIND_ENUM, TRAINING(method), training_method_names },
    [SET_PRECISION] = { "/training/precision", KIND_ENUM, TRAINING(precision), training_precision_names },
    [SET_OPTIMIZER] = { "/training/optimizer", KIND_ENUM, TRAINING(optimizer), optimizer_names },
    [SET_MICRO_BATCH] = { "/training/micro_batch_size", KIND_NUMBER, TRAINING(micro_batch_size), NULL },
    [SET_GLOBAL_BATCH] = { "/training/global_batch_size", KIND_NUMBER, TRAINING(global_batch_size), NULL },
    [SET_RECOMPUTE] = { "/training/recompute", KIND_ENUM, TRAINING(recompute), recompute_names },
    [SET_ATTENTION] = { "/training/attention", KIND_ENUM, TRAINING(attention), attention_kernel_names },
    [SET_LOSS] = { "/training/loss", KIND_ENUM, TRAINING(loss), loss_kernel_names },
    [SET_OFFLOAD] = { "/training/offload", KIND_ENUM, TRAINING(offload), offload_names },
    [SET_SHARDING] = { "/training/parallelism/sharding", KIND_ENUM, TRAINING(parallelism.sharding), sharding_names },
    [SET_TRAINING_SPLIT_OPEN] = { "/training/parallelism", KIND_NULL, 0, NULL },
    [SET_FRAMEWORK_OPEN] = { "/training/framework", KIND_NULL, 0, NULL },
    [SET_SERVING_PRECISION] = { "/serving/precision", KIND_ENUM, SERVING(precision), NULL },
    [SET_KV_PRECISION] = { "/serving/kv_cache_precision", KIND_ENUM, SERVING(kv_cache_precision), NULL },
    [SET_CONTEXT_LENGTH] = { "/serving/context_length", KIND_NUMBER, SERVING(context_length), NULL },
    [SET_INPUT_TOKENS] = { "/serving/input_tokens", KIND_NUMBER, SERVING(input_tokens), NULL },
    [SET_OUTPUT_TOKENS] = { "/serving/output_tokens", KIND_NUMBER, SERVING(output_tokens), NULL },
    [SET_CONCURRENCY] = { "/serving/concurrency", KIND_NUMBER, SERVING(concurrency), NULL },
    [SET_SERVING_SPLIT_OPEN] = { "/serving/parallelism", KIND_NULL, 0, NULL },
    [SET_SERVING_TENSOR] = { "/serving/parallelism/tensor", KIND_NUMBER, SERVING(parallelism.tensor), NULL },
    [SET_SERVING_PIPELINE] = { "/serving/parallelism/pipeline", KIND_NUMBER, SERVING(parallelism.pipeline), NULL },
    [SET_SERVING_DATA] = { "/serving/parallelism/data", KIND_NUMBER, SERVING(parallelism.data), NULL },
    [SET_SERVING_EXPERT] = { "/serving/parallelism/expert", KIND_NUMBER, SERVING(parallelism.expert), NULL },
    [SET_REQUESTS_PER_SECOND] = { "/serving/requests_per_second", KIND_REAL, SERVING(requests_per_second), NULL },
    [SET_GPU] = { "/hardware/gpu", KIND_GPU, HARDWARE(gpu), NULL },
    [SET_GPUS] = { "/hardware/gpus", KIND_NUMBER, HARDWARE(gpus), NULL },
    [SET_OFFER_COUNT] = { "/hardware/count", KIND_NUMBER, HARDWARE(offer_count), NULL },
    [SET_INSTANCE_NONE] = { "/hardware/instance", KIND_NULL, 0, NULL },
    [SET_SERVER_NONE] = { "/hardware/server", KIND_NULL, 0, NULL },
    [SET_COUNT_NONE] = { "/hardware/count", KIND_NULL, 0, NULL },
    [SET_INTRANODE_OPEN] = { "/hardware/intranode", KIND_NULL, 0, NULL },
    [SET_GPUS_PER_NODE_OPEN] = { "/hardware/gpus_per_node", KIND_NULL, 0, NULL },
    [SET_INTERNODE] = { "/hardware/internode_bits_per_second", KIND_REAL, HARDWARE(internode_bits_per_second), NULL },
};

const char *
setting_path(const struct setting *setting, const char **ret_text, bool *ret_is_null)
{
    const struct setting_row *row = &rows[setting->id];

    *ret_text = NULL;
    *ret_is_null = row->kind == KIND_NULL;
    if (row->kind == KIND_GPU)
        *ret_text = setting->gpu->id;
    else if (setting->id == SET_SERVING_PRECISION)
        *ret_text = weight_format_name((enum weight_format)setting->value);
    else if (setting->id == SET_KV_PRECISION)
        *ret_text = kv_format_name((enum kv_format)setting->value);
    else if (row->kind == KIND_ENUM)
        *ret_text = row->names[(size_t)setting->value];
    return row->path;
}

static void
apply_null(enum setting_id id, struct estimate_request *request)
{
    if (id == SET_TRAINING_SPLIT_OPEN) {
        request->training.has_parallelism = false;
        memset(&request->training.parallelism, 0, sizeof request->training.parallelism);
    } else if (id == SET_FRAMEWORK_OPEN) {
        request->training.framework = FRAMEWORK_UNSAID;
    } else if (id == SET_SERVING_SPLIT_OPEN) {
        request->serving.has_parallelism = false;
        memset(&request->serving.parallelism, 0, sizeof request->serving.parallelism);
    } else if (id == SET_INSTANCE_NONE || id == SET_SERVER_NONE) {
        request->hardware.offer = NULL;
    } else if (id == SET_COUNT_NONE) {
        request->hardware.offer_count = 0;
    } else if (id == SET_INTRANODE_OPEN) {
        request->hardware.intranode = INTRANODE_UNSAID;
    } else if (id == SET_GPUS_PER_NODE_OPEN) {
        request->hardware.gpus_per_node = 0;
    }
}

void
setting_apply(const struct setting *setting, struct estimate_request *request)
{
    const struct setting_row *row = &rows[setting->id];
    char *place = (char *)request + row->offset;
    uint32_t number = (uint32_t)setting->value;

    switch (row->kind) {
    case KIND_NUMBER:
    case KIND_ENUM: /* enums are as wide as a count */
        memcpy(place, &number, sizeof number);
        break;
    case KIND_REAL:
        memcpy(place, &setting->value, sizeof setting->value);
        break;
    case KIND_GPU:
        memcpy(place, &setting->gpu, sizeof setting->gpu);
        break;
    case KIND_NULL:
        apply_null(setting->id, request);
        break;
    }
    if (setting->id == SET_SHARDING)
        request->training.has_parallelism = true;
    if (setting->id >= SET_SERVING_TENSOR && setting->id <= SET_SERVING_EXPERT)
        request->serving.has_parallelism = true;
}

_Static_assert(sizeof(enum sharding) == sizeof(uint32_t), "enums are read and written as counts");

static int
usefulness(const struct fix *fix)
{
    switch (fix->verdict) {
    case VERDICT_FITS:
    case VERDICT_UNKNOWN:
        return fix->has_targets && !fix->meets_targets;
    case VERDICT_TIGHT:
        return 1;
    case VERDICT_DOES_NOT_FIT:
        break;
    }
    return 2;
}

void
fixes_add(struct fixes *fixes, const struct fix *fix)
{
    uint32_t at = fixes->count;

    if (fixes->count == MAX_FIXES && usefulness(&fixes->items[MAX_FIXES - 1]) <= usefulness(fix))
        return;
    if (fixes->count == MAX_FIXES)
        at = MAX_FIXES - 1;
    else
        fixes->count++;
    while (at > 0 && usefulness(&fixes->items[at - 1]) > usefulness(fix)) {
        fixes->items[at] = fixes->items[at - 1];
        at--;
    }
    fixes->items[at] = *fix;
}
