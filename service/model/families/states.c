/* Decoders of state-space and convolution layers, some with attention between them. Sources as in dense.c. */
#include <stddef.h>
#include <string.h>

#include "service/base/quantity.h"
#include "service/model/families/layers.h"
#include "service/model/families/recurrent.h"
#include "service/model/families/tables.h"

static const struct experts jamba_experts = {
    .count_keys = "num_experts",
    .per_token_keys = "num_experts_per_tok",
    .width_keys = "intermediate_size",
    .layers = EXPERTS_PERIOD,
};

static const struct fixed jamba_fixed[] = { { "mamba_inner_layernorms", "true" }, { NULL, NULL } };

/* arXiv:2403.19887 section 2 */
static const struct decoder jamba = {
    .kv_heads = 8,
    .fixed = jamba_fixed,
    .experts = &jamba_experts,
    .recurrent = recurrent_jamba,
    .period_keys = "attn_layer_period",
    .offset_keys = "attn_layer_offset",
};

static const struct fixed lfm2_fixed[] = {
    { "block_use_swiglu", "true" },
    { "block_dim", NULL },
    { "num_heads", NULL },
    { "block_mlp_init_scale", NULL },
    { "block_norm_eps", NULL },
    { "block_out_init_scale", NULL },
    { "block_use_xavier_init", NULL },
    { "block_ff_dim", NULL },
    { "block_multiple_of", NULL },
    { "block_ffn_dim_multiplier", NULL },
    { "block_auto_adjust_ff_dim", NULL },
    { NULL, NULL },
};

static const struct decoder lfm2 = {
    .kv_heads = 8,
    .tied = true,
    .fixed = lfm2_fixed,
    .qk_norm = QK_NORM_HEAD_SIZE,
    .qk_norm_when = { .always = true },
    .recurrent = recurrent_short_conv,
    .attention_list_key = "full_attn_idxs",
};

/* The stated width counts two thirds, times a factor, rounded up to whole blocks, unless it is to be taken as it is. */
static void
read_lfm2(struct reader *reader, const struct decoder *traits)
{
    static const char width_keys[] = "block_ff_dim|intermediate_size";
    struct decoder decoder = *traits;
    uint32_t width = reader_count(reader, width_keys, 1, LIMIT_WIDTH);

    if (reader_flag_or(reader, "block_auto_adjust_ff_dim", true)) {
        double factor = reader_factor(reader, "block_ffn_dim_multiplier");
        uint32_t multiple = reader_count_or(reader, "block_multiple_of", 1, LIMIT_WIDTH, 256);
        uint64_t thirds = 2 * (uint64_t)width / 3;
        uint64_t adjusted = (uint64_t)((double)thirds * factor);

        uint64_t blocks = u64_ceil_div(u64_min(adjusted, LIMIT_WIDTH), multiple);
        width = (uint32_t)u64_min(blocks * multiple, LIMIT_WIDTH);
    }
    (void)reader_find(reader, "intermediate_size");
    decoder.mlp_width = width;
    decoder.tied = reader_flag_or(reader, "tie_embedding", traits->tied);
    if (reader_get(reader, "tie_embedding") != NULL &&
        reader_flag_or(reader, "tie_word_embeddings", decoder.tied) != decoder.tied)
        reader_contradiction(reader, "tie_word_embeddings", !decoder.tied, "tie_embedding =", decoder.tied);
    decoder_read(reader, &decoder);
}

/* ibm-ai-platform/Bamba-9B */
static const struct fixed bamba_fixed[] = { { "attn_rotary_emb", NULL }, { "mamba_chunk_size", NULL }, { NULL, NULL } };

static const struct decoder bamba = {
    .kv_heads = 8,
    .fixed = bamba_fixed,
    .recurrent = recurrent_bamba,
    .attention_list_key = "attn_layer_indices",
};

/* ibm-granite/granite-4.0-h-tiny: Bamba's mixers, a shared MLP in every layer, and experts beside it where there are
 * any. A file that does not name its layers has no attention. */
static const struct experts granite_hybrid_experts = {
    .count_keys = "num_local_experts",
    .per_token_keys = "num_experts_per_tok",
    .width_keys = "intermediate_size",
    .shared_width_keys = "shared_intermediate_size",
    .dense_width_keys = "shared_intermediate_size",
    .optional = true,
};

static const struct fixed granite_hybrid_fixed[] = {
    { "intermediate_size", NULL }, /* of experts, when there are any */
    { "mamba_chunk_size", NULL },
    { "position_embedding_type", NULL }, /* rotary, or none */
    { "normalization_function", "rmsnorm" },
    { "init_method", NULL },
    { NULL, NULL },
};

static const struct decoder granite_hybrid = {
    .fixed = granite_hybrid_fixed,
    .qkv_bias = { .keys = "attention_bias" },
    .out_bias = { .keys = "attention_bias" },
    .experts = &granite_hybrid_experts,
    .recurrent = recurrent_bamba,
};

static const struct experts minimax_experts = {
    .count_keys = "num_local_experts",
    .per_token_keys = "num_experts_per_tok",
    .width_keys = "intermediate_size",
};

