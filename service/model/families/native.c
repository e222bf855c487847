/* params.json of Mistral and Meta, config.json of state-spaces/mamba. */
#include "service/model/families/native.h"

#include <string.h>

#include "service/base/quantity.h"
#include "service/base/text.h"
#include "service/model/families/layers.h"
#include "service/model/families/recurrent.h"

/* Keys that change the model into one that this reader does not know. */
static void
refuse_keys(struct reader *reader, const char *const *keys, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        const struct fact *fact = reader_get(reader, keys[i]);

        if (fact != NULL && fact->kind != FACT_NULL)
            reader_fault_at(reader, FAULT_MODEL_FIELD_UNSUPPORTED, fact, NULL);
    }
}

/* Without hidden_dim: two thirds of four times the width, times a factor, rounded up to whole multiples
 * (meta-llama/llama-models models/llama3/model.py, FeedForward). */
static uint32_t
llama_width(struct reader *reader, uint64_t hidden)
{
    uint64_t multiple = reader_count_or(reader, "multiple_of", 1, LIMIT_WIDTH, 256);
    uint64_t thirds = 8 * hidden / 3;
    uint64_t width = (uint64_t)(reader_factor(reader, "ffn_dim_multiplier") * (double)thirds);

    return (uint32_t)u64_min(u64_ceil_div(width, multiple) * multiple, LIMIT_WIDTH);
}

/* -1 in the files of Llama 1 and 2: their tokenizer's size. */
static uint32_t
llama_vocabulary(struct reader *reader)
{
    const struct fact *stated = reader_get(reader, "vocab_size");

    if (stated != NULL && stated->kind == FACT_INTEGER && stated->integer == -1)
        return 32000;
    return reader_count(reader, "vocab_size", 1, LIMIT_VOCABULARY);
}

static void
read_experts(struct reader *reader, struct layer_kind *kind)
{
    if (reader_get(reader, "moe") == NULL || !reader_enter(reader, "moe"))
        return;
    reader->class_defaults = false;
    kind->mlp = MLP_EXPERTS;
    kind->expert_size = kind->intermediate_size;
    kind->intermediate_size = 0;
    kind->expert_count = reader_count(reader, "num_experts", 1, LIMIT_EXPERTS);
    kind->experts_per_token = reader_count(reader, "num_experts_per_tok", 1, LIMIT_EXPERTS);
    if (kind->experts_per_token > kind->expert_count)
        reader_contradiction(reader, "num_experts_per_tok", kind->experts_per_token, "at most num_experts",
                             kind->expert_count);
    reader_leave(reader);
    text_copy(reader->arch->architecture, sizeof(reader->arch->architecture), "MixtralForCausalLM");
    text_copy(reader->arch->model_type, sizeof(reader->arch->model_type), "mixtral");
}

static struct layer_kind
read_layer(struct reader *reader, uint32_t hidden)
{
    struct layer_kind kind;

    memset(&kind, 0, sizeof(kind));
    kind.attention = ATTENTION_HEADS;
    kind.head_count = reader_count(reader, "n_heads", 1, LIMIT_HEADS);
    kind.kv_head_count = reader_count_or(reader, "n_kv_heads", 1, LIMIT_HEADS, kind.head_count);
    kind.head_size = reader_count_or(reader, "head_dim", 1, LIMIT_HEAD_SIZE, 0);
    if (kind.head_count % kind.kv_head_count != 0)
        reader_contradiction(reader, "n_kv_heads", kind.kv_head_count, "divides n_heads", kind.head_count);
    if (kind.head_size == 0 && hidden % kind.head_count != 0)
        reader_contradiction(reader, "n_heads", kind.head_count, "divides dim", hidden);
    if (kind.head_size == 0)
        kind.head_size = (uint32_t)u64_max(1, hidden / kind.head_count);
    kind.window_tokens = reader_count_or(reader, "sliding_window", 1, LIMIT_CONTEXT, 0);
    kind.mlp = MLP_DENSE;
    kind.gated = true;
    kind.norm_elements = 2 * (uint64_t)hidden;
    return kind;
}

static void
read_decoder(struct reader *reader, struct layer_kind *kind)
{
    static const char *const others[] = { "vision_encoder", "multimodal", "kv_lora_rank",
                                          "q_lora_rank",    "moe_args",   "vision_num_cross_attention_layers" };
    struct model_arch *arch = reader->arch;
    struct layers layers = { .reader = reader };
    uint32_t count = reader_count(reader, "n_layers", 1, LIMIT_LAYERS);

    refuse_keys(reader, others, COUNT_OF(others));
    arch->causal = true;
    arch->vocabulary_size = llama_vocabulary(reader);
    arch->final_norm_elements = arch->hidden_size;
    arch->max_context_tokens = reader_count_or(reader, "max_position_embeddings|max_seq_len", 1, LIMIT_CONTEXT, 0);
    read_experts(reader, kind);
    layers_append_run(&layers, 0, count, kind);
}

/* mistralai/mistral-inference src/mistral_inference/args.py */
static void
read_mistral(struct reader *reader, const struct decoder *decoder)
{
    struct model_arch *arch = reader->arch;

    (void)decoder;
    arch->hidden_size = reader_count(reader, "dim", 1, LIMIT_HIDDEN);
    arch->tied_head = reader_flag_or(reader, "tied_embeddings|tie_embeddings", false);
    struct layer_kind kind = read_layer(reader, arch->hidden_size);
    kind.intermediate_size = reader_count(reader, "hidden_dim", 1, LIMIT_WIDTH);
    read_decoder(reader, &kind);
}

/* The file does not say that a head is the embedding: of what Meta published it is in the models of fewer than 32
 * layers (Llama 3.2 1B and 3B). */
