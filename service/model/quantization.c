/* The stored format from dtype and quantization_config, in the spellings that tools write. */
#include "service/model/quantization.h"

#include <string.h>
#include <strings.h>

#include "service/base/quantity.h"
#include "service/base/text.h"

struct named_format {
    const char *name;
    enum weight_format format;
};

static const struct named_format dtypes[] = {
    { "bfloat16", WEIGHT_BF16 }, { "float16", WEIGHT_FP16 }, { "half", WEIGHT_FP16 },
    { "float32", WEIGHT_FP32 },  { "float", WEIGHT_FP32 },
};

/* quant_method; UNSAID: the number of bits decides */
static const struct named_format methods[] = {
    { "awq", WEIGHT_UNSAID },
    { "gptq", WEIGHT_UNSAID },
    { "fp8", WEIGHT_FP8 },
    { "fbgemm_fp8", WEIGHT_FP8 },
    { "finegrained_fp8", WEIGHT_FP8 },
    { "bitsandbytes", WEIGHT_UNSAID },
    { "mxfp4", WEIGHT_MXFP4 },
    { "modelopt", WEIGHT_UNSAID },
    { "modelopt_fp4", WEIGHT_NVFP4 },
    { "nvfp4", WEIGHT_NVFP4 },
    { "eetq", WEIGHT_INT8 },
    { "auto-round", WEIGHT_UNSAID },
    { "intel/auto-round", WEIGHT_UNSAID },
    { "compressed-tensors", WEIGHT_UNSAID },
};

/* quant_algo of modelopt (hf_quant_config.json of NVIDIA/Model-Optimizer) */
static const struct named_format algorithms[] = {
    { "FP8", WEIGHT_FP8 },
    { "FP8_PB_WO", WEIGHT_FP8 },
    { "FP8_PER_CHANNEL_PER_TOKEN", WEIGHT_FP8 },
    { "NVFP4", WEIGHT_NVFP4 },
    { "NVFP4_AWQ", WEIGHT_NVFP4 },
    { "MXFP4", WEIGHT_MXFP4 },
    { "W4A16_AWQ", WEIGHT_INT4_AWQ },
    { "W4A8_AWQ", WEIGHT_INT4_AWQ },
    { "INT4_AWQ", WEIGHT_INT4_AWQ },
    { "W8A8_SQ_PER_CHANNEL", WEIGHT_INT8 },
    { "INT8_SQ", WEIGHT_INT8 },
};

static const struct named_format *
named(const struct named_format *rows, size_t count, const char *name)
{
    for (size_t i = 0; i < count; i++) {
        if (strcasecmp(rows[i].name, name) == 0)
            return &rows[i];
    }
    return NULL;
}

/* Facts of a block, quietly: a value of another type than expected says nothing. */
struct block {
    const struct facts *facts;
    char path[FACT_PATH_SIZE / 2];
};

static const struct fact *
block_fact(const struct block *block, const char *key)
{
    char path[FACT_PATH_SIZE];

    text_format(path, sizeof(path), "%s/%s", block->path, key);
    return facts_get(block->facts, path);
}

static const char *
block_word(const struct block *block, const char *key)
{
    const struct fact *fact = block_fact(block, key);

    return fact != NULL && fact->kind == FACT_TEXT ? fact->text : "";
}

static bool
block_flag(const struct block *block, const char *key)
{
    const struct fact *fact = block_fact(block, key);

    return fact != NULL && fact->kind == FACT_BOOL && fact->integer != 0;
}

/* Bits: "bits": 4, or "int4" as some tools write; 0 when unsaid. */
static int64_t
block_bits(const struct block *block, const char *key)
{
    const struct fact *fact = block_fact(block, key);

    if (fact != NULL && fact->kind == FACT_INTEGER)
        return fact->integer;
    if (fact != NULL && fact->kind == FACT_TEXT)
        return strstr(fact->text, "4") != NULL ? 4 : strstr(fact->text, "8") != NULL ? 8 : 0;
    return 0;
}

