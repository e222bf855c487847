/* Kimi Linear and Kimi K3: layers of Kimi delta attention (arXiv:2510.26692 section 3) between layers of latent
 * attention, experts beside a shared one. K3 gates the latent, lets experts read a narrower token and mixes what
 * earlier blocks left. Sources: modeling_kimi.py of moonshotai/Kimi-Linear-48B-A3B-Instruct; models/kimi_k3.py and
 * configs/kimi_linear.py of sgl-project/sglang. */
#include <stddef.h>
#include <string.h>

#include "service/base/quantity.h"
#include "service/model/families/layers.h"
#include "service/model/families/recurrent.h"
#include "service/model/families/tables.h"
#include "service/model/families/vision.h"

static const char full_key[] = "linear_attn_config/full_attn_layers", delta_key[] = "linear_attn_config/kda_layers";

static void
add_matrix(struct layer_kind *kind, const char *name, uint64_t inputs, uint64_t outputs)
{
    kind->mixer_elements += inputs * outputs;
    kind->mixer_matrices[kind->mixer_matrix_count++] =
        (struct mixer_matrix){ .name = name, .inputs = inputs, .outputs = outputs };
}

/* Query, key and value behind short convolutions, a decay of low rank a channel, a write strength a head, a gate. */
void
recurrent_kimi_delta(struct reader *reader, uint32_t hidden, struct layer_kind *kind)
{
    uint64_t heads = reader_count(reader, "linear_attn_config/num_heads|linear_num_heads", 1, LIMIT_HEADS);
    uint64_t size = reader_count(reader, "linear_attn_config/head_dim|linear_head_dim", 1, LIMIT_HEAD_SIZE);
    uint64_t kernel =
        reader_count(reader, "linear_attn_config/short_conv_kernel_size|linear_conv_kernel_dim", 1, LIMIT_SMALL);
    uint64_t width = heads * size;

    kind->attention = ATTENTION_RECURRENT;
    add_matrix(kind, "self_attn.q_proj", hidden, width);
    add_matrix(kind, "self_attn.k_proj", hidden, width);
    add_matrix(kind, "self_attn.v_proj", hidden, width);
    add_matrix(kind, "self_attn.f_a_proj", hidden, size);
    add_matrix(kind, "self_attn.f_b_proj", size, width);
    add_matrix(kind, "self_attn.b_proj", hidden, heads);
    if (reader_flag_or(reader, "linear_attn_config/use_full_rank_gate", false)) {
        add_matrix(kind, "self_attn.g_proj", hidden, width);
    } else {
        add_matrix(kind, "self_attn.g_a_proj", hidden, size);
        add_matrix(kind, "self_attn.g_b_proj", size, width);
    }
    add_matrix(kind, "self_attn.o_proj", width, hidden);
    kind->other_elements += 3 * width * kernel + width + heads + size; /* convolutions, decay's bias and scale, norm */
    kind->recurrent_conv_elements = 3 * width * (kernel - 1);
    kind->recurrent_state_elements = width * size + kind->recurrent_conv_elements;
    kind->state_element_bytes = 4;
}

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
    kind->mlp = MLP_EXPERTS;
    kind->expert_count = reader_count(reader, "num_experts|n_routed_experts", 1, LIMIT_EXPERTS);
    kind->experts_per_token = reader_count(reader, "num_experts_per_token|num_experts_per_tok", 1, LIMIT_EXPERTS);
    kind->expert_size = reader_count(reader, "moe_intermediate_size", 1, LIMIT_WIDTH);
    kind->shared_size = kind->expert_size * reader_count(reader, "num_shared_experts|n_shared_experts", 0, 64);
    kind->router_bias = true;
    kind->expert_hidden_size = reader_count_or(reader, "routed_expert_hidden_size", 1, LIMIT_WIDTH, 0);
    if (kind->expert_hidden_size > 0) { /* a matrix to it, one back, a norm between */
        kind->side_size = kind->expert_hidden_size;
        kind->side_count = 2;
        kind->other_elements += reader_flag_or(reader, "latent_moe_use_norm", false) ? kind->expert_hidden_size : 0;
    }
    if (kind->experts_per_token > kind->expert_count)
        reader_contradiction(reader, "num_experts_per_token", kind->experts_per_token, "at most num_experts",
                             kind->expert_count);
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
read_text(struct reader *reader)
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

    arch->causal = true;
    arch->hidden_size = reader_count(reader, "hidden_size", 1, LIMIT_HIDDEN);
    arch->vocabulary_size = reader_count(reader, "vocab_size", 1, LIMIT_VOCABULARY);
    arch->max_context_tokens = reader_count_or(reader, "max_position_embeddings|model_max_length", 1, LIMIT_CONTEXT, 0);
    arch->tied_head = reader_flag_or(reader, "tie_word_embeddings", false);
    arch->final_norm_elements = (mixes ? 3 : 1) * (uint64_t)arch->hidden_size;
    arch->mtp_layer_count = reader_count_or(reader, "num_nextn_predict_layers", 0, LIMIT_SMALL, 0);
    reader_fixed(reader, "moe_layer_freq", "1");
    for (size_t i = 0; i < COUNT_OF(no_size); i++)
        (void)reader_find(reader, no_size[i]);
    read_layers(reader, layers, mixes);
}

static void
read_kimi_linear(struct reader *reader, const struct decoder *traits)
{
    (void)traits;
    read_text(reader);
}

static void
read_kimi_k3(struct reader *reader, const struct decoder *traits)
{
    struct model_arch *arch = reader->arch;

    (void)traits;
    if (!reader_enter(reader, "text_config")) {
        reader_fault(reader, FAULT_MODEL_FIELD_MISSING, "text_config", NULL, "object");
        return;
    }
    read_text(reader);
    reader_leave(reader);
    (void)reader_find(reader, "tie_word_embeddings");
    arch->tower_elements = vision_kimi_k3(reader, arch->hidden_size);
    arch->extra_parameters = (int64_t)arch->tower_elements;
}

const struct family_class family_kimi_linear[] = {
    { "KimiLinearForCausalLM", "kimi_linear", read_kimi_linear, NULL },
    { "KimiK3ForConditionalGeneration", "kimi_k3", read_kimi_k3, NULL },
    { NULL, NULL, NULL, NULL },
};