static void
read_llama(struct reader *reader, const struct decoder *decoder)
{
    static const uint32_t untied_layers = 32;
    struct model_arch *arch = reader->arch;

    (void)decoder;
    arch->hidden_size = reader_count(reader, "dim", 1, LIMIT_HIDDEN);
    struct layer_kind kind = read_layer(reader, arch->hidden_size);
    kind.intermediate_size = llama_width(reader, arch->hidden_size);
    read_decoder(reader, &kind);
    arch->tied_head = arch->layer_count < untied_layers;
}

/* The tensor's rows: the vocabulary rounded up. */
static uint32_t
padded_vocabulary(struct reader *reader)
{
    uint32_t vocabulary = reader_count(reader, "vocab_size", 1, LIMIT_VOCABULARY);
    uint32_t multiple = reader_count_or(reader, "pad_vocab_size_multiple", 1, LIMIT_SMALL, 8);

    return (uint32_t)u64_ceil_div(vocabulary, multiple) * multiple;
}

/* ssm_cfg holds what differs from the defaults of mamba_ssm/modules/mamba_simple.py and mamba2.py. */
static void
read_mixer(struct reader *reader, uint32_t hidden, struct layer_kind *kind)
{
    bool entered = reader_get(reader, "ssm_cfg") != NULL && reader_enter(reader, "ssm_cfg");
    const char *layer = entered ? reader_word_or(reader, "layer", "Mamba1") : "Mamba1";
    bool second = strcmp(layer, "Mamba2") == 0;
    struct mamba_sizes sizes = { .hidden = hidden };
    const struct fact *rank = entered ? reader_get(reader, "dt_rank") : NULL;

    if (!second && strcmp(layer, "Mamba1") != 0)
        reader_fault(reader, FAULT_MODEL_FIELD_UNSUPPORTED, "layer", layer, "Mamba1|Mamba2");
    /* without an object all of them are missing: its keys are looked for at the root, where none stands */
    sizes.inner = (uint64_t)hidden * reader_count_or(reader, "expand", 1, 64, 2);
    sizes.state = reader_count_or(reader, "d_state", 1, LIMIT_SMALL, second ? 128 : 16);
    sizes.kernel = reader_count_or(reader, "d_conv", 1, LIMIT_SMALL, 4);
    sizes.conv_bias = reader_flag_or(reader, "conv_bias", true);
    sizes.proj_bias = reader_flag_or(reader, "bias", false);
    sizes.rank = u64_ceil_div(hidden, 16);
    if (rank != NULL && rank->kind != FACT_TEXT) /* "auto" */
        sizes.rank = reader_count(reader, "dt_rank", 1, LIMIT_WIDTH);
    sizes.groups = reader_count_or(reader, "ngroups", 1, LIMIT_HEADS, 1);
    uint32_t head_size = reader_count_or(reader, "headdim", 1, LIMIT_HEAD_SIZE, 64);
    if (second && sizes.inner % head_size != 0)
        reader_contradiction(reader, "headdim", head_size, "divides", sizes.inner);
    sizes.heads = sizes.inner / head_size;
    if (entered)
        reader_leave(reader);
    if (second)
        recurrent_mamba2_of(&sizes, "mixer", kind);
    else
        recurrent_mamba_of(&sizes, "mixer", false, kind);
    text_copy(reader->arch->architecture, sizeof(reader->arch->architecture),
              second ? "Mamba2ForCausalLM" : "MambaForCausalLM");
}

/* state-spaces/mamba mamba_ssm/models/config_mamba.py */
static void
read_mamba(struct reader *reader, const struct decoder *decoder)
{
    static const char *const empty[] = { "attn_cfg", "attn_layer_idx" };
    struct model_arch *arch = reader->arch;
    struct layers layers = { .reader = reader };
    struct layer_kind kind;
    uint32_t count = reader_count(reader, "n_layer", 1, LIMIT_LAYERS);

    (void)decoder;
    memset(&kind, 0, sizeof(kind));
    arch->causal = true;
    arch->hidden_size = reader_count(reader, "d_model", 1, LIMIT_HIDDEN);
    arch->vocabulary_size = padded_vocabulary(reader);
    arch->tied_head = reader_flag_or(reader, "tie_embeddings", true);
    for (size_t i = 0; i < COUNT_OF(empty); i++) {
        const struct fact *fact = reader_get(reader, empty[i]);

        if (fact != NULL && fact->integer != 0)
            reader_fault_at(reader, FAULT_MODEL_FIELD_UNSUPPORTED, fact, NULL);
    }
    reader_fixed(reader, "d_intermediate", "0");
    reader_fixed(reader, "rms_norm", "true");
    kind.norm_elements = arch->final_norm_elements = arch->hidden_size;
    read_mixer(reader, arch->hidden_size, &kind);
    layers_append_run(&layers, 0, count, &kind);
}

static const struct native_file {
    const char *keys[4]; /* all of them are there */
    struct family_class class;
} files[] = {
    { { "/dim", "/n_layers", "/n_heads", "/hidden_dim" }, { "MistralForCausalLM", "mistral", read_mistral, NULL } },
    { { "/dim", "/n_layers", "/n_heads", "/multiple_of" }, { "LlamaForCausalLM", "llama", read_llama, NULL } },
    { { "/d_model", "/n_layer", "/ssm_cfg", "/vocab_size" }, { "MambaForCausalLM", "mamba", read_mamba, NULL } },
};

const struct family_class *
native_family_of(const struct facts *facts)
{
    for (size_t i = 0; i < COUNT_OF(files); i++) {
        size_t found = 0;

        while (found < COUNT_OF(files[i].keys) && facts_find(facts, files[i].keys[found]) != NULL)
            found++;
        if (found == COUNT_OF(files[i].keys))
            return &files[i].class;
    }
    return NULL;
}
