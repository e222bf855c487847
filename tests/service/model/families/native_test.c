/* Files that name no class: read in their own words, or refused by their name. */
#include "service/model/families/native.h"

#include <string.h>

#include "service/memory/kv_cache.h"
#include "service/model/arch.h"
#include "service/model/params.h"
#include "tests/support/suite.h"
#include "tests/support/written_facts.h"

static struct notices notices;
static struct fault fault;
static struct model_arch arch;

enum { MAX_WRITTEN = 16 };

#define MISTRAL_7B                                                                                            \
    { "/dim", "integer", "4096" }, { "/head_dim", "integer", "128" }, { "/hidden_dim", "integer", "14336" },  \
        { "/n_heads", "integer", "32" }, { "/n_kv_heads", "integer", "8" }, { "/n_layers", "integer", "32" }, \
        { "/norm_eps", "real", "1e-05" },                                                                     \
    {                                                                                                         \
        "/vocab_size", "integer", "32000"                                                                     \
    }
#define LLAMA(dim, layers, heads, keys, vocabulary, multiple, factor)                              \
    { "/dim", "integer", dim }, { "/ffn_dim_multiplier", factor[0] ? "real" : "null", factor },    \
        { "/multiple_of", "integer", multiple }, { "/n_heads", "integer", heads },                 \
        { "/n_kv_heads", keys[0] ? "integer" : "null", keys }, { "/n_layers", "integer", layers }, \
    {                                                                                              \
        "/vocab_size", "integer", vocabulary                                                       \
    }
#define MAMBA(width, layers, multiple, second)                                                                  \
    { "/attn_layer_idx", "list", "0" }, { "/d_model", "integer", width }, { "/n_layer", "integer", layers },    \
        { "/pad_vocab_size_multiple", "integer", multiple }, { "/rms_norm", "bool", "true" },                   \
        { "/ssm_cfg", "object", second ? "1" : "0" }, { "/ssm_cfg/layer", second ? "text" : "null", "Mamba2" }, \
    {                                                                                                           \
        "/vocab_size", "integer", "50277"                                                                       \
    }

static const struct {
    const char *source, *class;
    uint64_t parameters, cache_bytes_per_token;
    struct written_fact facts[MAX_WRITTEN];
} published[] = {
    { "mistralai/Mistral-7B-v0.1, Hub safetensors total",
      "MistralForCausalLM",
      7241732096,
      131072,
      { MISTRAL_7B, { "/sliding_window", "integer", "4096" } } },
    { "mistralai/Mixtral-8x7B-v0.1, Hub safetensors total",
      "MixtralForCausalLM",
      46702792704,
      131072,
      { MISTRAL_7B,
        { "/moe", "object", "2" },
        { "/moe/num_experts", "integer", "8" },
        { "/moe/num_experts_per_tok", "integer", "2" } } },
    { "meta-llama/Llama-2-7b (arXiv:2307.09288)",
      "LlamaForCausalLM",
      6738415616,
      524288,
      { LLAMA("4096", "32", "32", "", "-1", "256", "") } },
    { "meta-llama/Llama-2-70b (arXiv:2307.09288)",
      "LlamaForCausalLM",
      68976648192,
      327680,
      { LLAMA("8192", "80", "64", "8", "-1", "4096", "1.3") } },
    { "meta-llama/Meta-Llama-3-8B, Hub safetensors total",
      "LlamaForCausalLM",
      8030261248,
      131072,
      { LLAMA("4096", "32", "32", "8", "128256", "1024", "1.3") } },
    { "meta-llama/Llama-3.2-1B, Hub safetensors total",
      "LlamaForCausalLM",
      1235814400,
      32768,
      { LLAMA("2048", "16", "32", "8", "128256", "256", "1.5") } },
    { "meta-llama/Llama-3.2-3B, Hub safetensors total",
      "LlamaForCausalLM",
      3212749824,
      114688,
      { LLAMA("3072", "28", "24", "8", "128256", "256", "1.0") } },
    { "state-spaces/mamba-130m: state-spaces/mamba-130m-hf, Hub safetensors total",
      "MambaForCausalLM",
      129135360,
      0,
      { MAMBA("768", "24", "8", 0) } },
    { "state-spaces/mamba-2.8b: state-spaces/mamba-2.8b-hf, Hub safetensors total",
      "MambaForCausalLM",
      2768345600,
      0,
      { MAMBA("2560", "64", "8", 0) } },
    { "state-spaces/mamba2-130m, Hub total", "Mamba2ForCausalLM", 128989632, 0, { MAMBA("768", "24", "16", 1) } },
    { "state-spaces/mamba2-2.7b, Hub total", "Mamba2ForCausalLM", 2702599680, 0, { MAMBA("2560", "64", "16", 1) } },
};

