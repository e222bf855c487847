/* The loader on the seed with one cell changed at a time: each rule refuses, and names table, row and column. */
#include "db/catalog_load.h"

#include <stdlib.h>
#include <string.h>

#include "db/seed.h"
#include "service/base/text.h"
#include "tests/support/suite.h"

/* The seed, but for one cell, column or row. */
static struct change {
    const char *table, *column;
    size_t row;
    const char *text; /* NULL: empty */
    enum { CHANGE_CELL, RENAME_COLUMN, DROP_LAST_ROW } kind;
    struct rows inner;
    int changed_column;
} change;

static struct seed_set seed;
static struct row_source seed_rows;

static const char *
changed_name(const void *content, size_t column)
{
    (void)content;
    if (change.kind == RENAME_COLUMN && (int)column == change.changed_column)
        return change.text;
    return change.inner.column_name(change.inner.content, column);
}

static const char *
changed_cell(const void *content, size_t row, size_t column)
{
    (void)content;
    if (change.kind == CHANGE_CELL && row == change.row && (int)column == change.changed_column)
        return change.text;
    return change.inner.cell(change.inner.content, row, column);
}

static void
free_changed(void *content)
{
    (void)content;
    rows_done(&change.inner);
}

static bool
read_changed(void *context, const char *table, struct rows *ret_rows, char *why, size_t why_size)
{
    (void)context;
    if (!seed_rows.read_table(seed_rows.context, table, ret_rows, why, why_size))
        return false;
    if (change.table == NULL || strcmp(table, change.table) != 0)
        return true;
    change.inner = *ret_rows;
    change.changed_column = rows_column(&change.inner, change.column);
    ck_assert_msg(change.changed_column != NO_COLUMN, "%s.%s", change.table, change.column);
    ck_assert_uint_lt(change.row, change.inner.row_count);
    ret_rows->column_name = changed_name;
    ret_rows->cell = changed_cell;
    ret_rows->free_content = free_changed;
    if (change.kind == DROP_LAST_ROW)
        ret_rows->row_count--;
    return true;
}

/* The text of a cell in the seed itself, lent until the fourth call after it. */
static const char *
seed_cell(const char *table, const char *column, size_t row)
{
    static char texts[4][256];
    static size_t calls;
    char *text = texts[calls++ % COUNT_OF(texts)];
    struct rows rows;
    char why[64];

    ck_assert(seed_rows.read_table(seed_rows.context, table, &rows, why, sizeof(why)));
    text_copy(text, sizeof(texts[0]), rows_text(&rows, row, rows_column(&rows, column)));
    rows_done(&rows);
    return text;
}

/* The first row whose cell has this text. */
static size_t
seed_row(const char *table, const char *column, const char *text)
{
    struct rows rows;
    char why[64];
    size_t row = 0;

    ck_assert(seed_rows.read_table(seed_rows.context, table, &rows, why, sizeof(why)));
    for (; row < rows.row_count; row++) {
        const char *found = rows_text(&rows, row, rows_column(&rows, column));

        if (found != NULL && strcmp(found, text) == 0)
            break;
    }
    ck_assert_msg(row < rows.row_count, "%s has no row with %s %s", table, column, text);
    rows_done(&rows);
    return row;
}

static enum load_result
load_changed(bool embedded, struct loaded_catalog **ret_loaded, struct db_event *ret_refusal)
{
    struct row_source source = { .read_table = read_changed };
    struct load_order order = { .source = &source, .version = 1, .embedded = embedded };

    memset(ret_refusal, 0, sizeof(*ret_refusal));
    return catalog_load(&order, ret_loaded, ret_refusal);
}

