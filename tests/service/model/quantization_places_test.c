/* Where quantisation blocks stand, and what is said when one is not understood. */
#include "service/model/arch.h"
#include "service/model/params.h"
#include "service/model/quantization.h"
#include "tests/support/model_rows.h"
#include "tests/support/suite.h"
#include "tests/support/written_facts.h"

static struct notices notices;
static struct fault fault;
static struct model_arch arch;

/* Four layers, 256 wide. Attention: query and output 65,536 each, key and value 32,768 each: 196,608.
 * MLP: 3 x 131,072 = 393,216. Embedding and head 256,000 each, norms 512 a layer and 256. */
#define DENSE                                                                                    \
    { "/architectures", "list", "1" }, { "/architectures/0", "text", "LlamaForCausalLM" },       \
        { "/hidden_size", "integer", "256" }, { "/intermediate_size", "integer", "512" },        \
        { "/num_attention_heads", "integer", "4" }, { "/num_hidden_layers", "integer", "4" },    \
        { "/num_key_value_heads", "integer", "2" }, { "/tie_word_embeddings", "bool", "false" }, \
    {                                                                                            \
        "/vocab_size", "integer", "1000"                                                         \
    }

#define AT(key) "/quantization_config/" key
#define BLOCK                                 \
    {                                         \
        "/quantization_config", "object", "1" \
    }

static void
read_facts(const struct facts *facts)
{
    fault_clear(&fault);
    notices.count = 0;
    ck_assert(model_arch_read(facts, "/model/config", &arch, &notices, &fault) == STATUS_OK);
}

/* Where a block may stand, and the file of its own that goes before it. */
START_TEST(blocks_are_found_where_tools_put_them)
{
    static const struct {
        struct written_fact facts[8];
        enum weight_format stored;
        enum kv_format cache;
    } places[] = {
        { { { "/quantization", "object", "2" },
            { "/quantization/kv_cache_quant_algo", "text", "FP8" },
            { "/quantization/quant_algo", "text", "NVFP4" } },
          WEIGHT_NVFP4,
          KV_FP8 },
        { { { "/hf_quant_config", "object", "2" },
            { "/hf_quant_config/producer", "object", "0" },
            { "/hf_quant_config/quantization", "object", "1" },
            { "/hf_quant_config/quantization/quant_algo", "text", "FP8" } },
          WEIGHT_FP8,
          KV_UNSAID },
        { { BLOCK,
            { AT("kv_cache_scheme"), "object", "2" },
            { AT("kv_cache_scheme/num_bits"), "integer", "8" },
            { AT("kv_cache_scheme/type"), "text", "float" },
            { AT("quant_algo"), "text", "FP8" } },
          WEIGHT_FP8,
          KV_FP8 },
        { { BLOCK, { AT("kv_cache_scheme"), "text", "FP8" }, { AT("quant_algo"), "text", "FP8" } },
          WEIGHT_FP8,
          KV_FP8 },
        { { BLOCK,
            { AT("kv_cache_scheme"), "object", "2" },
            { AT("kv_cache_scheme/num_bits"), "integer", "8" },
            { AT("kv_cache_scheme/type"), "text", "int" },
            { AT("quant_algo"), "text", "FP8" } },
          WEIGHT_FP8,
          KV_INT8 },
        { { { "/compression_config", "object", "1" }, { "/compression_config/quant_method", "text", "awq" } },
          WEIGHT_INT4_AWQ,
          KV_UNSAID },
        { { { "/quantization_config", "object", "0" } }, WEIGHT_BF16, KV_UNSAID },
    };
    static const struct written_fact dense[] = { DENSE };

    for (size_t i = 0; i < COUNT_OF(places); i++) {
        struct facts facts = written_facts(dense, COUNT_OF(dense), places[i].facts, COUNT_OF(places[i].facts));

        read_facts(&facts);
        ck_assert_msg(arch.stored_format == places[i].stored, "%zu: %s", i, weight_format_name(arch.stored_format));
        ck_assert_int_eq(arch.stored.cache, places[i].cache);
    }
}
END_TEST

