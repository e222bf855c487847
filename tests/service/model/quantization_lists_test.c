/* What blocks leave out, and what they say of single modules: bytes of each part, worked by hand for small models. */
#include "service/model/arch.h"
#include "service/model/params.h"
#include "service/model/quantization.h"
#include "tests/support/suite.h"
#include "tests/support/written_facts.h"

enum { MAX_CASE_FACTS = 24 };

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
    struct written_fact model[14];
    struct written_fact facts[MAX_CASE_FACTS];
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
    /* attention left out, down projections in 8 bits: 4 + 16/128 + 4/128 bits = 133/256 bytes, 8 bits: 8 + 24/128; 4
     * bytes for the group of each of 256 + 256 + 512 inputs */
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
      .mlp = 4 * (262144 * 133 / 256 + 131072 * 131 / 128 + 1024 * 4),
      .embedding = 512000,
      .head = 512000,
      .stored = WEIGHT_INT4_GPTQ },
    /* the spellings of other tools: words for numbers, no method */
    { "bits and groups in other words",
      { DENSE },
      { BLOCK, { AT("bits"), "text", "int4" }, { AT("desc_act"), "bool", "false" }, { AT("groupsize"), "text", "64" } },
      .attention = 4 * (196608 * (128 + 8 + 2) / 256 + 1024 * 4),
      .mlp = 4 * (393216 * (128 + 8 + 2) / 256 + 1024 * 4),
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
      .attention = 4 * (98304 * 2 + 98304 + 3 * (256 + 128) + 512 * 4),
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
    /* params.json's words: a scale of FP32 for each matrix and one for its inputs */
    { "mistralai's own block",
      { DENSE },
      { { "/quantization", "object", "2" },
        { "/quantization/qformat_weight", "text", "fp8_e4m3" },
        { "/quantization/qscheme_act", "text", "TENSOR" } },
      .attention = 4 * (196608 + 4 * 8),
      .mlp = 4 * (393216 + 3 * 8),
      .embedding = 512000,
      .head = 512000,
      .stored = WEIGHT_FP8 },
    /* pytorch/Qwen3-8B-INT4: 4 + 32/128 bits */
    { "torchao, integers",
      { DENSE },
      { BLOCK,
        { AT("quant_method"), "text", "torchao" },
        { AT("quant_type"), "object", "1" },
        { AT("quant_type/default"), "object", "2" },
        { AT("quant_type/default/_data"), "object", "1" },
        { AT("quant_type/default/_data/group_size"), "integer", "128" },
        { AT("quant_type/default/_type"), "text", "Int4WeightOnlyConfig" } },
      .attention = 4 * 196608 * 17 / 32,
      .mlp = 4 * 393216 * 17 / 32,
      .embedding = 512000,
      .head = 512000,
      .stored = WEIGHT_INT4_GPTQ },
    /* pytorch/Qwen3-8B-FP8: a scale of FP32 for each of 768 and 1280 rows a layer */
    { "torchao, floats by row",
      { DENSE },
      { BLOCK,
        { AT("quant_method"), "text", "torchao" },
        { AT("quant_type"), "object", "1" },
        { AT("quant_type/default"), "object", "2" },
        { AT("quant_type/default/_data"), "object", "1" },
        { AT("quant_type/default/_data/granularity"), "list", "2" },
        { AT("quant_type/default/_data/granularity/0"), "object", "1" },
        { AT("quant_type/default/_data/granularity/0/_type"), "text", "PerRow" },
        { AT("quant_type/default/_type"), "text", "Float8DynamicActivationFloat8WeightConfig" } },
      .attention = 4 * (196608 + 768 * 4),
      .mlp = 4 * (393216 + 1280 * 4),
      .embedding = 512000,
      .head = 512000,
      .stored = WEIGHT_FP8 },
    { "quanto",
      { DENSE },
      { BLOCK, { AT("quant_method"), "text", "quanto" }, { AT("weights"), "text", "int8" } },
      .attention = 4 * (196608 + 768 * 2),
      .mlp = 4 * (393216 + 1280 * 2),
      .embedding = 512000,
      .head = 512000,
      .stored = WEIGHT_INT8 },
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

static void
read_facts(const struct facts *facts)
{
    fault_clear(&fault);
    notices.count = 0;
    ck_assert(model_arch_read(facts, "/model/config", &arch, &notices, &fault) == STATUS_OK);
}

START_TEST(parts_weigh_what_they_should)
{
    struct facts plain = written_facts(cases[_i].model, COUNT_OF(cases[_i].model), NULL, 0);
    const struct stored_layers *layers = &arch.stored.kinds[0];
    uint64_t total;

    read_facts(&plain);
    total = model_params_count(&arch).total;
    struct facts facts =
        written_facts(cases[_i].model, COUNT_OF(cases[_i].model), cases[_i].facts, COUNT_OF(cases[_i].facts));
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

int
main(void)
{
    TCase *tcase = tcase_create("lists");

    tcase_add_loop_test(tcase, parts_weigh_what_they_should, 0, COUNT_OF(cases));
    return suite_run("quantization lists", tcase);
}
