/* One row for each way of naming; sources: the modelling files of huggingface/transformers 4.53 and 5.14, or of the
 * class's own repository. */
#include "service/model/module_names.h"

#include <stddef.h>
#include <string.h>

#include "service/base/quantity.h"

static const struct module_names llama = {
    .layers = "model.layers",
    .embedding = "model.embed_tokens",
    .head = "lm_head",
    .query = "self_attn.q_proj",
    .key = "self_attn.k_proj",
    .value = "self_attn.v_proj",
    .out = "self_attn.o_proj",
    .gate = "mlp.gate_proj",
    .up = "mlp.up_proj",
    .down = "mlp.down_proj",
    .expert_gate = "mlp.experts.0.gate_proj",
    .expert_up = "mlp.experts.0.up_proj",
    .expert_down = "mlp.experts.0.down_proj",
    .shared_gate = "mlp.shared_experts.gate_proj",
    .shared_up = "mlp.shared_experts.up_proj",
    .shared_down = "mlp.shared_experts.down_proj",
    .router = "mlp.gate",
    .shared_router = "mlp.shared_expert_gate",
};

#define BLOCK_SPARSE                                                                              \
    .expert_gate = "block_sparse_moe.experts.0.w1", .expert_up = "block_sparse_moe.experts.0.w3", \
    .expert_down = "block_sparse_moe.experts.0.w2", .router = "block_sparse_moe.gate"
#define ONE_SHARED                                                                          \
    .shared_gate = "mlp.shared_expert.gate_proj", .shared_up = "mlp.shared_expert.up_proj", \
    .shared_down = "mlp.shared_expert.down_proj"
#define BLOOM_LAYER(attention)                                                                             \
    .query_key_value = attention ".query_key_value", .out = attention ".dense", .up = "mlp.dense_h_to_4h", \
    .down = "mlp.dense_4h_to_h"
#define GPT2_ATTENTION .query_key_value = "attn.c_attn", .out = "attn.c_proj"

