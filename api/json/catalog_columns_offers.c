/* Columns of instances, servers, prices and models. */
#include <string.h>

#include "api/json/catalog_columns.h"
#include "service/memory/kv_cache.h"

enum { BF16_BYTES = 2 };

static struct catalog_value
whole_of(uint64_t whole)
{
    return (struct catalog_value){ .kind = whole ? VALUE_WHOLE : VALUE_NONE, .whole = whole };
}

static struct catalog_value
offer_provider(const struct catalog_view *view, const void *row)
{
    (void)view;
    return catalog_text(((const struct offer *)row)->provider->id);
}

static struct catalog_value
offer_gpu(const struct catalog_view *view, const void *row)
{
    const struct gpu *gpu = ((const struct offer *)row)->gpu;

    (void)view;
    return catalog_text(gpu ? gpu->id : NULL);
}

static struct catalog_value
offer_gpu_memory(const struct catalog_view *view, const void *row)
{
    const struct gpu *gpu = ((const struct offer *)row)->gpu;

    (void)view;
    return whole_of(gpu ? gpu->memory_bytes : 0);
}

static struct catalog_value
offer_intranode(const struct catalog_view *view, const void *row)
{
    static const char *const names[] = { [INTRANODE_NVLINK] = "nvlink", [INTRANODE_PCIE] = "pcie" };

    (void)view;
    return catalog_text(names[((const struct offer *)row)->intranode]);
}

/* 0 is an answer here: an offer that nobody has a price for. */
static struct catalog_value
offer_price_count(const struct catalog_view *view, const void *row)
{
    size_t count;
    const struct price *prices = offer_prices(view, row, &count);
    uint64_t holding = 0;

    for (size_t i = 0; i < count; i++)
        holding += price_holds(view, &prices[i]);
    return (struct catalog_value){ .kind = VALUE_WHOLE, .whole = holding };
}

static const void *
offer_rows(const struct catalog *catalog, size_t *ret_count)
{
    *ret_count = catalog->offer_count;
    return catalog->offers;
}

static bool
is_instance(const void *row)
{
    return !((const struct offer *)row)->is_server;
}

static bool
is_server(const void *row)
{
    return ((const struct offer *)row)->is_server;
}

static void
offer_texts(const void *row, const char *ret_texts[4])
{
    const struct offer *offer = row;

    ret_texts[0] = offer->id;
    ret_texts[1] = offer->gpu_name;
    ret_texts[2] = offer->provider->name;
    ret_texts[3] = offer->provider->name_zh;
}

#define OFFER(name, kind, member) COLUMN(name, kind, struct offer, member)
#define OFFER_COLUMNS_FIRST                                                                   \
    OFFER("id", COLUMN_TEXT, id), COLUMN_BY("provider", offer_provider, COLUMN_IS_TEXT),      \
        OFFER("name", COLUMN_TEXT, name), COLUMN_BY("gpu", offer_gpu, COLUMN_IS_TEXT),        \
        OFFER("gpu_name", COLUMN_TEXT, gpu_name), OFFER("gpu_count", COLUMN_REAL, gpu_count), \
        COLUMN_BY("gpu_memory_bytes", offer_gpu_memory, COLUMN_IS_NUMBER)
#define OFFER_COLUMNS_LAST                                                                      \
    COLUMN_BY("price_count", offer_price_count, COLUMN_IS_NUMBER),                              \
        { "prices", COLUMN_PRICES, 0, NULL, COLUMN_IS_TEXT }, OFFER("note", COLUMN_TEXT, note), \
        OFFER("source", COLUMN_TEXT, source), OFFER("source_date", COLUMN_TEXT, source_date),   \
        OFFER("confidence", COLUMN_LETTER, confidence)

static const struct catalog_column instance_columns[] = {
    OFFER_COLUMNS_FIRST,
    OFFER("vcpu_count", COLUMN_U32, vcpu_count),
    OFFER("ram_bytes", COLUMN_U64, ram_bytes),
    OFFER("local_nvme_bytes", COLUMN_U64, local_nvme_bytes),
    OFFER("network_bits_per_second", COLUMN_REAL, network_bits_per_second),
    COLUMN_BY("intranode", offer_intranode, COLUMN_IS_TEXT),
    OFFER_COLUMNS_LAST,
};

