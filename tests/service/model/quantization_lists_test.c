/* What blocks leave out, and what they say of single modules: bytes of each part, worked by hand for small models. */
#include <stdlib.h>
#include <string.h>

#include "service/model/arch.h"
#include "service/model/params.h"
#include "service/model/quantization.h"
#include "tests/support/model_rows.h"
#include "tests/support/suite.h"

enum { MAX_CASE_FACTS = 24 };

static struct notices notices;
static struct fault fault;
static struct model_arch arch;
static bool used[MAX_FACTS];

struct written {
    const char *path, *kind, *value;
};

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

/* The same with 4 experts of 3 x 32,768 = 98,304 in each layer, and a router of 1024. */
#define MIXTURE                                                                                     \
    { "/architectures", "list", "1" }, { "/architectures/0", "text", "Qwen3MoeForCausalLM" },       \
        { "/head_dim", "integer", "64" }, { "/hidden_size", "integer", "256" },                     \
        { "/moe_intermediate_size", "integer", "128" }, { "/num_attention_heads", "integer", "4" }, \
        { "/num_experts", "integer", "4" }, { "/num_experts_per_tok", "integer", "2" },             \
        { "/num_hidden_layers", "integer", "4" }, { "/num_key_value_heads", "integer", "2" },       \
        { "/tie_word_embeddings", "bool", "false" },                                                \
    {                                                                                               \
        "/vocab_size", "integer", "1000"                                                            \
    }

#define AT(key) "/quantization_config/" key
#define BLOCK                                 \
    {                                         \
        "/quantization_config", "object", "1" \
    }