/* One row a rule. `where` picks the row to break by a cell of it: "column=text", NULL: the first row. */
static const struct {
    const char *table, *where, *column, *text;
    const char *refused_column; /* NULL: `column` */
} broken[] = {
    { "gpus", NULL, "id", NULL, NULL },
    { "gpus", NULL, "id", "H100", NULL },
    { "gpus", NULL, "id", "a--b", NULL },
    { "gpus", NULL, "id", "-a", NULL },
    { "gpus", NULL, "vendor", NULL, NULL },
    { "gpus", NULL, "family", "maxwell", NULL },
    { "gpus", NULL, "memory_bytes", "0", NULL },
    { "gpus", NULL, "memory_bytes", "-1", NULL },
    { "gpus", NULL, "memory_bytes", "24 GiB", NULL },
    { "gpus", NULL, "memory_bytes", "24.5e9", NULL },
    { "gpus", NULL, "memory_bytes", "99999999999999999999999", NULL },
    { "gpus", "id=t4-16gb", "usable_bytes", "17179869185", NULL },
    { "gpus", NULL, "memory_bandwidth_bytes_per_second", "nan", NULL },
    { "gpus", NULL, "memory_bandwidth_bytes_per_second", "1e400", NULL },
    { "gpus", NULL, "memory_bandwidth_bytes_per_second", "0x10", NULL },
    { "gpus", NULL, "memory_bandwidth_bytes_per_second", " 1", NULL },
    { "gpus", NULL, "fp16_flop_per_second", "-5", NULL },
    { "gpus", "id=t4-16gb", "nvlink_bytes_per_second", "300000000000", NULL },
    { "gpus", "id=h100-sxm-80gb", "nvlink_bytes_per_second", NULL, NULL },
    { "gpus", "id=h100-sxm-80gb", "nvlink_kind", "cable", NULL },
    { "gpus", NULL, "peer_to_peer", "yes", NULL },
    { "gpus", NULL, "export_restricted", "maybe", NULL },
    { "gpus", NULL, "gpus_per_node", "0", NULL },
    { "gpus", NULL, "launch_date", "2021-02-29", NULL },
    { "gpus", NULL, "launch_date", "spring", NULL },
    { "gpus", NULL, "source", NULL, NULL },
    { "gpus", NULL, "source_date", "30.11.2026", NULL },
    { "gpus", "id=t4-16gb", "id", "h100-sxm-80gb", NULL },
    { "gpu_aliases", NULL, "gpu_id", "h999", NULL },
    { "gpu_aliases", "alias=4090", "alias", "T4", NULL },
    { "gpu_aliases", NULL, "ambiguous", NULL, NULL },
    { "providers", NULL, "kind", "shop", NULL },
    { "providers", "id=aws", "country", "USA", NULL },
    { "providers", "id=aws", "id", "aliyun", NULL },
    { "instances", NULL, "provider_id", "nobody", NULL },
    { "instances", NULL, "id", "nobody:x", NULL },
    { "instances", NULL, "gpu_id", "h999", NULL },
    { "instances", NULL, "gpu_count", "0", NULL },
    { "instances", NULL, "intranode", "cable", NULL },
    { "instances", NULL, "confidence", "D", NULL },
    { "instances", NULL, "ram_bytes", "1e30", NULL },
    { "servers", NULL, "vendor_id", "nobody", NULL },
    { "servers", NULL, "gpu_count", "1.5", NULL },
    { "servers", NULL, "id", "Dell XE", NULL },
    { "prices", NULL, "offer_id", "aws:nothing", NULL },
    { "prices", NULL, "price_type", "free", NULL },
    { "prices", NULL, "unit", "day", NULL },
    { "prices", "price_type=on_demand", "unit", "month", NULL },
    { "prices", "price_type=purchase", "unit", "hour", NULL },
    { "prices", "price_type=reserved", "term_months", NULL, NULL },
    { "prices", "price_type=spot", "term_months", "12", NULL },
    { "prices", NULL, "currency", "XTS", NULL },
    { "prices", NULL, "amount_low", "0", NULL },
    { "prices", NULL, "amount_low", "-3", NULL },
    { "prices", NULL, "amount_low", "1.1234567", NULL },
    { "prices", NULL, "amount_high", "0.000001", NULL },
    { "prices", NULL, "valid_from", "2026-13-01", NULL },
    { "prices", NULL, "valid_from", "2026-11", NULL },
    { "prices", NULL, "valid_to", "1999-01-01", NULL },
    { "prices", NULL, "tax_included", "2", NULL },
    { "prices", NULL, "observed_date", "yesterday", NULL },
    { "prices", NULL, "country", "cn", NULL },
    { "storage", NULL, "media", "tape", NULL },
    { "storage", NULL, "scope", "planet", NULL },
    { "storage", "id=essd-pl2", "provider_id", "nobody", NULL },
    { "storage", "currency=CNY", "price_per_gb_month", NULL, NULL },
    { "storage", "currency=CNY", "currency", NULL, "price_per_gb_month" },
    { "networks", NULL, "scope", "planet", NULL },
    { "networks", NULL, "bits_per_second", "0", NULL },
    { "fx", NULL, "rate", "0", NULL },
    { "fx", NULL, "base", "usd", NULL },
    { "fx", NULL, "quote", "USD", NULL },
    { "fx", NULL, "rate_date", "2026-09", NULL },
    { "models", NULL, "licence", "mine", NULL },
    { "models", NULL, "publisher", NULL, NULL },
    { "model_fields", NULL, "model_id", "nothing", NULL },
    { "model_fields", NULL, "path", "hidden_size", NULL },
    { "model_fields", NULL, "value", "\"open", NULL },
    { "model_fields", NULL, "value", "0x10", NULL },
    { "model_fields", NULL, "value", "\"\\ud800\"", NULL },
    { "model_fields", "path=/hidden_size", "value", "null", "/hidden_size" },
    { "model_aliases", NULL, "model_id", "nothing", NULL },
    { "rates", NULL, "value", "inf", NULL },
    { "rates", NULL, "value", NULL, NULL },
    { "rates", NULL, "name", "no.such.constant", NULL },
};

