/* Blocks of NVIDIA's Model Optimizer and of mlx: an algorithm for all, others for modules by name. */
#include <string.h>
#include <strings.h>

#include "service/base/quantity.h"
#include "service/base/text.h"
#include "service/model/quantization_methods.h"

/* Beside FP8 and FP4 values: scales of FP32 for the matrix and for its inputs; AWQ's scale of 16 bits for each input
 * (NVIDIA/Model-Optimizer modelopt/torch/export/quant_utils.py). */
static const struct algorithm {
    const char *name;
    enum weight_format format;
    struct weight_storage storage;
} algorithms[] = {
    { "FP8", WEIGHT_FP8, { .value_bits = 8, .tensor_bits = 64 } },
    { "FP8_PB_WO", WEIGHT_FP8, { .value_bits = 8, .block_inputs = 128, .block_outputs = 128, .scale_bits = 32 } },
    { "FP8_PER_CHANNEL_PER_TOKEN",
      WEIGHT_FP8,
      { .value_bits = 8, .block_inputs = WHOLE_LENGTH, .block_outputs = 1, .scale_bits = 32 } },
    { "MXFP8", WEIGHT_FP8, { .value_bits = 8, .block_inputs = 32, .block_outputs = 1, .scale_bits = 8 } },
    { "NVFP4",
      WEIGHT_NVFP4,
      { .value_bits = 4, .block_inputs = 16, .block_outputs = 1, .scale_bits = 8, .tensor_bits = 64 } },
    { "NVFP4_SVD",
      WEIGHT_NVFP4,
      { .value_bits = 4, .block_inputs = 16, .block_outputs = 1, .scale_bits = 8, .tensor_bits = 64 } },
    { "W4A16_NVFP4",
      WEIGHT_NVFP4,
      { .value_bits = 4, .block_inputs = 16, .block_outputs = 1, .scale_bits = 8, .tensor_bits = 32 } },
    { "NVFP4_AWQ",
      WEIGHT_NVFP4,
      { .value_bits = 4,
        .block_inputs = 16,
        .block_outputs = 1,
        .scale_bits = 8,
        .tensor_bits = 64,
        .input_bits = 16 } },
    { "MXFP4", WEIGHT_MXFP4, { .value_bits = 4, .block_inputs = 32, .block_outputs = 1, .scale_bits = 8 } },
    { "W4A8_MXFP4_FP8", WEIGHT_MXFP4, { .value_bits = 4, .block_inputs = 32, .block_outputs = 1, .scale_bits = 8 } },
    { "W4A16_AWQ",
      WEIGHT_INT4_AWQ,
      { .value_bits = 4, .block_inputs = 128, .block_outputs = 1, .scale_bits = 16, .input_bits = 16 } },
    { "W4A8_AWQ",
      WEIGHT_INT4_AWQ,
      { .value_bits = 4,
        .block_inputs = 128,
        .block_outputs = 1,
        .scale_bits = 16,
        .input_bits = 16,
        .tensor_bits = 64 } },
    { "INT4_AWQ",
      WEIGHT_INT4_AWQ,
      { .value_bits = 4, .block_inputs = 128, .block_outputs = 1, .scale_bits = 16, .input_bits = 16 } },
    { "W4A16", WEIGHT_INT4_GPTQ, { .value_bits = 4, .block_inputs = 128, .block_outputs = 1, .scale_bits = 16 } },
    { "W8A16", WEIGHT_INT8, { .value_bits = 8, .block_inputs = WHOLE_LENGTH, .block_outputs = 1, .scale_bits = 16 } },
    { "W8A8_SQ_PER_CHANNEL",
      WEIGHT_INT8,
      { .value_bits = 8,
        .block_inputs = WHOLE_LENGTH,
        .block_outputs = 1,
        .scale_bits = 32,
        .input_bits = 16,
        .tensor_bits = 32 } },
    { "INT8_SQ",
      WEIGHT_INT8,
      { .value_bits = 8,
        .block_inputs = WHOLE_LENGTH,
        .block_outputs = 1,
        .scale_bits = 32,
        .input_bits = 16,
        .tensor_bits = 32 } },
};

enum weight_format
quantization_algorithm(const char *name, const struct block *block, struct weight_storage *ret_storage)
{
    for (size_t i = 0; i < COUNT_OF(algorithms); i++) {
        const struct algorithm *algorithm = &algorithms[i];

        if (strcasecmp(algorithm->name, name) != 0)
            continue;
        *ret_storage = algorithm->storage;
        if (algorithm->storage.block_outputs == 1 && algorithm->storage.block_inputs > 0)
            ret_storage->block_inputs = quantization_group(block, algorithm->storage.block_inputs);
        return algorithm->format;
    }
    return WEIGHT_UNSAID;
}

