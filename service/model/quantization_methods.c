/* One function a method; each source says what its files hold beside the values. */
#include "service/model/quantization_methods.h"

#include <string.h>
#include <strings.h>

#include "service/base/quantity.h"

enum { MAX_BITS = 8, MAX_GROUP = 1 << 20 };

enum weight_format
quantization_integer_format(int64_t bits)
{
    return bits > 4 ? WEIGHT_INT8 : WEIGHT_INT4_GPTQ;
}

int32_t
quantization_group(const struct block *block, int32_t absent)
{
    int64_t group = block_number(block, "group_size|groupsize|q_group_size", absent);

    return group > 0 && group <= MAX_GROUP ? (int32_t)group : WHOLE_LENGTH;
}

/* Bits of an integer format; 0 when they are none that values can have. */
static uint32_t
integer_bits(const struct block *block, int64_t absent)
{
    int64_t bits = block_number(block, "bits|w_bit|wbits|nbits|weight_bits", absent);

    return bits >= 2 && bits <= MAX_BITS ? (uint32_t)bits : 0;
}

/* All linears in one storage. Returns true, as a method that is understood. */
static bool
use(struct checkpoint *checkpoint, struct weight_storage storage, enum weight_format nearest)
{
    checkpoint_linears(checkpoint, checkpoint_storage(checkpoint, storage, nearest));
    return true;
}

/* 32-bit words of values, a scale of 16 bits and a zero point of the values' bits for each group
 * (casper-hansen/AutoAWQ awq/modules/linear/gemm.py). */
static bool
apply_awq(const struct block *block, struct checkpoint *checkpoint)
{
    uint32_t bits = integer_bits(block, 4);

    if (bits == 0)
        return false;
    return use(checkpoint, weight_storage_groups(bits, quantization_group(block, 128), 16, bits),
               bits == 4 ? WEIGHT_INT4_AWQ : quantization_integer_format(bits));
}

/* The same, and the group of each input, 32 bits, also where rows kept their order; Marlin's layout has it only where
 * they did not (AutoGPTQ/AutoGPTQ auto_gptq/nn_modules/qlinear/qlinear_cuda.py and qlinear_marlin.py). */
static uint8_t
gptq_storage(const struct block *block, uint32_t bits, int32_t group, struct checkpoint *checkpoint)
{
    struct weight_storage storage = weight_storage_groups(bits, group, 16, bits);

    bool marlin = strcasecmp(block_word(block, "checkpoint_format"), "marlin") == 0;

    storage.input_bits = !marlin || block_flag(block, "desc_act|act_order") ? 32 : 0;
    return checkpoint_storage(checkpoint, storage, quantization_integer_format(bits));
}

/* GPTQModel's "dynamic": "-:expression" leaves out, "+:expression" (or no sign) has bits or a group of its own. */
static void
apply_dynamic(const struct block *block, uint32_t bits, struct checkpoint *checkpoint)
{
    int32_t group = quantization_group(block, 128);
    struct block dynamic;
    const struct fact *fact;
    const char *name;
    size_t at = 0;

    if (!block_inside(block, "dynamic", &dynamic))
        return;
    while (block_member(&dynamic, &at, &fact, &name)) {
        struct block own = { .facts = block->facts };
        uint8_t storage = STORAGE_NATIVE;

        if (strncmp(name, "-:", 2) != 0) {
            if (!block_of_fact(&dynamic, fact, &own))
                continue; /* empty: nothing of its own */
            uint32_t own_bits = integer_bits(&own, bits);
            if (own_bits > 0)
                storage = gptq_storage(block, own_bits, quantization_group(&own, group), checkpoint);
        }
        checkpoint_rule(checkpoint, name + (name[0] != '\0' && name[1] == ':' ? 2 : 0), true, storage);
    }
}

/* modules_in_block_to_quantize: lists of names; what is in none of them is left as it is. */
static bool
apply_chosen(const struct block *block, uint8_t storage, struct checkpoint *checkpoint)
{
    const struct fact *list = block_fact(block, "modules_in_block_to_quantize");
    bool any = false;

    if (list == NULL || list->kind != FACT_LIST)
        return false;
    size_t length = strlen(list->path);
    for (size_t i = (size_t)(list - block->facts->items) + 1; i < block->facts->count; i++) {
        const struct fact *fact = &block->facts->items[i];

        if (strncmp(fact->path, list->path, length) != 0)
            break;
        if (fact->kind != FACT_TEXT)
            continue;
        checkpoint_rule(checkpoint, fact->text, false, storage);
        any = true;
    }
    return any;
}

static bool
apply_gptq(const struct block *block, struct checkpoint *checkpoint)
{
    uint32_t bits = integer_bits(block, 4);

    if (bits == 0)
        return false;
    uint8_t storage = gptq_storage(block, bits, quantization_group(block, 128), checkpoint);
    if (!apply_chosen(block, storage, checkpoint))
        checkpoint_linears(checkpoint, storage);
    if (block_flag(block, "lm_head"))
        checkpoint->head = storage;
    apply_dynamic(block, bits, checkpoint);
    return true;
}

