/* Rules over names, applied layer by layer; then a sum. */
#include "service/model/checkpoint.h"

#include <string.h>

#include "service/base/quantity.h"
#include "service/base/text.h"
#include "service/model/name_pattern.h"
#include "service/model/params.h"

enum {
    NAME_SIZE = 128,
    MATCHING_STEPS = 1000000, /* some 20 ms; a list of 4000 names takes a quarter of it */
    STEPS_OF_NAMING = 8,      /* what making a name takes */
};

void
checkpoint_begin(const struct model_arch *arch, struct checkpoint *ret_checkpoint)
{
    ret_checkpoint->arch = arch;
    ret_checkpoint->stack = modules_stack(arch);
    for (uint32_t i = 0; i < arch->kind_count; i++)
        ret_checkpoint->module_count[i] = modules_of_layer(arch, &arch->kinds[i], ret_checkpoint->modules[i]);
    memset(ret_checkpoint->storage_of, STORAGE_NATIVE, arch->layer_count * sizeof(ret_checkpoint->storage_of[0]));
    ret_checkpoint->storages[STORAGE_NATIVE] = weight_storage_plain(arch->native_format == WEIGHT_FP32 ? 32 : 16);
    ret_checkpoint->formats[STORAGE_NATIVE] = arch->native_format;
    ret_checkpoint->storage_count = 1;
    ret_checkpoint->embedding = ret_checkpoint->head = STORAGE_NATIVE;
    ret_checkpoint->steps_left = MATCHING_STEPS;
    ret_checkpoint->not_matched = 0;
}

uint8_t
checkpoint_storage(struct checkpoint *checkpoint, struct weight_storage storage, enum weight_format nearest)
{
    for (uint32_t i = 0; i < checkpoint->storage_count; i++) {
        if (checkpoint->formats[i] == nearest && memcmp(&checkpoint->storages[i], &storage, sizeof(storage)) == 0)
            return (uint8_t)i;
    }
    if (checkpoint->storage_count == MAX_STORAGES) {
        checkpoint->not_matched++;
        return STORAGE_NATIVE;
    }
    checkpoint->storages[checkpoint->storage_count] = storage;
    checkpoint->formats[checkpoint->storage_count] = nearest;
    return (uint8_t)checkpoint->storage_count++;
}

void
checkpoint_class(struct checkpoint *checkpoint, enum module_class class, uint8_t storage)
{
    const struct model_arch *arch = checkpoint->arch;

    for (uint32_t layer = 0; layer < arch->layer_count; layer++) {
        uint32_t kind = arch->kind_of_layer[layer];

        for (uint32_t i = 0; i < checkpoint->module_count[kind]; i++) {
            if (checkpoint->modules[kind][i].class == class)
                checkpoint->storage_of[layer][i] = storage;
        }
    }
}

void
checkpoint_linears(struct checkpoint *checkpoint, uint8_t storage)
{
    static const enum module_class linears[] = { MODULE_ATTENTION, MODULE_MLP, MODULE_SHARED, MODULE_EXPERTS };

    for (size_t i = 0; i < COUNT_OF(linears); i++)
        checkpoint_class(checkpoint, linears[i], storage);
}

/* "model.layers.3.", by hand: it is written for every layer that a list names. Returns its length. */
static size_t
layer_name(char *name, const char *stack, uint32_t layer)
{
    char digits[12];
    size_t length = strlen(stack);
    size_t count = 0;

    memcpy(name, stack, length);
    name[length++] = '.';
    do {
        digits[count++] = (char)('0' + layer % 10);
        layer /= 10;
    } while (layer > 0);
    while (count > 0)
        name[length++] = digits[--count];
    name[length++] = '.';
    return length;
}

/* Whether a layer's name ("model.layers.3.") ends with the part of a pattern that names it, whole components. */
static bool
names_layer(const struct name_pattern *pattern, const char *name, size_t length)
{
    size_t named = pattern->layer_end, without_dot = length - 1;

    return named <= without_dot && memcmp(name + without_dot - named, pattern->text, named) == 0 &&
           (named == without_dot || name[without_dot - named - 1] == '.');
}

/* Takes steps; false when none are left. */
static bool
may_go_on(struct checkpoint *checkpoint, uint32_t steps)
{
    bool enough = checkpoint->steps_left > steps;

    checkpoint->steps_left = enough ? checkpoint->steps_left - steps : 0;
    return enough;
}

