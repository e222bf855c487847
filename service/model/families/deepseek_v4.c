/* DeepSeek-V4: queries through a latent, keys that are the values, outputs through groups; beside a window layers read
 * entries that stand for 4 tokens (chosen by an index) or for 128; several residual streams (technical report of
 * DeepSeek-V4, section 2; arXiv:2512.24880). Source: models/deepseek_v4 of huggingface/transformers 5.15. */
#include <stddef.h>
#include <string.h>

#include "service/base/quantity.h"
#include "service/model/families/config.h"
#include "service/model/families/layers.h"
#include "service/model/families/tables.h"
#include "service/model/families/text_model.h"

enum reach { REACH_WINDOW = 0, REACH_SPARSE, REACH_HEAVY, REACH_COUNT };

struct sizes {
    uint32_t hidden, layers, heads, head_size, query_rank, groups, out_rank, window;
    uint32_t index_heads, index_size, index_read, streams, hashed;
    uint32_t ratios[REACH_COUNT]; /* tokens of an entry */
};

static struct sizes
read_sizes(struct reader *reader)
{
    struct sizes sizes = { 0 };

    sizes.hidden = reader_count(reader, "hidden_size", 1, LIMIT_HIDDEN);
    sizes.layers = reader_count(reader, "num_hidden_layers", 1, LIMIT_LAYERS);
    sizes.heads = reader_count(reader, "num_attention_heads", 1, LIMIT_HEADS);
    sizes.head_size = reader_count(reader, "head_dim", 1, LIMIT_HEAD_SIZE);
    sizes.query_rank = reader_count(reader, "q_lora_rank", 1, LIMIT_WIDTH);
    sizes.groups = reader_count(reader, "o_groups", 1, LIMIT_HEADS);
    sizes.out_rank = reader_count(reader, "o_lora_rank", 1, LIMIT_WIDTH);
    sizes.window = reader_count(reader, "sliding_window", 1, LIMIT_CONTEXT);
    sizes.index_heads = reader_count(reader, "index_n_heads", 1, LIMIT_HEADS);
    sizes.index_size = reader_count(reader, "index_head_dim", 1, LIMIT_HEAD_SIZE);
    sizes.index_read = reader_count(reader, "index_topk", 1, LIMIT_CONTEXT);
    sizes.streams = reader_count(reader, "hc_mult", 1, 64);
    sizes.ratios[REACH_SPARSE] =
        reader_count_or(reader, "compress_rate_csa|compress_rates/compressed_sparse_attention", 1, LIMIT_SMALL, 4);
    sizes.ratios[REACH_HEAVY] =
        reader_count_or(reader, "compress_rate_hca|compress_rates/heavily_compressed_attention", 1, LIMIT_SMALL, 128);
    config_divides_heads(reader, "o_groups", sizes.groups, sizes.heads);
    reader_fixed(reader, "num_key_value_heads", "1");
    reader_fixed(reader, "attention_bias", "false");
    reader_fixed(reader, "mlp_bias", "false");
    return sizes;
}

/* How far a layer reaches: told by a word, by the tokens of an entry, or by the usual order: the first two far, then
 * every other. */
static enum reach
reach_of(struct reader *reader, const struct sizes *sizes, uint32_t index, bool worded, bool numbered)
{
    static const char *const words[] = { "sliding_attention", "compressed_sparse_attention",
                                         "heavily_compressed_attention" };

    if (worded) {
        const char *word = reader_list_word(reader, "layer_types", index);

        for (size_t i = 0; i < COUNT_OF(words); i++) {
            if (strcmp(word, words[i]) == 0)
                return (enum reach)i;
        }
        reader_fault(reader, FAULT_MODEL_FIELD_UNSUPPORTED, "layer_types", word, NULL);
        return REACH_WINDOW;
    }
    if (numbered) {
        uint32_t ratio = reader_list_count(reader, "compress_ratios", index, 0, LIMIT_SMALL);

        if (ratio == 0)
            return REACH_WINDOW;
        if (ratio != sizes->ratios[REACH_SPARSE] && ratio != sizes->ratios[REACH_HEAVY])
            reader_fault(reader, FAULT_MODEL_FIELD_UNSUPPORTED, "compress_ratios", NULL, "0|4|128");
        return ratio == sizes->ratios[REACH_SPARSE] ? REACH_SPARSE : REACH_HEAVY;
    }
    return index >= 2 && index % 2 == 1 ? REACH_SPARSE : REACH_HEAVY;
}