/* The first row that fits holds, so longer starts stand before shorter ones. */
static const struct module_names rows[] = {
    { .class_start = "Mixtral", BLOCK_SPARSE },
    { .class_start = "PhiMoE", BLOCK_SPARSE },
    { .class_start = "Phimoe", BLOCK_SPARSE },
    { .class_start = "MiniMaxM2", BLOCK_SPARSE },
    { .class_start = "MiniMaxM3",
      BLOCK_SPARSE,
      .shared_gate = "block_sparse_moe.shared_experts.gate_proj",
      .shared_up = "block_sparse_moe.shared_experts.up_proj",
      .shared_down = "block_sparse_moe.shared_experts.down_proj",
      .side_in = "self_attn.index_q_proj" },
    { .class_start = "MiniMax", BLOCK_SPARSE },
    { .class_start = "Grok1",
      .expert_gate = "moe_block.experts.0.linear",
      .expert_up = "moe_block.experts.0.linear_v",
      .expert_down = "moe_block.experts.0.linear_1",
      .router = "moe_block.gate" },
    { .class_start = "Llama4",
      .gate = "feed_forward.gate_proj",
      .up = "feed_forward.up_proj",
      .down = "feed_forward.down_proj",
      .expert_gate_up = "feed_forward.experts.gate_up_proj",
      .expert_down = "feed_forward.experts.down_proj",
      .shared_gate = "feed_forward.shared_expert.gate_proj",
      .shared_up = "feed_forward.shared_expert.up_proj",
      .shared_down = "feed_forward.shared_expert.down_proj",
      .router = "feed_forward.router" },
    { .class_start = "Gemma3n", .side_in = "per_layer_input_gate", .side_out = "per_layer_projection" },
    { .class_start = "Gemma4",
      .expert_gate = "experts.0.gate_proj",
      .expert_up = "experts.0.up_proj",
      .expert_down = "experts.0.down_proj",
      .shared_gate = "mlp.gate_proj",
      .shared_up = "mlp.up_proj",
      .shared_down = "mlp.down_proj",
      .router = "router.proj",
      .side_in = "per_layer_input_gate",
      .side_out = "per_layer_projection" },
    { .class_start = "GptOss",
      .expert_gate_up = "mlp.experts.gate_up_proj",
      .expert_down = "mlp.experts.down_proj",
      .router = "mlp.router" },
    { .class_start = "Qwen2Moe", ONE_SHARED },
    { .class_start = "Qwen3Next", ONE_SHARED },
    { .class_start = "Qwen3_5Moe", ONE_SHARED },
    { .class_start = "HunYuanMoE",
      .shared_gate = "mlp.shared_mlp.gate_proj",
      .shared_up = "mlp.shared_mlp.up_proj",
      .shared_down = "mlp.shared_mlp.down_proj",
      .router = "mlp.gate.wg" },
    { .class_start = "Phi3", .query_key_value = "self_attn.qkv_proj", .gate_up = "mlp.gate_up_proj" },
    { .class_start = "PhiFor", .out = "self_attn.dense", .up = "mlp.fc1", .down = "mlp.fc2" },
    { .class_start = "Falcon",
      .layers = "transformer.h",
      .embedding = "transformer.word_embeddings",
      BLOOM_LAYER("self_attention") },
    { .class_start = "RWFor",
      .layers = "transformer.h",
      .embedding = "transformer.word_embeddings",
      BLOOM_LAYER("self_attention") },
    { .class_start = "Bloom",
      .layers = "transformer.h",
      .embedding = "transformer.word_embeddings",
      BLOOM_LAYER("self_attention") },
    { .class_start = "GPTNeoX",
      .layers = "gpt_neox.layers",
      .embedding = "gpt_neox.embed_in",
      .head = "embed_out",
      BLOOM_LAYER("attention") },
    { .class_start = "GPT2",
      .layers = "transformer.h",
      .embedding = "transformer.wte",
      GPT2_ATTENTION,
      .up = "mlp.c_fc",
      .down = "mlp.c_proj" },
    { .class_start = "GPTBigCode",
      .layers = "transformer.h",
      .embedding = "transformer.wte",
      GPT2_ATTENTION,
      .up = "mlp.c_fc",
      .down = "mlp.c_proj" },
    { .class_start = "GPTJ",
      .layers = "transformer.h",
      .embedding = "transformer.wte",
      .query = "attn.q_proj",
      .key = "attn.k_proj",
      .value = "attn.v_proj",
      .out = "attn.out_proj",
      .up = "mlp.fc_in",
      .down = "mlp.fc_out" },
    { .class_start = "CodeGen",
      .layers = "transformer.h",
      .embedding = "transformer.wte",
      .query_key_value = "attn.qkv_proj",
      .out = "attn.out_proj",
      .up = "mlp.fc_in",
      .down = "mlp.fc_out" },
    { .class_start = "GPTNeoFor",
      .layers = "transformer.h",
      .embedding = "transformer.wte",
      .query = "attn.attention.q_proj",
      .key = "attn.attention.k_proj",
      .value = "attn.attention.v_proj",
      .out = "attn.attention.out_proj",
      .up = "mlp.c_fc",
      .down = "mlp.c_proj" },
    { .class_start = "QWenLM",
      .layers = "transformer.h",
      .embedding = "transformer.wte",
      GPT2_ATTENTION,
      .gate = "mlp.w2",
      .up = "mlp.w1",
      .down = "mlp.c_proj" },
    { .class_start = "ChatGLM",
      .layers = "transformer.encoder.layers",
      .embedding = "transformer.embedding.word_embeddings",
      .head = "transformer.output_layer",
      .query_key_value = "self_attention.query_key_value",
      .out = "self_attention.dense",
      .gate_up = "mlp.dense_h_to_4h",
      .down = "mlp.dense_4h_to_h" },
    { .class_start = "GlmFor", .gate_up = "mlp.gate_up_proj" },
    { .class_start = "Glm4For", .gate_up = "mlp.gate_up_proj" },
    { .class_start = "Baichuan", .query_key_value = "self_attn.W_pack" },
    { .class_start = "BaiChuan", .query_key_value = "self_attn.W_pack" },
    { .class_start = "InternLM2",
      .embedding = "model.tok_embeddings",
      .head = "output",
      .query_key_value = "attention.wqkv",
      .out = "attention.wo",
      .gate = "feed_forward.w1",
      .up = "feed_forward.w3",
      .down = "feed_forward.w2" },
    { .class_start = "OPT",
      .layers = "model.decoder.layers",
      .embedding = "model.decoder.embed_tokens",
      .out = "self_attn.out_proj",
      .up = "fc1",
      .down = "fc2" },
    { .class_start = "MPT",
      .layers = "transformer.blocks",
      .query_key_value = "attn.Wqkv",
      .out = "attn.out_proj",
      .up = "ffn.up_proj",
      .down = "ffn.down_proj",
      .embedding = "transformer.wte" },
    { .class_start = "Mpt",
      .layers = "transformer.blocks",
      .query_key_value = "attn.Wqkv",
      .out = "attn.out_proj",
      .up = "ffn.up_proj",
      .down = "ffn.down_proj",
      .embedding = "transformer.wte" },
    { .class_start = "Dbrx",
      .layers = "transformer.blocks",
      .embedding = "transformer.wte",
      .query_key_value = "norm_attn_norm.attn.Wqkv",
      .out = "norm_attn_norm.attn.out_proj",
      .expert_gate = "ffn.experts.mlp.w1",
      .expert_up = "ffn.experts.mlp.v1",
      .expert_down = "ffn.experts.mlp.w2",
      .router = "ffn.router.layer" },
    { .class_start = "Starcoder2", .up = "mlp.c_fc", .down = "mlp.c_proj" },
    { .class_start = "Exaone4" },
    { .class_start = "Exaone",
      .layers = "transformer.h",
      .embedding = "transformer.wte",
      .query = "attn.attention.q_proj",
      .key = "attn.attention.k_proj",
      .value = "attn.attention.v_proj",
      .out = "attn.attention.out_proj",
      .gate = "mlp.c_fc_0",
      .up = "mlp.c_fc_1",
      .down = "mlp.c_proj" },
    { .class_start = "NemotronH",
      .layers = "backbone.layers",
      .embedding = "backbone.embeddings",
      .query = "mixer.q_proj",
      .key = "mixer.k_proj",
      .value = "mixer.v_proj",
      .out = "mixer.o_proj",
      .up = "mixer.up_proj",
      .down = "mixer.down_proj",
      .expert_up = "mixer.experts.0.up_proj",
      .expert_down = "mixer.experts.0.down_proj",
      .shared_up = "mixer.shared_experts.up_proj",
      .shared_down = "mixer.shared_experts.down_proj",
      .router = "mixer.gate",
      .side_in = "mixer.fc1_latent_proj",
      .side_out = "mixer.fc2_latent_proj" },
    { .class_start = "Mamba", .layers = "backbone.layers", .embedding = "backbone.embeddings" },
    { .class_start = "FalconMamba", .layers = "backbone.layers", .embedding = "backbone.embeddings" },
    { .class_start = "Jamba",
      .gate = "feed_forward.gate_proj",
      .up = "feed_forward.up_proj",
      .down = "feed_forward.down_proj",
      .expert_gate = "feed_forward.experts.0.gate_proj",
      .expert_up = "feed_forward.experts.0.up_proj",
      .expert_down = "feed_forward.experts.0.down_proj",
      .router = "feed_forward.router" },
    { .class_start = "Bamba",
      .gate = "feed_forward.gate_proj",
      .up = "feed_forward.up_proj",
      .down = "feed_forward.down_proj" },
    { .class_start = "GraniteMoeHybrid",
      .gate_up = "shared_mlp.input_linear",
      .down = "shared_mlp.output_linear",
      .expert_gate_up = "block_sparse_moe.input_linear",
      .expert_down = "block_sparse_moe.output_linear",
      .shared_gate_up = "shared_mlp.input_linear",
      .shared_down = "shared_mlp.output_linear",
      .router = "block_sparse_moe.router.layer" },
    { .class_start = "Lfm2",
      .out = "self_attn.out_proj",
      .gate = "feed_forward.w1",
      .up = "feed_forward.w3",
      .down = "feed_forward.w2" },
};

