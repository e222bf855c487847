/* Counts of hand-made architectures: identities, monotony, published adapters, the absurd end. */
#include "service/model/params.h"

#include <string.h>

#include "tests/support/random.h"
#include "tests/support/suite.h"

static struct model_arch
decoder(uint32_t layers, uint32_t hidden, uint32_t intermediate, uint32_t heads, uint32_t kv_heads, uint32_t vocabulary)
{
    struct model_arch arch = { .layer_count = layers, .hidden_size = hidden, .vocabulary_size = vocabulary };

    arch.causal = true;
    arch.kind_count = 1;
    arch.final_norm_elements = hidden;
    arch.kinds[0] = (struct layer_kind){
        .count = layers,
        .attention = ATTENTION_HEADS,
        .head_count = heads,
        .kv_head_count = kv_heads,
        .head_size = hidden / heads,
        .mlp = MLP_DENSE,
        .gated = true,
        .intermediate_size = intermediate,
        .norm_elements = 2 * (uint64_t)hidden,
    };
    return arch;
}

/* Adapters that others publish. */
static const struct {
    const char *source;
    uint32_t layers, hidden, intermediate, heads, kv_heads;
    enum lora_targets targets;
    uint32_t rank;
    uint64_t parameters;
} adapters[] = {
    { "Llama-3-8B, all linear: unsloth notebooks print 41,943,040", 32, 4096, 14336, 32, 8, LORA_ALL_LINEAR, 16,
      41943040 },
    { "Llama-2-7B, q and v: huggingface/peft examples print 4,194,304", 32, 4096, 11008, 32, 32, LORA_QUERY_VALUE, 8,
      4194304 },
    { "GPT-3 175B, q and v, rank 1: arXiv:2106.09685 table 4, 4.7 M", 96, 12288, 49152, 96, 96, LORA_QUERY_VALUE, 1,
      4718592 },
    { "GPT-3 175B, q and v, rank 8: arXiv:2106.09685 table 4, 37.7 M", 96, 12288, 49152, 96, 96, LORA_QUERY_VALUE, 8,
      37748736 },
};

START_TEST(adapters_match_published)
{
    struct model_arch arch = decoder(adapters[_i].layers, adapters[_i].hidden, adapters[_i].intermediate,
                                     adapters[_i].heads, adapters[_i].kv_heads, 32000);
    uint64_t parameters = lora_params_count(&arch, adapters[_i].targets, adapters[_i].rank);

    ck_assert_msg(parameters == adapters[_i].parameters, "%s: %ju", adapters[_i].source, (uintmax_t)parameters);
}
END_TEST

START_TEST(adapters_of_every_expert_count)
{
    struct model_arch arch = decoder(2, 1024, 4096, 16, 4, 32000);
    uint64_t dense = lora_params_count(&arch, LORA_ALL_LINEAR, 8);
    uint64_t attention = lora_params_count(&arch, LORA_ATTENTION, 8);

    arch.kinds[0].mlp = MLP_EXPERTS;
    arch.kinds[0].expert_count = 8;
    arch.kinds[0].experts_per_token = 2;
    arch.kinds[0].expert_size = 4096;
    ck_assert_uint_eq(lora_params_count(&arch, LORA_ALL_LINEAR, 8) - attention, 8 * (dense - attention));
    ck_assert_uint_eq(lora_params_count(&arch, LORA_ATTENTION, 16), 2 * attention);
    ck_assert_uint_lt(lora_params_count(&arch, LORA_QUERY_VALUE, 8), attention);
}
END_TEST

/* Multi-head latent attention of DeepSeek-V3 by hand from arXiv:2412.19437 section 4.2: rank 1536 and 512, 128 heads of
 * 128 + 64 and 128. */
START_TEST(latent_attention_by_hand)
{
    struct model_arch arch = decoder(1, 7168, 18432, 128, 128, 1);
    struct layer_kind *kind = &arch.kinds[0];

    kind->attention = ATTENTION_LATENT;
    kind->query_rank = 1536;
    kind->latent_size = 512;
    kind->nope_size = kind->value_size = 128;
    kind->rope_size = 64;
    struct model_params params = model_params_count(&arch);
    uint64_t down = 7168 * (1536 + 512 + 64);
    uint64_t up = 1536 * 128 * 192 + 512 * 128 * 256;

    ck_assert_uint_eq(params.layers[0].attention_replicated, down);
    ck_assert_uint_eq(params.layers[0].attention, down + up + 128 * 128 * 7168);
    ck_assert_uint_eq(params.layers[0].norms, 2 * 7168 + 1536 + 512);
    kind->query_rank = 0; /* queries straight from the hidden state */
    params = model_params_count(&arch);
    ck_assert_uint_eq(params.layers[0].attention, 7168 * 576 + 7168 * 128 * 192 + 512 * 128 * 256 + 128 * 128 * 7168);
}
END_TEST