/* Bytes of all four layers together, and of the two tables. */
static const struct {
    const char *what;
    struct written model[14];
    struct written facts[MAX_CASE_FACTS];
    uint64_t attention, mlp, experts, router, embedding, head;
    enum weight_format stored;
} cases[] = {
    /* attention of layers 0 and 1 in 16 bits: 2 x 393,216; of 2 and 3: 196,608 and 2 scales of 4 bytes for each of four
     * matrices */
    { "modules_to_not_convert, layer by layer",
      { DENSE },
      { BLOCK,
        { AT("activation_scheme"), "text", "static" },
        { AT("modules_to_not_convert"), "list", "3" },
        { AT("modules_to_not_convert/0"), "text", "model.layers.0.self_attn" },
        { AT("modules_to_not_convert/1"), "text", "model.layers.1.self_attn" },
        { AT("modules_to_not_convert/2"), "text", "model.layers.7.self_attn" },
        { AT("quant_method"), "text", "fp8" } },
      .attention = 2 * 393216 + 2 * (196608 + 32),
      .mlp = 4 * (393216 + 24),
      .embedding = 512000,
      .head = 512000,
      .stored = WEIGHT_FP8 },
    /* down projections: 131,072 x 2 */
    { "one matrix of every layer",
      { DENSE },
      { BLOCK,
        { AT("llm_int8_skip_modules"), "list", "2" },
        { AT("llm_int8_skip_modules/0"), "text", "lm_head" },
        { AT("llm_int8_skip_modules/1"), "text", "down_proj" },
        { AT("load_in_4bit"), "bool", "true" },
        { AT("quant_method"), "text", "bitsandbytes" } },
      .attention = 4 * 196608 * 9 / 16,
      .mlp = 4 * (262144 * 9 / 16 + 262144),
      .embedding = 512000,
      .head = 512000,
      .stored = WEIGHT_NF4 },
    /* the head is a linear layer and not ignored: 256,000 and a scale of 2 bytes for 1000 rows */
    { "compressed-tensors quantise a head that is not ignored",
      { DENSE },
      { BLOCK,
        { AT("config_groups"), "object", "1" },
        { AT("config_groups/group_0"), "object", "2" },
        { AT("config_groups/group_0/targets"), "list", "1" },
        { AT("config_groups/group_0/targets/0"), "text", "Linear" },
        { AT("config_groups/group_0/weights"), "object", "3" },
        { AT("config_groups/group_0/weights/num_bits"), "integer", "8" },
        { AT("config_groups/group_0/weights/strategy"), "text", "channel" },
        { AT("config_groups/group_0/weights/type"), "text", "int" },
        { AT("format"), "text", "int-quantized" },
        { AT("quant_method"), "text", "compressed-tensors" } },
      .attention = 4 * (196608 + 2 * (256 + 128 + 128 + 256)),
      .mlp = 4 * (393216 + 2 * (512 + 512 + 256)),
      .embedding = 512000,
      .head = 258000,
      .stored = WEIGHT_INT8 },
    /* attention in FP8 with a 16-bit scale a tensor, experts in NVFP4: 1/2 + 1/16 byte and 4 a matrix, 12 matrices a
     * layer; names go before the class */
    { "groups of targets",
      { MIXTURE },
      { BLOCK,
        { AT("config_groups"), "object", "2" },
        { AT("config_groups/group_0"), "object", "2" },
        { AT("config_groups/group_0/targets"), "list", "1" },
        { AT("config_groups/group_0/targets/0"), "text", "re:.*self_attn.*" },
        { AT("config_groups/group_0/weights"), "object", "3" },
        { AT("config_groups/group_0/weights/num_bits"), "integer", "8" },
        { AT("config_groups/group_0/weights/strategy"), "text", "tensor" },
        { AT("config_groups/group_0/weights/type"), "text", "float" },
        { AT("config_groups/group_1"), "object", "3" },
        { AT("config_groups/group_1/format"), "text", "nvfp4-pack-quantized" },
        { AT("config_groups/group_1/targets"), "list", "1" },
        { AT("config_groups/group_1/targets/0"), "text", "Linear" },
        { AT("config_groups/group_1/weights"), "object", "3" },
        { AT("config_groups/group_1/weights/group_size"), "integer", "16" },
        { AT("config_groups/group_1/weights/num_bits"), "integer", "4" },
        { AT("config_groups/group_1/weights/type"), "text", "float" },
        { AT("ignore"), "list", "2" },
        { AT("ignore/0"), "text", "lm_head" },
        { AT("ignore/1"), "text", "re:.*mlp.gate$" },
        { AT("quant_method"), "text", "compressed-tensors" } },
      .attention = 4 * (196608 + 4 * 2),
      .experts = 4 * (393216 * 9 / 16 + 12 * 4),
      .router = 4 * 2048,
      .embedding = 512000,
      .head = 512000,
      .stored = WEIGHT_NVFP4 },
    /* experts alone: 4 bits, a scale of 16 for 32, and 16 bytes of shape a matrix */
    { "as moonshotai/Kimi-K2.5 packs its experts",
      { MIXTURE },
      { BLOCK,
        { AT("config_groups"), "object", "1" },
        { AT("config_groups/group_0"), "object", "2" },
        { AT("config_groups/group_0/targets"), "list", "1" },
        { AT("config_groups/group_0/targets/0"), "text", "Linear" },
        { AT("config_groups/group_0/weights"), "object", "5" },
        { AT("config_groups/group_0/weights/group_size"), "integer", "32" },
        { AT("config_groups/group_0/weights/num_bits"), "integer", "4" },
        { AT("config_groups/group_0/weights/strategy"), "text", "group" },
        { AT("config_groups/group_0/weights/symmetric"), "bool", "true" },
        { AT("config_groups/group_0/weights/type"), "text", "int" },
        { AT("format"), "text", "pack-quantized" },
        { AT("ignore"), "list", "4" },
        { AT("ignore/0"), "text", "lm_head" },
        { AT("ignore/1"), "text", "re:.*self_attn.*" },
        { AT("ignore/2"), "text", "re:.*shared_experts.*" },
        { AT("ignore/3"), "text", "re:.*mlp\\.(gate|up|gate_up|down)_proj.*" },
        { AT("quant_method"), "text", "compressed-tensors" } },
      .attention = 4 * 393216,
      .experts = 4 * (393216 * 9 / 16 + 12 * 16),
      .router = 4 * 2048,
      .embedding = 512000,
      .head = 512000,
      .stored = WEIGHT_INT4_GPTQ },
    /* layer 2's output projection in FP8, its experts in NVFP4, all else as it was */
    { "an algorithm module by module",
      { MIXTURE },
      { BLOCK,
        { AT("quant_algo"), "text", "MIXED_PRECISION" },
        { AT("quant_method"), "text", "modelopt" },
        { AT("quantized_layers"), "object", "4" },
        { AT("quantized_layers/model.layers.2.mlp.experts.0.down_proj"), "object", "2" },
        { AT("quantized_layers/model.layers.2.mlp.experts.0.down_proj/group_size"), "integer", "16" },
        { AT("quantized_layers/model.layers.2.mlp.experts.0.down_proj/quant_algo"), "text", "NVFP4" },
        { AT("quantized_layers/model.layers.2.mlp.experts.0.gate_proj"), "object", "1" },
        { AT("quantized_layers/model.layers.2.mlp.experts.0.gate_proj/quant_algo"), "text", "NVFP4" },
        { AT("quantized_layers/model.layers.2.mlp.experts.0.up_proj"), "object", "1" },
        { AT("quantized_layers/model.layers.2.mlp.experts.0.up_proj/quant_algo"), "text", "NVFP4" },
        { AT("quantized_layers/model.layers.2.self_attn.o_proj"), "object", "1" },
        { AT("quantized_layers/model.layers.2.self_attn.o_proj/quant_algo"), "text", "FP8" } },
      .attention = 4 * 393216 - 65536 + 8,
      .experts = 3 * 786432 + 393216 * 9 / 16 + 12 * 8,
      .router = 4 * 2048,
      .embedding = 512000,
      .head = 512000,
      .stored = WEIGHT_NVFP4 },
    /* 4 + 32/64 bits everywhere, router and tables too; layer 1's down projection 8 + 32/32, the head left out */
    { "mlx, with members named by a module",
      { DENSE },
      { { "/quantization", "object", "4" },
        { "/quantization/bits", "integer", "4" },
        { "/quantization/group_size", "integer", "64" },
        { "/quantization/lm_head", "bool", "false" },
        { "/quantization/model.layers.1.mlp.down_proj", "object", "2" },
        { "/quantization/model.layers.1.mlp.down_proj/bits", "integer", "8" },
        { "/quantization/model.layers.1.mlp.down_proj/group_size", "integer", "32" } },
      .attention = 4 * 196608 * 9 / 16,
      .mlp = (4 * 393216 - 131072) * 9 / 16 + 131072 * 9 / 8,
      .embedding = 144000,
      .head = 512000,
      .stored = WEIGHT_INT4_GPTQ },
    /* experts: 4 + 16/128 + 4/128 bits; the router 8 + 32/64 */
    { "mlx's own name of experts",
      { MIXTURE },
      { { "/quantization", "object", "4" },
        { "/quantization/bits", "integer", "4" },
        { "/quantization/group_size", "integer", "64" },
        { "/quantization/model.layers.0.mlp.switch_mlp.down_proj", "object", "1" },
        { "/quantization/model.layers.0.mlp.switch_mlp.down_proj/bits", "integer", "6" },
        { "/quantization/model.layers.3.mlp.gate", "object", "1" },
        { "/quantization/model.layers.3.mlp.gate/bits", "integer", "8" } },
      .attention = 4 * 196608 * 9 / 16,
      .experts = (4 * 393216 - 131072) * 9 / 16 + 131072 * 13 / 16,
      .router = 3 * 1024 * 9 / 16 + 1024 * 17 / 16,
      .embedding = 144000,
      .head = 144000,
      .stored = WEIGHT_INT4_GPTQ },
    /* attention left out, down projections in 8 bits: 4 + 16/128 + 4/128 bits = 133/256 bytes, 8 bits: 8 + 24/128 */
    { "GPTQModel's dynamic",
      { DENSE },
      { BLOCK,
        { AT("bits"), "integer", "4" },
        { AT("dynamic"), "object", "3" },
        { AT("dynamic/+:.*down.*"), "object", "1" },
        { AT("dynamic/+:.*down.*/bits"), "integer", "8" },
        { AT("dynamic/-:.*attn.*"), "object", "0" },
        { AT("dynamic/lm_head"), "object", "0" },
        { AT("group_size"), "integer", "128" },
        { AT("quant_method"), "text", "gptq" } },
      .attention = 4 * 393216,
      .mlp = 4 * (262144 * 133 / 256 + 131072 * 131 / 128),
      .embedding = 512000,
      .head = 512000,
      .stored = WEIGHT_INT4_GPTQ },
    /* the spellings of other tools: words for numbers, no method */
    { "bits and groups in other words",
      { DENSE },
      { BLOCK, { AT("bits"), "text", "int4" }, { AT("desc_act"), "bool", "false" }, { AT("groupsize"), "text", "64" } },
      .attention = 4 * 196608 * (128 + 8 + 2) / 256,
      .mlp = 4 * 393216 * (128 + 8 + 2) / 256,
      .embedding = 512000,
      .head = 512000,
      .stored = WEIGHT_INT4_GPTQ },
    /* only query and value */
    { "modules_in_block_to_quantize",
      { DENSE },
      { BLOCK,
        { AT("bits"), "integer", "8" },
        { AT("group_size"), "integer", "-1" },
        { AT("modules_in_block_to_quantize"), "list", "1" },
        { AT("modules_in_block_to_quantize/0"), "list", "2" },
        { AT("modules_in_block_to_quantize/0/0"), "text", "self_attn.q_proj" },
        { AT("modules_in_block_to_quantize/0/1"), "text", "self_attn.v_proj" },
        { AT("quant_method"), "text", "gptq" } },
      .attention = 4 * (98304 * 2 + 98304 + 3 * (256 + 128)),
      .mlp = 4 * 786432,
      .embedding = 512000,
      .head = 512000,
      .stored = WEIGHT_INT8 },
    /* FP8 in blocks, experts in FP4 with a scale of 8 bits for 32: 4.25 bits */
    { "expert_dtype beside the block",
      { MIXTURE },
      { { "/expert_dtype", "text", "fp4" },
        BLOCK,
        { AT("quant_method"), "text", "fp8" },
        { AT("weight_block_size"), "list", "2" },
        { AT("weight_block_size/0"), "integer", "128" },
        { AT("weight_block_size/1"), "integer", "128" } },
      .attention = 4 * (196608 + 4 * (4 + 2 + 2 + 4)),
      .experts = 4 * 393216 * 17 / 32,
      .router = 4 * 2048,
      .embedding = 512000,
      .head = 512000,
      .stored = WEIGHT_MXFP4 },
    { "AMD Quark's description of all layers",
      { DENSE },
      { BLOCK,
        { AT("exclude"), "list", "1" },
        { AT("exclude/0"), "text", "lm_head" },
        { AT("global_quant_config"), "object", "1" },
        { AT("global_quant_config/weight"), "object", "2" },
        { AT("global_quant_config/weight/dtype"), "text", "fp4" },
        { AT("global_quant_config/weight/group_size"), "integer", "32" },
        { AT("quant_method"), "text", "quark" } },
      .attention = 4 * 196608 * 17 / 32,
      .mlp = 4 * 393216 * 17 / 32,
      .embedding = 512000,
      .head = 512000,
      .stored = WEIGHT_MXFP4 },
};

