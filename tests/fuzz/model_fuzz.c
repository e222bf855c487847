/* Any JSON object as a model's config: refused with a reason, or an architecture whose figures agree with each other.
 * The mutator changes values, keys and lists of the object, so that most of what is tried is still JSON. */
#include <jansson.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "api/json/facts_json.h"
#include "api/json/field.h"
#include "service/base/quantity.h"
#include "service/memory/kv_cache.h"
#include "service/model/adapter.h"
#include "service/model/arch.h"
#include "service/model/params.h"
#include "service/model/parts.h"
#include "service/model/quantization.h"
#include "service/speed/flop.h"

enum { MAX_DEPTH = 32 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
size_t LLVMFuzzerMutate(uint8_t *data, size_t size, size_t max_size);
size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max_size, unsigned seed);

static void
require(bool holds)
{
    if (!holds)
        __builtin_trap();
}

static void
check_parts(const struct model_arch *arch, const struct model_params *params)
{
    static struct model_parts parts;
    int64_t sum = 0;

    model_parts(arch, params, &parts);
    require(parts.count > 0 && parts.count <= MAX_MODEL_PARTS);
    for (uint32_t i = 0; i < parts.count; i++) {
        require(parts.items[i].formula != NULL && model_part_name(parts.items[i].code)[0] != '\0');
        sum += parts.items[i].parameter_count;
    }
    require(sum == (int64_t)params->total);
}

static void
check_memory(const struct model_arch *arch, const struct model_params *params)
{
    uint64_t stored = quantization_stored_bytes(arch);
    double token = kv_cache_bytes_per_token(arch, 2), before = 0;

    require(stored >= params->total / 8 && stored < UINT64_MAX);
    for (uint64_t context = 1; context <= UINT64_C(1) << 40; context *= 64) {
        double bytes = kv_cache_bytes_per_sequence(arch, 2, context);

        require(bytes >= before && bytes <= kv_cache_bytes_per_sequence_without_windows(arch, 2, context) * 1.000001);
        require(kv_cache_bytes_per_sequence_per_gpu(arch, 2, context, 8, 2) <= bytes);
        before = bytes;
    }
    require(kv_cache_bytes_per_token_per_gpu(arch, 2, 2, 1) <= token);
    for (int format = WEIGHT_FP32; format < WEIGHT_FORMAT_COUNT; format++) {
        struct class_bits bits;

        if (quantization_bits(arch, (enum weight_format)format, &bits))
            require(bits.linear >= 0 && bits.latent >= 0 && bits.experts >= 0 && bits.plain > 0);
    }
    require(arch->stored.linear_bits >= 0 && arch->stored.plain_bits <= 4096);
}

static void
check_work(const struct model_arch *arch, const struct model_params *params)
{
    uint64_t narrow = lora_params_count(arch, LORA_QUERY_VALUE, 8);
    uint64_t attention = lora_params_count(arch, LORA_ATTENTION, 8);

    require(narrow <= attention && attention <= lora_params_count(arch, LORA_ALL_LINEAR, 8));
    require(flop_forward_linear_per_token(arch, params) >= 0);
    require(flop_forward_attention_per_token(arch, 4096) >= 0);
}

static void
check_arch(const struct model_arch *arch, struct fault *fault)
{
    struct model_params params = model_params_count(arch);

    require(model_arch_check(arch, "", fault) == STATUS_OK);
    require(params.active <= params.total && params.total <= UINT64_C(1) << 62);
    check_parts(arch, &params);
    if (arch->generic)
        return;
    require(arch->kind_count > 0 && arch->layer_count > 0);
    check_memory(arch, &params);
    check_work(arch, &params);
}

/* The same config without what is said of its quantisation has as many parameters. */
static void
check_unquantised(const json_t *config, uint64_t total)
{
    static const char *const keys[] = { "quantization_config", "quantization", "compression_config",
                                        "hf_quant_config" };
    static struct model_arch plain;
    static struct notices notices;
    static struct fault fault;
    json_t *copy = json_copy((json_t *)(uintptr_t)config);
    struct facts_store store;
    struct facts facts;

    for (size_t i = 0; i < COUNT_OF(keys); i++)
        (void)json_object_del(copy, keys[i]);
    facts_store_init(&store);
    fault_clear(&fault);
    notices.count = notices.dropped = 0;
    require(facts_flatten(copy, "", &store, &facts, &fault) == STATUS_OK);
    require(model_arch_read(&facts, "", &plain, &notices, &fault) == STATUS_OK);
    require(model_params_count(&plain).total == total);
    facts_store_done(&store);
    json_decref(copy);
}

