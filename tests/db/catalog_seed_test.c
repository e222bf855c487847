/* The compiled-in seed: sound, large enough to be of use, and with every id that callers rely on. */
#include "db/seed.h"

#include <stdio.h>
#include <string.h>
#include <time.h>

#include "db/catalog_load.h"
#include "db/db.h"
#include "tests/support/suite.h"

/* Ids that the contract names. */
static const char *const gpu_ids[] = {
    "a10-24gb",       "a10g-24gb",       "a100-pcie-40gb",    "a100-pcie-80gb",    "a100-sxm-40gb",
    "a100-sxm-80gb",  "a30-24gb",        "a40-48gb",          "a800-sxm-80gb",     "ascend-910b-64gb",
    "b200-sxm-180gb", "b300-sxm-288gb",  "gb200-186gb",       "gb300-288gb",       "gh200-96gb",
    "h100-nvl-94gb",  "h100-pcie-80gb",  "h100-sxm-80gb",     "h20-96gb",          "h20-141gb",
    "h200-nvl-141gb", "h200-sxm-141gb",  "h800-sxm-80gb",     "l4-24gb",           "l20-48gb",
    "l40-48gb",       "l40s-48gb",       "mi300x-192gb",      "mi325x-256gb",      "rtx-3060-12gb",
    "rtx-3080-10gb",  "rtx-3090-24gb",   "rtx-3090-ti-24gb",  "rtx-4000-ada-20gb", "rtx-4080-16gb",
    "rtx-4090-24gb",  "rtx-4090-d-24gb", "rtx-5000-ada-32gb", "rtx-5090-32gb",     "rtx-6000-ada-48gb",
    "rtx-a5000-24gb", "rtx-a6000-48gb",  "rtx-pro-6000-96gb", "t4-16gb",           "v100-sxm-16gb",
    "v100-sxm-32gb",  "v100s-pcie-32gb",
};
static const char *const storage_ids[] = {
    "hdd",       "sata-ssd", "nvme-gen3", "nvme-gen4", "nvme-gen5", "nvme-raid0", "essd-pl0", "essd-pl1",
    "essd-pl2",  "essd-pl3", "cpfs",      "oss",       "cbs-ssd",   "cfs-turbo",  "cos",      "evs-ssd",
    "sfs-turbo", "obs",      "bos",       "ebs-gp3",   "ebs-io2",   "fsx-lustre", "s3",       "filestore",
    "gcs",       "ceph",     "glusterfs", "lustre",    "gpfs",
};

static struct loaded_catalog *loaded;
static const struct catalog *catalog;

static void
load(void)
{
    struct seed_set set = seed_compiled_in();
    struct row_source source = seed_source(&set);
    struct load_order order = { .source = &source, .version = seed_version(&set), .embedded = true };
    struct db_event refusal = { 0 };
    enum load_result result = catalog_load(&order, &loaded, &refusal);

    ck_assert_msg(result == LOAD_OK, "%s, row %s, column %s: %s", refusal.table, refusal.key, refusal.column,
                  refusal.why);
    catalog = &loaded->catalog;
}

static void
unload(void)
{
    loaded_catalog_free(loaded);
}

START_TEST(named_ids_are_there)
{
    for (size_t i = 0; i < COUNT_OF(gpu_ids); i++)
        ck_assert_msg(catalog_gpu(catalog, gpu_ids[i]) != NULL, "no GPU %s", gpu_ids[i]);
    for (size_t i = 0; i < COUNT_OF(storage_ids); i++)
        ck_assert_msg(catalog_storage(catalog, storage_ids[i]) != NULL, "no storage %s", storage_ids[i]);
}
END_TEST

START_TEST(there_is_enough_of_everything)
{
    size_t instances = 0, priced_in_cny = 0;

    for (size_t i = 0; i < catalog->offer_count; i++) {
        const struct offer *offer = &catalog->offers[i];
        bool in_cny = false;

        instances += !offer->is_server;
        for (size_t j = 0; j < offer->price_count; j++)
            in_cny = in_cny || offer->prices[j].low.currency == CURRENCY_CNY;
        priced_in_cny += in_cny;
    }
    ck_assert_uint_ge(catalog->gpu_count, 60);
    ck_assert_uint_ge(instances, 200);
    ck_assert_uint_ge(catalog->offer_count - instances, 20);
    ck_assert_uint_ge(catalog->provider_count, 10);
    ck_assert_uint_ge(catalog->model_count, 40);
    ck_assert_uint_ge(priced_in_cny, 100);
}
END_TEST

/* Data sheets: NVIDIA A100 80GB (2,039 GB/s, 312 TFLOPS BF16 dense), H100 SXM (3.35 TB/s, 989 TFLOPS). */
START_TEST(data_sheet_figures_are_dense_and_in_bytes)
{
    const struct gpu *a100 = catalog_gpu(catalog, "a100-sxm-80gb"), *h100 = catalog_gpu(catalog, "h100-sxm-80gb");

    ck_assert_double_eq_tol(a100->bf16_flop_per_second, 312e12, 1e12);
    ck_assert_double_eq_tol(a100->memory_bytes_per_second, 2.039e12, 0.01e12);
    ck_assert_double_eq_tol(h100->bf16_flop_per_second, 989e12, 1e12);
    ck_assert_double_eq_tol(h100->memory_bytes_per_second, 3.35e12, 0.01e12);
    ck_assert_uint_eq(h100->memory_bytes, UINT64_C(80) << 30);
    ck_assert_double_eq(h100->fp4_flop_per_second, 0);
    ck_assert_double_eq(catalog_gpu(catalog, "v100-sxm-32gb")->bf16_flop_per_second, 0);
}
END_TEST