static int
by_path(const void *a, const void *b)
{
    return strcmp(((const struct fact *)a)->path, ((const struct fact *)b)->path);
}

static struct facts
facts_of(const struct written *first, size_t first_most, const struct written *second, size_t second_most)
{
    static struct fact items[128];
    size_t count = 0;

    for (size_t i = 0; i < first_most && first[i].path != NULL; i++)
        items[count++] = model_row_fact(first[i].path, first[i].kind, first[i].value);
    for (size_t i = 0; i < second_most && second[i].path != NULL; i++)
        items[count++] = model_row_fact(second[i].path, second[i].kind, second[i].value);
    qsort(items, count, sizeof(items[0]), by_path);
    return model_row_facts(items, count, used);
}

static void
read_facts(const struct facts *facts)
{
    fault_clear(&fault);
    notices.count = 0;
    ck_assert(model_arch_read(facts, "/model/config", &arch, &notices, &fault) == STATUS_OK);
}

START_TEST(parts_weigh_what_they_should)
{
    struct facts plain = facts_of(cases[_i].model, COUNT_OF(cases[_i].model), NULL, 0);
    const struct stored_layers *layers = &arch.stored.kinds[0];
    uint64_t total;

    read_facts(&plain);
    total = model_params_count(&arch).total;
    struct facts facts =
        facts_of(cases[_i].model, COUNT_OF(cases[_i].model), cases[_i].facts, COUNT_OF(cases[_i].facts));
    read_facts(&facts);
    ck_assert_msg(layers->attention == cases[_i].attention, "%s: attention %ju", cases[_i].what,
                  (uintmax_t)layers->attention);
    ck_assert_msg(layers->mlp == cases[_i].mlp, "%s: mlp %ju", cases[_i].what, (uintmax_t)layers->mlp);
    ck_assert_msg(layers->experts == cases[_i].experts, "%s: experts %ju", cases[_i].what, (uintmax_t)layers->experts);
    ck_assert_msg(layers->router == cases[_i].router, "%s: router %ju", cases[_i].what, (uintmax_t)layers->router);
    ck_assert_msg(arch.stored.embedding == cases[_i].embedding, "%s: embedding %ju", cases[_i].what,
                  (uintmax_t)arch.stored.embedding);
    ck_assert_msg(arch.stored.head == cases[_i].head, "%s: head %ju", cases[_i].what, (uintmax_t)arch.stored.head);
    ck_assert_int_eq(arch.stored_format, cases[_i].stored);
    ck_assert_uint_eq(model_params_count(&arch).total, total); /* a block never changes the count */
    ck_assert_uint_eq(notices.count, 0);
    /* the mean bits make the same sum */
    struct model_params params = model_params_count(&arch);
    double linear = 4.0 * (double)(params.layers[0].attention + params.layers[0].mlp);
    double experts = 4.0 * arch.kinds[0].expert_count * (double)params.layers[0].expert;
    double bits = linear * arch.stored.linear_bits + experts * arch.stored.expert_bits +
                  ((double)total - linear - experts) * arch.stored.plain_bits;
    ck_assert_double_eq_tol(bits / 8, (double)quantization_stored_bytes(&arch), 0.5);
}
END_TEST