static void
check_config(const json_t *config, struct fault *fault)
{
    static struct model_arch arch;
    static struct notices notices;
    struct facts_store store;
    struct facts facts;
    struct adapter adapter;

    facts_store_init(&store);
    fault_clear(fault);
    notices.count = notices.dropped = 0;
    if (facts_flatten(config, "/model/config", &store, &facts, fault) != STATUS_OK) {
        require(fault_any(fault));
    } else if (adapter_read(&facts, "/model/config", &adapter, fault)) {
        require(adapter.base != NULL);
    } else if (model_arch_read(&facts, "/model/config", &arch, &notices, fault) == STATUS_OK) {
        require(!fault_any(fault));
        check_arch(&arch, fault);
        if (arch.stored.packed)
            check_unquantised(config, model_params_count(&arch).total);
        quantization_read_beside(&facts, "/model/quantization_config", &arch, &notices);
        check_arch(&arch, fault);
    } else {
        require(fault_any(fault));
    }
    facts_store_done(&store);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static struct fault fault;
    char *text = malloc(size > 0 ? size : 1); /* of its own size, so that a read past the end is seen */
    bool nan;

    require(text != NULL);
    if (size > 0)
        memcpy(text, data, size);
    fault_clear(&fault);
    json_t *config = json_parse(text, size, MAX_DEPTH, &nan, &fault);
    if (config != NULL)
        check_config(config, &fault);
    json_decref(config);
    free(text);
    return 0;
}

static const char *const classes[] = {
    "LlamaForCausalLM",
    "MistralForCausalLM",
    "MixtralForCausalLM",
    "Gemma3ForConditionalGeneration",
    "Qwen2MoeForCausalLM",
    "Qwen3MoeForCausalLM",
    "Qwen3NextForCausalLM",
    "DeepseekV3ForCausalLM",
    "DeepseekV32ForCausalLM",
    "GptOssForCausalLM",
    "Llama4ForConditionalGeneration",
    "JambaForCausalLM",
    "NemotronHForCausalLM",
    "Mamba2ForCausalLM",
    "MambaForCausalLM",
    "FalconForCausalLM",
    "ChatGLMModel",
    "GPT2LMHeadModel",
    "OPTForCausalLM",
    "MPTForCausalLM",
    "DbrxForCausalLM",
    "T5ForConditionalGeneration",
    "BertModel",
    "ViTForImageClassification",
    "WhisperForConditionalGeneration",
    "CLIPModel",
    "LlavaForConditionalGeneration",
    "Qwen2_5_VLForConditionalGeneration",
    "Qwen3VLForConditionalGeneration",
    "UNet2DConditionModel",
    "FluxTransformer2DModel",
    "ResNetForImageClassification",
    "Lfm2ForCausalLM",
    "BambaForCausalLM",
    "RwkvForCausalLM",
    "HunYuanMoEV1ForCausalLM",
    "Ernie4_5_MoeForCausalLM",
    "Phi3ForCausalLM",
    "BartModel",
    "Grok1ForCausalLM",
};

static const char *const keys[] = {
    "hidden_size",
    "num_hidden_layers",
    "num_attention_heads",
    "num_key_value_heads",
    "intermediate_size",
    "vocab_size",
    "head_dim",
    "max_position_embeddings",
    "tie_word_embeddings",
    "sliding_window",
    "layer_types",
    "num_experts",
    "num_local_experts",
    "n_routed_experts",
    "num_experts_per_tok",
    "moe_intermediate_size",
    "n_shared_experts",
    "shared_expert_intermediate_size",
    "first_k_dense_replace",
    "moe_layer_freq",
    "decoder_sparse_step",
    "mlp_only_layers",
    "kv_lora_rank",
    "q_lora_rank",
    "qk_rope_head_dim",
    "qk_nope_head_dim",
    "v_head_dim",
    "text_config",
    "vision_config",
    "quantization_config",
    "quantization",
    "attention_bias",
    "mlp_bias",
    "num_nextn_predict_layers",
    "full_attention_interval",
    "mamba_d_state",
    "linear_num_value_heads",
    "hybrid_override_pattern",
    "model_type",
    "torch_dtype",
    "rope_scaling",
    "n_embd",
    "n_layer",
    "n_head",
    "n_inner",
    "d_model",
    "dim",
    "n_layers",
    "n_heads",
    "n_kv_heads",
    "hidden_dim",
    "moe",
    "ssm_cfg",
    "pad_vocab_size_multiple",
    "multiple_of",
    "quant_method",
    "bits",
    "group_size",
    "desc_act",
    "weight_block_size",
    "modules_to_not_convert",
    "ignore",
    "config_groups",
    "targets",
    "weights",
    "num_bits",
    "strategy",
    "format",
    "quant_algo",
    "quantized_layers",
    "kv_cache_scheme",
    "load_in_4bit",
    "mode",
    "dynamic",
    "expert_dtype",
    "peft_type",
    "base_model_name_or_path",
    "r",
    "target_modules",
    "id2label",
};

