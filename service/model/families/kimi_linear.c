/* Kimi Linear and Kimi K3: layers of Kimi delta attention (arXiv:2510.26692 section 3) between layers of latent
 * attention, experts beside a shared one. K3 gates the latent, lets experts read a narrower token and mixes what
 * earlier blocks left. Sources: modeling_kimi.py of moonshotai/Kimi-Linear-48B-A3B-Instruct; models/kimi_k3.py and
 * configs/kimi_linear.py of sgl-project/sglang. */
#include <stddef.h>
#include <string.h>

#include "service/base/quantity.h"
#include "service/model/families/config.h"
#include "service/model/families/layers.h"
#include "service/model/families/recurrent.h"
#include "service/model/families/tables.h"
#include "service/model/families/text_model.h"
#include "service/model/families/vision.h"

static const char full_key[] = "linear_attn_config/full_attn_layers", delta_key[] = "linear_attn_config/kda_layers";

static void
set_latent(struct reader *reader, struct layer_kind *kind)
{
    kind->attention = ATTENTION_LATENT;
    kind->head_count = reader_count(reader, "num_attention_heads", 1, LIMIT_HEADS);
    kind->kv_head_count = kind->head_count;
    kind->query_rank = reader_count_or(reader, "q_lora_rank", 1, LIMIT_WIDTH, 0);
    kind->latent_size = reader_count(reader, "kv_lora_rank", 1, LIMIT_WIDTH);
    kind->nope_size = reader_count(reader, "qk_nope_head_dim", 1, LIMIT_HEAD_SIZE);
    kind->rope_size = reader_count(reader, "qk_rope_head_dim", 1, LIMIT_HEAD_SIZE);
    kind->value_size = reader_count(reader, "v_head_dim", 1, LIMIT_HEAD_SIZE);
    kind->query_gate = reader_flag_or(reader, "mla_use_output_gate", false);
}

static void
set_experts(struct reader *reader, struct layer_kind *kind)
{
    static const struct expert_keys keys = { .count = "num_experts|n_routed_experts",
                                             .per_token = "num_experts_per_token|num_experts_per_tok",
                                             .width = "moe_intermediate_size",
                                             .shared_count = "num_shared_experts|n_shared_experts",
                                             .most = "at most num_experts" };

    text_model_read_experts(reader, &keys, kind);
    kind->expert_hidden_size = reader_count_or(reader, "routed_expert_hidden_size", 1, LIMIT_WIDTH, 0);
    if (kind->expert_hidden_size > 0) { /* a matrix to it, one back, a norm between */
        kind->side_size = kind->expert_hidden_size;
        kind->side_count = 2;
        kind->other_elements += reader_flag_or(reader, "latent_moe_use_norm", false) ? kind->expert_hidden_size : 0;
    }
    text_model_check_experts(reader, &keys, kind);
}

static struct layer_kind
kind_of(struct reader *reader, bool full, bool experts, bool mixes)
{
    struct layer_kind kind;

    memset(&kind, 0, sizeof(kind));
    kind.gated = true;
    kind.norm_elements = (mixes ? 6 : 2) * (uint64_t)reader->arch->hidden_size; /* a norm and a row at each of two */
    if (full)
        set_latent(reader, &kind);
    else
        recurrent_kimi_delta(reader, reader->arch->hidden_size, &kind);
    if (experts) {
        set_experts(reader, &kind);
    } else {
        kind.mlp = MLP_DENSE;
        kind.intermediate_size = reader_count(reader, "intermediate_size", 1, LIMIT_WIDTH);
    }
    return kind;
}

/* Marks the layers that a list names, the first of them 1; how many they are. */
static uint32_t
mark(struct reader *reader, const char *key, uint32_t layers, bool *marked)
{
    uint32_t length = reader_list_length(reader, key, MAX_LAYERS), count = 0;

    for (uint32_t i = 0; i < length; i++) {
        uint32_t layer = reader_list_count(reader, key, i, 1, layers);

        count += marked[layer - 1] ? 0 : 1;
        marked[layer - 1] = true;
    }
    return count;
}

static void
read_layers(struct reader *reader, uint32_t layers, bool mixes)
{
    uint32_t dense = reader_count_or(reader, "first_k_dense_replace", 0, LIMIT_LAYERS, 0);
    struct layers list = { .reader = reader };
    bool full[MAX_LAYERS] = { false }, all[MAX_LAYERS] = { false };
    uint32_t fulls = mark(reader, full_key, layers, full), told;

    memcpy(all, full, sizeof(all));
    told = fulls + mark(reader, delta_key, layers, all);
    if (told != layers) { /* each of them stands in one of the two */
        reader_contradiction(reader, delta_key, told - fulls, "with full_attn_layers num_hidden_layers =", layers);
        return;
    }
    for (uint32_t i = 0; i < layers; i++) {
        uint32_t sort = (full[i] ? 2U : 0U) + (i >= dense ? 1U : 0U);
        struct layer_kind kind = { 0 };

        if (!layers_know(&list, sort))
            kind = kind_of(reader, full[i], i >= dense, mixes);
        layers_append(&list, sort, &kind);
    }
}

static void
read_text(struct reader *reader, const struct decoder *traits)
{
    static const char *const no_size[] = { "linear_attn_config/gate_lower_bound",
                                           "linear_attn_config",
                                           "activation_situ_beta",
                                           "activation_situ_linear_beta",
                                           "mla_use_nope",
                                           "num_key_value_heads",
                                           "num_expert_group",
                                           "use_grouped_topk",
                                           "moe_renormalize",
                                           "moe_router_activation_func",
                                           "model_max_length",
                                           "head_dim" };
    struct model_arch *arch = reader->arch;
    uint32_t layers = reader_count(reader, "num_hidden_layers", 1, LIMIT_LAYERS);
    bool mixes = reader_count_or(reader, "attn_res_block_size", 0, LIMIT_LAYERS, 0) > 0;

    (void)traits;
    text_model_read_ends(reader, reader_count(reader, "hidden_size", 1, LIMIT_HIDDEN), 0,
                         "max_position_embeddings|model_max_length");
    arch->final_norm_elements = (mixes ? 3 : 1) * (uint64_t)arch->hidden_size;
    arch->mtp_layer_count = reader_count_or(reader, "num_nextn_predict_layers", 0, LIMIT_SMALL, 0);
    reader_fixed(reader, "moe_layer_freq", "1");
    config_pass_over(reader, no_size, COUNT_OF(no_size));
    read_layers(reader, layers, mixes);
}

static void
read_kimi_k3(struct reader *reader, const struct decoder *traits)
{
    (void)traits;
    text_model_read_with_tower(reader, read_text, vision_kimi_k3);
}

const struct family_class family_kimi_linear[] = {
    { "KimiLinearForCausalLM", "kimi_linear", read_text, NULL },
    { "KimiK3ForConditionalGeneration", "kimi_k3", read_kimi_k3, NULL },
    { NULL, NULL, NULL, NULL },
};