/* Factors of the residual stream, and where its norms stand */
static const struct fixed minimax_fixed[] = {
    { "block_size", NULL },
    { "full_attn_alpha_factor", NULL },
    { "full_attn_beta_factor", NULL },
    { "linear_attn_alpha_factor", NULL },
    { "linear_attn_beta_factor", NULL },
    { "mlp_alpha_factor", NULL },
    { "mlp_beta_factor", NULL },
    { "layernorm_full_attention_alpha", NULL },
    { "layernorm_full_attention_beta", NULL },
    { "layernorm_linear_attention_alpha", NULL },
    { "layernorm_linear_attention_beta", NULL },
    { "layernorm_mlp_alpha", NULL },
    { "layernorm_mlp_beta", NULL },
    { "postnorm", NULL },
    { "shared_moe_mode", NULL },
    { NULL, NULL },
};

/* MiniMaxAI/MiniMax-M1-80k (arXiv:2506.13585 section 2): seven layers of lightning attention, one of heads */
static const struct decoder minimax = {
    .kv_heads = 8,
    .fixed = minimax_fixed,
    .experts = &minimax_experts,
    .recurrent = recurrent_lightning,
    .attention_flags_key = "attn_type_list",
};

/* A stack of mixers with a norm each and nothing between them. */
static void
read_stack(struct reader *reader, const struct decoder *traits)
{
    struct model_arch *arch = reader->arch;
    struct layers layers = { .reader = reader };
    struct layer_kind kind;
    uint32_t count = reader_count(reader, "num_hidden_layers|n_layer", 1, LIMIT_LAYERS);

    memset(&kind, 0, sizeof(kind));
    arch->causal = true;
    arch->hidden_size = reader_count(reader, "hidden_size|d_model", 1, LIMIT_HIDDEN);
    arch->vocabulary_size = reader_count(reader, "vocab_size", 1, LIMIT_VOCABULARY);
    (void)reader_find(reader, "pad_vocab_size_multiple"); /* vocab_size is padded already */
    arch->tied_head = reader_flag_or(reader, "tie_word_embeddings", traits->tied);
    arch->final_norm_elements = arch->hidden_size;
    kind.norm_elements = arch->hidden_size;
    traits->recurrent(reader, arch->hidden_size, &kind);
    layers_append_run(&layers, 0, count, &kind);
}

static const struct decoder mamba = { .tied = true, .recurrent = recurrent_mamba };
/* The width inside is that of the heads; some state it once more. */
static void
mixer_mamba2(struct reader *reader, uint32_t hidden, struct layer_kind *ret_kind)
{
    recurrent_mamba2(reader, hidden, ret_kind);
    uint64_t inner = ret_kind->mixer_matrices[ret_kind->mixer_matrix_count - 1].inputs;
    uint64_t stated = reader_count_or(reader, "intermediate_size", 1, LIMIT_WIDTH, 0);

    if (stated != 0 && stated != inner)
        reader_contradiction(reader, "intermediate_size", stated, "num_heads x head_dim =", inner);
}

static const struct decoder mamba2 = { .recurrent = mixer_mamba2 };

static void
read_rwkv(struct reader *reader, const struct decoder *traits)
{
    struct model_arch *arch = reader->arch;
    struct layers layers = { .reader = reader };
    struct layer_kind kind;
    uint32_t count = reader_count(reader, "num_hidden_layers", 1, LIMIT_LAYERS);
    uint64_t hidden = reader_count(reader, "hidden_size", 1, LIMIT_HIDDEN);
    uint64_t inner = reader_count_or(reader, "attention_hidden_size", 1, LIMIT_HIDDEN, (uint32_t)hidden);

    memset(&kind, 0, sizeof(kind));
    reader_fixed(reader, "model_type", "rwkv"); /* later generations keep the name of the class */
    arch->causal = true;
    arch->hidden_size = (uint32_t)hidden;
    arch->vocabulary_size = reader_count(reader, "vocab_size", 1, LIMIT_VOCABULARY);
    arch->tied_head = reader_flag_or(reader, "tie_word_embeddings", traits->tied);
    arch->final_norm_elements = 4 * hidden; /* one before the first layer, one behind the last */
    recurrent_rwkv(hidden, inner, &kind);
    kind.other_elements = 2 * inner + 5 * hidden; /* decay, first, how much of the token before */
    kind.norm_elements = 4 * hidden;
    kind.mlp = MLP_DENSE;
    kind.intermediate_size = reader_count_or(reader, "intermediate_size", 1, LIMIT_WIDTH, (uint32_t)(4 * hidden));
    layers_append_run(&layers, 0, count, &kind);
}

static const struct decoder rwkv = { .tied = false };

const struct family_class family_states[] = {
    { "MambaForCausalLM", "mamba", read_stack, &mamba },
    { "FalconMambaForCausalLM", "falcon_mamba", read_stack, &mamba },
    { "Mamba2ForCausalLM", "mamba2", read_stack, &mamba2 },
    { "BambaForCausalLM", "bamba", decoder_read, &bamba },
    { "GraniteMoeHybridForCausalLM", "granitemoehybrid", decoder_read, &granite_hybrid },
    { "MiniMaxM1ForCausalLM", "minimax_m1", decoder_read, &minimax },
    { "MiniMaxText01ForCausalLM", "minimax_text_01", decoder_read, &minimax },
    { "RwkvForCausalLM", "rwkv", read_rwkv, &rwkv },
    { "JambaForCausalLM", "jamba", decoder_read, &jamba },
    { "Lfm2ForCausalLM", "lfm2", read_lfm2, &lfm2 },
    { NULL, NULL, NULL, NULL },
};
