/* The ladder of llama_tensor_get_type for the file types of requests, tensor by tensor. */
#include "service/model/gguf.h"

#include <string.h>

#include "service/base/quantity.h"
#include "service/model/modules.h"
#include "service/model/params.h"

enum block_type {
    BLOCK_F32 = 0,
    BLOCK_F16,
    BLOCK_Q8_0,
    BLOCK_Q6_K,
    BLOCK_Q5_1,
    BLOCK_Q5_0,
    BLOCK_Q5_K,
    BLOCK_IQ4_NL,
    BLOCK_Q4_0,
    BLOCK_Q4_K,
    BLOCK_Q3_K,
    BLOCK_Q2_K
};

/* Bits a weight, scales included, weights a block, and what stands in where rows are no whole number of blocks. */
static const struct {
    double bits;
    uint32_t block;
    enum block_type otherwise;
} types[] = {
    [BLOCK_F32] = { 32, 1, BLOCK_F32 },           [BLOCK_F16] = { 16, 1, BLOCK_F16 },
    [BLOCK_Q8_0] = { 8.5, 32, BLOCK_F16 },        [BLOCK_Q6_K] = { 6.5625, 256, BLOCK_Q8_0 },
    [BLOCK_Q5_1] = { 6, 32, BLOCK_F16 },          [BLOCK_Q5_0] = { 5.5, 32, BLOCK_F16 },
    [BLOCK_Q5_K] = { 5.5, 256, BLOCK_Q5_1 },      [BLOCK_IQ4_NL] = { 4.5, 32, BLOCK_F16 },
    [BLOCK_Q4_0] = { 4.5, 32, BLOCK_F16 },        [BLOCK_Q4_K] = { 4.5, 256, BLOCK_Q5_0 },
    [BLOCK_Q3_K] = { 3.4375, 256, BLOCK_IQ4_NL }, [BLOCK_Q2_K] = { 2.625, 256, BLOCK_IQ4_NL },
};

/* What the choice depends on beside the tensor. */
struct file {
    enum weight_format format;
    enum block_type base;
    bool falcon, shared_values, eight_experts;
    uint32_t layers, attentions; /* with value heads */
    double heads_per_value;
    struct module modules[MAX_LAYER_KINDS][MAX_MODULES]; /* of one layer of each kind */
    uint32_t module_count[MAX_LAYER_KINDS];
};

static enum block_type
base_type(enum weight_format format)
{
    switch ((int)format) {
    case WEIGHT_Q6_K:
        return BLOCK_Q6_K;
    case WEIGHT_Q5_K_M:
        return BLOCK_Q5_K;
    case WEIGHT_Q4_K_M:
        return BLOCK_Q4_K;
    case WEIGHT_Q4_0:
        return BLOCK_Q4_0;
    case WEIGHT_Q3_K_M:
        return BLOCK_Q3_K;
    case WEIGHT_Q2_K:
        return BLOCK_Q2_K;
    default:
        return BLOCK_Q8_0;
    }
}

/* The first and last eighth of the layers, and every third between them. */
static bool
gets_more_bits(uint32_t layer, uint32_t layers)
{
    return layer < layers / 8 || layer >= 7 * layers / 8 || (layer - layers / 8) % 3 == 2;
}

static enum block_type
value_type(const struct file *file, uint32_t attention)
{
    enum block_type type = file->base;

    if (file->eight_experts)
        return BLOCK_Q8_0;
    if (file->format == WEIGHT_Q2_K)
        type = file->heads_per_value >= 4 ? BLOCK_Q4_K : BLOCK_Q3_K;
    else if (file->format == WEIGHT_Q3_K_M)
        type = attention < 2 ? BLOCK_Q5_K : BLOCK_Q4_K;
    else if ((file->format == WEIGHT_Q4_K_M || file->format == WEIGHT_Q5_K_M) &&
             gets_more_bits(attention, file->attentions))
        type = BLOCK_Q6_K;
    return file->shared_values && (type == BLOCK_Q3_K || type == BLOCK_Q4_K) ? BLOCK_Q5_K : type;
}