/* The weights of the first group of a compressed-tensors or modelopt block. */
static enum weight_format
format_of_group(const struct block *block)
{
    const char *type = block_word(block, "config_groups/group_0/weights/type");
    int64_t bits = block_bits(block, "config_groups/group_0/weights/num_bits");

    if (strcmp(type, "float") == 0)
        return bits == 8 ? WEIGHT_FP8 : bits == 4 ? WEIGHT_NVFP4 : WEIGHT_UNSAID;
    return bits == 8 ? WEIGHT_INT8 : bits == 4 ? WEIGHT_INT4_GPTQ : WEIGHT_UNSAID;
}

static enum weight_format
format_of_bits(const struct block *block, const char *method)
{
    int64_t bits = block_bits(block, "bits");

    if (strcmp(method, "bitsandbytes") == 0)
        return block_flag(block, "load_in_8bit")                                         ? WEIGHT_INT8
               : block_flag(block, "load_in_4bit") || block_flag(block, "_load_in_4bit") ? WEIGHT_NF4
                                                                                         : WEIGHT_UNSAID;
    if (bits == 8)
        return WEIGHT_INT8;
    if (bits == 4 || bits == 0)
        return strcmp(method, "awq") == 0 ? WEIGHT_INT4_AWQ : bits == 4 ? WEIGHT_INT4_GPTQ : WEIGHT_UNSAID;
    return WEIGHT_UNSAID;
}

static enum weight_format
format_of_block(const struct block *block)
{
    const char *method = block_word(block, "quant_method");
    const struct named_format *known = named(methods, COUNT_OF(methods), method);
    const struct named_format *algorithm = named(algorithms, COUNT_OF(algorithms), block_word(block, "quant_algo"));
    enum weight_format group;

    if (known != NULL && known->format != WEIGHT_UNSAID)
        return known->format;
    if (algorithm != NULL)
        return algorithm->format;
    group = format_of_group(block);
    if (group != WEIGHT_UNSAID || (known == NULL && method[0] != '\0'))
        return group;
    return format_of_bits(block, method);
}

static const struct fact *
dtype_fact(const struct facts *facts)
{
    static const char *const paths[] = { "/torch_dtype", "/dtype", "/text_config/torch_dtype", "/text_config/dtype" };
    const struct fact *found = NULL;

    for (size_t i = 0; i < COUNT_OF(paths) && found == NULL; i++)
        found = facts_get(facts, paths[i]);
    return found;
}

void
quantization_read(struct reader *reader)
{
    static const char *const paths[] = { "/quantization_config", "/text_config/quantization_config", "/quantization",
                                         "/compression_config" };
    const struct fact *dtype = dtype_fact(&reader->facts);
    const struct named_format *native = NULL;
    struct model_arch *arch = reader->arch;

    if (dtype != NULL && dtype->kind == FACT_TEXT)
        native = named(dtypes, COUNT_OF(dtypes), dtype->text);
    arch->native_format = native != NULL ? native->format : WEIGHT_BF16;
    arch->stored_format = arch->native_format;
    for (size_t i = 0; i < COUNT_OF(paths); i++) {
        struct block block = { .facts = &reader->facts };
        const struct fact *fact = facts_get(&reader->facts, paths[i]);

        if (fact == NULL || fact->kind != FACT_OBJECT || fact->integer == 0)
            continue;
        text_copy(block.path, sizeof(block.path), paths[i]);
        enum weight_format format = format_of_block(&block);
        if (format != WEIGHT_UNSAID) {
            arch->stored_format = format;
        } else {
            char pointer[NOTE_POINTER_SIZE];

            text_format(pointer, sizeof(pointer), "%s%s", reader->pointer, paths[i]);
            struct notice *notice = notice_add(reader->notices, NOTICE_QUANTIZATION_UNKNOWN, pointer);
            text_copy(notice->text[0], sizeof(notice->text[0]), block_word(&block, "quant_method"));
        }
        return;
    }
}
