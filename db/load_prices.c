/* What things cost: prices of offers, storage tiers, exchange rates. */
#include "db/load.h"

#include <stdlib.h>
#include <string.h>

static const char *const price_units[] = {
    [PRICE_PER_HOUR] = "hour", [PRICE_PER_MONTH] = "month", [PRICE_PER_UNIT] = "unit"
};

#define PRICE(column, kind, member, flags) CELL(column, kind, struct price, member, flags)
#define AMOUNT(column, member) NUMBER_CELL(column, CELL_MICROS, struct price, member, CELL_REQUIRED, 0.000001, 1e12)

static const struct cell price_cells[] = {
    PRICE("id", CELL_TEXT, id, CELL_REQUIRED),
    PRICE("offer_id", CELL_TEXT, offer_id, CELL_REQUIRED),
    { "price_type", CELL_ENUM, offsetof(struct price, type), CELL_REQUIRED, 0, 0, price_type_names, PRICE_TYPE_COUNT },
    NAME_CELL("unit", CELL_ENUM, struct price, unit, CELL_REQUIRED, price_units),
    NUMBER_CELL("term_months", CELL_U32, struct price, term_months, 0, 1, 1200),
    PRICE("currency", CELL_CURRENCY, low.currency, CELL_REQUIRED),
    AMOUNT("amount_low", low.micros),
    AMOUNT("amount_high", high.micros),
    PRICE("region", CELL_TEXT, region, CELL_REQUIRED),
    PRICE("country", CELL_COUNTRY, country, 0),
    PRICE("tax_included", CELL_FLAG, tax_included, 0),
    PRICE("observed_date", CELL_PARTIAL_DATE, observed_date, CELL_DATES_ROW),
    PRICE("valid_from", CELL_DATE, valid_from, CELL_REQUIRED),
    PRICE("valid_to", CELL_DATE, valid_to, 0),
    PRICE("note", CELL_TEXT, note, 0),
    SOURCE_CELLS(struct price),
    PRICE("confidence", CELL_LETTER, confidence, CELL_REQUIRED),
};
static const struct cell_table price_table = { "prices", price_cells, COUNT_OF(price_cells), sizeof(struct price),
                                               MAX_ROWS };

/* What the amount of a price type is for. */
static enum price_unit
unit_of(enum price_type type)
{
    switch (type) {
    case PRICE_SUBSCRIPTION:
        return PRICE_PER_MONTH;
    case PRICE_PURCHASE:
        return PRICE_PER_UNIT;
    case PRICE_ON_DEMAND:
    case PRICE_SPOT:
    case PRICE_RESERVED:
    case PRICE_TYPE_UNSAID:
    case PRICE_TYPE_COUNT:
        return PRICE_PER_HOUR;
    }
    return PRICE_PER_HOUR;
}

static bool
finish_price(struct loader *loader, const struct cell_table *table, void *row)
{
    struct price *price = row;
    const char *column = NULL, *why = NULL;
    bool has_term = price->type == PRICE_RESERVED || price->type == PRICE_SUBSCRIPTION;

    price->high.currency = price->low.currency;
    if (catalog_offer(loader->catalog, price->offer_id) == NULL) {
        column = "offer_id";
        why = "refers to a row that does not exist";
    } else if (price->high.micros < price->low.micros) {
        column = "amount_high";
        why = "below amount_low";
    } else if (price->valid_to != NULL && strcmp(price->valid_to, price->valid_from) <= 0) {
        column = "valid_to";
        why = "not after valid_from";
    } else if (price->unit != unit_of(price->type)) {
        column = "unit";
        why = "does not go with price_type";
    } else if (has_term != (price->term_months > 0)) {
        column = "term_months";
        why = "does not go with price_type";
    }
    return column == NULL || loader_refuse(loader, table->table, price->id, column, why);
}

static int
by_offer(const void *a, const void *b)
{
    const struct price *left = a, *right = b;
    int order = strcmp(left->offer_id, right->offer_id);

    return order != 0 ? order : strcmp(left->id, right->id);
}

bool
load_prices(struct loader *loader)
{
    void *rows;

    if (!cells_load(loader, &price_table, finish_price, &rows, &loader->catalog->price_count) ||
        !cells_sort(loader, &price_table, rows, loader->catalog->price_count))
        return false;
    qsort(rows, loader->catalog->price_count, sizeof(struct price), by_offer);
    loader->catalog->prices = rows;
    return true;
}

static bool
holds_on(const struct price *price, const char *date)
{
    return strcmp(price->valid_from, date) <= 0 && (price->valid_to == NULL || strcmp(date, price->valid_to) < 0);
}

