/* Decoders whose keys decide on each other: their traits are settled first, then read. Sources as in dense.c. */
#include <stddef.h>

#include "service/model/families/decoder_parts.h"
#include "service/model/families/tables.h"

#define ALWAYS         \
    {                  \
        .always = true \
    }

static const struct fixed falcon_fixed[] = { { "alibi", NULL }, { "num_kv_heads", NULL }, { NULL, NULL } };

/* tiiuae/falcon: plain MLP of 4 hidden, biases by one key */
static const struct decoder falcon = {
    .tied = true,
    .fixed = falcon_fixed,
    .qkv_bias = { .keys = "bias" },
    .out_bias = { .keys = "bias" },
    .plain_mlp = true,
    .mlp_multiples = 4,
    .mlp_bias = { .keys = "bias" },
    .norm = NORM_LAYER,
};

/* Old configs have one key head (multi_query) whatever num_kv_heads says; new ones count them and norm attention and
 * MLP apart. A config that states n_head_kv alone is a new one (tiiuae/falcon-40b). */
static void
read_falcon(struct reader *reader, const struct decoder *traits)
{
    struct decoder decoder = *traits;
    bool states_heads = reader_get(reader, "n_head_kv") != NULL;
    bool grouped = reader_flag_or(reader, "new_decoder_architecture", states_heads);
    bool multi_query = reader_flag_or(reader, "multi_query", true);
    bool parallel = reader_flag_or(reader, "parallel_attn", true);
    uint32_t norms = grouped ? reader_count_or(reader, "num_ln_in_parallel_attn", 1, 2, 2) : parallel ? 1 : 2;

    decoder.block_norms = norms;
    if (!grouped) {
        decoder.one_kv_head.always = multi_query;
        decoder.kv_keys = multi_query ? NULL : "num_attention_heads|n_head";
    }
    decoder_read(reader, &decoder);
}

static const struct fixed chatglm_fixed[] = {
    { "add_bias_linear", "false" },    { "rmsnorm", "true" },
    { "post_layer_norm", "true" },     { "multi_query_attention", NULL },
    { "multi_query_group_num", NULL }, { NULL, NULL },
};

/* THUDM/chatglm2-6b, chatglm3-6b, glm-4-9b */
static const struct decoder chatglm = {
    .fixed = chatglm_fixed,
    .qkv_bias = { .keys = "add_qkv_bias|add_bias_linear" },
};

/* Groups of key heads count only when multi-query attention is on. */
static void
read_chatglm(struct reader *reader, const struct decoder *traits)
{
    struct decoder decoder = *traits;

    decoder.kv_keys =
        reader_flag_or(reader, "multi_query_attention", false) ? "multi_query_group_num" : "num_attention_heads";
    decoder_read(reader, &decoder);
}

/* bigcode/starcoder: learned positions, one key head */
static const struct decoder gpt_bigcode = {
    .tied = true,
    .position_keys = "n_positions",
    .qkv_bias = ALWAYS,
    .out_bias = ALWAYS,
    .one_kv_head = { .keys = "multi_query", .absent = true },
    .plain_mlp = true,
    .mlp_multiples = 4,
    .mlp_bias = ALWAYS,
    .norm = NORM_LAYER,
};

static const struct fixed opt_fixed[] = {
    { "enable_bias", "true" },
    { "layer_norm_elementwise_affine", "true" },
    { "_remove_final_layer_norm", "false" },
    { NULL, NULL },
};

/* facebook/opt: two position rows more than positions; 350m norms behind its blocks and has no last norm */
static const struct decoder opt = {
    .tied = true,
    .fixed = opt_fixed,
    .projected_embedding = true,
    .position_keys = "max_position_embeddings",
    .position_extra = 2,
    .qkv_bias = ALWAYS,
    .out_bias = ALWAYS,
    .plain_mlp = true,
    .mlp_bias = ALWAYS,
    .norm = NORM_LAYER,
};

static void
read_opt(struct reader *reader, const struct decoder *traits)
{
    struct decoder decoder = *traits;

    decoder.no_final_norm.always = !reader_flag_or(reader, "do_layer_norm_before", true);
    decoder_read(reader, &decoder);
}

static const struct fixed mpt_fixed[] = {
    { "embedding_fraction", NULL }, /* of the gradient */
    { "attn_config/qk_ln", "false" },
    { "attn_config/attn_type", "multihead_attention" },
    { "attn_config", NULL },
    { "ffn_config", NULL },
    { "init_config", NULL },
    { "init_device", NULL },
    { "norm_type", NULL },
    { "verbose", NULL },
    { NULL, NULL },
};

/* mosaicml/mpt: biases everywhere or, with no_bias, nowhere: then norms are a weight alone */
static const struct decoder mpt = {
    .tied = true,
    .fixed = mpt_fixed,
    .kv_keys = "attn_config/kv_n_heads",
    .plain_mlp = true,
    .mlp_multiples = 4,
};

/* Learned positions unless alibi takes their place. */
static void
read_mpt(struct reader *reader, const struct decoder *traits)
{
    struct decoder decoder = *traits;
    bool alibi = reader_flag_or(reader, "attn_config/alibi", false);
    bool biased = !reader_flag_or(reader, "no_bias", true);

    decoder.qkv_bias.always = decoder.out_bias.always = decoder.mlp_bias.always = biased;
    decoder.norm = biased ? NORM_LAYER : NORM_RMS;

    decoder.mlp_multiples = reader_count_or(reader, "expansion_ratio", 1, 64, 4);
    if (reader_flag_or(reader, "learned_pos_emb", true) && !alibi)
        decoder.position_keys = "max_seq_len";
    decoder_read(reader, &decoder);
}