/* Which modules of a layer a pattern means, a bit each. */
static uint32_t
modules_meant(struct checkpoint *checkpoint, const struct name_pattern *pattern, uint32_t layer)
{
    uint32_t kind = checkpoint->arch->kind_of_layer[layer];
    uint32_t meant = 0;

    for (uint32_t s = 0; s < MAX_STACKS && checkpoint->stack.layers[s] != NULL; s++) {
        char name[NAME_SIZE];
        size_t length = layer_name(name, checkpoint->stack.layers[s], layer);
        bool below = pattern->layer_end > 0;

        if (below && !names_layer(pattern, name, length))
            continue;
        for (uint32_t i = 0; i < checkpoint->module_count[kind] && may_go_on(checkpoint, below ? 1 : STEPS_OF_NAMING);
             i++) {
            const char *module = checkpoint->modules[kind][i].name;

            if (!below)
                text_copy(name + length, sizeof(name) - length, module);
            if (below ? name_pattern_matches_below(pattern, module, &checkpoint->steps_left)
                      : name_pattern_matches(pattern, name, &checkpoint->steps_left))
                meant |= UINT32_C(1) << i;
        }
    }
    return meant;
}

static void
set_modules(struct checkpoint *checkpoint, uint32_t layer, uint32_t meant, uint8_t storage)
{
    for (uint32_t i = 0; meant != 0; i++, meant >>= 1) {
        if ((meant & 1) != 0)
            checkpoint->storage_of[layer][i] = storage;
    }
}

static void
rule_for_layers(struct checkpoint *checkpoint, const struct name_pattern *pattern, uint8_t storage)
{
    const struct model_arch *arch = checkpoint->arch;
    uint32_t of_kind[MAX_LAYER_KINDS];
    bool known[MAX_LAYER_KINDS] = { false };

    for (uint32_t layer = 0; layer < arch->layer_count && checkpoint->steps_left > 0; layer++) {
        uint32_t kind = arch->kind_of_layer[layer];

        if (pattern->tells_layers_apart || !known[kind])
            of_kind[kind] = modules_meant(checkpoint, pattern, layer);
        known[kind] = true;
        set_modules(checkpoint, layer, of_kind[kind], storage);
    }
}

void
checkpoint_rule(struct checkpoint *checkpoint, const char *pattern, bool is_expression, uint8_t storage)
{
    struct name_pattern read;

    name_pattern_read(pattern, is_expression, &read);
    if (!read.understood || checkpoint->steps_left == 0) {
        checkpoint->not_matched++;
        return;
    }
    if (read.layer != PATTERN_EVERY_LAYER) {
        if ((uint32_t)read.layer < checkpoint->arch->layer_count)
            set_modules(checkpoint, (uint32_t)read.layer, modules_meant(checkpoint, &read, (uint32_t)read.layer),
                        storage);
        return;
    }
    rule_for_layers(checkpoint, &read, storage);
    if (name_pattern_matches(&read, checkpoint->stack.embedding, &checkpoint->steps_left))
        checkpoint->embedding = storage;
    if (name_pattern_matches(&read, checkpoint->stack.head, &checkpoint->steps_left))
        checkpoint->head = storage;
    if (checkpoint->steps_left == 0)
        checkpoint->not_matched++;
}

/* Bytes of the matrices of a layer, to its parts; how many elements they have, so that the rest is known. */
static void
weigh_layer(const struct checkpoint *checkpoint, uint32_t layer, const struct layer_params *params,
            struct stored_layers *stored)
{
    const struct model_arch *arch = checkpoint->arch;
    uint32_t kind = arch->kind_of_layer[layer];
    const struct weight_storage *native = &checkpoint->storages[STORAGE_NATIVE];
    uint64_t native_bytes = native->value_bits / 8;
    struct stored_layers elements = { 0 }, bytes = { 0 };

    for (uint32_t i = 0; i < checkpoint->module_count[kind]; i++) {
        const struct module *module = &checkpoint->modules[kind][i];
        const struct weight_storage *storage = &checkpoint->storages[checkpoint->storage_of[layer][i]];
        uint64_t *to_bytes[MODULE_CLASS_COUNT] = { &bytes.attention, &bytes.mlp,     &bytes.mlp,
                                                   &bytes.mlp,       &bytes.experts, &bytes.router };
        uint64_t *to_elements[MODULE_CLASS_COUNT] = { &elements.attention, &elements.mlp,     &elements.mlp,
                                                      &elements.mlp,       &elements.experts, &elements.router };
        uint64_t one = weight_storage_bytes(storage, module->inputs, module->outputs);
        uint64_t size = u64_mul_sat(module->inputs, module->outputs);

        *to_bytes[module->class] = u64_add_sat(*to_bytes[module->class], u64_mul_sat(module->count, one));
        *to_elements[module->class] = u64_add_sat(*to_elements[module->class], u64_mul_sat(module->count, size));
    }
    /* biases, and what else of a part is no matrix */
    uint64_t experts = u64_mul_sat(arch->kinds[kind].expert_count, params->expert);
    uint64_t *parts[] = { &stored->attention, &stored->mlp, &stored->experts, &stored->router };
    const uint64_t counted[] = { params->attention, params->mlp, experts, params->router };
    const uint64_t seen[] = { elements.attention, elements.mlp, elements.experts, elements.router };
    const uint64_t weighed[] = { bytes.attention, bytes.mlp, bytes.experts, bytes.router };
    for (size_t i = 0; i < COUNT_OF(parts); i++) {
        uint64_t rest = counted[i] > seen[i] ? counted[i] - seen[i] : 0;

        *parts[i] = u64_add_sat(*parts[i], u64_add_sat(weighed[i], u64_mul_sat(rest, native_bytes)));
    }
    stored->norms = u64_add_sat(stored->norms, u64_mul_sat(params->norms, native_bytes));
}