static enum block_type
down_type(const struct file *file, uint32_t layer)
{
    bool more = gets_more_bits(layer, file->layers);

    switch ((int)file->format) {
    case WEIGHT_Q2_K:
        return BLOCK_Q3_K;
    case WEIGHT_Q3_K_M:
        return layer < file->layers / 16 ? BLOCK_Q5_K : !file->falcon || more ? BLOCK_Q4_K : BLOCK_Q3_K;
    case WEIGHT_Q4_K_M:
        if (file->falcon)
            return layer < file->layers / 16 ? BLOCK_Q6_K : more ? BLOCK_Q5_K : BLOCK_Q4_K;
        return more ? BLOCK_Q6_K : BLOCK_Q4_K;
    case WEIGHT_Q5_K_M:
        return more ? BLOCK_Q6_K : BLOCK_Q5_K;
    default:
        return file->base;
    }
}

static enum block_type
out_type(const struct file *file)
{
    bool low = file->format == WEIGHT_Q2_K || file->format == WEIGHT_Q3_K_M;

    if (file->falcon)
        return file->base;
    if (file->eight_experts)
        return low || file->format == WEIGHT_Q4_K_M ? BLOCK_Q5_K : file->base;
    return file->format == WEIGHT_Q2_K ? BLOCK_Q3_K : low ? BLOCK_Q4_K : file->base;
}

static enum block_type
joined_type(const struct file *file)
{
    switch ((int)file->format) {
    case WEIGHT_Q3_K_M:
        return BLOCK_Q4_K;
    case WEIGHT_Q4_K_M:
        return BLOCK_Q5_K;
    case WEIGHT_Q5_K_M:
        return BLOCK_Q6_K;
    default:
        return file->base;
    }
}

/* Bits of a tensor whose rows have `inputs` weights. */
static double
bits_of(enum block_type type, uint64_t inputs)
{
    while (inputs % types[type].block != 0)
        type = types[type].otherwise;
    return types[type].bits;
}

static double
module_bits(const struct file *file, const struct module *module, uint32_t layer, uint32_t attention)
{
    switch (module->role) {
    case MODULE_VALUE:
        return bits_of(value_type(file, attention), module->inputs);
    case MODULE_KEY:
        return bits_of(file->eight_experts ? BLOCK_Q8_0 : file->base, module->inputs);
    case MODULE_QUERY_KEY_VALUE:
        return bits_of(joined_type(file), module->inputs);
    case MODULE_OUT:
        return bits_of(out_type(file), module->inputs);
    case MODULE_DOWN:
        return bits_of(down_type(file, layer), module->inputs);
    case MODULE_GATING:
        return types[BLOCK_F32].bits;
    case MODULE_PLAIN:
        break;
    }
    return bits_of(file->base, module->inputs);
}

/* The output tensor, or the embedding that is one too. */
static double
output_bits(const struct file *file, uint64_t width)
{
    bool whole = width % types[file->base].block == 0;

    return bits_of(file->falcon || !whole || file->base == BLOCK_Q8_0 ? BLOCK_Q8_0 : BLOCK_Q6_K, width);
}

static bool
starts_with(const char *text, const char *start)
{
    return strncmp(text, start, strlen(start)) == 0;
}

/* Attentions that have a value tensor, or one for query, key and value: what the rule counts. */
static uint32_t
attention_count(const struct model_arch *arch)
{
    uint32_t count = 0;

    for (uint32_t i = 0; i < arch->kind_count; i++) {
        if (arch->kinds[i].attention == ATTENTION_HEADS || arch->kinds[i].attention == ATTENTION_LATENT)
            count += arch->kinds[i].count;
    }
    return count;
}