static const struct experts dbrx_experts = {
    .count_keys = "ffn_config/moe_num_experts",
    .per_token_keys = "ffn_config/moe_top_k",
    .width_keys = "ffn_config/ffn_hidden_size",
};

static const struct fixed dbrx_fixed[] = { { "attn_config", NULL }, { "ffn_config", NULL }, { NULL, NULL } };

/* databricks/dbrx: norms of a weight alone */
static const struct decoder dbrx = {
    .kv_heads = 1,
    .fixed = dbrx_fixed,
    .kv_keys = "attn_config/kv_n_heads",
    .experts = &dbrx_experts,
};

static const struct experts hunyuan_experts = {
    .count_keys = "num_experts",
    .per_token_keys = "moe_topk/0|moe_topk",
    .width_keys = "moe_intermediate_size/0|moe_intermediate_size|intermediate_size",
    .shared_count_keys = "num_shared_expert/0|num_shared_expert",
    .shared_absent = 1,
};

static const struct fixed hunyuan_fixed[] = {
    { "use_cla", "false" },
    { "use_mixed_mlp_moe", "true" },
    { "moe_layer_num_skipped", "0" },
    { "cla_share_factor", NULL },
    { "moe_topk", NULL },
    { "moe_intermediate_size", NULL },
    { "num_shared_expert", NULL },
    { "moe_drop_tokens", NULL },
    { "moe_random_routing_dropped_token", NULL },
    { "add_classification_head", "false" },
    { "class_num", NULL },
    { "dense_list", NULL },
    { "mask_init_id", NULL },
    { "pool_type", NULL },
    { "use_rotary_pos_emb", NULL },
    { "org_vocab_size", NULL },
    { "norm_type", "rms" },
    { "group_limited_greedy", NULL },
    { "eod_token_id", NULL },
    { "im_end_id", NULL },
    { "im_newline_id", NULL },
    { "im_start_id", NULL },
    { "text_end_id", NULL },
    { "text_start_id", NULL },
    { NULL, NULL },
};

/* tencent/Hunyuan-A13B: sizes of experts stand in lists, one entry a layer and all alike */
static const struct decoder hunyuan_moe = {
    .fixed = hunyuan_fixed,
    .qkv_bias = { .keys = "attention_bias" },
    .out_bias = { .keys = "attention_bias" },
    .qk_norm = QK_NORM_HEAD_SIZE,
    .qk_norm_when = { .keys = "use_qk_norm" },
    .mlp_bias = { .keys = "mlp_bias" },
    .experts = &hunyuan_experts,
};

/* Refuses a list whose entries differ: layers would be of different sizes. */
static void
check_alike(struct reader *reader, const char *key)
{
    const struct fact *list = reader_get(reader, key);

    if (list == NULL || list->kind != FACT_LIST)
        return;
    uint32_t length = reader_list_length(reader, key, MAX_LAYERS);
    for (uint32_t i = 1; i < length; i++) {
        if (reader_list_count(reader, key, i, 0, LIMIT_WIDTH) != reader_list_count(reader, key, 0, 0, LIMIT_WIDTH)) {
            reader_fault(reader, FAULT_MODEL_FIELD_UNSUPPORTED, key, NULL, NULL);
            return;
        }
    }
}

static void
read_hunyuan(struct reader *reader, const struct decoder *traits)
{
    check_alike(reader, "moe_topk");
    check_alike(reader, "moe_intermediate_size");
    check_alike(reader, "num_shared_expert");
    uint32_t dense = reader_count_or(reader, "intermediate_size", 1, LIMIT_WIDTH, 0);
    uint32_t expert = reader_count_or(reader, "moe_intermediate_size", 1, LIMIT_WIDTH, dense);
    if (dense != 0 && expert != dense) /* shared experts have the one, routed ones the other */
        reader_contradiction(reader, "moe_intermediate_size", expert, "intermediate_size =", dense);
    decoder_read(reader, traits);
}

const struct family_class family_variants[] = {
    { "FalconForCausalLM", "falcon", read_falcon, &falcon },
    { "RWForCausalLM", "RefinedWebModel", read_falcon, &falcon },
    { "RWForCausalLM", "RefinedWeb", read_falcon, &falcon },
    { "ChatGLMModel", "chatglm", read_chatglm, &chatglm },
    { "ChatGLMForConditionalGeneration", "", read_chatglm, &chatglm },
    { "GPTBigCodeForCausalLM", "gpt_bigcode", decoder_read, &gpt_bigcode },
    { "OPTForCausalLM", "opt", read_opt, &opt },
    { "MPTForCausalLM", "mpt", read_mpt, &mpt },
    { "MptForCausalLM", "", read_mpt, &mpt },
    { "HunYuanMoEV1ForCausalLM", "hunyuan_v1_moe", read_hunyuan, &hunyuan_moe },
    { "DbrxForCausalLM", "dbrx", decoder_read, &dbrx },
    { NULL, NULL, NULL, NULL },
};