START_TEST(aliases_lead_to_the_usual_device)
{
    bool ambiguous;

    ck_assert_str_eq(catalog_gpu_by_name(catalog, "NVIDIA H100 80GB HBM3", &ambiguous)->id, "h100-sxm-80gb");
    ck_assert(!ambiguous);
    ck_assert_str_eq(catalog_gpu_by_name(catalog, "4090", &ambiguous)->id, "rtx-4090-24gb");
    ck_assert(!ambiguous);
    ck_assert_str_eq(catalog_gpu_by_name(catalog, "A100 80G", &ambiguous)->id, "a100-sxm-80gb");
    ck_assert(ambiguous);
    for (size_t i = 0; i < catalog->gpu_alias_count; i++)
        ck_assert_ptr_eq(catalog_gpu_by_name(catalog, catalog->gpu_aliases[i].alias, &ambiguous),
                         &catalog->gpus[catalog->gpu_aliases[i].index]);
}
END_TEST

START_TEST(presets_count_their_parameters)
{
    for (size_t i = 0; i < catalog->model_count; i++) {
        const struct model_preset *model = &catalog->models[i];

        ck_assert_msg(model->params.total > 0, "%s", model->id);
        ck_assert_msg(model->params.active <= model->params.total, "%s", model->id);
    }
}
END_TEST

/* huggingface.co/deepseek-ai/DeepSeek-V3 and -R1, config.json: quant_method fp8, e4m3, blocks of 128 x 128. */
START_TEST(presets_keep_the_format_they_are_published_in)
{
    static const char *const in_fp8[] = { "deepseek-v3", "deepseek-r1" };

    for (size_t i = 0; i < COUNT_OF(in_fp8); i++)
        ck_assert_int_eq((int)catalog_model(catalog, in_fp8[i])->arch.stored_format, (int)WEIGHT_FP8);
    ck_assert_int_eq((int)catalog_model(catalog, "llama-3-8b")->arch.stored_format, (int)WEIGHT_BF16);
}
END_TEST

START_TEST(each_money_can_be_exchanged_to_yuan_and_dollar)
{
    for (size_t i = 0; i < catalog->price_count; i++) {
        struct money money;

        ck_assert(catalog_exchange(catalog, catalog->prices[i].low, CURRENCY_CNY, &money, NULL));
        ck_assert_int_gt(money.micros, 0);
        ck_assert(catalog_exchange(catalog, catalog->prices[i].low, CURRENCY_USD, &money, NULL));
    }
}
END_TEST

START_TEST(the_seed_is_published_at_once_and_the_same_each_time)
{
    struct catalog_slot slot;
    struct db_settings settings = { .database_url = NULL };
    struct db *db;
    struct fault fault;
    struct snapshot *snapshot;

    fault_clear(&fault);
    catalog_slot_init(&slot);
    ck_assert_int_eq(db_start(&slot, &settings, &db, &fault), STATUS_OK);
    snapshot = catalog_acquire(&slot, 0);
    ck_assert(snapshot->catalog->embedded);
    ck_assert_uint_eq(snapshot->catalog->version, catalog->version);
    ck_assert_str_eq(snapshot->catalog->as_of, catalog->as_of);
    ck_assert(!db_status(db).configured);
    ck_assert_uint_eq(db_status(db).version, catalog->version);
    ck_assert_double_ge(db_status(db).seconds_since_loaded, 0);
    catalog_release(snapshot);
    db_stop(db);
    db_stop(NULL);
    ck_assert(!db_status(NULL).configured);
    catalog_slot_done(&slot);
}
END_TEST

/* A second, so that slow machines and sanitizers pass; about 10 ms is usual. */
START_TEST(loading_is_quick)
{
    struct timespec began, ended;

    unload();
    (void)clock_gettime(CLOCK_MONOTONIC, &began);
    load();
    (void)clock_gettime(CLOCK_MONOTONIC, &ended);
    double seconds = (double)(ended.tv_sec - began.tv_sec) + (double)(ended.tv_nsec - began.tv_nsec) / 1e9;
    printf("seed loaded in %.1f ms\n", seconds * 1000);
    ck_assert_double_lt(seconds, 1);
}
END_TEST

int
main(void)
{
    TCase *tcase = tcase_create("catalog_seed");

    tcase_add_checked_fixture(tcase, load, unload);
    tcase_add_test(tcase, named_ids_are_there);
    tcase_add_test(tcase, there_is_enough_of_everything);
    tcase_add_test(tcase, data_sheet_figures_are_dense_and_in_bytes);
    tcase_add_test(tcase, aliases_lead_to_the_usual_device);
    tcase_add_test(tcase, presets_count_their_parameters);
    tcase_add_test(tcase, presets_keep_the_format_they_are_published_in);
    tcase_add_test(tcase, each_money_can_be_exchanged_to_yuan_and_dollar);
    tcase_add_test(tcase, the_seed_is_published_at_once_and_the_same_each_time);
    tcase_add_test(tcase, loading_is_quick);
    return suite_run("catalog_seed", tcase);
}
