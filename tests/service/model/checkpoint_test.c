/* Checkpoints as they are published: to the byte what their files hold, biases and scales included. */
#include <string.h>

#include "service/model/arch.h"
#include "service/model/params.h"
#include "service/model/quantization.h"
#include "tests/support/suite.h"
#include "tests/support/written_facts.h"

static struct notices notices;
static struct fault fault;
static struct model_arch arch;

#define AT(key) "/quantization_config/" key
#define AWQ                                                                                                            \
    { "/quantization_config", "object", "6" }, { AT("bits"), "integer", "4" }, { AT("group_size"), "integer", "128" }, \
        { AT("modules_to_not_convert"), "null", "" }, { AT("quant_method"), "text", "awq" },                           \
        { AT("version"), "text", "gemm" },                                                                             \
    {                                                                                                                  \
        AT("zero_point"), "bool", "true"                                                                               \
    }
/* Qwen/Qwen3-32B and openai/gpt-oss-20b, by what they differ in from their relatives */
#define QWEN3_32B                                                                        \
    { "/hidden_size", "integer", "5120" }, { "/intermediate_size", "integer", "25600" }, \
        { "/num_attention_heads", "integer", "64" },                                     \
    {                                                                                    \
        "/num_hidden_layers", "integer", "64"                                            \
    }
#define GPT_OSS_20B                                                            \
    { "/layer_types", "null", "" }, { "/num_hidden_layers", "integer", "24" }, \
    {                                                                          \
        "/num_local_experts", "integer", "32"                                  \
    }
#define MLX(bits)                                                                  \
    { "/quantization", "object", "2" }, { "/quantization/bits", "integer", bits }, \
    {                                                                              \
        "/quantization/group_size", "integer", "64"                                \
    }
#define EXPERTS_ONLY                                                                          \
    { "/quantization_config", "object", "2" }, { AT("modules_to_not_convert"), "list", "4" }, \
        { AT("modules_to_not_convert/0"), "text", "model.layers.*.self_attn" },               \
        { AT("modules_to_not_convert/1"), "text", "model.layers.*.mlp.router" },              \
        { AT("modules_to_not_convert/2"), "text", "model.embed_tokens" },                     \
        { AT("modules_to_not_convert/3"), "text", "lm_head" },                                \
    {                                                                                         \
        AT("quant_method"), "text", "mxfp4"                                                   \
    }

