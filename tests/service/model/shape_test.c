/* Models given by few sizes: published ones come out whole, derived ones have the stated total. */
#include <string.h>

#include "service/memory/kv_cache.h"
#include "service/model/arch.h"
#include "service/model/params.h"
#include "tests/support/random.h"
#include "tests/support/suite.h"

static struct notices notices;
static struct fault fault;
static struct model_arch arch;

static enum status
build(const struct model_shape *shape)
{
    notices.count = 0;
    fault_clear(&fault);
    return model_arch_from_shape(shape, "/model", &arch, &notices, &fault);
}

/* Complete shapes of published models, their totals as the Hugging Face Hub has them. */
static const struct {
    const char *name;
    struct model_shape shape;
    bool tied;
    double cache_bytes_per_token;
} published[] = {
    { "Llama-3-8B",
      { .parameter_count = 8030261248,
        .layer_count = 32,
        .hidden_size = 4096,
        .intermediate_size = 14336,
        .attention_head_count = 32,
        .kv_head_count = 8,
        .vocabulary_size = 128256 },
      false,
      131072 },
    { "Llama-3.2-1B",
      { .parameter_count = 1235814400,
        .layer_count = 16,
        .hidden_size = 2048,
        .intermediate_size = 8192,
        .attention_head_count = 32,
        .kv_head_count = 8,
        .head_size = 64,
        .vocabulary_size = 128256 },
      true,
      32768 },
    { "Baichuan2-7B shape of 64,000 words",
      { .parameter_count = 7000559616,
        .layer_count = 32,
        .hidden_size = 4096,
        .intermediate_size = 11008,
        .attention_head_count = 32,
        .kv_head_count = 32,
        .vocabulary_size = 64000 },
      false,
      524288 },
    { "Mixtral-8x7B",
      { .parameter_count = 46702792704,
        .layer_count = 32,
        .hidden_size = 4096,
        .intermediate_size = 14336,
        .attention_head_count = 32,
        .kv_head_count = 8,
        .vocabulary_size = 32000,
        .expert_count = 8,
        .experts_per_token = 2 },
      false,
      131072 },
};

START_TEST(complete_shapes_leave_nothing_over)
{
    ck_assert(build(&published[_i].shape) == STATUS_OK);
    ck_assert_msg(arch.extra_parameters == 0, "%s: %jd over", published[_i].name, (intmax_t)arch.extra_parameters);
    ck_assert_uint_eq(model_params_count(&arch).total, published[_i].shape.parameter_count);
    ck_assert(arch.tied_head == published[_i].tied);
    ck_assert(kv_cache_bytes_per_token(&arch, 2) == published[_i].cache_bytes_per_token);
    ck_assert_uint_eq(notices.count, 0);
}
END_TEST

START_TEST(mixtral_has_its_active_count)
{
    ck_assert(build(&published[3].shape) == STATUS_OK);
    ck_assert_uint_eq(model_params_count(&arch).active, 12879925248);
}
END_TEST

START_TEST(a_total_that_differs_is_noticed)
{
    struct model_shape shape = published[0].shape;

    shape.parameter_count = 9600000000; /* a vision tower beside it */
    ck_assert(build(&shape) == STATUS_OK);
    ck_assert_uint_eq(model_params_count(&arch).total, 9600000000);
    ck_assert_uint_eq(notices.count, 1);
    ck_assert_int_eq(notices.items[0].code, NOTICE_STATED_PARAMETER_COUNT_DIFFERS);
    shape.parameter_count = 8030261248 + 2048; /* buffers: below 0.1 % */
    ck_assert(build(&shape) == STATUS_OK);
    ck_assert_uint_eq(notices.count, 0);
}
END_TEST

/* Published models whose total alone is stated: depth and width come out near theirs. */
static const struct {
    uint64_t parameters;
    uint32_t layers, hidden;
} usual[] = {
    { 8030261248, 32, 4096 },  /* Llama-3-8B */
    { 70553706496, 80, 8192 }, /* Llama-3-70B */
    { 14770033664, 48, 5120 }, /* Qwen2.5-14B */
    { 1235814400, 16, 2048 },  /* Llama-3.2-1B */
    { 32763876352, 64, 5120 }, /* Qwen2.5-32B */
};

START_TEST(a_total_alone_has_a_usual_shape)
{
    struct model_shape shape = { .parameter_count = usual[_i].parameters };

    ck_assert(build(&shape) == STATUS_OK);
    ck_assert_uint_eq(arch.layer_count, usual[_i].layers);
    ck_assert_uint_eq(arch.hidden_size, usual[_i].hidden);
    ck_assert_uint_eq(model_params_count(&arch).total, usual[_i].parameters);
    ck_assert_uint_eq(notices.count, 1);
    ck_assert_int_eq(notices.items[0].code, NOTICE_UNKNOWN_ACTIVE_SHAPE);
}
END_TEST

