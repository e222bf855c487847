/* What a config may not say, what is taken for a missing key, what changes nothing. */
#include "service/model/arch.h"

#include <string.h>

#include "service/memory/kv_cache.h"
#include "service/model/params.h"
#include "tests/support/model_rows.h"
#include "tests/support/suite.h"

static struct notices notices;
static struct fault fault;
static struct model_arch arch;
static bool used[MAX_FACTS];

/* Reads a published row with one fact changed. */
static enum status
read_with(const char *model, const char *path, const char *kind, const char *value)
{
    struct fact items[MODEL_ROW_FACTS + 1];
    size_t count = model_row_with(model_row_of(model), path, kind, value, items);
    struct facts facts = model_row_facts(items, count, used);

    notices.count = 0;
    fault_clear(&fault);
    return model_arch_read(&facts, "/model/config", &arch, &notices, &fault);
}

static const struct {
    const char *model, *path, *kind, *value;
    enum fault_code code;
    const char *pointer;
} refused[] = {
    /* a size that is missing */
    { "llama-3-8b", "/hidden_size", NULL, NULL, FAULT_MODEL_FIELD_MISSING, "/model/config/hidden_size" },
    { "llama-3-8b", "/vocab_size", "null", "", FAULT_MODEL_FIELD_MISSING, "/model/config/vocab_size" },
    { "mixtral-8x7b", "/num_local_experts", NULL, NULL, FAULT_MODEL_FIELD_MISSING, "/model/config/num_local_experts" },
    { "deepseek-v3", "/kv_lora_rank", NULL, NULL, FAULT_MODEL_FIELD_MISSING, "/model/config/kv_lora_rank" },
    { "qwen2.5-vl-7b", "/vision_config", NULL, NULL, FAULT_MODEL_FIELD_MISSING, "/model/config/vision_config" },
    /* another type, outside its bounds */
    { "llama-3-8b", "/hidden_size", "text", "4096", FAULT_WRONG_TYPE, "/model/config/hidden_size" },
    { "llama-3-8b", "/hidden_size", "real", "4096.5", FAULT_WRONG_TYPE, "/model/config/hidden_size" },
    { "llama-3-8b", "/hidden_size", "integer", "-1", FAULT_OUT_OF_RANGE, "/model/config/hidden_size" },
    { "llama-3-8b", "/num_hidden_layers", "integer", "1025", FAULT_OUT_OF_RANGE, "/model/config/num_hidden_layers" },
    { "llama-3-8b", "/vocab_size", "integer", "4000000000000", FAULT_OUT_OF_RANGE, "/model/config/vocab_size" },
    { "llama-3-8b", "/tie_word_embeddings", "text", "no", FAULT_WRONG_TYPE, "/model/config/tie_word_embeddings" },
    { "llama-3-8b", "/architectures/0", "integer", "1", FAULT_WRONG_TYPE, "/model/config/architectures/0" },
    /* contradictions */
    { "llama-3-8b", "/num_attention_heads", "integer", "24", FAULT_MODEL_CONTRADICTION,
      "/model/config/num_attention_heads" },
    { "llama-3-8b", "/num_key_value_heads", "integer", "5", FAULT_MODEL_CONTRADICTION,
      "/model/config/num_key_value_heads" },
    { "mixtral-8x7b", "/num_experts_per_tok", "integer", "9", FAULT_MODEL_CONTRADICTION,
      "/model/config/num_experts_per_tok" },
    { "llama-3-8b", "/model_type", "text", "qwen2", FAULT_MODEL_CONTRADICTION, "/model/config/model_type" },
    { "gpt-oss-120b", "/num_hidden_layers", "integer", "35", FAULT_MODEL_CONTRADICTION, "/model/config/layer_types" },
    { "glm-5", "/qk_head_dim", "integer", "200", FAULT_MODEL_CONTRADICTION, "/model/config/qk_head_dim" },
    /* keys that change sizes in a way the class does not know */
    { "llama-3-8b", "/num_experts", "integer", "8", FAULT_MODEL_FIELD_UNSUPPORTED, "/model/config/num_experts" },
    { "llama-3-8b", "/kv_lora_rank", "integer", "512", FAULT_MODEL_FIELD_UNSUPPORTED, "/model/config/kv_lora_rank" },
    { "llama-3-8b", "/num_kv_shared_layers", "integer", "10", FAULT_MODEL_FIELD_UNSUPPORTED,
      "/model/config/num_kv_shared_layers" },
    { "llama-3-8b", "/vision_config", "object", "5", FAULT_MODEL_FIELD_UNSUPPORTED, "/model/config/vision_config" },
    { "llama-3-8b", "/layer_types", "text", "full", FAULT_WRONG_TYPE, "/model/config/layer_types" },
    { "mistral-7b-v0.1", "/attention_bias", "bool", "true", FAULT_MODEL_FIELD_UNSUPPORTED,
      "/model/config/attention_bias" },
    { "gemma-3-4b", "/text_config/hidden_size_per_layer_input", "integer", "256", FAULT_MODEL_FIELD_UNSUPPORTED,
      "/model/config/text_config/hidden_size_per_layer_input" },
    { "qwen-72b (v1)", "/no_bias", "bool", "false", FAULT_MODEL_FIELD_UNSUPPORTED, "/model/config/no_bias" },
    { "llama-3-8b", "/n_layer", "integer", "31", FAULT_MODEL_FIELD_UNSUPPORTED, "/model/config/n_layer" },
    { "mamba-codestral-7b", "/intermediate_size", "integer", "4096", FAULT_MODEL_CONTRADICTION,
      "/model/config/intermediate_size" },
    { "lfm2-1.2b", "/tie_embedding", "text", "yes", FAULT_WRONG_TYPE, "/model/config/tie_embedding" },
    { "clip-vit-l-14", "/text_config_dict/hidden_size", "integer", "512", FAULT_MODEL_FIELD_UNSUPPORTED,
      "/model/config/text_config_dict/hidden_size" },
    { "jamba-1.5-mini-52b", "/attn_layer_offset", "integer", "8", FAULT_MODEL_CONTRADICTION,
      "/model/config/attn_layer_offset" },
    { "jamba-1.5-mini-52b", "/expert_layer_offset", "integer", "2", FAULT_MODEL_CONTRADICTION,
      "/model/config/expert_layer_offset" },
    { "lfm2-1.2b", "/block_ffn_dim_multiplier", "real", "1e300", FAULT_OUT_OF_RANGE,
      "/model/config/block_ffn_dim_multiplier" },
    { "lfm2-1.2b", "/block_ffn_dim_multiplier", "real", "-1.5", FAULT_OUT_OF_RANGE,
      "/model/config/block_ffn_dim_multiplier" },
    { "lfm2-1.2b", "/block_ffn_dim_multiplier", "text", "1.0", FAULT_WRONG_TYPE,
      "/model/config/block_ffn_dim_multiplier" },
    { "gemma-3-4b", "/vision_config/patch_size", "integer", "2000", FAULT_MODEL_CONTRADICTION,
      "/model/config/vision_config/patch_size" },
    { "llama-3-8b", "/pruned_heads", "object", "1", FAULT_MODEL_FIELD_UNSUPPORTED, "/model/config/pruned_heads" },
    /* settings that a class has other tensors for */
    { "bert-base-uncased (BertModel)", "/position_embedding_type", "text", "relative_key",
      FAULT_MODEL_FIELD_UNSUPPORTED, "/model/config/position_embedding_type" },
    { "sdxl-unet", "/only_cross_attention", "bool", "true", FAULT_MODEL_FIELD_UNSUPPORTED,
      "/model/config/only_cross_attention" },
    { "sdxl-unet", "/conv_in_kernel", "integer", "5", FAULT_MODEL_FIELD_UNSUPPORTED, "/model/config/conv_in_kernel" },
    { "sdxl-unet", "/resnet_time_scale_shift", "text", "scale_shift", FAULT_MODEL_FIELD_UNSUPPORTED,
      "/model/config/resnet_time_scale_shift" },
};

