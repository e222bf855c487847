/* Where the block stands, and what a model keeps of it. */
#include "service/model/quantization.h"

#include <string.h>
#include <strings.h>

#include "service/base/quantity.h"
#include "service/base/text.h"
#include "service/model/gguf.h"
#include "service/model/params.h"
#include "service/model/quantization_methods.h"

static const struct {
    const char *name;
    enum weight_format format;
} dtypes[] = {
    { "bfloat16", WEIGHT_BF16 }, { "float16", WEIGHT_FP16 }, { "half", WEIGHT_FP16 },
    { "float32", WEIGHT_FP32 },  { "float", WEIGHT_FP32 },
};

static enum weight_format
native_format_of(const struct facts *facts)
{
    static const char *const paths[] = { "/torch_dtype", "/dtype", "/text_config/torch_dtype", "/text_config/dtype" };
    const struct fact *found = NULL;

    for (size_t i = 0; i < COUNT_OF(paths) && found == NULL; i++)
        found = facts_get(facts, paths[i]);
    if (found == NULL || found->kind != FACT_TEXT)
        return WEIGHT_BF16;
    const char *name = strncmp(found->text, "torch.", 6) == 0 ? found->text + 6 : found->text;
    for (size_t i = 0; i < COUNT_OF(dtypes); i++) {
        if (strcasecmp(dtypes[i].name, name) == 0)
            return dtypes[i].format;
    }
    return WEIGHT_BF16;
}

/* The first of several places that holds a block; inside it may be one that hf_quant_config.json wraps. */
static bool
find_block(const struct facts *facts, const char *const *paths, size_t count, struct block *ret_block)
{
    for (size_t i = 0; i < count; i++) {
        struct block outer = { .facts = facts };

        if (paths[i][0] != '\0') {
            const struct fact *fact = facts_get(facts, paths[i]);

            if (fact == NULL || !block_of_fact(&outer, fact, ret_block))
                continue;
            outer = *ret_block;
        }
        if (!block_inside(&outer, "quantization", ret_block) && !block_inside(&outer, "quantization_config", ret_block))
            *ret_block = outer;
        return true;
    }
    return false;
}

/* kv_cache_scheme, kv_cache_quant_algo: "FP8", or an object of bits and type. */
static enum kv_format
cache_format_of(const struct block *block)
{
    const char *name = block_word(block, "kv_cache_scheme|kv_cache_quant_algo|kv_cache_dtype");
    int64_t bits = block_number(block, "kv_cache_scheme/num_bits", 0);

    if (bits == 8)
        return strcasecmp(block_word(block, "kv_cache_scheme/type"), "int") == 0 ? KV_INT8 : KV_FP8;
    if (strncasecmp(name, "fp8", 3) == 0)
        return KV_FP8;
    if (strcasecmp(name, "int8") == 0)
        return KV_INT8;
    return KV_UNSAID;
}

static struct notice *
note_at(struct notices *notices, enum notice_code code, const char *pointer, const char *path, const char *text)
{
    char at[NOTE_POINTER_SIZE];

    text_format(at, sizeof(at), "%s%s", pointer, path);

    struct notice *notice = notice_add(notices, code, at);
    text_copy(notice->text[0], NOTE_TEXT_SIZE, text);
    return notice;
}

/* Weighs the checkpoint that the block describes; false when it is of a kind that is not known. */
static bool
apply_block(const struct block *block, const char *pointer, struct model_arch *arch, struct notices *notices)
{
    struct checkpoint checkpoint;
    const char *method = block_word(block, "quant_method|quant_algo");

    checkpoint_begin(arch, &checkpoint);
    if (!quantization_apply(block, &checkpoint, &method)) {
        (void)note_at(notices, NOTICE_QUANTIZATION_UNKNOWN, pointer, block->path, method);
        return false;
    }
    const struct fact *experts = facts_get(block->facts, "/expert_dtype"); /* of DeepSeek configs, beside the block */
    if (experts != NULL && experts->kind == FACT_TEXT && strcasecmp(experts->text, "fp4") == 0)
        checkpoint_class(&checkpoint, MODULE_EXPERTS,
                         checkpoint_storage(&checkpoint, weight_storage_groups(4, 32, 8, 0), WEIGHT_MXFP4));
    arch->stored_format = checkpoint_weigh(&checkpoint, &arch->stored);
    text_copy(arch->stored.method, sizeof(arch->stored.method), method);
    arch->stored.cache = cache_format_of(block);
    if (checkpoint.not_matched > 0)
        note_at(notices, NOTICE_QUANTIZATION_LIST_INCOMPLETE, pointer, block->path, method)->number[0] =
            checkpoint.not_matched;
    return true;
}