/* Where a block may stand, and the file of its own that goes before it. */
START_TEST(blocks_are_found_where_tools_put_them)
{
    static const struct {
        struct written facts[8];
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
    static const struct written dense[] = { DENSE };

    for (size_t i = 0; i < COUNT_OF(places); i++) {
        struct facts facts = facts_of(dense, COUNT_OF(dense), places[i].facts, COUNT_OF(places[i].facts));

        read_facts(&facts);
        ck_assert_msg(arch.stored_format == places[i].stored, "%zu: %s", i, weight_format_name(arch.stored_format));
        ck_assert_int_eq(arch.stored.cache, places[i].cache);
    }
}
END_TEST

/* moonshotai/Kimi-K2.5 has its block in the text model's config. */
START_TEST(blocks_inside_the_text_model_count)
{
    static const struct written block[] = {
        { "/text_config/quantization_config", "object", "4" },
        { "/text_config/quantization_config/bits", "integer", "4" },
        { "/text_config/quantization_config/modules_to_not_convert", "list", "1" },
        { "/text_config/quantization_config/modules_to_not_convert/0", "text", "language_model.model.layers.0.mlp" },
        { "/text_config/quantization_config/quant_method", "text", "awq" },
    };
    const struct model_row *row = model_row_of("gemma-3-4b");
    static struct fact items[2 * MODEL_ROW_FACTS];
    size_t count = row->fact_count;

    memcpy(items, row->facts, count * sizeof(items[0]));
    for (size_t i = 0; i < COUNT_OF(block); i++)
        items[count++] = model_row_fact(block[i].path, block[i].kind, block[i].value);
    qsort(items, count, sizeof(items[0]), by_path);
    struct facts facts = model_row_facts(items, count, used);
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
    static const struct written dense[] = { DENSE };
    static const struct written block[] = { BLOCK, { AT("quant_method"), "text", "awq" } };
    static const struct written file[] = { { "/producer", "object", "0" },
                                           { "/quantization", "object", "2" },
                                           { "/quantization/exclude_modules", "list", "1" },
                                           { "/quantization/exclude_modules/0", "text", "model.layers.*.mlp" },
                                           { "/quantization/quant_algo", "text", "FP8" } };
    static const struct written strange[] = { { "/quant_method", "text", "aqlm" } };
    struct facts facts = facts_of(dense, COUNT_OF(dense), block, COUNT_OF(block));

    read_facts(&facts);
    facts = facts_of(file, COUNT_OF(file), NULL, 0);
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
    facts = facts_of(strange, COUNT_OF(strange), NULL, 0);
    quantization_read_beside(&facts, "/model/quantization_config", &arch, &notices);
    ck_assert_int_eq(arch.stored_format, WEIGHT_FP8);
    ck_assert_int_eq(notices.items[1].code, NOTICE_QUANTIZATION_UNKNOWN);
    ck_assert_str_eq(notices.items[1].text[0], "aqlm");
}
END_TEST

START_TEST(entries_that_are_not_understood_are_told)
{
    static const struct written dense[] = { DENSE };
    static const struct written block[] = { BLOCK,
                                            { AT("ignore"), "list", "3" },
                                            { AT("ignore/0"), "text", "re:(?<!x)mlp" },
                                            { AT("ignore/1"), "text", "lm_head" },
                                            { AT("quant_algo"), "text", "FP8" } };
    struct facts facts = facts_of(dense, COUNT_OF(dense), block, COUNT_OF(block));

    read_facts(&facts);
    ck_assert_uint_eq(notices.count, 1);
    ck_assert_int_eq(notices.items[0].code, NOTICE_QUANTIZATION_LIST_INCOMPLETE);
    ck_assert_double_eq(notices.items[0].number[0], 2); /* one not understood, one of three not there */
}
END_TEST

int
main(void)
{
    TCase *tcase = tcase_create("lists");

    tcase_add_loop_test(tcase, parts_weigh_what_they_should, 0, COUNT_OF(cases));
    tcase_add_test(tcase, blocks_are_found_where_tools_put_them);
    tcase_add_test(tcase, blocks_inside_the_text_model_count);
    tcase_add_test(tcase, a_file_of_its_own_goes_before_the_block);
    tcase_add_test(tcase, entries_that_are_not_understood_are_told);
    return suite_run("quantization lists", tcase);
}