START_TEST(faults_name_their_place)
{
    ck_assert(read_with(refused[_i].model, refused[_i].path, refused[_i].kind, refused[_i].value) == STATUS_FAULT);
    ck_assert_msg(fault.code == refused[_i].code, "%s: %s", refused[_i].path, fault_code_name(fault.code));
    ck_assert_str_eq(fault.items[0].pointer, refused[_i].pointer);
}
END_TEST

START_TEST(all_faults_come_at_once)
{
    struct fact facts[] = {
        model_row_fact("/architectures/0", "text", "LlamaForCausalLM"),
        model_row_fact("/hidden_size", "text", "big"),
        model_row_fact("/num_attention_heads", "integer", "0"),
    };
    struct facts list = model_row_facts(facts, COUNT_OF(facts), used);

    fault_clear(&fault);
    ck_assert(model_arch_read(&list, "/model/config", &arch, &notices, &fault) == STATUS_FAULT);
    ck_assert_uint_ge(fault.item_count, 5); /* the two, and layers, vocabulary and width that are missing */
}
END_TEST

/* What does not go with a value that was refused is not told: the user never wrote what it was held against. */
START_TEST(a_refused_value_contradicts_nothing)
{
    ck_assert(read_with("llama-3-8b", "/hidden_size", "text", "4096") == STATUS_FAULT);
    ck_assert_uint_eq(fault.item_count, 1);
    ck_assert(read_with("mixtral-8x7b", "/num_local_experts", "integer", "0") == STATUS_FAULT);
    ck_assert_uint_eq(fault.item_count, 1);
}
END_TEST

