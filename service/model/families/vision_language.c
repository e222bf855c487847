/* Vision-language classes: a text model that is another family's, and a tower. Sources as in vision.c. */
#include <stddef.h>

#include "service/model/families/config.h"
#include "service/model/families/recurrent.h"
#include "service/model/families/tables.h"
#include "service/model/families/vision.h"

static const struct class_sizes gemma3_sizes = {
    .hidden = 2304, .layers = 26, .heads = 8, .intermediate = 9216, .vocabulary = 262208, .context = 131072
};

/* A text model of known traits, its keys in text_config (or at the root, as older configs have them). */
static void
read_with_tower(struct reader *reader, const struct decoder *text, vision_tower *tower)
{
    struct decoder decoder = *text;

    decoder.text_object = "text_config";
    decoder.tower = tower;
    decoder_read(reader, &decoder);
}

static void
read_gemma3(struct reader *reader, const struct decoder *text)
{
    struct decoder decoder = *text;

    decoder.sizes = &gemma3_sizes;
    read_with_tower(reader, &decoder, vision_gemma3);
}

/* Their text configs are classes of their own, with defaults that are not Qwen2's. */
static void
read_qwen2_text(struct reader *reader, const struct decoder *text, vision_tower *tower)
{
    struct decoder decoder = *text;

    decoder.sizes = NULL;
    read_with_tower(reader, &decoder, tower);
}

static void
read_qwen2_vl(struct reader *reader, const struct decoder *text)
{
    read_qwen2_text(reader, text, vision_qwen2);
}

static void
read_qwen2_5_vl(struct reader *reader, const struct decoder *text)
{
    read_qwen2_text(reader, text, vision_qwen2_5);
}

static void
read_glm4v(struct reader *reader, const struct decoder *text)
{
    read_with_tower(reader, text, vision_glm4);
}

static void
read_qwen3_vl(struct reader *reader, const struct decoder *text)
{
    read_with_tower(reader, text, vision_qwen3);
}

/* Key heads of its text class, where Qwen3-MoE has 4. */
static void
read_qwen3_vl_moe(struct reader *reader, const struct decoder *text)
{
    struct decoder decoder = *text;

    decoder.kv_heads = 16;
    read_with_tower(reader, &decoder, vision_qwen3);
}

static void
read_qwen3_5(struct reader *reader, const struct decoder *text)
{
    read_with_tower(reader, text, vision_qwen3_5);
}

static void
read_kimi(struct reader *reader, const struct decoder *text)
{
    read_with_tower(reader, text, vision_kimi);
}

static void
read_muse_glimmer(struct reader *reader, const struct decoder *text)
{
    read_with_tower(reader, text, vision_muse_glimmer);
}

static void
read_llama4(struct reader *reader, const struct decoder *text)
{
    read_with_tower(reader, text, vision_llama4);
}

/* The text model is whatever text_config/model_type says: its traits stand in that type's row. */
static void
read_by_text_type(struct reader *reader, const char *absent, vision_tower *tower)
{
    const char *type = reader_word_or(reader, "text_config/model_type", absent);
    const struct family_class *row = family_of_model_type(type);

    if (row != NULL && row->read == decoder_read)
        read_with_tower(reader, row->decoder, tower);
    else
        reader_fault(reader, FAULT_MODEL_CLASS_UNSUPPORTED, "text_config/model_type", type, NULL);
}

static void
read_llava(struct reader *reader, const struct decoder *text)
{
    (void)text;
    read_by_text_type(reader, "llama", vision_llava);
}

static void
read_llava_next(struct reader *reader, const struct decoder *text)
{
    (void)text;
    read_by_text_type(reader, "llama", vision_llava_next);
}

/* Its files still hold the resampler of the model before it, switched off. */
static void
read_idefics3(struct reader *reader, const struct decoder *text)
{
    (void)text;
    reader_fixed(reader, "text_config/use_resampler", "false");
    reader_fixed(reader, "text_config/qk_layer_norms", "false");
    (void)reader_find(reader, "text_config/perceiver_config");
    read_by_text_type(reader, "llama", vision_idefics3);
}

