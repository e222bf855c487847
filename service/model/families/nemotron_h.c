/* Nemotron-H: a string or a list says what each layer is, and each is one thing: a Mamba-2 mixer, attention, experts or
 * an MLP. Source: modeling_nemotron_h.py of nvidia/NVIDIA-Nemotron-3-Nano-30B-A3B and -Super-120B-A12B
 * (arXiv:2504.03624 section 2). */
#include <stddef.h>
#include <string.h>

#include "service/base/quantity.h"
#include "service/model/families/config.h"
#include "service/model/families/decoder_parts.h"
#include "service/model/families/layers.h"
#include "service/model/families/recurrent.h"
#include "service/model/families/tables.h"
#include "service/model/families/text_model.h"

static const struct decoder nemotron_h = {
    .kv_heads = 8,
    .head_size = 128,
    .qkv_bias = { .keys = "attention_bias" },
    .out_bias = { .keys = "attention_bias" },
};

static void
read_experts(struct reader *reader, struct layer_kind *kind)
{
    static const struct expert_keys keys = { .count = "n_routed_experts",
                                             .per_token = "num_experts_per_tok",
                                             .width = "moe_intermediate_size",
                                             .most = "at most n_routed_experts" };
    uint32_t shared = reader_count(reader, "n_shared_experts", 0, LIMIT_SMALL);

    text_model_read_experts(reader, &keys, kind);
    kind->shared_size =
        shared * reader_count_or(reader, "moe_shared_expert_intermediate_size", 0, LIMIT_WIDTH, kind->expert_size);
    /* experts may work on a narrower token: one matrix makes it, another brings it back */
    kind->expert_hidden_size = reader_count_or(reader, "moe_latent_size", 1, LIMIT_WIDTH, 0);
    kind->side_size = kind->expert_hidden_size;
    kind->side_count = kind->side_size > 0 ? 2 : 0;
    text_model_check_experts(reader, &keys, kind);
}

/* The kind of one letter; false when it is none. */
static bool
read_letter(struct reader *reader, const struct decoder *traits, const struct decoder_sizes *sizes, char letter,
            struct layer_kind *kind)
{
    memset(kind, 0, sizeof(*kind));
    kind->norm_elements = sizes->hidden;
    kind->mlp_bias = reader_flag_or(reader, "mlp_bias", false);
    switch (letter) {
    case 'M':
        recurrent_mamba2(reader, sizes->hidden, kind);
        return true;
    case '*':
        attention_read(reader, traits, sizes, kind);
        return true;
    case 'E':
        read_experts(reader, kind);
        return true;
    case '-':
        kind->mlp = MLP_DENSE;
        kind->intermediate_size = reader_count(reader, "intermediate_size", 1, LIMIT_WIDTH);
        return true;
    default:
        return false;
    }
}

static const char letters[] = "M*E-";

/* What layer i is, as a letter of the pattern; another one when it is told by a word that is not known. */
static char
letter_of(struct reader *reader, const char *pattern, uint32_t index)
{
    static const char *const words[] = { "mamba", "attention", "moe", "mlp" }; /* of the letters */
    const char *word;

    if (pattern[0] != '\0')
        return pattern[index];
    word = reader_list_word(reader, "layers_block_type", index);
    for (size_t i = 0; i < COUNT_OF(words); i++) {
        if (strcmp(word, words[i]) == 0)
            return letters[i];
    }
    return '?';
}

/* How many layers are told one by one, and by which key. */
static uint32_t
told_layers(struct reader *reader, const char **ret_pattern, const char **ret_key)
{
    *ret_pattern = reader_word_or(reader, "hybrid_override_pattern", "");
    *ret_key = **ret_pattern != '\0' ? "hybrid_override_pattern" : "layers_block_type";
    return **ret_pattern != '\0' ? (uint32_t)strnlen(*ret_pattern, MAX_LAYERS + 1)
                                 : reader_list_length(reader, "layers_block_type", MAX_LAYERS);
}

/* The layers one by one; keys of a kind that no layer is of still belong to the class. */
static void
read_pattern(struct reader *reader, const struct decoder *traits, const struct decoder_sizes *sizes)
{
    static const char *const class_keys[] = {
        "intermediate_size",
        "n_routed_experts",
        "num_experts_per_tok",
        "moe_intermediate_size",
        "n_shared_experts",
        "moe_shared_expert_intermediate_size",
        "moe_shared_expert_overlap",
        "moe_latent_size",
        "mtp_hybrid_override_pattern",
        "mtp_layers_block_type",
        "expand",
        "mamba_proj_bias",
        "mamba_num_heads",
        "mamba_head_dim",
        "n_groups",
        "ssm_state_size",
        "conv_kernel",
    };
    struct layers layers = { .reader = reader };
    const char *pattern, *key;
    uint32_t told = told_layers(reader, &pattern, &key);

    if (told != sizes->layers)
        reader_contradiction(reader, key, told, "num_hidden_layers =", sizes->layers);
    for (uint32_t i = 0; i < told && i < sizes->layers; i++) {
        char letter = letter_of(reader, pattern, i);
        const char *sort = strchr(letters, letter);
        struct layer_kind kind = { 0 };

        if (sort == NULL) {
            reader_fault(reader, FAULT_MODEL_FIELD_UNSUPPORTED, key, pattern, letters);
            return;
        }
        if (!layers_know(&layers, (uint32_t)(sort - letters)))
            (void)read_letter(reader, traits, sizes, letter, &kind);
        layers_append(&layers, (uint32_t)(sort - letters), &kind);
    }
    config_pass_over(reader, class_keys, COUNT_OF(class_keys));
}

static void
read_nemotron_h(struct reader *reader, const struct decoder *traits)
{
    struct model_arch *arch = reader->arch;
    struct decoder_sizes sizes = { 0 };

    sizes.hidden = reader_count(reader, "hidden_size", 1, LIMIT_HIDDEN);
    sizes.layers = reader_list_length(reader, "layers_block_type", MAX_LAYERS);
    if (sizes.layers == 0 || reader_get(reader, "num_hidden_layers") != NULL)
        sizes.layers = reader_count(reader, "num_hidden_layers", 1, LIMIT_LAYERS);
    attention_read_heads(reader, traits, &sizes);
    arch->causal = true;
    arch->hidden_size = sizes.hidden;
    arch->vocabulary_size = reader_count(reader, "vocab_size", 1, LIMIT_VOCABULARY);
    arch->tied_head = reader_flag_or(reader, "tie_word_embeddings", false);
    arch->final_norm_elements = sizes.hidden;
    arch->max_context_tokens = reader_count_or(reader, "max_position_embeddings", 1, LIMIT_CONTEXT, 0);
    read_pattern(reader, traits, &sizes);
    arch->mtp_layer_count = reader_count_or(reader, "num_nextn_predict_layers", 0, LIMIT_SMALL, 0);
}

const struct family_class family_nemotron_h[] = {
    { "NemotronHForCausalLM", "nemotron_h", read_nemotron_h, &nemotron_h },
    { NULL, NULL, NULL, NULL },
};