/* Keys that say nothing new leave every count as published. */
static const struct {
    const char *model, *path, *kind, *value;
} harmless[] = {
    { "llama-3-8b", "/attention_bias", "bool", "false" },
    { "llama-3-8b", "/attention_bias", NULL, NULL },
    { "llama-3-8b", "/head_dim", "null", "" },
    { "llama-3-8b", "/head_dim", "integer", "128" },
    { "llama-3-8b", "/num_experts", "integer", "0" },
    { "llama-3-8b", "/tie_word_embeddings", NULL, NULL },
    { "llama-3-8b", "/quantization_config", "null", "" },
    { "llama-3-8b", "/rope_theta", "real", "500000.5" },
    { "llama-3-8b", "/model_type", "text", "a fine-tune" },
    { "mistral-7b-v0.3", "/num_key_value_heads", NULL, NULL }, /* the class says 8 */
    { "mixtral-8x7b", "/num_key_value_heads", NULL, NULL },    /* the class says 8 */
    { "gemma-2b", "/tie_word_embeddings", "null", "" },        /* the class ties */
    { "qwen3-8b", "/head_dim", NULL, NULL },                   /* the class says 128 */
    { "qwen1.5-7b", "/use_sliding_window", "bool", "false" },
    { "qwen3-235b-a22b", "/mlp_only_layers", NULL, NULL },
    { "falcon-7b", "/num_kv_heads", "integer", "1" }, /* multi_query decides */
    /* what is left out where the class says the same (configuration files of transformers 4.57 and 5) */
    { "deepseek-v3", "/n_shared_experts", NULL, NULL },
    { "deepseek-v3", "/q_lora_rank", NULL, NULL },
    { "deepseek-v2-236b", "/n_shared_experts", NULL, NULL },
    { "deepseek-v2-236b", "/q_lora_rank", NULL, NULL },
    { "glm-4.5-355b", "/n_shared_experts", NULL, NULL },
    { "glm-5", "/q_lora_rank", NULL, NULL },
    { "qwen1.5-moe-a2.7b", "/shared_expert_intermediate_size", NULL, NULL },
    { "qwen3-next-80b-a3b (with MTP)", "/shared_expert_intermediate_size", NULL, NULL },
    { "qwen3-vl-32b", "/vision_config/deepstack_visual_indexes", NULL, NULL },
    { "moonlight-16b-a3b", "/q_lora_rank", "null", "" }, /* queries without a latent */
    /* an old name beside the new one, as in what was saved again */
    { "llama-3-8b", "/n_layer", "integer", "32" },
    { "bloom-560m", "/hidden_size", "integer", "1024" },
    { "mamba-1.4b-hf", "/n_layer", "integer", "48" },
    { "mamba-1.4b-hf", "/d_model", "integer", "2048" },
    /* what published files hold beside what counts */
    { "mamba-1.4b-hf", "/pad_vocab_size_multiple", "integer", "8" },
    { "bloom-560m", "/skip_bias_add", "bool", "true" },
    { "jamba-1.5-mini-52b", "/mamba_inner_layernorms", "bool", "true" },
    { "lfm2-1.2b", "/tie_embedding", "bool", "true" },
    { "whisper-large-v3", "/classifier_proj_size", "integer", "256" },
    { "qwen2.5-7b", "/dual_chunk_attention_config", "object", "3" },
    { "bert-base-uncased (BertModel)", "/pooler_num_fc_layers", "integer", "3" },
    { "bert-base-uncased (BertModel)", "/position_embedding_type", "text", "absolute" },
    { "clip-vit-l-14", "/text_config_dict/hidden_size", "integer", "768" },
    { "clip-vit-l-14", "/text_config/tie_word_embeddings", "bool", "true" },
    { "sdxl-unet", "/addition_embed_type_num_heads", "integer", "64" },
    { "smolvlm-256m", "/text_config/perceiver_config", "object", "8" },
    { "sdxl-unet", "/mid_block_type", "text", "UNetMidBlock2DCrossAttn" },
    { "sdxl-unet", "/time_embedding_type", "text", "positional" },
};