/* Each member of quantized_layers names a module and its algorithm; most of them say what the whole is. */
static enum weight_format
apply_layers(const struct block *block, struct checkpoint *checkpoint)
{
    uint32_t times[WEIGHT_FORMAT_COUNT] = { 0 };
    enum weight_format most = WEIGHT_UNSAID;
    struct block layers, one;
    const struct fact *fact;
    const char *name;
    size_t at = 0;

    if (!block_inside(block, "quantized_layers", &layers))
        return WEIGHT_UNSAID;
    while (block_member(&layers, &at, &fact, &name)) {
        struct weight_storage storage;

        if (!block_of_fact(&layers, fact, &one))
            continue;
        enum weight_format format = quantization_algorithm(block_word(&one, "quant_algo"), &one, &storage);
        if (format == WEIGHT_UNSAID)
            checkpoint->not_matched++;
        else
            checkpoint_rule(checkpoint, name, false, checkpoint_storage(checkpoint, storage));
        if (++times[format] > times[most] || most == WEIGHT_UNSAID)
            most = format;
    }
    return most;
}

enum weight_format
quantization_apply_modelopt(const struct block *block, struct checkpoint *checkpoint)
{
    struct weight_storage storage;
    enum weight_format format = quantization_algorithm(block_word(block, "quant_algo"), block, &storage);

    if (format != WEIGHT_UNSAID) {
        checkpoint_linears(checkpoint, checkpoint_storage(checkpoint, storage));
        return format;
    }
    format = apply_layers(block, checkpoint);
    if (format == WEIGHT_UNSAID)
        format = quantization_apply_groups(block, checkpoint);
    return format;
}

/* Scale and offset of 16 bits a group, or the micro-scaled formats (ml-explore/mlx python/mlx/nn/layers/quantized.py).
 */
static bool
mlx_storage(const struct block *block, const struct weight_storage *usual, struct weight_storage *ret_storage)
{
    const char *mode = block_word(block, "mode");
    int64_t bits = block_number(block, "bits", usual->value_bits > 0 ? usual->value_bits : 4);
    int32_t group = quantization_group(block, usual->block_inputs > 0 ? usual->block_inputs : 64);

    if (bits < 2 || bits > 8)
        return false;
    *ret_storage = weight_storage_groups((uint32_t)bits, group, 16, 16);
    if (strcmp(mode, "mxfp4") == 0 || strcmp(mode, "mxfp8") == 0)
        *ret_storage = weight_storage_groups(mode[4] == '4' ? 4 : 8, 32, 8, 0);
    else if (strcmp(mode, "nvfp4") == 0)
        *ret_storage = weight_storage_groups(4, 16, 8, 0);
    return true;
}

/* Members that are objects, or false, are about the module of their name. */
static void
apply_mlx_modules(const struct block *block, const struct weight_storage *usual, struct checkpoint *checkpoint)
{
    const struct fact *fact;
    const char *name;
    size_t at = 0;

    while (block_member(block, &at, &fact, &name)) {
        struct weight_storage storage;
        struct block one;
        char module[FACT_PATH_SIZE];
        const char *experts = strstr(name, "switch_mlp"); /* mlx-lm's word for all experts in one */

        if (experts != NULL) {
            text_format(module, sizeof(module), "%.*sexperts.0%s", (int)(experts - name), name,
                        experts + strlen("switch_mlp"));
            name = module;
        }
        if (fact->kind == FACT_BOOL && fact->integer == 0)
            checkpoint_rule(checkpoint, name, false, STORAGE_NATIVE);
        else if (block_of_fact(block, fact, &one) && mlx_storage(&one, usual, &storage))
            checkpoint_rule(checkpoint, name, false, checkpoint_storage(checkpoint, storage));
    }
}

enum weight_format
quantization_apply_mlx(const struct block *block, struct checkpoint *checkpoint)
{
    static const struct weight_storage unsaid;
    struct weight_storage storage;

    if (!mlx_storage(block, &unsaid, &storage))
        return WEIGHT_UNSAID;
    uint8_t index = checkpoint_storage(checkpoint, storage);
    checkpoint_linears(checkpoint, index);
    checkpoint_class(checkpoint, MODULE_ROUTER, index);
    checkpoint_class(checkpoint, MODULE_SHARED_GATE, index);
    checkpoint->embedding = checkpoint->head = index;
    apply_mlx_modules(block, &storage, checkpoint);
    if (strncmp(block_word(block, "mode"), "mxfp", 4) == 0)
        return storage.value_bits == 4 ? WEIGHT_MXFP4 : WEIGHT_FP8;
    return quantization_integer_format(storage.value_bits);
}