static const char *const words[] = {
    "auto",
    "awq",
    "gptq",
    "fp8",
    "bitsandbytes",
    "mxfp4",
    "modelopt",
    "compressed-tensors",
    "torchao",
    "quanto",
    "NVFP4",
    "FP8",
    "MIXED_PRECISION",
    "W4A16_AWQ",
    "pack-quantized",
    "group",
    "channel",
    "tensor",
    "block",
    "float",
    "int",
    "Linear",
    "lm_head",
    "model.embed_tokens",
    "re:.*self_attn.*",
    "re:.*mlp\\.(gate|up|gate_up|down)_proj.*",
    "model.layers.0.mlp*",
    "model.layers.*.self_attn",
    "re:(a|b)*c+[^d-f]?$",
    "re:((((((((",
    "*?*?*[a-",
    "re:.*layers\\.\\d+\\..*",
    "full_attention",
    "sliding_attention",
    "linear_attention",
    "M*E-M*E-",
    "bfloat16",
    "float32",
    "LORA",
    "llama",
};

/* xorshift32 (Marsaglia 2003): the seed that libFuzzer gives decides everything. */
static unsigned
next(unsigned *state)
{
    *state ^= *state << 13;
    *state ^= *state >> 17;
    *state ^= *state << 5;
    return *state;
}

static json_t *
random_value(unsigned *state, unsigned depth)
{
    static const json_int_t numbers[] = { 0,       1,       -1,        2,         3,        4,     8,
                                          16,      64,      127,       128,       4096,     65535, 131072,
                                          1 << 20, 1 << 24, INT32_MAX, INT64_MAX, INT64_MIN };
    json_t *made;

    switch (next(state) % (depth > 0 ? 9 : 7)) {
    case 0:
        return json_null();
    case 1:
        return json_boolean(next(state) % 2);
    case 2:
    case 3:
        return json_integer(numbers[next(state) % COUNT_OF(numbers)]);
    case 4:
        return json_real((double)(next(state) % 1000) / 8 - 3);
    case 5:
        return json_string(words[next(state) % COUNT_OF(words)]);
    case 6:
        return json_string(classes[next(state) % COUNT_OF(classes)]);
    case 7:
        made = json_array();
        for (unsigned i = next(state) % 40; i > 0; i--)
            json_array_append_new(made, random_value(state, depth - 1));
        return made;
    default:
        made = json_object();
        for (unsigned i = next(state) % 4; i > 0; i--)
            json_object_set_new(made, keys[next(state) % COUNT_OF(keys)], random_value(state, depth - 1));
        return made;
    }
}

/* A container somewhere in the value, itself included. */
static json_t *
random_container(json_t *value, unsigned *state)
{
    const char *name;
    size_t index;
    json_t *inside;

    json_object_foreach(value, name, inside)
    {
        if ((json_is_object(inside) || json_is_array(inside)) && next(state) % 4 == 0)
            return random_container(inside, state);
    }
    json_array_foreach(value, index, inside)
    {
        if ((json_is_object(inside) || json_is_array(inside)) && next(state) % 8 == 0)
            return random_container(inside, state);
    }
    return value;
}

static void
mutate_object(json_t *object, unsigned *state)
{
    size_t size = json_object_size(object), at = size > 0 ? next(state) % size : 0, i = 0;
    const char *name;
    void *next_one;
    json_t *value;

    if (size == 0 || next(state) % 4 == 0) {
        json_object_set_new(object, keys[next(state) % COUNT_OF(keys)], random_value(state, 2));
        return;
    }
    json_object_foreach_safe(object, next_one, name, value)
    {
        if (i++ != at)
            continue;
        if (json_is_integer(value) && next(state) % 2 == 0)
            json_object_set_new(object, name, json_integer(json_integer_value(value) / 2 + next(state) % 3));
        else if (next(state) % 4 == 0)
            json_object_del(object, name);
        else
            json_object_set_new(object, name, random_value(state, 2));
        return;
    }
}

static void
mutate_array(json_t *array, unsigned *state)
{
    size_t size = json_array_size(array);

    if (size == 0 || next(state) % 3 == 0)
        json_array_append_new(array, random_value(state, 1));
    else if (next(state) % 2 == 0)
        json_array_remove(array, next(state) % size);
    else
        json_array_set_new(array, next(state) % size, random_value(state, 1));
}

size_t
LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max_size, unsigned seed)
{
    unsigned state = seed | 1;
    json_t *root = next(&state) % 8 == 0 ? NULL : json_loadb((const char *)data, size, 0, NULL);
    char *text = NULL;
    size_t length = 0;

    if (json_is_object(root)) {
        for (unsigned i = 1 + next(&state) % 4; i > 0; i--) {
            json_t *container = random_container(root, &state);

            if (next(&state) % 12 == 0)
                json_object_set_new(root, "architectures", json_pack("[s]", classes[next(&state) % COUNT_OF(classes)]));
            else if (json_is_object(container))
                mutate_object(container, &state);
            else
                mutate_array(container, &state);
        }
        text = json_dumps(root, JSON_COMPACT);
        length = text != NULL ? strlen(text) : 0;
    }
    json_decref(root);
    if (length > 0 && length <= max_size)
        memcpy(data, text, length);
    else
        length = LLVMFuzzerMutate(data, size, max_size);
    free(text);
    return length;
}