/* Whisper's encoder with a norm, and a matrix with bias to the text model (Qwen/Qwen2-Audio-7B). */
static uint64_t
audio_qwen2(struct reader *reader, uint32_t text_hidden_size)
{
    if (!config_enter(reader, "audio_config"))
        return 0;
    uint64_t hidden = reader_count_or(reader, "d_model", 1, LIMIT_HIDDEN, 1280);
    uint64_t layers = reader_count_or(reader, "encoder_layers", 1, LIMIT_LAYERS, 32);
    uint64_t intermediate = reader_count_or(reader, "encoder_ffn_dim", 1, LIMIT_WIDTH, 5120);
    uint64_t bins = reader_count_or(reader, "num_mel_bins", 1, LIMIT_SMALL, 128);
    uint64_t frames = reader_count_or(reader, "max_source_positions", 1, LIMIT_VOCABULARY, 1500);
    (void)reader_find(reader, "encoder_attention_heads");
    (void)reader_find(reader, "num_hidden_layers"); /* encoder_layers again */
    reader_leave(reader);
    return vision_linear(3 * bins, hidden) + vision_linear(3 * hidden, hidden) + frames * hidden +
           layers * (vision_block(hidden, intermediate) - hidden) /* keys have no bias */ + 2 * hidden +
           vision_linear(hidden, text_hidden_size);
}

static void
read_qwen2_audio(struct reader *reader, const struct decoder *text)
{
    (void)text;
    (void)reader_find(reader, "audio_token_index");
    read_by_text_type(reader, "qwen2", audio_qwen2);
}

static void
read_mistral3(struct reader *reader, const struct decoder *text)
{
    (void)text;
    read_by_text_type(reader, "mistral", vision_mistral3);
}

static const struct experts llama4_experts = {
    .count_keys = "num_local_experts",
    .per_token_keys = "num_experts_per_tok",
    .width_keys = "intermediate_size",
    .dense_width_keys = "intermediate_size_mlp",
    .layers = EXPERTS_INTERLEAVED,
    .step = 1,
    .shared_as_wide = true,
};

/* query and key norms without weights */
static const struct fixed llama4_fixed[] = { { "use_qk_norm", NULL }, { "rope_scaling", NULL }, { NULL, NULL } };

static const struct decoder llama4 = {
    .kv_heads = 8,
    .head_size = 128,
    .fixed = llama4_fixed,
    .qkv_bias = { .keys = "attention_bias" },
    .out_bias = { .keys = "attention_bias" },
    .window = WINDOW_CHUNKED,
    .window_tokens = 8192,
    .window_period = 4,
    .experts = &llama4_experts,
};

/* Qwen3-Next's layers with a dense MLP, without keys for the gate */
static const struct fixed qwen3_5_fixed[] = { { "attn_output_gate", "true" }, { NULL, NULL } };

static const struct decoder qwen3_5 = {
    .kv_heads = 4,
    .head_size = 256,
    .fixed = qwen3_5_fixed,
    .qkv_bias = { .keys = "attention_bias" },
    .out_bias = { .keys = "attention_bias" },
    .qk_norm = QK_NORM_HEAD_SIZE,
    .qk_norm_when = { .always = true },
    .query_gate = true,
    .recurrent = recurrent_delta_net_apart,
    .period_keys = "full_attention_interval",
    .period = 4,
};

static const struct experts qwen3_5_experts = {
    .count_keys = "num_experts",
    .per_token_keys = "num_experts_per_tok",
    .width_keys = "moe_intermediate_size",
    .shared_width_keys = "shared_expert_intermediate_size",
    .shared_absent = 512,
    .layers = EXPERTS_SPARSE_STEP,
    .shared_gate = true,
};

