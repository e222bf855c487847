/* The stored format, in the spellings that tools write; counts never follow it. */
#include "service/model/quantization.h"

#include <string.h>

#include "service/model/params.h"
#include "tests/support/model_rows.h"
#include "tests/support/suite.h"

static struct notices notices;
static struct fault fault;
static struct model_arch arch;
static bool used[MAX_FACTS];

struct block_fact {
    const char *path, *kind, *value;
};

/* Facts of the blocks of real configs; the source names the file on the Hugging Face Hub. */
static const struct {
    const char *source;
    enum weight_format stored;
    bool noticed;
    struct block_fact facts[8];
} blocks[] = {
    { "none: meta-llama/Llama-3.1-8B", WEIGHT_BF16, false, { { "/torch_dtype", "text", "bfloat16" } } },
    { "none: huggyllama/llama-7b", WEIGHT_FP16, false, { { "/torch_dtype", "text", "float16" } } },
    { "none, the newer key", WEIGHT_FP32, false, { { "/dtype", "text", "float32" } } },
    { "deepseek-ai/DeepSeek-V3",
      WEIGHT_FP8,
      false,
      { { "/quantization_config", "object", "4" }, { "/quantization_config/quant_method", "text", "fp8" } } },
    { "Qwen/Qwen2.5-7B-Instruct-AWQ",
      WEIGHT_INT4_AWQ,
      false,
      { { "/quantization_config", "object", "5" },
        { "/quantization_config/bits", "integer", "4" },
        { "/quantization_config/quant_method", "text", "awq" } } },
    { "TheBloke/Llama-2-7B-GPTQ",
      WEIGHT_INT4_GPTQ,
      false,
      { { "/quantization_config", "object", "8" },
        { "/quantization_config/bits", "integer", "4" },
        { "/quantization_config/quant_method", "text", "gptq" } } },
    { "Qwen/Qwen2-7B-Instruct-GPTQ-Int8",
      WEIGHT_INT8,
      false,
      { { "/quantization_config", "object", "8" },
        { "/quantization_config/bits", "integer", "8" },
        { "/quantization_config/quant_method", "text", "gptq" } } },
    { "bits as text",
      WEIGHT_INT4_GPTQ,
      false,
      { { "/quantization_config", "object", "2" },
        { "/quantization_config/bits", "text", "int4" },
        { "/quantization_config/quant_method", "text", "gptq" } } },
    { "unsloth/llama-3-8b-bnb-4bit",
      WEIGHT_NF4,
      false,
      { { "/quantization_config", "object", "9" },
        { "/quantization_config/load_in_4bit", "bool", "true" },
        { "/quantization_config/quant_method", "text", "bitsandbytes" } } },
    { "openai/gpt-oss-20b",
      WEIGHT_MXFP4,
      false,
      { { "/quantization_config", "object", "2" }, { "/quantization_config/quant_method", "text", "mxfp4" } } },
    { "nvidia/Llama-3.1-8B-Instruct-NVFP4",
      WEIGHT_NVFP4,
      false,
      { { "/quantization_config", "object", "5" },
        { "/quantization_config/quant_algo", "text", "NVFP4" },
        { "/quantization_config/quant_method", "text", "modelopt" } } },
    { "Qwen3-32B-FP8-Static-PerTensor: an algorithm and no method",
      WEIGHT_FP8,
      false,
      { { "/quantization_config", "object", "5" }, { "/quantization_config/quant_algo", "text", "FP8" } } },
    { "RedHatAI/Meta-Llama-3.1-8B-Instruct-quantized.w8a8",
      WEIGHT_INT8,
      false,
      { { "/quantization_config", "object", "5" },
        { "/quantization_config/config_groups", "object", "1" },
        { "/quantization_config/config_groups/group_0", "object", "1" },
        { "/quantization_config/config_groups/group_0/weights", "object", "2" },
        { "/quantization_config/config_groups/group_0/weights/num_bits", "integer", "8" },
        { "/quantization_config/config_groups/group_0/weights/type", "text", "int" },
        { "/quantization_config/quant_method", "text", "compressed-tensors" } } },
    { "RedHatAI/Meta-Llama-3.1-8B-Instruct-FP8",
      WEIGHT_FP8,
      false,
      { { "/quantization_config", "object", "5" },
        { "/quantization_config/config_groups", "object", "1" },
        { "/quantization_config/config_groups/group_0", "object", "1" },
        { "/quantization_config/config_groups/group_0/weights", "object", "2" },
        { "/quantization_config/config_groups/group_0/weights/num_bits", "integer", "8" },
        { "/quantization_config/config_groups/group_0/weights/type", "text", "float" },
        { "/quantization_config/quant_method", "text", "compressed-tensors" } } },
    { "a method that is not known",
      WEIGHT_BF16,
      true,
      { { "/quantization_config", "object", "2" }, { "/quantization_config/quant_method", "text", "aqlm" } } },
    { "3 bits, of which 4-bit kernels come nearest: mlx-community",
      WEIGHT_INT4_GPTQ,
      false,
      { { "/quantization", "object", "2" }, { "/quantization/bits", "integer", "3" } } },
    { "a word in the place of a block", WEIGHT_BF16, true, { { "/quantization_config", "text", "awq" } } },
    { "nothing in the place of a block", WEIGHT_BF16, false, { { "/quantization_config", "list", "0" } } },
    { "a block of another kind",
      WEIGHT_BF16,
      true,
      { { "/quantization_config", "object", "1" }, { "/quantization_config/quant_method", "integer", "1" } } },
};

START_TEST(stored_formats_follow_the_block)
{
    const struct model_row *row = model_row_of("llama-3-8b");
    struct fact items[MODEL_ROW_FACTS];
    size_t count = row->fact_count;

    memcpy(items, row->facts, count * sizeof(items[0]));
    for (size_t i = 0; i < COUNT_OF(blocks[_i].facts) && blocks[_i].facts[i].path != NULL; i++) {
        const struct block_fact *fact = &blocks[_i].facts[i];
        size_t at = count++;

        while (at > 0 && strcmp(items[at - 1].path, fact->path) > 0) {
            items[at] = items[at - 1];
            at--;
        }
        items[at] = model_row_fact(fact->path, fact->kind, fact->value);
    }
    struct facts facts = model_row_facts(items, count, used);
    fault_clear(&fault);
    notices.count = 0;
    ck_assert(model_arch_read(&facts, "/model/config", &arch, &notices, &fault) == STATUS_OK);
    ck_assert_msg(arch.stored_format == blocks[_i].stored, "%s: %s", blocks[_i].source,
                  weight_format_name(arch.stored_format));
    ck_assert_uint_eq(notices.count, blocks[_i].noticed ? 1 : 0);
    if (blocks[_i].noticed)
        ck_assert_int_eq(notices.items[0].code, NOTICE_QUANTIZATION_UNKNOWN);
    ck_assert_uint_eq(model_params_count(&arch).total, row->parameters);
    ck_assert_uint_eq(arch.ignored_key_count, 0);
}
END_TEST

int
main(void)
{
    TCase *tcase = tcase_create("blocks");

    tcase_add_loop_test(tcase, stored_formats_follow_the_block, 0, COUNT_OF(blocks));
    return suite_run("model quantization", tcase);
}