static void
add(struct layer_kind *kind, const char *name, uint64_t inputs, uint64_t outputs, bool whole, bool plain)
{
    kind->mixer_elements = u64_add_sat(kind->mixer_elements, u64_mul_sat(inputs, outputs));
    if (kind->mixer_matrix_count < MAX_MIXER_MATRICES)
        kind->mixer_matrices[kind->mixer_matrix_count++] = (struct mixer_matrix){ name, inputs, outputs, whole, plain };
}

/* What makes entries of tokens: keys and gates, with a place in the entry and a norm; the near ones overlap, which
 * doubles them, and have an index like it with queries of its own. */
static void
add_compression(const struct sizes *sizes, enum reach reach, struct layer_kind *kind)
{
    uint64_t hidden = sizes->hidden, overlap = reach == REACH_SPARSE ? 2 : 1, wide = overlap * sizes->head_size;

    if (reach == REACH_WINDOW)
        return;
    add(kind, "self_attn.compressor", hidden, 2 * wide, true, true);
    kind->other_elements += sizes->ratios[reach] * wide;
    kind->qk_norm_elements += sizes->head_size;
    kind->compressed_tokens = sizes->ratios[reach];
    kind->compressed_size = sizes->head_size;
    if (reach != REACH_SPARSE)
        return;
    add(kind, "self_attn.compressor.indexer.q_b_proj", sizes->query_rank,
        (uint64_t)sizes->index_heads * sizes->index_size, true, false);
    add(kind, "self_attn.compressor.indexer.weights_proj", hidden, sizes->index_heads, true, true);
    add(kind, "self_attn.compressor.indexer.compressor", hidden, 2 * overlap * sizes->index_size, true, true);
    kind->other_elements += sizes->ratios[reach] * overlap * sizes->index_size;
    kind->qk_norm_elements += sizes->index_size;
    kind->compressed_size += sizes->index_size;
    kind->compressed_read = sizes->index_read;
}

/* The residual streams: before either block one matrix over all of them says how they are mixed. */
static void
add_streams(const struct sizes *sizes, struct layer_kind *kind)
{
    uint64_t streams = sizes->streams, mixed = (2 + streams) * streams;

    add(kind, "attn_hc", streams * sizes->hidden, 2 * mixed, true, true);
    kind->other_elements += 2 * (mixed + 3);
}

static struct layer_kind
attention_of(const struct sizes *sizes, enum reach reach)
{
    struct layer_kind kind;
    uint64_t heads_wide = (uint64_t)sizes->heads * sizes->head_size;
    uint64_t grouped = (uint64_t)sizes->groups * sizes->out_rank;

    memset(&kind, 0, sizeof(kind));
    kind.attention = ATTENTION_HEADS;
    kind.kept_once = true;
    kind.value_is_key = true;
    kind.head_count = sizes->heads;
    kind.kv_head_count = 1;
    kind.head_size = sizes->head_size;
    kind.window_tokens = sizes->window;
    add(&kind, "self_attn.q_a_proj", sizes->hidden, sizes->query_rank, true, false);
    add(&kind, "self_attn.q_b_proj", sizes->query_rank, heads_wide, false, false);
    add(&kind, "self_attn.kv_proj", sizes->hidden, sizes->head_size, true, false);
    add(&kind, "self_attn.o_a_proj", heads_wide / sizes->groups, grouped, false, false);
    add(&kind, "self_attn.o_b_proj", grouped, sizes->hidden, false, false);
    kind.qk_norm_elements = (uint64_t)sizes->query_rank + sizes->head_size;
    kind.other_elements = sizes->heads; /* sinks */
    kind.norm_elements = 2 * (uint64_t)sizes->hidden;
    add_compression(sizes, reach, &kind);
    add_streams(sizes, &kind);
    return kind;
}

