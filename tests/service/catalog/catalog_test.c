/* Look-ups by id and by the spellings that people use, nearest words, and money across currencies. */
#include "service/catalog/catalog.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "tests/support/suite.h"

static const struct gpu gpus[] = { { .id = "a100-pcie-80gb", .name = "A100 PCIe" },
                                   { .id = "a100-sxm-80gb", .name = "A100 SXM" },
                                   { .id = "h100-sxm-80gb", .name = "H100 SXM" },
                                   { .id = "rtx-4090-24gb", .name = "GeForce RTX 4090" },
                                   { .id = "t4-16gb", .name = "T4" } };
static const struct alias gpu_aliases[] = { { "4090", 3, false },
                                            { "a100", 1, true },
                                            { "a100 80gb pcie", 0, false },
                                            { "h100", 2, true },
                                            { "h100 80gb hbm3", 2, false },
                                            { "rtx 4090", 3, false },
                                            { "t4", 4, false } };
static const struct model_preset models[] = { { .id = "llama-3-8b", .name = "Llama 3 8B (Meta)" },
                                              { .id = "qwen2.5-7b", .name = "Qwen 2.5 7B" } };
static const struct alias model_aliases[] = { { "meta llama meta llama 3 8b", 0, false } };
static const struct offer offers[] = { { .id = "aws:p5.48xlarge" },
                                       { .id = "dell-xe9680-8xh100", .is_server = true },
                                       { .id = "gcp:a3-highgpu-8g" } };
static const struct storage_tier tiers[] = { { .id = "essd-pl1" }, { .id = "essd-pl2" }, { .id = "hdd" } };
static const struct provider providers[] = { { .id = "aliyun" }, { .id = "aws" } };
/* Near the rates of autumn 2026; only their relations matter here. */
static const struct exchange_rate fx[] = {
    { .id = "usd-cny", .base = CURRENCY_USD, .quote = CURRENCY_CNY, .rate = 7.1 },
    { .id = "usd-eur", .base = CURRENCY_USD, .quote = CURRENCY_EUR, .rate = 0.85 },
    { .id = "eur-chf", .base = CURRENCY_EUR, .quote = CURRENCY_CHF, .rate = 0.94 },
};
static const struct catalog catalog = {
    .gpus = gpus,
    .gpu_count = COUNT_OF(gpus),
    .gpu_aliases = gpu_aliases,
    .offers = offers,
    .gpu_alias_count = COUNT_OF(gpu_aliases),
    .offer_count = COUNT_OF(offers),
    .models = models,
    .model_count = COUNT_OF(models),
    .model_aliases = model_aliases,
    .storage = tiers,
    .model_alias_count = COUNT_OF(model_aliases),
    .storage_count = COUNT_OF(tiers),
    .providers = providers,
    .provider_count = COUNT_OF(providers),
    .fx = fx,
    .fx_count = COUNT_OF(fx),
};

START_TEST(each_row_is_found_by_its_id)
{
    for (size_t i = 0; i < COUNT_OF(gpus); i++)
        ck_assert_ptr_eq(catalog_gpu(&catalog, gpus[i].id), &gpus[i]);
    for (size_t i = 0; i < COUNT_OF(offers); i++)
        ck_assert_ptr_eq(catalog_offer(&catalog, offers[i].id), &offers[i]);
    ck_assert_ptr_eq(catalog_storage(&catalog, "hdd"), &tiers[2]);
    ck_assert_ptr_eq(catalog_provider(&catalog, "aws"), &providers[1]);
    ck_assert_ptr_eq(catalog_model(&catalog, "qwen2.5-7b"), &models[1]);
    ck_assert_ptr_null(catalog_gpu(&catalog, "h100"));
    ck_assert_ptr_null(catalog_gpu(&catalog, ""));
    ck_assert_ptr_null(catalog_gpu(&catalog, "zzz"));
}
END_TEST

START_TEST(an_empty_catalog_has_nothing)
{
    static const struct catalog empty;
    bool ambiguous;

    ck_assert_ptr_null(catalog_gpu(&empty, "t4-16gb"));
    ck_assert_ptr_null(catalog_gpu_by_name(&empty, "T4", &ambiguous));
    ck_assert_ptr_null(catalog_nearest_gpu(&empty, "t4"));
    ck_assert_ptr_null(catalog_nearest_offer(&empty, "x", true));
}
END_TEST

