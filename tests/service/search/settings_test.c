#include "service/search/fixes.h"

#include "tests/support/suite.h"

static const struct gpu h200 = { .id = "h200-sxm-141gb" };

/* What a merge patch with this path and value would make of an empty request. */
static const struct {
    struct setting setting;
    const char *path, *text; /* NULL: a number */
} rows[] = {
    { { SET_METHOD, METHOD_QLORA, NULL }, "/training/method", "qlora" },
    { { SET_PRECISION, PRECISION_BF16_PURE, NULL }, "/training/precision", "bf16_pure" },
    { { SET_OPTIMIZER, OPTIMIZER_ADAMW_8BIT, NULL }, "/training/optimizer", "adamw_8bit" },
    { { SET_MICRO_BATCH, 4, NULL }, "/training/micro_batch_size", NULL },
    { { SET_RECOMPUTE, RECOMPUTE_FULL, NULL }, "/training/recompute", "full" },
    { { SET_SHARDING, SHARDING_ZERO3, NULL }, "/training/parallelism/sharding", "zero3" },
    { { SET_OFFLOAD, OFFLOAD_OPTIMIZER, NULL }, "/training/offload", "optimizer" },
    { { SET_SERVING_PRECISION, WEIGHT_INT4_AWQ, NULL }, "/serving/precision", "int4_awq" },
    { { SET_KV_PRECISION, KV_FP8, NULL }, "/serving/kv_cache_precision", "fp8" },
    { { SET_GPU, 0, &h200 }, "/hardware/gpu", "h200-sxm-141gb" },
    { { SET_GPUS, 16, NULL }, "/hardware/gpus", NULL },
};

START_TEST(settings_say_where_and_what)
{
    const char *text;
    bool is_null;
    const char *path = setting_path(&rows[_i].setting, &text, &is_null);

    ck_assert_str_eq(path, rows[_i].path);
    ck_assert(!is_null);
    if (rows[_i].text)
        ck_assert_str_eq(text, rows[_i].text);
    else
        ck_assert_ptr_null(text);
}
END_TEST

START_TEST(settings_change_what_they_name)
{
    struct estimate_request request = { 0 };
    struct setting sharding = { SET_SHARDING, SHARDING_ZERO2, NULL }, gpus = { SET_GPUS, 16, NULL };
    struct setting gpu = { SET_GPU, 0, &h200 }, context = { SET_CONTEXT_LENGTH, 4096, NULL };
    struct setting network = { SET_INTERNODE, 3.2e12, NULL }, open = { SET_TRAINING_SPLIT_OPEN, 0, NULL };

    setting_apply(&sharding, &request);
    ck_assert_int_eq(request.training.parallelism.sharding, SHARDING_ZERO2);
    ck_assert(request.training.has_parallelism); /* a patched member makes the object stand there */
    setting_apply(&gpus, &request);
    setting_apply(&gpu, &request);
    setting_apply(&context, &request);
    setting_apply(&network, &request);
    ck_assert_uint_eq(request.hardware.gpus, 16);
    ck_assert_ptr_eq(request.hardware.gpu, &h200);
    ck_assert_uint_eq(request.serving.context_length, 4096);
    ck_assert_double_eq(request.hardware.internode_bits_per_second, 3.2e12);
    setting_apply(&open, &request);
    ck_assert(!request.training.has_parallelism);
    ck_assert_int_eq(request.training.parallelism.sharding, SHARDING_UNSAID);
}
END_TEST

START_TEST(what_fits_comes_before_what_only_helps)
{
    struct fixes fixes = { 0 };
    struct fix helps = { .code = FIX_RECOMPUTE, .verdict = VERDICT_DOES_NOT_FIT };
    struct fix tight = { .code = FIX_PURE_BF16, .verdict = VERDICT_TIGHT };
    struct fix fits = { .code = FIX_LORA, .verdict = VERDICT_FITS };
    struct fix later = { .code = FIX_MORE_GPUS, .verdict = VERDICT_FITS };

    fixes_add(&fixes, &helps);
    fixes_add(&fixes, &tight);
    fixes_add(&fixes, &fits);
    fixes_add(&fixes, &later);
    ck_assert_uint_eq(fixes.count, 4);
    ck_assert_int_eq(fixes.items[0].code, FIX_LORA);
    ck_assert_int_eq(fixes.items[1].code, FIX_MORE_GPUS); /* in the order they were tried */
    ck_assert_int_eq(fixes.items[2].code, FIX_PURE_BF16);
    ck_assert_int_eq(fixes.items[3].code, FIX_RECOMPUTE);
}
END_TEST

START_TEST(a_full_list_drops_the_least_useful)
{
    struct fixes fixes = { 0 };
    struct fix helps = { .code = FIX_RECOMPUTE, .verdict = VERDICT_DOES_NOT_FIT };
    struct fix fits = { .code = FIX_LORA, .verdict = VERDICT_FITS };

    for (size_t i = 0; i < MAX_FIXES; i++)
        fixes_add(&fixes, &helps);
    fixes_add(&fixes, &fits);
    ck_assert_uint_eq(fixes.count, MAX_FIXES);
    ck_assert_int_eq(fixes.items[0].code, FIX_LORA);
}
END_TEST

int
main(void)
{
    TCase *tcase = tcase_create("settings");

    tcase_add_loop_test(tcase, settings_say_where_and_what, 0, COUNT_OF(rows));
    tcase_add_test(tcase, settings_change_what_they_name);
    tcase_add_test(tcase, what_fits_comes_before_what_only_helps);
    tcase_add_test(tcase, a_full_list_drops_the_least_useful);
    return suite_run("settings", tcase);
}
