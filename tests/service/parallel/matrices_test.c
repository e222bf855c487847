/* The matrices of a layer hold what the layer's counts say, however they are cut. */
#include "service/parallel/matrices.h"

#include "tests/service/memory/known_models.h"
#include "tests/support/suite.h"

static double
elements(const struct layer_kind *kind, double hidden, double tensor, bool whole_ones)
{
    struct layer_matrix matrices[MAX_LAYER_MATRICES];
    uint32_t count = layer_matrices(kind, hidden, tensor, 1, matrices);
    double sum = 0;

    for (uint32_t i = 0; i < count; i++)
        if (matrices[i].whole == whole_ones)
            sum += matrices[i].inputs * matrices[i].outputs;
    return sum;
}

START_TEST(matrices_are_the_parameters)
{
    static const enum known_model models[] = { LLAMA_4096_32, LLAMA_8192_80, GPT_4096_32, DEEPSEEK_V2_4 };
    struct model_arch arch;

    known_arch(models[_i], &arch);
    arch.kinds[0].qkv_bias = arch.kinds[0].out_bias = arch.kinds[0].mlp_bias = false;
    struct model_params params = model_params_count(&arch);
    for (uint32_t i = 0; i < arch.kind_count; i++) {
        const struct layer_params *layer = &params.layers[i];
        double counted = (double)layer->attention + (double)layer->mlp + (double)layer->router;
        double cut = elements(&arch.kinds[i], arch.hidden_size, 1, false);
        double whole = elements(&arch.kinds[i], arch.hidden_size, 1, true);

        ck_assert_double_eq(cut + whole, counted);
        ck_assert_double_eq(elements(&arch.kinds[i], arch.hidden_size, 8, false), cut / 8);
        ck_assert_double_eq(elements(&arch.kinds[i], arch.hidden_size, 8, true), whole);
    }
}
END_TEST

START_TEST(cross_attention_reads_the_encoder)
{
    struct layer_kind kind = { .count = 1,
                               .attention = ATTENTION_HEADS,
                               .cross_attention = true,
                               .head_count = 20,
                               .kv_head_count = 20,
                               .head_size = 64 };
    struct layer_matrix matrices[MAX_LAYER_MATRICES];
    uint32_t count = layer_matrices(&kind, 1280, 1, 3.35, matrices);
    double sum = 0;

    for (uint32_t i = 0; i < count; i++) {
        sum += matrices[i].inputs * matrices[i].outputs;
        ck_assert(matrices[i].tokens == 1 || matrices[i].outputs == 2 * 1280); /* keys and values */
    }
    ck_assert_double_eq(sum, 8.0 * 1280 * 1280);
}
END_TEST

START_TEST(a_recurrent_mixer_keeps_its_elements)
{
    struct layer_kind kind = { .count = 1, .attention = ATTENTION_RECURRENT, .mixer_elements = 3ull * 4096 * 8192 };

    ck_assert_double_eq(elements(&kind, 4096, 1, false), 3.0 * 4096 * 8192);
    kind.attention = ATTENTION_NONE;
    ck_assert_double_eq(elements(&kind, 4096, 1, false), 0);
}
END_TEST

int
main(void)
{
    TCase *tcase = tcase_create("matrices");

    tcase_add_loop_test(tcase, matrices_are_the_parameters, 0, 4);
    tcase_add_test(tcase, cross_attention_reads_the_encoder);
    tcase_add_test(tcase, a_recurrent_mixer_keeps_its_elements);
    return suite_run("matrices", tcase);
}