/* auto-round packs like GPTQ; extra_config names what has bits of its own (intel/auto-round). */
static bool
apply_auto_round(const struct block *block, struct checkpoint *checkpoint)
{
    const char *type = block_word(block, "data_type");
    int32_t group = quantization_group(block, 128);
    struct block extra, own;
    const struct fact *fact;
    const char *name;
    size_t at = 0;

    if (strncmp(type, "mx_fp", 5) == 0)
        return use(checkpoint, weight_storage_groups(4, 32, 8, 0), WEIGHT_MXFP4);
    if (strncmp(type, "nv_fp", 5) == 0)
        return use(checkpoint, weight_storage_groups(4, 16, 8, 0), WEIGHT_NVFP4);
    if (!apply_gptq(block, checkpoint))
        return false;
    if (!block_inside(block, "extra_config", &extra))
        return true;
    while (block_member(&extra, &at, &fact, &name)) {
        if (!block_of_fact(&extra, fact, &own))
            continue;
        uint32_t bits = integer_bits(&own, 0); /* 16: left as it is */
        uint8_t storage = STORAGE_NATIVE;
        if (bits > 0)
            storage = gptq_storage(block, bits, quantization_group(&own, group), checkpoint);
        checkpoint_rule(checkpoint, name, strpbrk(name, "*\\[(") != NULL, storage);
    }
    return true;
}

/* A scale of FP32 for a block (deepseek-ai/DeepSeek-V3 README_WEIGHTS.md), or for a matrix, one more for inputs where
 * they are scaled beforehand. */
static bool
apply_fp8(const struct block *block, struct checkpoint *checkpoint)
{
    int64_t outputs = block_number(block, "weight_block_size/0", 0);
    int64_t inputs = block_number(block, "weight_block_size/1", 0);
    struct weight_storage storage = weight_storage_plain(8);

    if (outputs > 0 && inputs > 0 && outputs <= MAX_GROUP && inputs <= MAX_GROUP)
        storage = weight_storage_blocks(8, (int32_t)inputs, (int32_t)outputs, 32);
    else
        storage.tensor_bits = strcmp(block_word(block, "activation_scheme"), "static") == 0 ? 64 : 32;
    return use(checkpoint, storage, WEIGHT_FP8);
}

/* A scale of FP32 an output (huggingface/transformers integrations/fbgemm_fp8.py) */
static bool
apply_fbgemm(const struct block *block, struct checkpoint *checkpoint)
{
    (void)block;
    return use(checkpoint, weight_storage_groups(8, WHOLE_LENGTH, 32, 0), WEIGHT_FP8);
}

/* params.json of Mistral: scales of FP32 for the matrix and, unless it says that there are none, for its inputs
 * (vllm-project/vllm transformers_utils/configs/mistral.py). */
static bool
apply_mistral(const struct block *block, struct checkpoint *checkpoint)
{
    struct weight_storage storage = weight_storage_plain(8);

    if (strncasecmp(block_word(block, "qformat_weight"), "fp8", 3) != 0)
        return false;
    storage.tensor_bits = strcasecmp(block_word(block, "qscheme_act"), "NO_SCALES") == 0 ? 32 : 64;
    return use(checkpoint, storage, WEIGHT_FP8);
}

static bool
apply_bitsandbytes(const struct block *block, struct checkpoint *checkpoint)
{
    if (block_flag(block, "load_in_8bit|_load_in_8bit")) /* a scale of FP32 an output (arXiv:2208.07339 section 2.1) */
        return use(checkpoint, weight_storage_groups(8, WHOLE_LENGTH, 32, 0), WEIGHT_INT8);
    if (block_flag(block, "load_in_4bit|_load_in_4bit"))
        return use(checkpoint, weight_storage_nf4(block_flag(block, "bnb_4bit_use_double_quant")), WEIGHT_NF4);
    return false;
}

/* A scale of FP16 an output (NetEase-FuXi/EETQ) */
static bool
apply_eetq(const struct block *block, struct checkpoint *checkpoint)
{
    (void)block;
    return use(checkpoint, weight_storage_groups(8, WHOLE_LENGTH, 16, 0), WEIGHT_INT8);
}

/* Scale and zero point of 16 bits a group (mobiusml/hqq) */
static bool
apply_hqq(const struct block *block, struct checkpoint *checkpoint)
{
    struct block weights = *block;

    (void)block_inside(block, "quant_config/weight_quant_params", &weights);
    uint32_t bits = integer_bits(&weights, 4);
    if (bits == 0)
        return false;
    return use(checkpoint, weight_storage_groups(bits, quantization_group(&weights, 64), 16, 16),
               quantization_integer_format(bits));
}

/* Blocks of 32 values with a scale of 8 bits (OCP Microscaling v1.0); of a mixture the experts alone
 * (arXiv:2508.10925 section 2.1). */
static bool
apply_mxfp4(const struct block *block, struct checkpoint *checkpoint)
{
    struct weight_storage storage = weight_storage_groups(4, 32, 8, 0);
    bool mixture = false;

    (void)block;
    for (uint32_t i = 0; i < checkpoint->arch->kind_count; i++)
        mixture = mixture || checkpoint->arch->kinds[i].mlp == MLP_EXPERTS;
    if (!mixture)
        return use(checkpoint, storage, WEIGHT_MXFP4);
    checkpoint_class(checkpoint, MODULE_EXPERTS, checkpoint_storage(checkpoint, storage, WEIGHT_MXFP4));
    return true;
}