/* In the first layers a table gives each token its experts: no bias steers them there. */
static void
read_experts(struct reader *reader, bool hashed, struct layer_kind *kind)
{
    static const struct expert_keys keys = { .count = "n_routed_experts",
                                             .per_token = "num_experts_per_tok",
                                             .width = "moe_intermediate_size",
                                             .most = "at most n_routed_experts" };

    kind->gated = true;
    text_model_read_experts(reader, &keys, kind);
    kind->shared_size = kind->expert_size * reader_count_or(reader, "n_shared_experts", 0, 64, 1);
    kind->router_bias = !hashed;
    text_model_check_experts(reader, &keys, kind);
}

static bool
is_hashed(struct reader *reader, const struct sizes *sizes, uint32_t index, bool worded)
{
    return worded ? strcmp(reader_list_word(reader, "mlp_layer_types", index), "hash_moe") == 0 : index < sizes->hashed;
}

static void
read_layers(struct reader *reader, struct sizes *sizes)
{
    struct layers layers = { .reader = reader };
    uint32_t words = reader_list_length(reader, "layer_types", MAX_LAYERS);
    uint32_t numbers = reader_list_length(reader, "compress_ratios", MAX_LAYERS);
    uint32_t blocks = reader_list_length(reader, "mlp_layer_types", MAX_LAYERS);

    sizes->hashed = reader_count_or(reader, "num_hash_layers", 0, LIMIT_LAYERS, 3);
    if (words > 0 && words < sizes->layers)
        reader_contradiction(reader, "layer_types", words, "num_hidden_layers =", sizes->layers);
    if (numbers > 0 && numbers < sizes->layers) /* those behind are of prediction layers */
        reader_contradiction(reader, "compress_ratios", numbers, "num_hidden_layers =", sizes->layers);
    if (blocks > 0 && blocks < sizes->layers)
        reader_contradiction(reader, "mlp_layer_types", blocks, "num_hidden_layers =", sizes->layers);
    if ((words > 0 && words < sizes->layers) || (numbers > 0 && numbers < sizes->layers) ||
        (blocks > 0 && blocks < sizes->layers))
        return;
    for (uint32_t i = 0; i < sizes->layers; i++) {
        enum reach reach = reach_of(reader, sizes, i, words > 0, numbers > 0);
        bool hashed = is_hashed(reader, sizes, i, blocks > 0);
        uint32_t sort = 2 * (uint32_t)reach + (hashed ? 1U : 0U);
        struct layer_kind kind = { 0 };

        if (!layers_know(&layers, sort)) {
            kind = attention_of(sizes, reach);
            read_experts(reader, hashed, &kind);
        }
        layers_append(&layers, sort, &kind);
    }
}

static void
read_deepseek_v4(struct reader *reader, const struct decoder *traits)
{
    static const char *const no_size[] = { "qk_rope_head_dim", "compress_rope_theta", "compress_rates",
                                           "hc_eps",           "hc_sinkhorn_iters",   "intermediate_size" };
    struct model_arch *arch = reader->arch;
    struct sizes sizes = read_sizes(reader);
    uint64_t streams = sizes.streams;

    (void)traits;
    config_pass_over(reader, no_size, COUNT_OF(no_size));
    text_model_read_ends(reader, sizes.hidden, 0, "max_position_embeddings");
    /* a norm, and what makes one stream of all */
    arch->final_norm_elements = sizes.hidden + streams * streams * sizes.hidden + streams + 1;
    read_layers(reader, &sizes);
    arch->mtp_layer_count = reader_count_or(reader, "num_nextn_predict_layers", 0, LIMIT_SMALL, 0);
}

const struct family_class family_deepseek_v4[] = {
    { "DeepseekV4ForCausalLM", "deepseek_v4", read_deepseek_v4, NULL },
    { NULL, NULL, NULL, NULL },
};