/* Prices and offers are both sorted by the offer's id, so one walk over both joins them. */
bool
load_current_prices(struct loader *loader)
{
    struct catalog *catalog = loader->catalog;
    struct price *current = loader_array(loader, catalog->price_count, sizeof(*current));
    struct offer *offers = loader->offers;
    char date[sizeof("YYYY-MM-DD")];
    size_t kept = 0, next = 0;

    if (current == NULL)
        return false;
    memcpy(date, catalog->as_of, sizeof(date) - 1);
    date[sizeof(date) - 1] = '\0';
    for (size_t i = 0; i < catalog->offer_count; i++) {
        offers[i].prices = &current[kept];
        for (; next < catalog->price_count && strcmp(catalog->prices[next].offer_id, offers[i].id) == 0; next++) {
            if (holds_on(&catalog->prices[next], date)) {
                current[kept++] = catalog->prices[next];
                offers[i].price_count++;
            }
        }
    }
    return true;
}

static const char *const media_names[] = { "hdd", "ssd", "nvme", "object", "parallel_file_system", "file_system" };
static const char *const storage_scopes[] = { "device", "volume", "cluster", "region" };

#define TIER(column, kind, member, flags) CELL(column, kind, struct storage_tier, member, flags)
#define TIER_RATE(column, member) NUMBER_CELL(column, CELL_REAL, struct storage_tier, member, 0, 1, MAX_PER_SECOND)

static const struct cell storage_cells[] = {
    TIER("id", CELL_SLUG, id, CELL_REQUIRED),
    TIER("provider_id", CELL_PROVIDER, provider, 0),
    TIER("name", CELL_TEXT, name, CELL_REQUIRED),
    NAME_CELL("media", CELL_NAME, struct storage_tier, media, CELL_REQUIRED, media_names),
    NAME_CELL("scope", CELL_NAME, struct storage_tier, scope, CELL_REQUIRED, storage_scopes),
    TIER_RATE("max_read_bytes_per_second", max_read_bytes_per_second),
    TIER_RATE("max_write_bytes_per_second", max_write_bytes_per_second),
    TIER_RATE("max_iops", max_iops),
    NUMBER_CELL("min_bytes", CELL_U64, struct storage_tier, min_bytes, 0, 1, 1e24),
    NUMBER_CELL("max_bytes", CELL_U64, struct storage_tier, max_bytes, 0, 1, 1e24),
    TIER("currency", CELL_CURRENCY, price_per_gb_month.currency, 0),
    NUMBER_CELL("price_per_gb_month", CELL_MICROS, struct storage_tier, price_per_gb_month.micros, 0, 0.000001, 1e6),
    TIER("note", CELL_TEXT, note, 0),
    SOURCE_CELLS(struct storage_tier),
};
static const struct cell_table storage_table = { "storage", storage_cells, COUNT_OF(storage_cells),
                                                 sizeof(struct storage_tier), MAX_SMALL_ROWS };

static bool
finish_storage(struct loader *loader, const struct cell_table *table, void *row)
{
    const struct storage_tier *tier = row;

    if ((tier->price_per_gb_month.currency == CURRENCY_UNSAID) != (tier->price_per_gb_month.micros == 0))
        return loader_refuse(loader, table->table, tier->id, "price_per_gb_month", "price and currency go together");
    if (tier->max_bytes > 0 && tier->min_bytes > tier->max_bytes)
        return loader_refuse(loader, table->table, tier->id, "max_bytes", "below min_bytes");
    return true;
}

bool
load_storage(struct loader *loader)
{
    void *rows;

    if (!cells_load(loader, &storage_table, finish_storage, &rows, &loader->catalog->storage_count) ||
        !cells_sort(loader, &storage_table, rows, loader->catalog->storage_count))
        return false;
    loader->catalog->storage = rows;
    return true;
}

static const struct cell fx_cells[] = {
    CELL("id", CELL_SLUG, struct exchange_rate, id, CELL_REQUIRED),
    CELL("base", CELL_CURRENCY, struct exchange_rate, base, CELL_REQUIRED),
    CELL("quote", CELL_CURRENCY, struct exchange_rate, quote, CELL_REQUIRED),
    NUMBER_CELL("rate", CELL_REAL, struct exchange_rate, rate, CELL_REQUIRED, 1e-6, 1e9),
    CELL("rate_date", CELL_DATE, struct exchange_rate, rate_date, CELL_REQUIRED | CELL_DATES_ROW),
    SOURCE_CELLS(struct exchange_rate),
};
static const struct cell_table fx_table = { "fx", fx_cells, COUNT_OF(fx_cells), sizeof(struct exchange_rate),
                                            MAX_SMALL_ROWS };

static bool
finish_fx(struct loader *loader, const struct cell_table *table, void *row)
{
    const struct exchange_rate *rate = row;

    if (rate->base == rate->quote)
        return loader_refuse(loader, table->table, rate->id, "quote", "the same currency as base");
    return true;
}

bool
load_fx(struct loader *loader)
{
    void *rows;

    if (!cells_load(loader, &fx_table, finish_fx, &rows, &loader->catalog->fx_count) ||
        !cells_sort(loader, &fx_table, rows, loader->catalog->fx_count))
        return false;
    loader->catalog->fx = rows;
    return true;
}