static const struct decoder qwen3_5_moe = {
    .kv_heads = 2,
    .head_size = 256,
    .fixed = qwen3_5_fixed,
    .qkv_bias = { .keys = "attention_bias" },
    .out_bias = { .keys = "attention_bias" },
    .qk_norm = QK_NORM_HEAD_SIZE,
    .qk_norm_when = { .always = true },
    .query_gate = true,
    .recurrent = recurrent_delta_net_apart,
    .period_keys = "full_attention_interval",
    .period = 4,
    .experts = &qwen3_5_experts,
};

static const struct fixed muse_glimmer_fixed[] = { { "layer_rope_theta", NULL },
                                                   { "post_norm_eps", NULL },
                                                   { "qk_scale_factor", NULL },
                                                   { "output_multiplier", NULL },
                                                   { NULL, NULL } };

static const struct class_sizes muse_glimmer_sizes = {
    .hidden = 6656, .layers = 52, .heads = 32, .intermediate = 19968, .vocabulary = 202048, .context = 131072
};

/* meta-models/Muse-Glimmer-30B: norms of query and key without weights, a gate as wide as the query */
static const struct decoder muse_glimmer = {
    .kv_heads = 2,
    .head_size = 128,
    .sizes = &muse_glimmer_sizes,
    .fixed = muse_glimmer_fixed,
    .qkv_bias = { .keys = "attention_bias" },
    .out_bias = { .keys = "attention_bias" },
    .query_gate = true,
    .block_norms = 4,
    .window = WINDOW_PATTERN,
    .window_tokens = 2048,
    .window_period = 4,
};

const struct family_class family_vision_language[] = {
    { "Qwen2VLForConditionalGeneration", "qwen2_vl", read_qwen2_vl, &decoder_qwen2 },
    { "Qwen2_5_VLForConditionalGeneration", "qwen2_5_vl", read_qwen2_5_vl, &decoder_qwen2 },
    { "Qwen3VLForConditionalGeneration", "qwen3_vl", read_qwen3_vl, &decoder_qwen3 },
    { "Qwen3VLMoeForConditionalGeneration", "qwen3_vl_moe", read_qwen3_vl_moe, &decoder_qwen3_moe },
    { "Qwen3_5ForConditionalGeneration", "qwen3_5", read_qwen3_5, &qwen3_5 },
    { "Qwen3_5MoeForConditionalGeneration", "qwen3_5_moe", read_qwen3_5, &qwen3_5_moe },
    { "Qwen3_5ForCausalLM", "qwen3_5_text", decoder_read, &qwen3_5 },
    { "Qwen3_5MoeForCausalLM", "qwen3_5_moe_text", decoder_read, &qwen3_5_moe },
    { "Gemma3ForConditionalGeneration", "gemma3", read_gemma3, &decoder_gemma3 },
    { "Glm4vForConditionalGeneration", "glm4v", read_glm4v, &decoder_glm4 },
    { "Glm4vMoeForConditionalGeneration", "glm4v_moe", read_glm4v, &decoder_glm4_moe },
    { "KimiVLForConditionalGeneration", "kimi_vl", read_kimi, &decoder_deepseek_v3 },
    { "KimiK25ForConditionalGeneration", "kimi_k25", read_kimi, &decoder_deepseek_v3 },
    { "MuseGlimmerForConditionalGeneration", "muse_glimmer", read_muse_glimmer, &muse_glimmer },
    { "LlavaForConditionalGeneration", "llava", read_llava, NULL },
    { "LlavaNextForConditionalGeneration", "llava_next", read_llava_next, NULL },
    { "Idefics3ForConditionalGeneration", "idefics3", read_idefics3, NULL },
    { "SmolVLMForConditionalGeneration", "smolvlm", read_idefics3, NULL },
    { "Qwen2AudioForConditionalGeneration", "qwen2_audio", read_qwen2_audio, NULL },
    { "Mistral3ForConditionalGeneration", "mistral3", read_mistral3, NULL },
    { "Llama4ForConditionalGeneration", "llama4", read_llama4, &llama4 },
    { "Llama4ForCausalLM", "llama4_text", decoder_read, &llama4 },
    { NULL, NULL, NULL, NULL },
};