/* moonshotai/Kimi-K2.5 has its block in the text model's config. */
START_TEST(blocks_inside_the_text_model_count)
{
    static const struct written_fact block[] = {
        { "/text_config/quantization_config", "object", "4" },
        { "/text_config/quantization_config/bits", "integer", "4" },
        { "/text_config/quantization_config/modules_to_not_convert", "list", "1" },
        { "/text_config/quantization_config/modules_to_not_convert/0", "text", "language_model.model.layers.0.mlp" },
        { "/text_config/quantization_config/quant_method", "text", "awq" },
    };
    const struct model_row *row = model_row_of("gemma-3-4b");
    struct facts facts = written_facts_over(row, block, COUNT_OF(block));

    read_facts(&facts);
    ck_assert_int_eq(arch.stored_format, WEIGHT_INT4_AWQ);
    ck_assert_uint_eq(model_params_count(&arch).total, row->parameters);
    /* 34 layers of 3 x 2560 x 10240 = 78,643,200: the first in 16 bits, the others in 133/256 bytes */
    uint64_t mlp = 0;
    for (uint32_t i = 0; i < arch.kind_count; i++)
        mlp += arch.stored.kinds[i].mlp;
    ck_assert_uint_eq(mlp, UINT64_C(157286400) + UINT64_C(33) * 78643200 / 256 * 133);
}
END_TEST

START_TEST(a_file_of_its_own_goes_before_the_block)
{
    static const struct written_fact dense[] = { DENSE };
    static const struct written_fact block[] = { BLOCK, { AT("quant_method"), "text", "awq" } };
    static const struct written_fact file[] = { { "/producer", "object", "0" },
                                                { "/quantization", "object", "2" },
                                                { "/quantization/exclude_modules", "list", "1" },
                                                { "/quantization/exclude_modules/0", "text", "model.layers.*.mlp" },
                                                { "/quantization/quant_algo", "text", "FP8" } };
    static const struct written_fact strange[] = { { "/quant_method", "text", "aqlm" } };
    struct facts facts = written_facts(dense, COUNT_OF(dense), block, COUNT_OF(block));

    read_facts(&facts);
    facts = written_facts(file, COUNT_OF(file), NULL, 0);
    quantization_read_beside(&facts, "/model/quantization_config", &arch, &notices);
    ck_assert_int_eq(arch.stored_format, WEIGHT_FP8);
    ck_assert_uint_eq(arch.stored.kinds[0].mlp, 4 * 786432);
    ck_assert_uint_eq(arch.stored.kinds[0].attention, 4 * (196608 + 32));
    ck_assert_uint_eq(notices.count, 1);
    ck_assert_int_eq(notices.items[0].code, NOTICE_QUANTIZATION_CONFIG_OVERRIDDEN);
    ck_assert_str_eq(notices.items[0].pointer, "/model/quantization_config");
    ck_assert_str_eq(notices.items[0].text[0], "int4_awq");
    ck_assert_str_eq(notices.items[0].text[1], "fp8");
    /* one that is not known changes nothing and says so */
    facts = written_facts(strange, COUNT_OF(strange), NULL, 0);
    quantization_read_beside(&facts, "/model/quantization_config", &arch, &notices);
    ck_assert_int_eq(arch.stored_format, WEIGHT_FP8);
    ck_assert_int_eq(notices.items[1].code, NOTICE_QUANTIZATION_UNKNOWN);
    ck_assert_str_eq(notices.items[1].text[0], "aqlm");
}
END_TEST

START_TEST(entries_that_are_not_understood_are_told)
{
    static const struct written_fact dense[] = { DENSE };
    static const struct written_fact block[] = { BLOCK,
                                                 { AT("ignore"), "list", "3" },
                                                 { AT("ignore/0"), "text", "re:(?<!x)mlp" },
                                                 { AT("ignore/1"), "text", "lm_head" },
                                                 { AT("quant_algo"), "text", "FP8" } };
    struct facts facts = written_facts(dense, COUNT_OF(dense), block, COUNT_OF(block));

    read_facts(&facts);
    ck_assert_uint_eq(notices.count, 1);
    ck_assert_int_eq(notices.items[0].code, NOTICE_QUANTIZATION_LIST_INCOMPLETE);
    ck_assert_double_eq(notices.items[0].number[0], 2); /* one not understood, one of three not there */
}
END_TEST

int
main(void)
{
    TCase *tcase = tcase_create("places");

    tcase_add_test(tcase, blocks_are_found_where_tools_put_them);
    tcase_add_test(tcase, blocks_inside_the_text_model_count);
    tcase_add_test(tcase, a_file_of_its_own_goes_before_the_block);
    tcase_add_test(tcase, entries_that_are_not_understood_are_told);
    return suite_run("quantization places", tcase);
}