/* AMD Quark: one description of weights for all layers (quark.docs.amd.com, export format). */
static bool
apply_quark(const struct block *block, struct checkpoint *checkpoint)
{
    const char *type = block_word(block, "global_quant_config/weight/dtype");
    int64_t group = block_number(block, "global_quant_config/weight/group_size", 32);
    struct weight_storage storage = weight_storage_plain(8);

    storage.tensor_bits = 64;
    if (strncasecmp(type, "fp4", 3) == 0)
        return use(checkpoint, weight_storage_groups(4, group > 0 && group <= MAX_GROUP ? (int32_t)group : 32, 8, 0),
                   WEIGHT_MXFP4);
    if (strncasecmp(type, "fp8", 3) == 0)
        return use(checkpoint, storage, WEIGHT_FP8);
    if (strncasecmp(type, "int8", 4) == 0)
        return use(checkpoint, weight_storage_groups(8, WHOLE_LENGTH, 32, 0), WEIGHT_INT8);
    return false;
}

typedef bool apply_method(const struct block *block, struct checkpoint *checkpoint);

static const struct method {
    const char *name;
    apply_method *apply;
} methods[] = {
    { "awq", apply_awq },
    { "gptq", apply_gptq },
    { "fp8", apply_fp8 },
    { "finegrained_fp8", apply_fp8 },
    { "fbgemm_fp8", apply_fbgemm },
    { "bitsandbytes", apply_bitsandbytes },
    { "mxfp4", apply_mxfp4 },
    { "modelopt", quantization_apply_modelopt },
    { "modelopt_fp4", quantization_apply_modelopt },
    { "nvfp4", quantization_apply_modelopt },
    { "compressed-tensors", quantization_apply_groups },
    { "mlx", quantization_apply_mlx },
    { "auto-round", apply_auto_round },
    { "intel/auto-round", apply_auto_round },
    { "eetq", apply_eetq },
    { "hqq", apply_hqq },
    { "quark", apply_quark },
    { "mistral", apply_mistral },
    { "torchao", quantization_apply_torchao },
    { "quanto", quantization_apply_quanto },
};

static const struct method *
method_named(const char *name)
{
    for (size_t i = 0; i < COUNT_OF(methods); i++) {
        if (strcasecmp(methods[i].name, name) == 0)
            return &methods[i];
    }
    return NULL;
}

/* Keys that only one method writes, for blocks that do not name theirs. */
static const struct method *
method_by_keys(const struct block *block)
{
    static const struct {
        const char *keys, *method;
    } signs[] = {
        { "quant_algo", "modelopt" },
        { "qformat_weight", "mistral" },
        { "config_groups", "compressed-tensors" },
        { "load_in_4bit|load_in_8bit|_load_in_4bit", "bitsandbytes" },
        { "weight_block_size|fmt", "fp8" },
        { "zero_point|w_bit", "awq" },
        { "desc_act|damp_percent|checkpoint_format", "gptq" },
        { "bits", "mlx" },
        { "mode", "mlx" },
    };

    for (size_t i = 0; i < COUNT_OF(signs); i++) {
        if (block_fact(block, signs[i].keys) != NULL)
            return method_named(signs[i].method);
    }
    return NULL;
}

/* What tools call the list of modules that they left as they were. */
static void
leave_out(const struct block *block, struct checkpoint *checkpoint)
{
    static const char *const keys[] = { "modules_to_not_convert",
                                        "llm_int8_skip_modules",
                                        "ignore",
                                        "ignored_layers",
                                        "exclude_modules",
                                        "exclude",
                                        "skip_modules" };

    for (size_t k = 0; k < COUNT_OF(keys); k++) {
        const struct fact *list = block_fact(block, keys[k]);

        if (list == NULL || list->kind != FACT_LIST)
            continue;
        size_t length = strlen(list->path);
        uint32_t seen = 0;
        for (size_t i = (size_t)(list - block->facts->items) + 1; i < block->facts->count; i++) {
            const struct fact *fact = &block->facts->items[i];

            if (strncmp(fact->path, list->path, length) != 0)
                break;
            seen++;
            if (fact->kind == FACT_TEXT)
                checkpoint_rule(checkpoint, fact->text, false, STORAGE_NATIVE);
        }
        if (seen < list->integer) /* too long to have been opened */
            checkpoint->not_matched += (uint32_t)u64_min((uint64_t)list->integer - seen, UINT32_MAX / 2);
    }
}

bool
quantization_apply(const struct block *block, struct checkpoint *checkpoint, const char **ret_method)
{
    const char *name = block_word(block, "quant_method");
    const struct method *method = name[0] != '\0' ? method_named(name) : method_by_keys(block);

    if (method == NULL || !method->apply(block, checkpoint))
        return false;
    leave_out(block, checkpoint);
    *ret_method = method->name;
    return true;
}
