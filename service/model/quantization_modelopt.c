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

/* An algorithm by its name; WEIGHT_UNSAID when it is not known. */
static enum weight_format
find_algorithm(const char *name, const struct block *block, struct weight_storage *ret_storage)
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

/* Each member of quantized_layers names a module and its algorithm. */
static bool
apply_layers(const struct block *block, struct checkpoint *checkpoint)
{
    struct block layers, one;
    const struct fact *fact;
    const char *name;
    size_t at = 0;

    if (!block_inside(block, "quantized_layers", &layers))
        return false;
    while (block_member(&layers, &at, &fact, &name)) {
        struct weight_storage storage;

        if (!block_of_fact(&layers, fact, &one))
            continue;
        enum weight_format format = find_algorithm(block_word(&one, "quant_algo"), &one, &storage);
        if (format == WEIGHT_UNSAID)
            checkpoint->not_matched++;
        else
            checkpoint_rule(checkpoint, name, false, checkpoint_storage(checkpoint, storage, format));
    }
    return true;
}

bool
quantization_apply_modelopt(const struct block *block, struct checkpoint *checkpoint)
{
    struct weight_storage storage;
    enum weight_format format = find_algorithm(block_word(block, "quant_algo"), block, &storage);

    if (format == WEIGHT_UNSAID)
        return apply_layers(block, checkpoint) || quantization_apply_groups(block, checkpoint);
    checkpoint_linears(checkpoint, checkpoint_storage(checkpoint, storage, format));
    return true;
}

/* Scale and offset of 16 bits a group, or the micro-scaled formats (ml-explore/mlx python/mlx/nn/layers/quantized.py);
 * WEIGHT_UNSAID when the bits are none. What a module does not say is as `usual`. */
static enum weight_format
mlx_storage(const struct block *block, const struct weight_storage *usual, struct weight_storage *ret_storage)
{
    const char *mode = block_word(block, "mode");
    int64_t bits = block_number(block, "bits", usual->value_bits > 0 ? usual->value_bits : 4);
    int32_t group = quantization_group(block, usual->block_inputs > 0 ? usual->block_inputs : 64);

    if (bits < 2 || bits > 8)
        return WEIGHT_UNSAID;
    if (strcmp(mode, "mxfp4") == 0 || strcmp(mode, "mxfp8") == 0) {
        *ret_storage = weight_storage_groups(mode[4] == '4' ? 4 : 8, 32, 8, 0);
        return mode[4] == '4' ? WEIGHT_MXFP4 : WEIGHT_FP8;
    }
    if (strcmp(mode, "nvfp4") == 0) {
        *ret_storage = weight_storage_groups(4, 16, 8, 0);
        return WEIGHT_NVFP4;
    }
    *ret_storage = weight_storage_groups((uint32_t)bits, group, 16, 16);
    return quantization_integer_format(bits);
}

/* mlx-lm keeps all experts in one module: the name of one stands for it here. */
static const char *
usual_name(const char *name, char *text, size_t size)
{
    static const char word[] = "switch_mlp";
    const char *experts = strstr(name, word);

    if (experts == NULL)
        return name;
    text_format(text, size, "%.*sexperts.0%s", (int)(experts - name), name, experts + sizeof(word) - 1);
    return text;
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
        char text[FACT_PATH_SIZE];
        enum weight_format format = WEIGHT_UNSAID;

        if (block_of_fact(block, fact, &one))
            format = mlx_storage(&one, usual, &storage);
        else if (fact->kind != FACT_BOOL || fact->integer != 0)
            continue;
        checkpoint_rule(checkpoint, usual_name(name, text, sizeof(text)), false,
                        format != WEIGHT_UNSAID ? checkpoint_storage(checkpoint, storage, format) : STORAGE_NATIVE);
    }
}

bool
quantization_apply_mlx(const struct block *block, struct checkpoint *checkpoint)
{
    static const struct weight_storage unsaid;
    struct weight_storage storage;
    enum weight_format format = mlx_storage(block, &unsaid, &storage);

    if (format == WEIGHT_UNSAID)
        return false;
    uint8_t index = checkpoint_storage(checkpoint, storage, format);
    checkpoint_linears(checkpoint, index);
    checkpoint_class(checkpoint, MODULE_ROUTER, index);
    checkpoint_class(checkpoint, MODULE_SHARED_GATE, index);
    checkpoint->embedding = checkpoint->head = index;
    apply_mlx_modules(block, &storage, checkpoint);
    return true;
}