START_TEST(keys_that_say_nothing_new_change_nothing)
{
    const struct model_row *row = model_row_of(harmless[_i].model);

    ck_assert_msg(read_with(harmless[_i].model, harmless[_i].path, harmless[_i].kind, harmless[_i].value) == STATUS_OK,
                  "%s", fault.items[0].pointer);
    ck_assert_msg(model_params_count(&arch).total == row->parameters, "%s: %s", row->name, harmless[_i].path);
    ck_assert(kv_cache_bytes_per_token(&arch, 2) == (double)row->cache_bytes_per_token);
    ck_assert_uint_eq(arch.ignored_key_count, 0);
}
END_TEST

START_TEST(unknown_keys_are_told)
{
    ck_assert(read_with("llama-3-8b", "/favourite_colour", "text", "blue") == STATUS_OK);
    ck_assert_uint_eq(arch.ignored_key_count, 1);
    ck_assert_str_eq(arch.ignored_keys[0], "/favourite_colour");
    ck_assert_uint_eq(model_params_count(&arch).total, 8030261248);
}
END_TEST

/* RoBERTa's table has 514 rows for 512 tokens (arXiv:1907.11692 section 3; modeling_roberta.py). */
START_TEST(positions_behind_the_padding_are_no_context)
{
    ck_assert(read_with("bge-reranker-v2-m3", "/max_position_embeddings", "integer", "514") == STATUS_OK);
    ck_assert_uint_eq(arch.max_context_tokens, 512);
    ck_assert(read_with("bge-reranker-v2-m3", "/max_position_embeddings", "integer", "1") == STATUS_OK);
    ck_assert_uint_eq(arch.max_context_tokens, 1);
    ck_assert(read_with("bert-base-uncased (BertModel)", "/max_position_embeddings", "integer", "512") == STATUS_OK);
    ck_assert_uint_eq(arch.max_context_tokens, 512);
}
END_TEST

/* transformers writes no id2label where it is {0: LABEL_0, 1: LABEL_1} (configuration_utils.py, to_diff_dict). */
START_TEST(a_classifier_of_two_has_no_labels_in_its_file)
{
    static const char model[] = "vit-base-patch16-224 (1000 classes)";

    ck_assert(read_with(model, "/transformers_version", "text", "4.51.0") == STATUS_OK);
    ck_assert_uint_eq(model_params_count(&arch).total, model_row_of(model)->parameters - (uint64_t)998 * (768 + 1));
}
END_TEST