static enum status
read_written(const struct written_fact *written)
{
    struct facts facts = written_facts(written, MAX_WRITTEN, NULL, 0);

    fault_clear(&fault);
    notices.count = 0;
    return model_arch_read(&facts, "/model/config", &arch, &notices, &fault);
}

START_TEST(totals_are_those_published)
{
    ck_assert_int_eq(read_written(published[_i].facts), STATUS_OK);
    ck_assert_msg(model_params_count(&arch).total == published[_i].parameters, "%s: %ju", published[_i].source,
                  (uintmax_t)model_params_count(&arch).total);
    ck_assert_str_eq(arch.architecture, published[_i].class);
    ck_assert_double_eq(kv_cache_bytes_per_token(&arch, 2), (double)published[_i].cache_bytes_per_token);
    ck_assert_uint_eq(notices.count, 0);
}
END_TEST

/* What such a file may hold that makes it another model. */
static const struct {
    struct written_fact facts[MAX_WRITTEN];
    enum fault_code code;
    const char *pointer, *value, *suggestion;
} refused[] = {
    { { MISTRAL_7B, { "/vision_encoder", "object", "8" } },
      FAULT_MODEL_FIELD_UNSUPPORTED,
      "/model/config/vision_encoder",
      "",
      "" },
    { { MISTRAL_7B, { "/kv_lora_rank", "integer", "256" }, { "/q_lora_rank", "integer", "1024" } },
      FAULT_MODEL_FIELD_UNSUPPORTED,
      "/model/config/kv_lora_rank",
      "256",
      "" },
    { { MISTRAL_7B,
        { "/moe", "object", "3" },
        { "/moe/expert_hidden_dim", "integer", "2048" },
        { "/moe/num_experts", "integer", "8" },
        { "/moe/num_experts_per_tok", "integer", "2" } },
      FAULT_MODEL_FIELD_UNSUPPORTED,
      "/model/config/moe/expert_hidden_dim",
      "2048",
      "" },
    { { MAMBA("768", "24", "16", 1), { "/attn_cfg", "object", "6" } },
      FAULT_MODEL_FIELD_UNSUPPORTED,
      "/model/config/attn_cfg",
      "",
      "" },
    { { { "/metadata", "object", "1" },
        { "/metadata/total_size", "integer", "1" },
        { "/weight_map", "object", "291" } },
      FAULT_MODEL_FILE,
      "/model/config",
      "model.safetensors.index.json",
      "{\"config\": { ... }}" },
    { { { "/producer", "object", "1" },
        { "/quantization", "object", "1" },
        { "/quantization/quant_algo", "text", "FP8" } },
      FAULT_MODEL_FILE,
      "/model/config",
      "hf_quant_config.json",
      "{\"config\": { ... }, \"quantization_config\": { ... }}" },
    { { { "/bits", "integer", "4" }, { "/desc_act", "bool", "true" }, { "/group_size", "integer", "128" } },
      FAULT_MODEL_FILE,
      "/model/config",
      "quantize_config.json",
      "{\"config\": { ... }, \"quantization_config\": { ... }}" },
    { { { "/tokenizer_class", "text", "LlamaTokenizer" } },
      FAULT_MODEL_FILE,
      "/model/config",
      "tokenizer_config.json",
      "{\"config\": { ... }}" },
    { { { "/do_sample", "bool", "true" }, { "/eos_token_id", "integer", "2" } },
      FAULT_MODEL_FILE,
      "/model/config",
      "generation_config.json",
      "{\"config\": { ... }}" },
    { { { "/hidden_size", "integer", "4096" } }, FAULT_MODEL_FIELD_MISSING, "/model/config/architectures", "", "" },
};

START_TEST(other_files_are_refused_by_name)
{
    ck_assert_int_eq(read_written(refused[_i].facts), STATUS_FAULT);
    ck_assert_int_eq(fault.items[0].code, refused[_i].code);
    ck_assert_str_eq(fault.items[0].pointer, refused[_i].pointer);
    ck_assert_str_eq(fault.items[0].value, refused[_i].value);
    ck_assert_str_eq(fault.items[0].suggestion, refused[_i].suggestion);
}
END_TEST

int
main(void)
{
    TCase *tcase = tcase_create("native files");

    tcase_add_loop_test(tcase, totals_are_those_published, 0, COUNT_OF(published));
    tcase_add_loop_test(tcase, other_files_are_refused_by_name, 0, COUNT_OF(refused));
    return suite_run("native files", tcase);
}