START_TEST(a_tied_head_counts_once)
{
    struct model_arch arch = decoder(4, 1024, 4096, 16, 4, 32000);
    uint64_t untied = model_params_count(&arch).total;

    arch.tied_head = true;
    ck_assert_uint_eq(untied - model_params_count(&arch).total, 32000 * 1024);
}
END_TEST

START_TEST(layers_add_up)
{
    struct model_arch one = decoder(1, 2048, 8192, 16, 4, 50000);
    struct model_arch ten = decoder(10, 2048, 8192, 16, 4, 50000);
    struct model_params single = model_params_count(&one);
    struct model_params many = model_params_count(&ten);
    const struct layer_params *layer = &single.layers[0];
    uint64_t layer_total = layer->attention + layer->mlp + layer->norms;

    ck_assert_uint_eq(many.total - single.total, 9 * layer_total);
    ck_assert_uint_eq(many.linear, 10 * single.linear);
}
END_TEST

/* No count falls when a size grows. */
START_TEST(totals_never_fall_with_a_size)
{
    struct random random = random_seeded();

    for (int round = 0; round < 2000; round++) {
        uint32_t heads = 1U << random_below(&random, 6);
        uint32_t kv_heads = heads >> random_below(&random, 3);
        struct model_arch arch =
            decoder(1 + (uint32_t)random_below(&random, 100), heads * (1 + (uint32_t)random_below(&random, 256)),
                    1 + (uint32_t)random_below(&random, 65536), heads, kv_heads ? kv_heads : 1,
                    1 + (uint32_t)random_below(&random, 300000));
        struct model_arch grown = arch;
        uint32_t by = 1 + (uint32_t)random_below(&random, 50);

        switch (random_below(&random, 5)) {
        case 0:
            grown.layer_count += by;
            grown.kinds[0].count += by;
            break;
        case 1:
            grown.hidden_size += by;
            break;
        case 2:
            grown.vocabulary_size += by;
            break;
        case 3:
            grown.kinds[0].intermediate_size += by;
            break;
        default:
            grown.kinds[0].head_size += by;
            break;
        }
        ck_assert_msg(model_params_count(&grown).total > model_params_count(&arch).total, "SEED=%ju", random.seed);
    }
}
END_TEST

START_TEST(absurd_sizes_saturate)
{
    struct model_arch arch = decoder(1024, 1 << 20, 1 << 22, 4096, 4096, 1 << 24);

    arch.kinds[0].mlp = MLP_EXPERTS;
    arch.kinds[0].expert_count = arch.kinds[0].experts_per_token = 4096;
    arch.kinds[0].expert_size = 1 << 22;
    ck_assert(model_params_count(&arch).total == UINT64_MAX);
    ck_assert_uint_gt(lora_params_count(&arch, LORA_ALL_LINEAR, UINT32_MAX), UINT64_MAX / 2);
    arch.extra_parameters = INT64_MIN;
    ck_assert_uint_gt(model_params_count(&arch).total, 0);
    arch = decoder(1, 64, 64, 1, 1, 1);
    arch.extra_parameters = INT64_MIN;
    ck_assert_uint_eq(model_params_count(&arch).total, 0);
}
END_TEST

int
main(void)
{
    TCase *tcase = tcase_create("counts");

    tcase_add_loop_test(tcase, adapters_match_published, 0, COUNT_OF(adapters));
    tcase_add_test(tcase, adapters_of_every_expert_count);
    tcase_add_test(tcase, latent_attention_by_hand);
    tcase_add_test(tcase, a_tied_head_counts_once);
    tcase_add_test(tcase, layers_add_up);
    tcase_add_test(tcase, totals_never_fall_with_a_size);
    tcase_add_test(tcase, absurd_sizes_saturate);
    return suite_run("model params", tcase);
}