static const char *
or_else(const char *own, const char *usual)
{
    return own != NULL ? own : usual;
}

struct module_names
module_names_of(const char *class_name)
{
    struct module_names names = llama;

    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        const struct module_names *row = &rows[i];

        if (strncmp(class_name, row->class_start, strlen(row->class_start)) != 0)
            continue;
        names = *row;
        break;
    }
    names.layers = or_else(names.layers, llama.layers);
    names.embedding = or_else(names.embedding, llama.embedding);
    names.head = or_else(names.head, llama.head);
    names.query = or_else(names.query, llama.query);
    names.key = or_else(names.key, llama.key);
    names.value = or_else(names.value, llama.value);
    names.out = or_else(names.out, llama.out);
    names.gate = or_else(names.gate, llama.gate);
    names.up = or_else(names.up, llama.up);
    names.down = or_else(names.down, llama.down);
    names.expert_gate = or_else(names.expert_gate, llama.expert_gate);
    names.expert_up = or_else(names.expert_up, llama.expert_up);
    names.expert_down = or_else(names.expert_down, llama.expert_down);
    names.shared_gate = or_else(names.shared_gate, llama.shared_gate);
    names.shared_up = or_else(names.shared_up, llama.shared_up);
    names.shared_down = or_else(names.shared_down, llama.shared_down);
    names.router = or_else(names.router, llama.router);
    names.shared_router = or_else(names.shared_router, llama.shared_router);
    return names;
}
