/* Groups of targets with a description of their weights (neuralmagic/compressed-tensors
 * src/compressed_tensors/quantization/quant_config.py). */
#include <string.h>
#include <strings.h>

#include "service/base/text.h"
#include "service/model/quantization_methods.h"

/* What one group keeps its weights in; WEIGHT_UNSAID when it keeps them in a way that is not known. */
struct group {
    const struct block *block;
    bool is_float, packed, own_inputs, static_inputs;
    int64_t bits;
    int32_t size;
    const char *strategy;
};

static struct group
group_of(const struct block *block, const char *whole_format)
{
    const char *format = block_word(block, "format");
    struct group group = { .block = block };

    if (format[0] == '\0')
        format = whole_format;
    group.is_float = strcasecmp(block_word(block, "weights/type"), "float") == 0;
    group.packed = strstr(format, "pack-quantized") != NULL;
    group.bits = block_number(block, "weights/num_bits", 0);
    int64_t size = block_number(block, "weights/group_size", 0);
    group.size = size > 0 && size <= 1 << 20 ? (int32_t)size : 0;
    group.strategy = block_word(block, "weights/strategy");
    group.own_inputs = block_fact(block, "input_activations") != NULL;
    const struct fact *dynamic = block_fact(block, "input_activations/dynamic");
    group.static_inputs = group.own_inputs && dynamic != NULL && dynamic->kind == FACT_BOOL && dynamic->integer == 0;
    return group;
}

/* Floats of 4 bits: scales of 8 bits for 32 values, or for 16 with one of FP32 for the matrix and one for its inputs.
 */
static enum weight_format
storage_of_fp4(const struct group *group, const char *format, struct weight_storage *ret_storage)
{
    if (strstr(format, "mxfp4") != NULL || group->size == 32) {
        *ret_storage = weight_storage_groups(4, 32, 8, 0);
        return WEIGHT_MXFP4;
    }
    *ret_storage = weight_storage_groups(4, group->size > 0 ? group->size : 16, 8, 0);
    ret_storage->tensor_bits = group->own_inputs ? 64 : 32;
    return WEIGHT_NVFP4;
}

/* Scales are of the weights' own 16-bit type, by tensor, output, group or block; zero points of integers are packed
 * where the values are. */
static enum weight_format
storage_of_group(const struct group *group, const char *format, struct weight_storage *ret_storage)
{
    uint32_t bits = (uint32_t)group->bits;
    const struct fact *symmetric = block_fact(group->block, "weights/symmetric");
    bool zero = !group->is_float && symmetric != NULL && symmetric->kind == FACT_BOOL && symmetric->integer == 0;
    uint32_t zero_bits = zero ? (group->packed ? bits : 8) : 0;

    if (group->bits < 2 || group->bits > 8 || (group->is_float && bits != 4 && bits != 8))
        return WEIGHT_UNSAID;
    if (group->is_float && bits == 4)
        return storage_of_fp4(group, format, ret_storage);
    if (strcmp(group->strategy, "block") == 0)
        *ret_storage =
            weight_storage_blocks(bits, (int32_t)block_number(group->block, "weights/block_structure/1", 128),
                                  (int32_t)block_number(group->block, "weights/block_structure/0", 128), 16);
    else if (strcmp(group->strategy, "group") == 0 || group->size > 0)
        *ret_storage = weight_storage_groups(bits, group->size > 0 ? group->size : 128, 16, zero_bits);
    else if (strcmp(group->strategy, "channel") == 0)
        *ret_storage = weight_storage_groups(bits, WHOLE_LENGTH, 16, zero_bits);
    else
        *ret_storage = weight_storage_blocks(bits, WHOLE_LENGTH, WHOLE_LENGTH, 16);
    if (group->packed && !group->is_float)
        ret_storage->tensor_bits += 128; /* weight_shape: two integers of 64 bits */
    if (strcasecmp(block_word(group->block, "weights/actorder"), "group") == 0)
        ret_storage->input_bits = 32; /* weight_g_idx */
    if (group->static_inputs)
        ret_storage->tensor_bits += 16;
    return group->is_float ? WEIGHT_FP8 : quantization_integer_format(group->bits);
}

/* Targets are classes of modules ("Linear") or patterns of names; without any, all linears. */
static void
apply_targets(const struct group *group, bool by_class, uint8_t storage, struct checkpoint *checkpoint)
{
    const struct fact *targets = block_fact(group->block, "targets");
    int64_t count = targets != NULL && targets->kind == FACT_LIST ? targets->integer : 0;

    if (count == 0 && by_class) {
        checkpoint_linears(checkpoint, storage);
        checkpoint->head = storage;
    }
    for (int64_t i = 0; i < count && i < 4096; i++) {
        char key[32];
        const struct fact *target;

        text_format(key, sizeof(key), "targets/%lld", (long long)i);
        target = block_fact(group->block, key);
        if (target == NULL || target->kind != FACT_TEXT)
            continue;
        bool is_class = strcmp(target->text, "Linear") == 0;
        if (is_class != by_class)
            continue;
        if (is_class) {
            checkpoint_linears(checkpoint, storage);
            checkpoint->head = storage;
        } else {
            checkpoint_rule(checkpoint, target->text, false, storage);
        }
    }
}

bool
quantization_apply_groups(const struct block *block, struct checkpoint *checkpoint)
{
    const char *format = block_word(block, "format");
    bool any = false;
    struct block groups, one;

    if (!block_inside(block, "config_groups", &groups))
        return false;
    for (int by_class = 1; by_class >= 0; by_class--) { /* names say more than classes */
        const struct fact *fact;
        const char *name;
        size_t at = 0;

        while (block_member(&groups, &at, &fact, &name)) {
            struct weight_storage storage;

            if (!block_of_fact(&groups, fact, &one))
                continue;
            struct group group = group_of(&one, format);
            const char *own_format = block_word(&one, "format");
            enum weight_format nearest =
                storage_of_group(&group, own_format[0] != '\0' ? own_format : format, &storage);
            if (nearest == WEIGHT_UNSAID)
                continue;
            apply_targets(&group, by_class == 1, checkpoint_storage(checkpoint, storage, nearest), checkpoint);
            any = true;
        }
    }
    return any;
}
