/* Nemotron-H: a string says what each layer is, and each is one thing: a Mamba-2 mixer, attention, experts or an MLP.
 * Source: modeling_nemotron_h.py of nvidia/NVIDIA-Nemotron-3-Nano-30B-A3B (arXiv:2504.03624 section 2). */
#include <stddef.h>
#include <string.h>

#include "service/base/quantity.h"
#include "service/model/families/decoder_parts.h"
#include "service/model/families/layers.h"
#include "service/model/families/recurrent.h"
#include "service/model/families/tables.h"

static const struct decoder nemotron_h = {
    .kv_heads = 8,
    .head_size = 128,
    .qkv_bias = { .keys = "attention_bias" },
    .out_bias = { .keys = "attention_bias" },
};

static void
read_experts(struct reader *reader, struct layer_kind *kind)
{
    uint32_t shared = reader_count(reader, "n_shared_experts", 0, LIMIT_SMALL);

    kind->mlp = MLP_EXPERTS;
    kind->expert_count = reader_count(reader, "n_routed_experts", 1, LIMIT_EXPERTS);
    kind->experts_per_token = reader_count(reader, "num_experts_per_tok", 1, LIMIT_EXPERTS);
    kind->expert_size = reader_count(reader, "moe_intermediate_size", 1, LIMIT_WIDTH);
    kind->shared_size =
        shared * reader_count_or(reader, "moe_shared_expert_intermediate_size", 0, LIMIT_WIDTH, kind->expert_size);
    kind->router_bias = true;
    if (kind->experts_per_token > kind->expert_count)
        reader_contradiction(reader, "num_experts_per_tok", kind->experts_per_token, "at most n_routed_experts",
                             kind->expert_count);
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

/* Layers from the pattern; keys of a kind that no layer is of still belong to the class. */
static void
read_pattern(struct reader *reader, const struct decoder *traits, const struct decoder_sizes *sizes)
{
    static const char letters[] = "M*E-";
    static const char *const class_keys[] = {
        "intermediate_size",
        "n_routed_experts",
        "num_experts_per_tok",
        "moe_intermediate_size",
        "n_shared_experts",
        "moe_shared_expert_intermediate_size",
        "moe_shared_expert_overlap",
        "expand",
        "mamba_proj_bias",
        "mamba_num_heads",
        "mamba_head_dim",
        "n_groups",
        "ssm_state_size",
        "conv_kernel",
    };
    const char *pattern = reader_word_or(reader, "hybrid_override_pattern", "");
    struct layers layers = { .reader = reader };

    if (strlen(pattern) != sizes->layers)
        reader_contradiction(reader, "hybrid_override_pattern", strlen(pattern), "num_hidden_layers =", sizes->layers);
    for (const char *letter = pattern; *letter != '\0'; letter++) {
        const char *sort = strchr(letters, *letter);
        struct layer_kind kind = { 0 };

        if (sort == NULL) {
            reader_fault(reader, FAULT_MODEL_FIELD_UNSUPPORTED, "hybrid_override_pattern", pattern, letters);
            return;
        }
        if (!layers_know(&layers, (uint32_t)(sort - letters)))
            (void)read_letter(reader, traits, sizes, *letter, &kind);
        layers_append(&layers, (uint32_t)(sort - letters), &kind);
    }
    for (size_t i = 0; i < COUNT_OF(class_keys); i++)
        (void)reader_find(reader, class_keys[i]);
}

static void
read_nemotron_h(struct reader *reader, const struct decoder *traits)
{
    struct model_arch *arch = reader->arch;
    struct decoder_sizes sizes = { 0 };

    sizes.hidden = reader_count(reader, "hidden_size", 1, LIMIT_HIDDEN);
    sizes.layers = reader_count(reader, "num_hidden_layers", 1, LIMIT_LAYERS);
    attention_read_heads(reader, traits, &sizes);
    arch->causal = true;
    arch->hidden_size = sizes.hidden;
    arch->vocabulary_size = reader_count(reader, "vocab_size", 1, LIMIT_VOCABULARY);
    arch->tied_head = reader_flag_or(reader, "tie_word_embeddings", false);
    arch->final_norm_elements = sizes.hidden;
    arch->max_context_tokens = reader_count_or(reader, "max_position_embeddings", 1, LIMIT_CONTEXT, 0);
    read_pattern(reader, traits, &sizes);
}

const struct family_class family_nemotron_h[] = {
    { "NemotronHForCausalLM", "nemotron_h", read_nemotron_h, &nemotron_h },
    { NULL, NULL, NULL, NULL },
};