const struct catalog_list instances_list = {
    .name = "instances",
    .columns = instance_columns,
    .column_count = COUNT_OF(instance_columns),
    .rows = offer_rows,
    .row_size = sizeof(struct offer),
    .belongs = is_instance,
    .texts = offer_texts,
};

static const struct catalog_column server_columns[] = {
    OFFER_COLUMNS_FIRST,
    OFFER("cpu", COLUMN_TEXT, cpu),
    OFFER("cpu_count", COLUMN_U32, cpu_count),
    OFFER("ram_bytes", COLUMN_U64, ram_bytes),
    OFFER("network_bits_per_second", COLUMN_REAL, network_bits_per_second),
    OFFER("max_power_watts", COLUMN_U32, max_power_watts),
    OFFER("rack_units", COLUMN_U32, rack_units),
    OFFER("cooling", COLUMN_TEXT, cooling),
    OFFER_COLUMNS_LAST,
};

const struct catalog_list servers_list = {
    .name = "servers",
    .columns = server_columns,
    .column_count = COUNT_OF(server_columns),
    .rows = offer_rows,
    .row_size = sizeof(struct offer),
    .belongs = is_server,
    .texts = offer_texts,
};

static struct catalog_value
price_type(const struct catalog_view *view, const void *row)
{
    (void)view;
    return catalog_text(price_type_names[((const struct price *)row)->type]);
}

static struct catalog_value
price_unit(const struct catalog_view *view, const void *row)
{
    static const char *const names[] = {
        [PRICE_PER_HOUR] = "hour", [PRICE_PER_MONTH] = "month", [PRICE_PER_UNIT] = "unit"
    };

    (void)view;
    return catalog_text(names[((const struct price *)row)->unit]);
}

static struct catalog_value
price_provider(const struct catalog_view *view, const void *row)
{
    return offer_provider(view, catalog_offer(view->catalog, ((const struct price *)row)->offer_id));
}

static struct catalog_value
price_gpu(const struct catalog_view *view, const void *row)
{
    return offer_gpu(view, catalog_offer(view->catalog, ((const struct price *)row)->offer_id));
}

static struct catalog_value
price_gpu_count(const struct catalog_view *view, const void *row)
{
    const struct offer *offer = catalog_offer(view->catalog, ((const struct price *)row)->offer_id);

    return (struct catalog_value){ .kind = VALUE_REAL, .real = offer->gpu_count };
}

static const void *
price_rows(const struct catalog *catalog, size_t *ret_count)
{
    *ret_count = catalog->price_count;
    return catalog->prices;
}

static void
price_texts(const void *row, const char *ret_texts[4])
{
    const struct price *price = row;

    ret_texts[0] = price->id;
    ret_texts[1] = price->region;
}

static const struct price *
price_itself(const void *row)
{
    return row;
}

#define PRICE(name, kind, member) COLUMN(name, kind, struct price, member)
#define PRICE_COLUMNS                                                                                             \
    COLUMN_BY("price_type", price_type, COLUMN_IS_TEXT), COLUMN_BY("unit", price_unit, COLUMN_IS_TEXT),           \
        PRICE("term_months", COLUMN_U32, term_months), PRICE("currency", COLUMN_CURRENCY, low.currency),          \
        PRICE("low", COLUMN_MONEY, low), PRICE("high", COLUMN_MONEY, high), PRICE("region", COLUMN_TEXT, region), \
        PRICE("country", COLUMN_TEXT, country), PRICE("tax_included", COLUMN_FLAG, tax_included),                 \
        PRICE("observed_date", COLUMN_TEXT, observed_date), PRICE("valid_from", COLUMN_TEXT, valid_from),         \
        PRICE("valid_to", COLUMN_TEXT, valid_to), PRICE("confidence", COLUMN_LETTER, confidence)