static void
break_row(int i)
{
    change = (struct change){ .table = broken[i].table, .column = broken[i].column, .text = broken[i].text };
    if (broken[i].where != NULL) {
        char column[64] = "";
        size_t length = strcspn(broken[i].where, "=");

        memcpy(column, broken[i].where, length);
        change.row = seed_row(broken[i].table, column, broken[i].where + length + 1);
    }
}

START_TEST(an_unsound_cell_is_refused_by_name)
{
    const char *column = broken[_i].refused_column != NULL ? broken[_i].refused_column : broken[_i].column;
    struct loaded_catalog *loaded;
    struct db_event refusal;

    break_row(_i);
    ck_assert_msg(load_changed(true, &loaded, &refusal) == LOAD_REFUSED, "%s.%s = %s was taken", broken[_i].table,
                  broken[_i].column, broken[_i].text);
    ck_assert_msg(strcmp(refusal.table, broken[_i].table) == 0 && strcmp(refusal.column, column) == 0,
                  "%s.%s = %s: refused %s.%s %s (%s)", broken[_i].table, broken[_i].column, broken[_i].text,
                  refusal.table, refusal.column, refusal.key, refusal.why);
    ck_assert_str_ne(refusal.why, "");
}
END_TEST

START_TEST(the_row_is_named_by_its_key)
{
    struct loaded_catalog *loaded;
    struct db_event refusal;

    change = (struct change){ .table = "prices", .column = "amount_low", .row = 5, .text = "free" };
    ck_assert_int_eq(load_changed(true, &loaded, &refusal), LOAD_REFUSED);
    ck_assert_str_eq(refusal.key, seed_cell("prices", "id", 5));
}
END_TEST

START_TEST(an_id_that_stands_twice_is_refused)
{
    static const char *const tables[] = { "gpus", "providers", "instances", "servers", "prices", "storage", "fx" };
    struct loaded_catalog *loaded;
    struct db_event refusal;

    change = (struct change){ .table = tables[_i], .column = "id", .row = 1, .text = seed_cell(tables[_i], "id", 0) };
    ck_assert_int_eq(load_changed(true, &loaded, &refusal), LOAD_REFUSED);
    ck_assert_str_eq(refusal.key, change.text);
}
END_TEST

START_TEST(a_missing_column_is_named)
{
    struct loaded_catalog *loaded;
    struct db_event refusal;

    change = (struct change){ .table = "networks", .column = "note", .text = "remark", .kind = RENAME_COLUMN };
    ck_assert_int_eq(load_changed(true, &loaded, &refusal), LOAD_REFUSED);
    ck_assert_str_eq(refusal.table, "networks");
    ck_assert_str_eq(refusal.column, "note");
}
END_TEST

START_TEST(a_missing_constant_is_named)
{
    struct loaded_catalog *loaded;
    struct db_event refusal;

    change = (struct change){ .table = "rates", .column = "name", .kind = DROP_LAST_ROW };
    ck_assert_int_eq(load_changed(true, &loaded, &refusal), LOAD_REFUSED);
    ck_assert_str_eq(refusal.table, "rates");
    ck_assert_str_eq(refusal.why, "the constant is missing");
    ck_assert_int_eq(load_changed(false, &loaded, &refusal), LOAD_REFUSED);
}
END_TEST