/* Spellings as torch, nvidia-smi, cloud pages and people print them. */
static const struct {
    const char *name, *id;
    bool ambiguous;
} spellings[] = {
    { "h100-sxm-80gb", "h100-sxm-80gb", false },
    { "NVIDIA H100 80GB HBM3", "h100-sxm-80gb", false },
    { "H100", "h100-sxm-80gb", true },
    { "Tesla T4", "t4-16gb", false },
    { "NVIDIA GeForce RTX 4090", "rtx-4090-24gb", false },
    { "nvidia geforce rtx_4090 GPU", "rtx-4090-24gb", false },
    { "RTX 4090 (Ada)", "rtx-4090-24gb", false },
    { "A100 (80GB PCIe)", "a100-pcie-80gb", false },
    { "A100（80GB PCIe）", "a100-pcie-80gb", false },
    { "H100 SXM 80GB", "h100-sxm-80gb", false },
    { "NVIDIA A100", "a100-sxm-80gb", true },
};

START_TEST(usual_spellings_find_the_device)
{
    bool ambiguous;
    const struct gpu *gpu = catalog_gpu_by_name(&catalog, spellings[_i].name, &ambiguous);

    ck_assert_msg(gpu != NULL, "%s", spellings[_i].name);
    ck_assert_str_eq(gpu->id, spellings[_i].id);
    ck_assert_msg(ambiguous == spellings[_i].ambiguous, "%s", spellings[_i].name);
}
END_TEST

#define ON_AND_ON " and on and on and on and on and on and on"
#define LONG_NAME "NVIDIA H100 with a name that goes on" ON_AND_ON ON_AND_ON ON_AND_ON ON_AND_ON

START_TEST(strange_names_find_nothing)
{
    static const char *const names[] = { "", "gpu", "NVIDIA", "((((", "))))", "h", LONG_NAME };
    bool ambiguous = true;

    for (size_t i = 0; i < COUNT_OF(names); i++) {
        ck_assert_ptr_null(catalog_gpu_by_name(&catalog, names[i], &ambiguous));
        ck_assert(!ambiguous);
    }
}
END_TEST

START_TEST(models_are_found_by_id_alias_and_name)
{
    ck_assert_ptr_eq(catalog_model_by_name(&catalog, "llama-3-8b"), &models[0]);
    ck_assert_ptr_eq(catalog_model_by_name(&catalog, "meta-llama/Meta-Llama-3-8B"), &models[0]);
    ck_assert_ptr_eq(catalog_model_by_name(&catalog, "Llama 3 8B"), &models[0]);
    ck_assert_ptr_eq(catalog_model_by_name(&catalog, "qwen 2.5 7b"), &models[1]);
    ck_assert_ptr_null(catalog_model_by_name(&catalog, "gpt-5"));
}
END_TEST

START_TEST(near_words_suggest_ids)
{
    ck_assert_str_eq(catalog_nearest_gpu(&catalog, "h100-smx-80gb"), "h100-sxm-80gb");
    ck_assert_str_eq(catalog_nearest_gpu(&catalog, "rtx 409"), "rtx-4090-24gb");
    ck_assert_str_eq(catalog_nearest_model(&catalog, "lama-3-8b"), "llama-3-8b");
    ck_assert_str_eq(catalog_nearest_model(&catalog, "somebody/Llama-3-8B"), "llama-3-8b");
    ck_assert_str_eq(catalog_nearest_storage(&catalog, "esssd-pl2"), "essd-pl2");
    ck_assert_str_eq(catalog_nearest_offer(&catalog, "dell-xe9680-8xh10", true), "dell-xe9680-8xh100");
    ck_assert_ptr_null(catalog_nearest_offer(&catalog, "dell-xe9680-8xh10", false));
    ck_assert_ptr_null(catalog_nearest_gpu(&catalog, "a pocket calculator"));
}
END_TEST