/* A word, a number or a list where a block should stand: something is meant, but nobody can know what. */
static void
note_no_block(const struct reader *reader, const char *const *paths, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        const struct fact *fact = facts_get(&reader->facts, paths[i]);
        bool said = fact != NULL && (fact->kind == FACT_TEXT ? fact->text[0] != '\0' : fact->integer != 0);

        if (said && fact->kind != FACT_OBJECT)
            (void)note_at(reader->notices, NOTICE_QUANTIZATION_UNKNOWN, reader->pointer, paths[i],
                          fact->kind == FACT_TEXT ? fact->text : "");
    }
}

void
quantization_read(struct reader *reader)
{
    static const char *const paths[] = {
        "/quantization_config",
        "/text_config/quantization_config",
        "/language_config/quantization_config",
        "/llm_config/quantization_config",
        "/quantization",
        "/compression_config",
        "/hf_quant_config",
    };
    struct model_arch *arch = reader->arch;
    struct block block;

    arch->native_format = native_format_of(&reader->facts);
    arch->stored_format = arch->native_format;
    if (find_block(&reader->facts, paths, COUNT_OF(paths), &block))
        (void)apply_block(&block, reader->pointer, arch, reader->notices);
    else
        note_no_block(reader, paths, COUNT_OF(paths));
}

void
quantization_read_beside(const struct facts *facts, const char *pointer, struct model_arch *arch,
                         struct notices *notices)
{
    static const char *const paths[] = { "" };
    enum weight_format before = arch->stored_format;
    bool was_packed = arch->stored.packed;
    struct block block;

    if (!find_block(facts, paths, COUNT_OF(paths), &block) || !apply_block(&block, pointer, arch, notices))
        return;
    if (was_packed && before != arch->stored_format) {
        struct notice *notice = notice_add(notices, NOTICE_QUANTIZATION_CONFIG_OVERRIDDEN, pointer);

        text_copy(notice->text[0], NOTE_TEXT_SIZE, weight_format_name(before));
        text_copy(notice->text[1], NOTE_TEXT_SIZE, weight_format_name(arch->stored_format));
    }
}

bool
quantization_bits(const struct model_arch *arch, enum weight_format format, struct class_bits *ret_bits)
{
    const struct stored_weights *stored = &arch->stored;

    if (arch->generic)
        return false;
    if (weight_format_is_gguf(format)) {
        *ret_bits = gguf_bits(arch, format);
        return true;
    }
    if (!stored->packed || format != arch->stored_format)
        return false;
    *ret_bits =
        (struct class_bits){ stored->linear_bits, stored->latent_bits, stored->expert_bits, stored->plain_bits };
    return true;
}

uint64_t
quantization_stored_bytes(const struct model_arch *arch)
{
    const struct stored_weights *stored = &arch->stored;
    uint64_t native = arch->native_format == WEIGHT_FP32 ? 4 : 2;
    struct model_params params = model_params_count(arch);
    uint64_t bytes = u64_add_sat(stored->embedding, stored->head);

    if (!stored->packed)
        return u64_mul_sat(params.total, native);
    bytes = u64_add_sat(bytes, u64_mul_sat(u64_add_sat(params.position, params.final_norm), native));
    bytes = u64_add_sat(bytes, u64_mul_sat(params.extra, native));
    for (uint32_t i = 0; i < arch->kind_count; i++) {
        const struct stored_layers *layers = &stored->kinds[i];

        bytes = u64_add_sat(bytes, u64_add_sat(layers->attention, layers->mlp));
        bytes = u64_add_sat(bytes, u64_add_sat(layers->experts, layers->router));
        bytes = u64_add_sat(bytes, layers->norms);
    }
    if (arch->extra_parameters < 0) /* a stated total below the counted one: taken off evenly */
        return u64_from_double((double)bytes * model_stated_share(arch, &params));
    return bytes;
}
