/* Decoders with latent attention (arXiv:2405.04434 section 2.1). Sources as in dense.c. */
#include <stddef.h>
#include <string.h>

#include "service/model/families/decoder.h"
#include "service/model/families/layers.h"
#include "service/model/families/tables.h"

/* arXiv:2405.04434 section 2.2 */
static const struct experts deepseek_v2_experts = {
    .count_keys = "n_routed_experts",
    .per_token_keys = "num_experts_per_tok",
    .width_keys = "moe_intermediate_size",
    .shared_count_keys = "n_shared_experts",
    .shared_absent = 2,
    .layers = EXPERTS_AFTER_DENSE,
    .optional = true,
};

static const struct decoder deepseek_v2 = {
    .latent = true,
    .query_rank = 1536,
    .qkv_bias = { .keys = "attention_bias" },
    .out_bias = { .keys = "attention_bias" },
    .experts = &deepseek_v2_experts,
};

/* One bias an expert steers the router instead of a loss (arXiv:2412.19437 section 2.1.2) */
static const struct experts deepseek_v3_experts = {
    .count_keys = "n_routed_experts",
    .per_token_keys = "num_experts_per_tok",
    .width_keys = "moe_intermediate_size",
    .shared_count_keys = "n_shared_experts",
    .shared_absent = 1,
    .layers = EXPERTS_AFTER_DENSE,
    .first_dense = 3,
    .optional = true,
    .bias_by_method = true,
};

const struct decoder decoder_deepseek_v3 = {
    .latent = true,
    .query_rank = 1536,
    .qkv_bias = { .keys = "attention_bias" },
    .out_bias = { .keys = "attention_bias" },
    .experts = &deepseek_v3_experts,
};

static const struct decoder deepseek_v32 = {
    .latent = true,
    .query_rank = 1536,
    .indexer = true,
    .qkv_bias = { .keys = "attention_bias" },
    .out_bias = { .keys = "attention_bias" },
    .experts = &deepseek_v3_experts,
};

/* zai-org/GLM-5 */
static const struct decoder glm_moe_dsa = {
    .latent = true,
    .query_rank = 2048,
    .indexer = true,
    .qkv_bias = { .keys = "attention_bias" },
    .out_bias = { .keys = "attention_bias" },
    .experts = &deepseek_v3_experts,
};

/* Whether layer i reads what the index of a layer before it chose, and has none of its own: a list, a pattern ("FSSS")
 * or a period says so. */
static bool
is_shared(struct reader *reader, const char *pattern, uint32_t index)
{
    uint32_t period = reader_count_or(reader, "index_topk_freq", 1, LIMIT_LAYERS, 1);
    uint32_t offset = reader_count_or(reader, "index_skip_topk_offset", 0, LIMIT_LAYERS, 2);

    if (reader_get(reader, "indexer_types") != NULL)
        return strcmp(reader_list_word(reader, "indexer_types", index), "shared") == 0;
    if (pattern != NULL)
        return pattern[index] == 'S';
    return index + 1 > offset && (index + 1 - offset) % period != 0;
}

/* Lengths of what is_shared() reads. */
static bool
check_sharing(struct reader *reader, const char *pattern, uint32_t layers)
{
    const struct fact *types = reader_get(reader, "indexer_types");
    uint32_t told = reader_list_length(reader, "indexer_types", MAX_LAYERS);

    (void)reader_find(reader, "index_share_for_mtp_iteration");
    (void)reader_find(reader, "index_topk_pattern");
    if (types != NULL && told != layers) {
        reader_contradiction(reader, "indexer_types", told, "num_hidden_layers =", layers);
        return false;
    }
    if (pattern != NULL && (strlen(pattern) != layers || strspn(pattern, "FS") != layers)) {
        reader_fault(reader, FAULT_MODEL_FIELD_UNSUPPORTED, "index_topk_pattern", pattern, NULL);
        return false;
    }
    return true;
}

/* GLM-5.2 and later: some layers share the index of one before them. Source: models/glm_moe_dsa of
 * huggingface/transformers 5.15. */
static void
read_glm_moe_dsa(struct reader *reader, const struct decoder *traits)
{
    struct model_arch *arch = reader->arch;
    struct layer_kind kinds[MAX_LAYER_KINDS];
    uint8_t kind_of_layer[MAX_LAYERS];
    struct layers list = { .reader = reader };

    decoder_read(reader, traits);
    const char *pattern = reader_word_or(reader, "index_topk_pattern", NULL);
    uint32_t layers = arch->layer_count;
    if (!check_sharing(reader, pattern, layers))
        return;
    memcpy(kinds, arch->kinds, sizeof(kinds));
    memcpy(kind_of_layer, arch->kind_of_layer, sizeof(kind_of_layer));
    arch->layer_count = arch->kind_count = 0;
    for (uint32_t i = 0; i < layers; i++) {
        struct layer_kind kind = kinds[kind_of_layer[i]];
        bool shared = is_shared(reader, pattern, i);

        if (shared)
            kind.other_elements = 0; /* of the index alone */
        layers_append(&list, 2U * kind_of_layer[i] + (shared ? 1U : 0U), &kind);
    }
}

const struct family_class family_latent[] = {
    { "DeepseekV2ForCausalLM", "deepseek_v2", decoder_read, &deepseek_v2 },
    { "DeepseekV3ForCausalLM", "deepseek_v3", decoder_read, &decoder_deepseek_v3 },
    { "DeepseekV3ForCausalLM", "kimi_k2", decoder_read, &decoder_deepseek_v3 },
    { "DeepseekV32ForCausalLM", "deepseek_v32", decoder_read, &deepseek_v32 },
    { "GlmMoeDsaForCausalLM", "glm_moe_dsa", read_glm_moe_dsa, &glm_moe_dsa },
    { NULL, NULL, NULL, NULL },
};
