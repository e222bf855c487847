/* Blocks of pytorch/ao and huggingface/optimum-quanto: a kind of weights by its name, for all linears. */
#include <string.h>
#include <strings.h>

#include "service/model/quantization_methods.h"

/* A word of a longer name, whatever its case. */
static bool
says(const char *name, const char *word)
{
    size_t length = strlen(word);

    for (; *name != '\0'; name++) {
        if (strncasecmp(name, word, length) == 0)
            return true;
    }
    return false;
}

static bool
use(struct checkpoint *checkpoint, struct weight_storage storage, enum weight_format nearest)
{
    checkpoint_linears(checkpoint, checkpoint_storage(checkpoint, storage, nearest));
    return true;
}

/* torchao/quantization/quant_api.py: integers of 4 bits in groups with scale and zero point of 16, of 8 bits with a
 * scale an output; FP8 with a scale of FP32 an output, or for the matrix. */
bool
quantization_apply_torchao(const struct block *block, struct checkpoint *checkpoint)
{
    const char *name = block_word(block, "quant_type/default/_type|quant_type");
    struct block data = *block;
    struct weight_storage fp8 = weight_storage_groups(8, WHOLE_LENGTH, 32, 0);

    if (!block_inside(block, "quant_type/default/_data", &data))
        (void)block_inside(block, "quant_type_kwargs", &data);
    if (says(name, "intx"))
        return false;
    if (says(name, "int4"))
        return use(checkpoint, weight_storage_groups(4, quantization_group(&data, 128), 16, 16), WEIGHT_INT4_GPTQ);
    if (says(name, "float8")) {
        const char *granularity = block_word(&data, "granularity/0/_type|granularity/_type");

        if (!says(granularity, "row")) {
            fp8 = weight_storage_plain(8);
            fp8.tensor_bits = 32;
        }
        return use(checkpoint, fp8, WEIGHT_FP8);
    }
    if (says(name, "int8"))
        return use(checkpoint, weight_storage_groups(8, WHOLE_LENGTH, 16, 0), WEIGHT_INT8);
    return false;
}

/* optimum/quanto/tensor/weights: 4 bits in groups of 128 with scale and shift of 16, 8 bits with a scale an output. */
bool
quantization_apply_quanto(const struct block *block, struct checkpoint *checkpoint)
{
    const char *weights = block_word(block, "weights");

    if (says(weights, "int4"))
        return use(checkpoint, weight_storage_groups(4, 128, 16, 16), WEIGHT_INT4_GPTQ);
    if (says(weights, "int8"))
        return use(checkpoint, weight_storage_groups(8, WHOLE_LENGTH, 16, 0), WEIGHT_INT8);
    if (says(weights, "float8"))
        return use(checkpoint, weight_storage_groups(8, WHOLE_LENGTH, 16, 0), WEIGHT_FP8);
    return false;
}