/* Bytes of tensors, headers of files left out. */
static const struct {
    const char *source, *model;
    uint64_t bytes;
    enum weight_format stored;
    struct written_fact facts[14];
} published[] = {
    { "meta-llama/Meta-Llama-3-70B in AWQ: metadata.total_size of its index, quoted in a test of gpustack",
      "llama-3-70b",
      39767785472,
      WEIGHT_INT4_AWQ,
      { AWQ } },
    { "Qwen/Qwen3-32B-AWQ@0499c3a: sum over the headers of its four files",
      "qwen3-8b",
      19325298688,
      WEIGHT_INT4_AWQ,
      { QWEN3_32B, AWQ } },
    { "RedHatAI/Llama-3.3-70B-Instruct-quantized.w4a16: sum over the headers of its files",
      "llama-3-70b",
      39525311232,
      WEIGHT_INT4_GPTQ,
      { { "/quantization_config", "object", "4" },
        { AT("config_groups"), "object", "1" },
        { AT("config_groups/group_0"), "object", "2" },
        { AT("config_groups/group_0/targets"), "list", "1" },
        { AT("config_groups/group_0/targets/0"), "text", "Linear" },
        { AT("config_groups/group_0/weights"), "object", "6" },
        { AT("config_groups/group_0/weights/actorder"), "text", "group" },
        { AT("config_groups/group_0/weights/group_size"), "integer", "128" },
        { AT("config_groups/group_0/weights/num_bits"), "integer", "4" },
        { AT("config_groups/group_0/weights/strategy"), "text", "group" },
        { AT("format"), "text", "pack-quantized" },
        { AT("ignore"), "list", "1" },
        { AT("ignore/0"), "text", "lm_head" },
        { AT("quant_method"), "text", "compressed-tensors" } } },
    /* 2,752,512 bytes less: AutoGPTQ also wrote a bias of zeros for every matrix */
    { "RedHatAI/Meta-Llama-3.1-8B-Instruct-quantized.w4a16: sum over the headers of its files",
      "llama-3-8b",
      5735587840 - 2752512,
      WEIGHT_INT4_GPTQ,
      { { "/quantization_config", "object", "5" },
        { AT("bits"), "integer", "4" },
        { AT("desc_act"), "bool", "true" },
        { AT("group_size"), "integer", "128" },
        { AT("quant_method"), "text", "gptq" },
        { AT("sym"), "bool", "true" } } },
    { "RedHatAI/Meta-Llama-3.1-8B-Instruct-FP8-dynamic: sum over the headers of its files",
      "llama-3-8b",
      9083953152,
      WEIGHT_FP8,
      { { "/quantization_config", "object", "4" },
        { AT("config_groups"), "object", "1" },
        { AT("config_groups/group_0"), "object", "2" },
        { AT("config_groups/group_0/input_activations"), "object", "1" },
        { AT("config_groups/group_0/input_activations/dynamic"), "bool", "true" },
        { AT("config_groups/group_0/targets"), "list", "1" },
        { AT("config_groups/group_0/targets/0"), "text", "Linear" },
        { AT("config_groups/group_0/weights"), "object", "3" },
        { AT("config_groups/group_0/weights/num_bits"), "integer", "8" },
        { AT("config_groups/group_0/weights/strategy"), "text", "channel" },
        { AT("config_groups/group_0/weights/type"), "text", "float" },
        { AT("ignore"), "list", "1" },
        { AT("ignore/0"), "text", "lm_head" },
        { AT("quant_method"), "text", "compressed-tensors" } } },
    { "nvidia/Llama-3.3-70B-Instruct-FP4: sum over the headers of its files",
      "llama-3-70b",
      42709045632,
      WEIGHT_NVFP4,
      { { "/quantization_config", "object", "4" },
        { AT("exclude_modules"), "list", "1" },
        { AT("exclude_modules/0"), "text", "lm_head" },
        { AT("group_size"), "integer", "16" },
        { AT("quant_algo"), "text", "NVFP4" } } },
    { "openai/gpt-oss-20b: metadata.total_size of its index",
      "gpt-oss-120b",
      13761264768,
      WEIGHT_MXFP4,
      { GPT_OSS_20B, EXPERTS_ONLY } },
    { "openai/gpt-oss-120b: metadata.total_size of its index",
      "gpt-oss-120b",
      65248815744,
      WEIGHT_MXFP4,
      { EXPERTS_ONLY } },
    { "mlx-community/Llama-3.2-1B-Instruct-4bit: storage size in exo's model card",
      "llama-3.2-1b",
      695242752,
      WEIGHT_INT4_GPTQ,
      { MLX("4") } },
    { "mlx-community/Llama-3.2-3B-Instruct-4bit: storage size in exo's model card",
      "llama-3.2-3b",
      1807423488,
      WEIGHT_INT4_GPTQ,
      { MLX("4") } },
    { "mlx-community/Llama-3.1-8B-Instruct-4bit: storage size in exo's model card",
      "llama-3-8b",
      4517404672,
      WEIGHT_INT4_GPTQ,
      { MLX("4") } },
    { "mlx-community/Llama-3.3-70B-Instruct-4bit: storage size in exo's model card",
      "llama-3-70b",
      39688355840,
      WEIGHT_INT4_GPTQ,
      { MLX("4") } },
};

static const struct model_row *
read_with(const char *name, const struct written_fact *written, size_t size)
{
    const struct model_row *row = model_row_of(name);
    struct facts facts = written_facts_over(row, written, size);

    fault_clear(&fault);
    notices.count = 0;
    ck_assert(model_arch_read(&facts, "/model/config", &arch, &notices, &fault) == STATUS_OK);
    return row;
}

START_TEST(bytes_are_those_of_the_files)
{
    const struct model_row *row = read_with(published[_i].model, published[_i].facts, COUNT_OF(published[_i].facts));
    bool resized = false;

    ck_assert_msg(quantization_stored_bytes(&arch) == published[_i].bytes, "%s: %ju, not %ju", published[_i].source,
                  (uintmax_t)quantization_stored_bytes(&arch), (uintmax_t)published[_i].bytes);
    ck_assert_int_eq(arch.stored_format, published[_i].stored);
    for (size_t i = 0; i < notices.count; i++)
        ck_assert_int_eq(notices.items[i].code, NOTICE_ACTIVE_CONVENTION); /* of gpt-oss, whatever it is stored in */
    for (size_t i = 0; i < COUNT_OF(published[_i].facts) && published[_i].facts[i].path != NULL; i++)
        resized = resized || strncmp(published[_i].facts[i].path, "/num", 4) == 0;
    if (!resized)
        ck_assert_uint_eq(model_params_count(&arch).total, row->parameters);
}
END_TEST

int
main(void)
{
    TCase *tcase = tcase_create("checkpoints");

    tcase_add_loop_test(tcase, bytes_are_those_of_the_files, 0, COUNT_OF(published));
    return suite_run("checkpoints", tcase);
}