static const struct catalog_column price_columns[] = {
    PRICE("id", COLUMN_TEXT, id),
    PRICE("offer", COLUMN_TEXT, offer_id),
    COLUMN_BY("provider", price_provider, COLUMN_IS_TEXT),
    COLUMN_BY("gpu", price_gpu, COLUMN_IS_TEXT),
    COLUMN_BY("gpu_count", price_gpu_count, COLUMN_IS_NUMBER),
    PRICE_COLUMNS,
    PRICE("note", COLUMN_TEXT, note),
    PRICE("source", COLUMN_TEXT, source),
    PRICE("source_date", COLUMN_TEXT, source_date),
};

const struct catalog_list prices_list = {
    .name = "prices",
    .columns = price_columns,
    .column_count = COUNT_OF(price_columns),
    .rows = price_rows,
    .row_size = sizeof(struct price),
    .texts = price_texts,
    .price = price_itself,
};

static const struct catalog_column price_member_columns[] = {
    PRICE("id", COLUMN_TEXT, id),
    PRICE_COLUMNS,
    PRICE("source", COLUMN_TEXT, source),
};

const struct catalog_list price_members = {
    .columns = price_member_columns,
    .column_count = COUNT_OF(price_member_columns),
};

static struct catalog_value
model_architecture(const struct catalog_view *view, const void *row)
{
    (void)view;
    return catalog_text(((const struct model_preset *)row)->arch.architecture);
}

static struct catalog_value
model_type(const struct catalog_view *view, const void *row)
{
    (void)view;
    return catalog_text(((const struct model_preset *)row)->arch.model_type);
}

static struct catalog_value
model_kv_bytes(const struct catalog_view *view, const void *row)
{
    (void)view;
    return whole_of(u64_from_double(kv_cache_bytes_per_token(&((const struct model_preset *)row)->arch, BF16_BYTES)));
}

static struct catalog_value
model_weight_bytes(const struct catalog_view *view, const void *row)
{
    (void)view;
    return whole_of(u64_mul_sat(((const struct model_preset *)row)->params.total, BF16_BYTES));
}

#define MODEL(name, kind, member) COLUMN(name, kind, struct model_preset, member)

static const struct catalog_column model_columns[] = {
    MODEL("id", COLUMN_TEXT, id),
    MODEL("name", COLUMN_TEXT, name),
    MODEL("name_zh", COLUMN_TEXT, name_zh),
    { "aliases", COLUMN_ALIASES, 0, NULL, COLUMN_IS_TEXT },
    MODEL("publisher", COLUMN_TEXT, publisher),
    MODEL("licence", COLUMN_TEXT, licence),
    COLUMN_BY("architecture", model_architecture, COLUMN_IS_TEXT),
    COLUMN_BY("model_type", model_type, COLUMN_IS_TEXT),
    MODEL("parameter_count", COLUMN_U64, params.total),
    MODEL("active_parameter_count", COLUMN_U64, params.active),
    COLUMN_BY("weight_bytes", model_weight_bytes, COLUMN_IS_NUMBER),
    COLUMN_BY("kv_cache_bytes_per_token", model_kv_bytes, COLUMN_IS_NUMBER),
    MODEL("layer_count", COLUMN_U32, arch.layer_count),
    MODEL("hidden_size", COLUMN_U32, arch.hidden_size),
    MODEL("vocabulary_size", COLUMN_U32, arch.vocabulary_size),
    MODEL("max_context_length", COLUMN_U32, arch.max_context_tokens),
    MODEL("source", COLUMN_TEXT, source),
    MODEL("source_date", COLUMN_TEXT, source_date),
};

static const void *
model_rows(const struct catalog *catalog, size_t *ret_count)
{
    *ret_count = catalog->model_count;
    return catalog->models;
}

static struct spellings
model_spellings(const struct catalog *catalog)
{
    return (struct spellings){ catalog->model_aliases, catalog->model_alias_count };
}

static void
model_texts(const void *row, const char *ret_texts[4])
{
    const struct model_preset *model = row;

    ret_texts[0] = model->id;
    ret_texts[1] = model->name;
    ret_texts[2] = model->name_zh;
    ret_texts[3] = model->publisher;
}

const struct catalog_list models_list = {
    .name = "models",
    .columns = model_columns,
    .column_count = COUNT_OF(model_columns),
    .rows = model_rows,
    .row_size = sizeof(struct model_preset),
    .spellings = model_spellings,
    .texts = model_texts,
};