/* Qwen2.5-VL as transformers 4.53 writes it: all that the text model's config says stands at the root once more. */
START_TEST(a_root_may_repeat_its_text_model)
{
    static const char *const keys[] = { "/hidden_size", "/num_hidden_layers", "/intermediate_size" };
    const struct model_row *row = model_row_of("qwen3-vl-8b");
    static const char *const values[] = { "4096", "36", "12288" };

    for (size_t i = 0; i < COUNT_OF(keys); i++) {
        ck_assert_msg(read_with(row->name, keys[i], "integer", values[i]) == STATUS_OK, "%s", keys[i]);
        ck_assert_uint_eq(model_params_count(&arch).total, row->parameters);
        ck_assert(read_with(row->name, keys[i], "integer", "128") == STATUS_FAULT);
    }
}
END_TEST

/* Gemma3TextConfig: 131072 positions (arXiv:2503.19786 section 2, 128K). */
START_TEST(a_nested_context_is_that_of_the_class)
{
    ck_assert(read_with("gemma-3-4b", "/text_config/max_position_embeddings", NULL, NULL) == STATUS_OK);
    ck_assert_uint_eq(arch.max_context_tokens, 131072);
    ck_assert(read_with("llama-3-8b", "/max_position_embeddings", NULL, NULL) == STATUS_OK);
    ck_assert_uint_eq(arch.max_context_tokens, 0);
}
END_TEST

START_TEST(works_without_the_callers_flags)
{
    const struct model_row *row = model_row_of("llama-3-8b");
    struct facts facts = { .items = row->facts, .count = row->fact_count, .used = NULL };

    fault_clear(&fault);
    ck_assert(model_arch_read(&facts, "/model/config", &arch, &notices, &fault) == STATUS_OK);
    ck_assert_uint_eq(arch.ignored_key_count, 0);
}
END_TEST

/* Absent, null and set windows are three things: Mistral-7B v0.1 had 4096 (arXiv:2310.06825 section 2), v0.3 none. */
START_TEST(windows_follow_the_class)
{
    ck_assert(read_with("mistral-7b-v0.3", "/sliding_window", NULL, NULL) == STATUS_OK);
    ck_assert_uint_eq(arch.kinds[0].window_tokens, 4096);
    ck_assert(read_with("mistral-7b-v0.3", "/sliding_window", "null", "") == STATUS_OK);
    ck_assert_uint_eq(arch.kinds[0].window_tokens, 0);
    ck_assert(read_with("qwen2.5-7b", "/use_sliding_window", "bool", "false") == STATUS_OK);
    ck_assert_uint_eq(arch.kinds[0].window_tokens, 0);
    ck_assert(read_with("gemma-3-1b", "/sliding_window", "integer", "512") == STATUS_OK);
    ck_assert_uint_eq(arch.kind_count, 2); /* arXiv:2503.19786 section 2: five windowed layers to a full one */
    ck_assert_uint_eq(arch.kinds[0].window_tokens, 512);
    ck_assert_uint_eq(arch.kinds[0].count, 22);
    ck_assert_uint_eq(arch.kinds[1].count, 4);
}
END_TEST

START_TEST(a_stated_total_moves_into_the_rest)
{
    ck_assert(read_with("llama-3-8b", "/head_dim", "integer", "128") == STATUS_OK);
    model_arch_state_total(&arch, 8030261248, &notices);
    ck_assert_uint_eq(notices.count, 0);
    ck_assert_int_eq(arch.extra_parameters, 0);
    model_arch_state_total(&arch, 9000000000, &notices);
    ck_assert_uint_eq(model_params_count(&arch).total, 9000000000);
    ck_assert_uint_eq(notices.count, 1);
    ck_assert_int_eq(notices.items[0].code, NOTICE_STATED_PARAMETER_COUNT_DIFFERS);
    ck_assert(notices.items[0].number[0] == 9e9 && notices.items[0].number[1] == 8030261248.0);
    model_arch_state_total(&arch, 1000, &notices);
    ck_assert_uint_eq(model_params_count(&arch).total, 1000);
}
END_TEST