/* A database may be a release ahead of the program; a seed may not. */
START_TEST(a_database_may_hold_constants_of_a_newer_release)
{
    static const char extra[] = "name,value,unit,low,high,note,source,source_date\nzzz.new,1,x,,,,s,2026-11-30\n";
    struct loaded_catalog *loaded;
    struct db_event refusal;
    struct seed_file files[64];
    struct seed_set set = { files, seed.count };
    char *rates = NULL;

    memcpy(files, seed.files, seed.count * sizeof(*files));
    for (size_t i = 0; i < set.count; i++) {
        if (strcmp(files[i].table, "rates") == 0) {
            rates = calloc(1, files[i].size + sizeof(extra));
            ck_assert_ptr_nonnull(rates);
            memcpy(rates, files[i].bytes, files[i].size);
            memcpy(rates + files[i].size, strchr(extra, '\n') + 1,
                   sizeof(extra) - 1 - (size_t)(strchr(extra, '\n') + 1 - extra));
            files[i] = (struct seed_file){ "rates", (const unsigned char *)rates, strlen(rates) };
        }
    }
    struct row_source source = seed_source(&set);
    struct load_order order = { .source = &source, .version = 1 };

    ck_assert_int_eq(catalog_load(&order, &loaded, &refusal), LOAD_OK);
    loaded_catalog_free(loaded);
    order.embedded = true;
    ck_assert_int_eq(catalog_load(&order, &loaded, &refusal), LOAD_REFUSED);
    ck_assert_str_eq(refusal.key, "zzz.new");
    free(rates);
}
END_TEST

START_TEST(a_table_that_cannot_be_read_is_no_unsound_one)
{
    struct seed_set none = { NULL, 0 };
    struct row_source source = seed_source(&none);
    struct load_order order = { .source = &source, .version = 1 };
    struct loaded_catalog *loaded;
    struct db_event refusal = { 0 };

    ck_assert_int_eq(catalog_load(&order, &loaded, &refusal), LOAD_NOT_READ);
    ck_assert_str_eq(refusal.table, "gpus");
}
END_TEST

/* A price that is over, and one that has not begun, stay in the list but are not the offer's. */
START_TEST(only_prices_of_the_day_are_the_offers)
{
    size_t row = seed_row("prices", "valid_to", "2025-04-21"), open = 0, closed = 0;
    const char *offer_id = seed_cell("prices", "offer_id", row), *id = seed_cell("prices", "id", row);
    struct loaded_catalog *loaded;
    struct db_event refusal;

    change = (struct change){ 0 };
    ck_assert_int_eq(load_changed(true, &loaded, &refusal), LOAD_OK);
    const struct offer *offer = catalog_offer(&loaded->catalog, offer_id);
    for (size_t i = 0; i < offer->price_count; i++) {
        ck_assert_str_eq(offer->prices[i].offer_id, offer_id);
        ck_assert_str_ne(offer->prices[i].id, id);
    }
    for (size_t i = 0; i < loaded->catalog.price_count; i++) {
        const struct price *price = &loaded->catalog.prices[i];

        if (price->valid_to != NULL && strncmp(loaded->catalog.as_of, price->valid_to, 10) >= 0)
            closed++;
    }
    for (size_t i = 0; i < loaded->catalog.offer_count; i++)
        open += loaded->catalog.offers[i].price_count;
    ck_assert_uint_gt(closed, 0);
    ck_assert_uint_eq(open + closed, loaded->catalog.price_count);
    loaded_catalog_free(loaded);
}
END_TEST

static void
setup(void)
{
    seed = seed_compiled_in();
    seed_rows = seed_source(&seed);
    change = (struct change){ 0 };
}

int
main(void)
{
    TCase *tcase = tcase_create("catalog_load");

    tcase_add_checked_fixture(tcase, setup, NULL);
    tcase_add_loop_test(tcase, an_unsound_cell_is_refused_by_name, 0, COUNT_OF(broken));
    tcase_add_test(tcase, the_row_is_named_by_its_key);
    tcase_add_loop_test(tcase, an_id_that_stands_twice_is_refused, 0, 7);
    tcase_add_test(tcase, a_missing_column_is_named);
    tcase_add_test(tcase, a_missing_constant_is_named);
    tcase_add_test(tcase, a_database_may_hold_constants_of_a_newer_release);
    tcase_add_test(tcase, a_table_that_cannot_be_read_is_no_unsound_one);
    tcase_add_test(tcase, only_prices_of_the_day_are_the_offers);
    return suite_run("catalog_load", tcase);
}