START_TEST(the_nearest_of_many_is_found_wherever_it_stands)
{
    enum { MANY = 1000 };
    static struct gpu many[MANY];
    static char ids[MANY][16];
    struct catalog large = { .gpus = many, .gpu_count = MANY };

    for (int i = 0; i < MANY; i++) {
        ids[i][0] = (char)('a' + i / 100);
        ids[i][1] = ids[i][2] = ids[i][3] = ids[i][4] = (char)('a' + i / 10 % 10);
        ids[i][5] = ids[i][6] = ids[i][7] = ids[i][8] = (char)('a' + i % 10);
        many[i].id = ids[i];
    }
    for (int i = 0; i < MANY; i += 37) {
        char misspelt[16];

        memcpy(misspelt, ids[i], sizeof(misspelt));
        misspelt[8] = 'z';
        ck_assert_str_eq(catalog_nearest_gpu(&large, misspelt), ids[i]);
    }
}
END_TEST

static int64_t
exchanged(int64_t micros, enum currency from, enum currency to)
{
    struct money money;

    ck_assert(catalog_exchange(&catalog, (struct money){ micros, from }, to, &money, NULL));
    ck_assert_int_eq(money.currency, to);
    return money.micros;
}

START_TEST(money_is_exchanged_directly_inversely_and_over_another)
{
    const struct exchange_rate *row;
    struct money money;

    ck_assert_int_eq(exchanged(1000000, CURRENCY_USD, CURRENCY_CNY), 7100000);
    ck_assert_int_eq(exchanged(7100000, CURRENCY_CNY, CURRENCY_USD), 1000000);
    ck_assert_int_eq(exchanged(7100000, CURRENCY_CNY, CURRENCY_EUR), 850000); /* over the dollar */
    ck_assert_int_eq(exchanged(1000000, CURRENCY_USD, CURRENCY_CHF), 799000); /* over the euro */
    ck_assert_int_eq(exchanged(123, CURRENCY_JPY, CURRENCY_JPY), 123);
    ck_assert(catalog_exchange(&catalog, (struct money){ 1, CURRENCY_CNY }, CURRENCY_USD, &money, &row));
    ck_assert_str_eq(row->id, "usd-cny");
    ck_assert(catalog_exchange(&catalog, (struct money){ 1, CURRENCY_CNY }, CURRENCY_CNY, &money, &row));
    ck_assert_ptr_null(row);
}
END_TEST

START_TEST(unknown_rates_are_said_not_guessed)
{
    struct money money;

    ck_assert(!catalog_exchange(&catalog, (struct money){ 1, CURRENCY_USD }, CURRENCY_JPY, &money, NULL));
    ck_assert(!catalog_exchange(&catalog, (struct money){ 1, CURRENCY_UNSAID }, CURRENCY_USD, &money, NULL));
    ck_assert(!catalog_exchange(&catalog, (struct money){ 1, CURRENCY_UNSAID }, CURRENCY_UNSAID, &money, NULL));
}
END_TEST

/* There and back is the same but for the rounding of the way out, and more is never worth less. */
START_TEST(exchange_keeps_order_and_comes_back)
{
    uint64_t random = 20261130;
    int64_t last = 0, last_exchanged = 0;

    for (int i = 0; i < 1000; i++) {
        random = random * 6364136223846793005U + 1442695040888963407U;
        int64_t micros = last + (int64_t)(random >> 40);
        int64_t there = exchanged(micros, CURRENCY_USD, CURRENCY_CNY);

        ck_assert_int_ge(there, last_exchanged);
        ck_assert_int_le(llabs(exchanged(there, CURRENCY_CNY, CURRENCY_USD) - micros), 1);
        last = micros;
        last_exchanged = there;
    }
    ck_assert_int_eq(exchanged(INT64_MAX, CURRENCY_USD, CURRENCY_CNY), INT64_MAX);
}
END_TEST

int
main(void)
{
    TCase *tcase = tcase_create("catalog");

    tcase_add_test(tcase, each_row_is_found_by_its_id);
    tcase_add_test(tcase, an_empty_catalog_has_nothing);
    tcase_add_loop_test(tcase, usual_spellings_find_the_device, 0, COUNT_OF(spellings));
    tcase_add_test(tcase, strange_names_find_nothing);
    tcase_add_test(tcase, models_are_found_by_id_alias_and_name);
    tcase_add_test(tcase, near_words_suggest_ids);
    tcase_add_test(tcase, the_nearest_of_many_is_found_wherever_it_stands);
    tcase_add_test(tcase, money_is_exchanged_directly_inversely_and_over_another);
    tcase_add_test(tcase, unknown_rates_are_said_not_guessed);
    tcase_add_test(tcase, exchange_keeps_order_and_comes_back);
    return suite_run("catalog", tcase);
}