START_TEST(active_parameters_make_a_mixture)
{
    struct model_shape shape = { .parameter_count = 671000000000, .active_parameter_count = 37000000000 };

    ck_assert(build(&shape) == STATUS_OK);
    struct model_params params = model_params_count(&arch);
    ck_assert_uint_eq(params.total, 671000000000);
    ck_assert(params.active > 36e9 && params.active < 38e9);
    ck_assert_int_eq(arch.kinds[0].mlp, MLP_EXPERTS);
}
END_TEST

START_TEST(other_networks_are_known_by_their_work)
{
    struct model_shape shape = { .parameter_count = 25557032,
                                 .flop_per_sample = 8.2e9,
                                 .activation_bytes_per_sample = 1.1e8 };

    ck_assert(build(&shape) == STATUS_OK);
    ck_assert(arch.generic && arch.layer_count == 0 && !arch.causal);
    ck_assert_uint_eq(model_params_count(&arch).total, 25557032);
    ck_assert(kv_cache_bytes_per_token(&arch, 2) == 0);
}
END_TEST

static const struct {
    struct model_shape shape;
    enum fault_code code;
    const char *pointer;
} refused[] = {
    { { .layer_count = 32 }, FAULT_MODEL_FIELD_MISSING, "/model/parameter_count" },
    { { .parameter_count = 1000, .hidden_size = 100, .attention_head_count = 7 },
      FAULT_MODEL_CONTRADICTION,
      "/model/attention_head_count" },
    { { .parameter_count = 1000, .hidden_size = 64, .attention_head_count = 8, .kv_head_count = 3 },
      FAULT_MODEL_CONTRADICTION,
      "/model/kv_head_count" },
    { { .parameter_count = 1000, .expert_count = 4, .experts_per_token = 5 },
      FAULT_MODEL_CONTRADICTION,
      "/model/experts_per_token" },
    { { .parameter_count = 1000, .active_parameter_count = 1001 },
      FAULT_MODEL_CONTRADICTION,
      "/model/active_parameter_count" },
};

START_TEST(shapes_that_cannot_be_are_refused)
{
    ck_assert(build(&refused[_i].shape) == STATUS_FAULT);
    ck_assert_int_eq(fault.code, refused[_i].code);
    ck_assert_str_eq(fault.items[0].pointer, refused[_i].pointer);
}
END_TEST

/* Whatever is stated: a sound model of exactly the stated total, or a fault. */
START_TEST(any_shape_has_the_stated_total)
{
    struct random random = random_seeded();

    for (int round = 0; round < 20000; round++) {
        struct model_shape shape = { .parameter_count = 1 + (random_u64(&random) >> (17 + random_below(&random, 46))) };
        uint32_t *const sizes[] = { &shape.layer_count,       &shape.hidden_size,
                                    &shape.intermediate_size, &shape.attention_head_count,
                                    &shape.kv_head_count,     &shape.head_size,
                                    &shape.vocabulary_size,   &shape.expert_count,
                                    &shape.experts_per_token, &shape.expert_intermediate_size };
        static const uint32_t limits[] = { 1024, 1 << 20, 1 << 22, 4096, 4096, 1 << 16, 1 << 24, 4096, 4096, 1 << 22 };

        for (size_t i = 0; i < COUNT_OF(sizes); i++) {
            if (random_below(&random, 3) == 0)
                *sizes[i] = 1 + (uint32_t)random_below(&random, limits[i]);
        }
        if (random_below(&random, 3) == 0)
            shape.active_parameter_count = random_below(&random, shape.parameter_count + 2);
        if (build(&shape) != STATUS_OK) {
            ck_assert_uint_gt(fault.item_count, 0);
            continue;
        }
        ck_assert_msg(model_params_count(&arch).total == shape.parameter_count, "SEED=%ju round %d", random.seed,
                      round);
        ck_assert(model_arch_check(&arch, "/model", &fault) == STATUS_OK);
    }
}
END_TEST

int
main(void)
{
    TCase *tcase = tcase_create("shapes");

    tcase_add_loop_test(tcase, complete_shapes_leave_nothing_over, 0, COUNT_OF(published));
    tcase_add_test(tcase, mixtral_has_its_active_count);
    tcase_add_test(tcase, a_total_that_differs_is_noticed);
    tcase_add_loop_test(tcase, a_total_alone_has_a_usual_shape, 0, COUNT_OF(usual));
    tcase_add_test(tcase, active_parameters_make_a_mixture);
    tcase_add_test(tcase, other_networks_are_known_by_their_work);
    tcase_add_loop_test(tcase, shapes_that_cannot_be_are_refused, 0, COUNT_OF(refused));
    tcase_add_test(tcase, any_shape_has_the_stated_total);
    return suite_run("model shape", tcase);
}
