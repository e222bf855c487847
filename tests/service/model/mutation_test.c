/* Seeded damage to published configs: read and counted, or refused with a place; never anything else. */
#include <stdio.h>
#include <string.h>

#include "service/memory/kv_cache.h"
#include "service/model/arch.h"
#include "service/model/params.h"
#include "tests/support/model_rows.h"
#include "tests/support/random.h"
#include "tests/support/suite.h"

static struct notices notices;
static struct fault fault;
static struct model_arch arch;
static bool used[MAX_FACTS];

static const struct fact damages[] = {
    { .kind = FACT_NULL },
    { .kind = FACT_BOOL, .integer = 1 },
    { .kind = FACT_INTEGER, .integer = -1, .real = -1 },
    { .kind = FACT_INTEGER, .integer = 0 },
    { .kind = FACT_INTEGER, .integer = 1, .real = 1 },
    { .kind = FACT_INTEGER, .integer = 7, .real = 7 },
    { .kind = FACT_INTEGER, .integer = 1000000, .real = 1e6 },
    { .kind = FACT_INTEGER, .integer = INT64_MAX, .real = 9.2e18 },
    { .kind = FACT_INTEGER, .integer = INT64_MIN, .real = -9.2e18 },
    { .kind = FACT_REAL, .real = 0.5 },
    { .kind = FACT_REAL, .real = 1e300 },
    { .kind = FACT_TEXT, .text = "" },
    { .kind = FACT_TEXT, .text = "sliding_attention" },
    { .kind = FACT_LIST, .integer = 0 },
    { .kind = FACT_LIST, .integer = 5000 },
    { .kind = FACT_LIST, .integer = 3 },
    { .kind = FACT_OBJECT, .integer = 2 },
};

/* Changes or takes away one fact. */
static size_t
damage(struct random *random, struct fact *items, size_t count)
{
    size_t at = random_below(random, count);

    if (random_below(random, 6) == 0) {
        memmove(&items[at], &items[at + 1], (count - at - 1) * sizeof(*items));
        return count - 1;
    }
    const char *path = items[at].path;
    items[at] = damages[random_below(random, COUNT_OF(damages))];
    items[at].path = path;
    return count;
}

static void
check_answer(enum status status, const char *name, const struct random *random)
{
    if (status == STATUS_FAULT) {
        ck_assert_uint_gt(fault.item_count, 0);
        for (size_t i = 0; i < fault.item_count; i++)
            ck_assert_msg(strncmp(fault.items[i].pointer, "/model/config", 13) == 0, "%s SEED=%ju: %s", name,
                          random->seed, fault.items[i].pointer);
        return;
    }
    struct model_params params = model_params_count(&arch);

    ck_assert_msg(params.total > 0 && params.active <= params.total, "%s SEED=%ju", name, random->seed);
    ck_assert(kv_cache_bytes_per_sequence_per_gpu(&arch, 2, 1 << 20, 8, 4) >= 0);
    ck_assert_uint_gt(lora_params_count(&arch, LORA_ALL_LINEAR, 16) + 1, 0);
}

START_TEST(damaged_configs_are_counted_or_refused)
{
    struct random random = random_seeded();
    size_t row_count;
    const struct model_row *rows = model_rows(&row_count);

    for (int round = 0; round < 60000; round++) {
        const struct model_row *row = &rows[random_below(&random, row_count)];
        struct fact items[MODEL_ROW_FACTS + 1];
        size_t count = row->fact_count;

        memcpy(items, row->facts, count * sizeof(items[0]));
        for (uint64_t i = random_below(&random, 3) + 1; i > 0 && count > 1; i--)
            count = damage(&random, items, count);
        struct facts facts = model_row_facts(items, count, used);
        notices.count = 0;
        fault_clear(&fault);
        check_answer(model_arch_read(&facts, "/model/config", &arch, &notices, &fault), row->name, &random);
    }
}
END_TEST

/* The order of keys in a file is lost when facts are sorted; two readings of one list agree to the byte. */
START_TEST(reading_twice_agrees)
{
    static struct model_arch again;
    size_t row_count;
    const struct model_row *rows = model_rows(&row_count);

    for (size_t i = 0; i < row_count; i++) {
        struct facts facts = model_row_facts(rows[i].facts, rows[i].fact_count, used);

        ck_assert(model_arch_read(&facts, "/model/config", &arch, &notices, &fault) == STATUS_OK);
        ck_assert(model_arch_read(&facts, "/model/config", &again, &notices, &fault) == STATUS_OK);
        ck_assert_uint_eq(model_params_count(&arch).total, model_params_count(&again).total);
        ck_assert_mem_eq(arch.kind_of_layer, again.kind_of_layer, sizeof(arch.kind_of_layer));
    }
}
END_TEST

/* A model grows with each of its sizes. */
START_TEST(configs_grow_with_their_sizes)
{
    static const char *const paths[] = { "/hidden_size",      "/intermediate_size",     "/num_hidden_layers",
                                         "/vocab_size",       "/moe_intermediate_size", "/num_local_experts",
                                         "/n_routed_experts", "/kv_lora_rank",          "/v_head_dim" };
    size_t row_count;
    const struct model_row *rows = model_rows(&row_count);

    for (size_t i = 0; i < row_count; i++) {
        for (size_t j = 0; j < COUNT_OF(paths); j++) {
            struct fact items[MODEL_ROW_FACTS + 1];
            struct facts facts = model_row_facts(rows[i].facts, rows[i].fact_count, used);
            const struct fact *size = facts_get(&facts, paths[j]);
            char value[32];

            if (size == NULL || size->integer == 0)
                continue;
            ck_assert_int_gt(snprintf(value, sizeof(value), "%lld", (long long)(2 * size->integer)), 0);
            facts = model_row_facts(items, model_row_with(&rows[i], paths[j], "integer", value, items), used);
            fault_clear(&fault);
            if (model_arch_read(&facts, "/model/config", &arch, &notices, &fault) == STATUS_OK)
                ck_assert_msg(model_params_count(&arch).total >= rows[i].parameters, "%s %s", rows[i].name, paths[j]);
        }
    }
}
END_TEST

int
main(void)
{
    TCase *tcase = tcase_create("damage");

    tcase_set_timeout(tcase, 60);
    tcase_add_test(tcase, damaged_configs_are_counted_or_refused);
    tcase_add_test(tcase, reading_twice_agrees);
    tcase_add_test(tcase, configs_grow_with_their_sizes);
    return suite_run("model damage", tcase);
}