/* Bits of an element in the mean; the native ones when there is none. */
static double
mean_bits(double bytes, double elements, double native)
{
    return elements > 0 ? bytes * 8 / elements : native;
}

static void
fill_means(const struct checkpoint *checkpoint, const struct model_params *params, struct stored_weights *stored)
{
    const struct model_arch *arch = checkpoint->arch;
    double native = checkpoint->storages[STORAGE_NATIVE].value_bits;
    double linear[2] = { 0, 0 }, latent[2] = { 0, 0 }, experts[2] = { 0, 0 };
    double plain[2] = { (double)stored->embedding + (double)stored->head,
                        (double)params->embedding + (double)params->head };
    double outside = (double)params->position + (double)params->final_norm + (double)params->extra;

    plain[0] += outside * native / 8;
    plain[1] += outside;
    for (uint32_t i = 0; i < arch->kind_count; i++) {
        const struct stored_layers *bytes = &stored->kinds[i];
        const struct layer_params *layer = &params->layers[i];
        double *attention = arch->kinds[i].attention == ATTENTION_LATENT ? latent : linear;
        double count = arch->kinds[i].count;

        attention[0] += (double)bytes->attention;
        attention[1] += count * (double)layer->attention;
        linear[0] += (double)bytes->mlp;
        linear[1] += count * (double)layer->mlp;
        experts[0] += (double)bytes->experts;
        experts[1] += count * (double)layer->expert * arch->kinds[i].expert_count;
        plain[0] += (double)bytes->router + (double)bytes->norms;
        plain[1] += count * ((double)layer->router + (double)layer->norms);
    }
    stored->linear_bits = mean_bits(linear[0], linear[1], native);
    stored->latent_bits = mean_bits(latent[0], latent[1], native);
    stored->expert_bits = mean_bits(experts[0], experts[1], native);
    stored->plain_bits = mean_bits(plain[0], plain[1], native);
}

/* The format of most elements that are not native. */
static enum weight_format
most_format(const struct checkpoint *checkpoint)
{
    const struct model_arch *arch = checkpoint->arch;
    double elements[WEIGHT_FORMAT_COUNT] = { 0 };
    enum weight_format most = arch->native_format;

    for (uint32_t layer = 0; layer < arch->layer_count; layer++) {
        uint32_t kind = arch->kind_of_layer[layer];

        for (uint32_t i = 0; i < checkpoint->module_count[kind]; i++) {
            const struct module *module = &checkpoint->modules[kind][i];
            uint8_t storage = checkpoint->storage_of[layer][i];

            if (storage != STORAGE_NATIVE)
                elements[checkpoint->formats[storage]] +=
                    (double)module->inputs * (double)module->outputs * (double)module->count;
        }
    }
    for (int format = WEIGHT_UNSAID + 1; format < WEIGHT_FORMAT_COUNT; format++) {
        if (elements[format] > 0 && (most == arch->native_format || elements[format] > elements[most]))
            most = (enum weight_format)format;
    }
    return most;
}

enum weight_format
checkpoint_weigh(const struct checkpoint *checkpoint, struct stored_weights *ret_stored)
{
    const struct model_arch *arch = checkpoint->arch;
    struct model_params params = model_params_count(arch);
    uint64_t width = arch->embedding_size > 0 ? arch->embedding_size : arch->hidden_size;

    memset(ret_stored->kinds, 0, sizeof(ret_stored->kinds));
    for (uint32_t layer = 0; layer < arch->layer_count; layer++) {
        uint32_t kind = arch->kind_of_layer[layer];

        weigh_layer(checkpoint, layer, &params.layers[kind], &ret_stored->kinds[kind]);
    }
    ret_stored->embedding =
        weight_storage_bytes(&checkpoint->storages[checkpoint->embedding], width, arch->vocabulary_size);
    ret_stored->head =
        arch->tied_head ? 0
                        : weight_storage_bytes(&checkpoint->storages[checkpoint->head], width, arch->vocabulary_size);
    fill_means(checkpoint, &params, ret_stored);
    ret_stored->packed = true;
    return most_format(checkpoint);
}
