/* Llama-Nemotron of neural architecture search: every block says whether it has attention and an MLP, in how many heads
 * queries share keys, and how wide the MLP is (arXiv:2411.19146 section 2; arXiv:2505.00949).
 * Source: modeling_decilm.py and block_config.py of nvidia/Llama-3_3-Nemotron-Super-49B-v1. */
#include <stddef.h>
#include <string.h>

#include "service/base/quantity.h"
#include "service/base/text.h"
#include "service/model/families/config.h"
#include "service/model/families/layers.h"
#include "service/model/families/tables.h"
#include "service/model/families/text_model.h"

enum { KEY_SIZE = 64, WIDTH_MULTIPLE = 256 };

/* What tells one block from another; 0: it has none. */
struct block {
    uint32_t sharing; /* query heads that share a key head */
    uint32_t width;   /* of the MLP */
};

/* A key of block i; `key` holds KEY_SIZE bytes. */
static const char *
key_of(char *key, uint32_t index, const char *name)
{
    text_format(key, KEY_SIZE, "block_configs/%u/%s", index, name);
    return key;
}

/* Keys that would make the block another one. */
static void
refuse_others(struct reader *reader, uint32_t index)
{
    static const char *const flags[] = { "attention/replace_with_linear", "ffn/replace_with_linear",
                                         "attention/unshifted_sink", "attention/use_prefill_window_in_sink_attention" };
    static const char *const absent[] = { "attention/window_length", "attention/num_sink_tokens", "attention/sparsify",
                                          "ffn/sparsify", "parallel_blocks" };
    char key[KEY_SIZE];

    for (size_t i = 0; i < COUNT_OF(flags); i++)
        reader_fixed(reader, key_of(key, index, flags[i]), "false");
    for (size_t i = 0; i < COUNT_OF(absent); i++) {
        const struct fact *fact = reader_get(reader, key_of(key, index, absent[i]));

        if (fact != NULL)
            reader_fault_at(reader, FAULT_MODEL_FIELD_UNSUPPORTED, fact, "null");
    }
}

/* Two thirds of a multiple of the hidden size, up to the next 256. */
static uint32_t
read_width(struct reader *reader, uint32_t index, uint32_t hidden)
{
    char key[KEY_SIZE];
    const struct fact *multiple = reader_get(reader, key_of(key, index, "ffn/ffn_mult"));
    double width;

    if (multiple == NULL) {
        reader_fault(reader, FAULT_MODEL_FIELD_MISSING, key, NULL, "number above 0");
        return 1;
    }
    width = multiple->kind == FACT_REAL || multiple->kind == FACT_INTEGER ? 2 * multiple->real * hidden / 3 : 0;
    if (!(width >= 1 && width <= LIMIT_WIDTH)) {
        reader_fault_at(reader, FAULT_OUT_OF_RANGE, multiple, "number above 0");
        return 1;
    }
    return (uint32_t)(u64_ceil_div((uint64_t)width, WIDTH_MULTIPLE) * WIDTH_MULTIPLE);
}

static struct block
read_block(struct reader *reader, uint32_t index, uint32_t hidden, uint32_t heads)
{
    struct block block = { 0, 0 };
    char key[KEY_SIZE];

    refuse_others(reader, index);
    if (!reader_flag_or(reader, key_of(key, index, "attention/no_op"), false)) {
        block.sharing = reader_count(reader, key_of(key, index, "attention/n_heads_in_group"), 1, LIMIT_HEADS);
        config_divides_heads(reader, key, block.sharing, heads);
    }
    if (!reader_flag_or(reader, key_of(key, index, "ffn/no_op"), false))
        block.width = read_width(reader, index, hidden);
    return block;
}

static struct layer_kind
kind_of(const struct block *block, uint32_t hidden, uint32_t heads, uint32_t head_size)
{
    struct layer_kind kind;

    memset(&kind, 0, sizeof(kind));
    if (block->sharing > 0) {
        kind.attention = ATTENTION_HEADS;
        kind.head_count = heads;
        kind.kv_head_count = heads / block->sharing;
        kind.head_size = head_size;
        kind.norm_elements += hidden;
    }
    if (block->width > 0) {
        kind.mlp = MLP_DENSE;
        kind.gated = true;
        kind.intermediate_size = block->width;
        kind.norm_elements += hidden;
    }
    return kind;
}

static void
read_blocks(struct reader *reader, uint32_t layers, uint32_t heads, uint32_t head_size)
{
    struct layer_sorts sorts = { .count = 0 };
    struct layers list = { .reader = reader };
    uint32_t hidden = reader->arch->hidden_size, sort;
    uint32_t told = reader_list_length(reader, "block_configs", MAX_LAYERS);

    if (told != layers)
        reader_contradiction(reader, "block_configs", told, "num_hidden_layers =", layers);
    for (uint32_t i = 0; i < told && i < layers; i++) {
        struct block block = read_block(reader, i, hidden, heads);
        struct layer_kind kind = kind_of(&block, hidden, heads, head_size);

        if (!layer_sorts_find(&sorts, reader, "block_configs", (uint64_t)block.sharing << 32 | block.width, &sort))
            return;
        layers_append(&list, sort, &kind);
    }
}

static void
read_deci(struct reader *reader, const struct decoder *traits)
{
    uint32_t layers = reader_count(reader, "num_hidden_layers", 1, LIMIT_LAYERS);
    uint32_t heads = reader_count(reader, "num_attention_heads", 1, LIMIT_HEADS);

    (void)traits;
    text_model_read_ends(reader, reader_count(reader, "hidden_size", 1, LIMIT_HIDDEN), 0, "max_position_embeddings");
    reader_fixed(reader, "attention_bias", "false");
    reader_fixed(reader, "mlp_bias", "false");
    uint32_t head_size = reader_count_or(reader, "head_dim", 1, LIMIT_HEAD_SIZE,
                                         (uint32_t)u64_max(reader->arch->hidden_size / heads, 1));
    read_blocks(reader, layers, heads, head_size);
}

const struct family_class family_deci[] = {
    { "DeciLMForCausalLM", "nemotron-nas", read_deci, NULL },
    { NULL, NULL, NULL, NULL },
};