START_TEST(a_stated_total_of_another_model_is_refused)
{
    ck_assert(read_with("llama-3-8b", "/head_dim", "integer", "128") == STATUS_OK);
    model_arch_state_total(&arch, 4000000000, &notices); /* rounded, or without the embedding: the caller's to know */
    ck_assert(model_arch_check(&arch, "/model", &fault) == STATUS_OK);
    model_arch_state_total(&arch, 700000000, &notices);
    ck_assert(model_arch_check(&arch, "/model", &fault) == STATUS_FAULT);
    ck_assert_int_eq(fault.items[0].code, FAULT_MODEL_CONTRADICTION);
    ck_assert_str_eq(fault.items[0].pointer, "/model/parameter_count");
    ck_assert_str_eq(fault.items[0].expected, "integer 803026125..4611686018427387904");
}
END_TEST

/* Some tools write one entry a layer where others write one number. */
START_TEST(a_list_of_one_value_is_that_value)
{
    static const struct {
        const char *values[2];
        enum status status;
    } lists[] = { { { "14336", "14336" }, STATUS_OK }, { { "14336", "8192" }, STATUS_FAULT } };
    const struct model_row *row = model_row_of("llama-3-8b");

    for (size_t i = 0; i < COUNT_OF(lists); i++) {
        struct fact items[MODEL_ROW_FACTS + 1], all[MODEL_ROW_FACTS + 3];
        size_t count = model_row_with(row, "/intermediate_size", "list", "2", items), at = 0;

        while (strcmp(items[at].path, "/intermediate_size") != 0)
            at++;
        memcpy(all, items, (at + 1) * sizeof(all[0]));
        all[at + 1] = model_row_fact("/intermediate_size/0", "integer", lists[i].values[0]);
        all[at + 2] = model_row_fact("/intermediate_size/1", "integer", lists[i].values[1]);
        memcpy(&all[at + 3], &items[at + 1], (count - at - 1) * sizeof(all[0]));
        struct facts facts = model_row_facts(all, count + 2, used);
        fault_clear(&fault);
        ck_assert_int_eq(model_arch_read(&facts, "/model/config", &arch, &notices, &fault), lists[i].status);
        if (lists[i].status == STATUS_OK)
            ck_assert_uint_eq(model_params_count(&arch).total, row->parameters);
        else
            ck_assert_str_eq(fault.items[0].pointer, "/model/config/intermediate_size");
    }
}
END_TEST

START_TEST(checks_bound_every_size)
{
    ck_assert(read_with("llama-3-8b", "/head_dim", "integer", "128") == STATUS_OK);
    struct model_arch sound = arch;

    ck_assert(model_arch_check(&arch, "/model", &fault) == STATUS_OK);
    arch.kinds[0].kv_head_count = 0;
    ck_assert(model_arch_check(&arch, "/model", &fault) == STATUS_FAULT);
    arch = sound;
    arch.hidden_size = UINT32_MAX;
    ck_assert(model_arch_check(&arch, "/model", &fault) == STATUS_FAULT);
    arch = sound;
    arch.layer_count = 0;
    ck_assert(model_arch_check(&arch, "/model", &fault) == STATUS_FAULT);
}
END_TEST

int
main(void)
{
    TCase *tcase = tcase_create("configs");

    tcase_add_loop_test(tcase, faults_name_their_place, 0, COUNT_OF(refused));
    tcase_add_test(tcase, all_faults_come_at_once);
    tcase_add_test(tcase, a_refused_value_contradicts_nothing);
    tcase_add_loop_test(tcase, keys_that_say_nothing_new_change_nothing, 0, COUNT_OF(harmless));
    tcase_add_test(tcase, unknown_keys_are_told);
    tcase_add_test(tcase, positions_behind_the_padding_are_no_context);
    tcase_add_test(tcase, a_classifier_of_two_has_no_labels_in_its_file);
    tcase_add_test(tcase, a_root_may_repeat_its_text_model);
    tcase_add_test(tcase, a_nested_context_is_that_of_the_class);
    tcase_add_test(tcase, works_without_the_callers_flags);
    tcase_add_test(tcase, windows_follow_the_class);
    tcase_add_test(tcase, a_stated_total_moves_into_the_rest);
    tcase_add_test(tcase, a_stated_total_of_another_model_is_refused);
    tcase_add_test(tcase, a_list_of_one_value_is_that_value);
    tcase_add_test(tcase, checks_bound_every_size);
    return suite_run("model arch", tcase);
}