static void
file_begin(const struct model_arch *arch, enum weight_format format, struct file *ret_file)
{
    const char *class = arch->architecture;
    bool grouped = false;

    ret_file->format = format;
    ret_file->base = base_type(format);
    ret_file->layers = arch->layer_count;
    ret_file->attentions = attention_count(arch);
    ret_file->falcon = starts_with(class, "Falcon") || starts_with(class, "RW");
    ret_file->eight_experts = false;
    ret_file->heads_per_value = 1;
    for (uint32_t i = 0; i < arch->kind_count; i++) {
        const struct layer_kind *kind = &arch->kinds[i];

        ret_file->eight_experts = ret_file->eight_experts || (kind->mlp == MLP_EXPERTS && kind->expert_count == 8);
        if (kind->attention == ATTENTION_HEADS && kind->kv_head_count > 0)
            ret_file->heads_per_value = (double)kind->head_count / kind->kv_head_count;
        ret_file->module_count[i] = modules_of_layer(arch, kind, ret_file->modules[i]);
        grouped = grouped || kind->kv_head_count < kind->head_count;
    }
    /* models of 80 layers with few key heads: LLM_TYPE_70B */
    ret_file->shared_values = arch->layer_count == 80 && grouped &&
                              (starts_with(class, "Llama") || starts_with(class, "Qwen2") || class[0] == '\0');
}

/* Sums of bits and of elements. */
struct weighed {
    double bits, elements;
};

static void
add(struct weighed *weighed, double elements, double bits)
{
    weighed->bits += elements * bits;
    weighed->elements += elements;
}

/* Matrices of a layer by their class; biases and norms are FP32. */
static void
weigh_layer(const struct file *file, const struct model_arch *arch, const struct layer_params *params, uint32_t layer,
            uint32_t attention, struct weighed *classes)
{
    uint32_t index = arch->kind_of_layer[layer];
    const struct layer_kind *kind = &arch->kinds[index];
    struct weighed *linear = &classes[0], *latent = &classes[1], *experts = &classes[2], *plain = &classes[3];
    struct weighed *mixing = kind->attention == ATTENTION_LATENT ? latent : linear;
    double seen[MODULE_CLASS_COUNT] = { 0 };

    for (uint32_t i = 0; i < file->module_count[index]; i++) {
        const struct module *module = &file->modules[index][i];
        struct weighed *to[MODULE_CLASS_COUNT] = { mixing, linear, linear, linear, experts, plain };
        double elements = (double)module->inputs * (double)module->outputs * (double)module->count;

        add(to[module->class], elements, module_bits(file, module, layer, attention));
        seen[module->class] += elements;
    }
    double mlp = seen[MODULE_MLP] + seen[MODULE_SHARED] + seen[MODULE_SHARED_GATE];
    double all_experts = (double)kind->expert_count * (double)params->expert;
    add(mixing, (double)params->attention - seen[MODULE_ATTENTION], types[BLOCK_F32].bits);
    add(linear, (double)params->mlp - mlp, types[BLOCK_F32].bits);
    add(experts, all_experts - seen[MODULE_EXPERTS], types[BLOCK_F32].bits);
    add(plain, (double)params->router - seen[MODULE_ROUTER] + (double)params->norms, types[BLOCK_F32].bits);
}

static double
mean(const struct weighed *weighed, double otherwise)
{
    return weighed->elements > 0 ? weighed->bits / weighed->elements : otherwise;
}

struct class_bits
gguf_bits(const struct model_arch *arch, enum weight_format format)
{
    struct file file;
    struct model_params params = model_params_count(arch);
    struct weighed classes[4] = { { 0 } };
    uint64_t width = arch->embedding_size > 0 ? arch->embedding_size : arch->hidden_size;
    uint32_t attention = 0;

    file_begin(arch, format, &file);
    double base = types[file.base].bits, output = output_bits(&file, width);
    for (uint32_t layer = 0; layer < arch->layer_count; layer++) {
        uint32_t kind = arch->kind_of_layer[layer];

        weigh_layer(&file, arch, &params.layers[kind], layer, attention, classes);
        if (arch->kinds[kind].attention == ATTENTION_HEADS || arch->kinds[kind].attention == ATTENTION_LATENT)
            attention++;
    }
    add(&classes[3], (double)params.embedding, arch->tied_head ? output : bits_of(file.base, width));
    add(&classes[3], (double)params.head, output);
    add(&classes[3], (double)params.position + (double)params.final_norm, types[BLOCK_F32].bits);
    add(&classes[3], (double)params.extra, types[BLOCK_F16].bits); /* a tower has a file of its own (mmproj), in FP16 */
    return (struct class_bits){ mean(&classes[0], base), mean(&classes[1], base), mean(&classes[2], base),
                                mean(&classes[3], base) };
}
