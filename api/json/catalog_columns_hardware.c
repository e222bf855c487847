/* Columns of gpus, networks, storage, providers and exchange rates. */
#include "api/json/catalog_columns.h"

#define SOURCE_COLUMNS(type)                                                              \
    COLUMN("note", COLUMN_TEXT, type, note), COLUMN("source", COLUMN_TEXT, type, source), \
        COLUMN("source_date", COLUMN_TEXT, type, source_date)

static struct catalog_value
gpu_family(const struct catalog_view *view, const void *row)
{
    (void)view;
    return catalog_text(gpu_family_name(((const struct gpu *)row)->family));
}

static struct catalog_value
gpu_nvlink_kind(const struct catalog_view *view, const void *row)
{
    static const char *const names[] = {
        [NVLINK_NONE] = "none", [NVLINK_SWITCH] = "switch", [NVLINK_BRIDGE] = "bridge"
    };

    (void)view;
    return catalog_text(names[((const struct gpu *)row)->nvlink_kind]);
}

#define GPU(name, kind, member) COLUMN(name, kind, struct gpu, member)

static const struct catalog_column gpu_columns[] = {
    GPU("id", COLUMN_TEXT, id),
    GPU("vendor", COLUMN_TEXT, vendor),
    GPU("name", COLUMN_TEXT, name),
    { "aliases", COLUMN_ALIASES, 0, NULL, COLUMN_IS_TEXT },
    COLUMN_BY("family", gpu_family, COLUMN_IS_TEXT),
    GPU("memory_bytes", COLUMN_U64, memory_bytes),
    GPU("usable_bytes", COLUMN_U64, usable_bytes),
    GPU("memory_kind", COLUMN_TEXT, memory_kind),
    GPU("memory_bandwidth_bytes_per_second", COLUMN_REAL, memory_bytes_per_second),
    GPU("fp32_flop_per_second", COLUMN_REAL, fp32_flop_per_second),
    GPU("tf32_flop_per_second", COLUMN_REAL, tf32_flop_per_second),
    GPU("fp16_flop_per_second", COLUMN_REAL, fp16_flop_per_second),
    GPU("bf16_flop_per_second", COLUMN_REAL, bf16_flop_per_second),
    GPU("fp8_flop_per_second", COLUMN_REAL, fp8_flop_per_second),
    GPU("int8_op_per_second", COLUMN_REAL, int8_op_per_second),
    GPU("fp4_flop_per_second", COLUMN_REAL, fp4_flop_per_second),
    GPU("nvlink_bytes_per_second", COLUMN_REAL, nvlink_bytes_per_second),
    COLUMN_BY("nvlink_kind", gpu_nvlink_kind, COLUMN_IS_TEXT),
    GPU("nvlink_domain_gpus", COLUMN_U32, nvlink_domain_gpus),
    GPU("pcie_bytes_per_second", COLUMN_REAL, pcie_bytes_per_second),
    GPU("peer_to_peer", COLUMN_BOOL, peer_to_peer),
    GPU("internode_bytes_per_second", COLUMN_REAL, internode_bytes_per_second),
    GPU("gpus_per_node", COLUMN_U32, gpus_per_node),
    GPU("tdp_watts", COLUMN_U32, tdp_watts),
    GPU("mig_slices", COLUMN_U32, mig_slices),
    GPU("form_factor", COLUMN_TEXT, form_factor),
    GPU("compute_capability", COLUMN_TEXT, compute_capability),
    GPU("launch_date", COLUMN_TEXT, launch_date),
    GPU("export_restricted", COLUMN_FLAG, export_restricted),
    SOURCE_COLUMNS(struct gpu),
};

static const void *
gpu_rows(const struct catalog *catalog, size_t *ret_count)
{
    *ret_count = catalog->gpu_count;
    return catalog->gpus;
}

static struct spellings
gpu_spellings(const struct catalog *catalog)
{
    return (struct spellings){ catalog->gpu_aliases, catalog->gpu_alias_count };
}

static void
gpu_texts(const void *row, const char *ret_texts[4])
{
    const struct gpu *gpu = row;

    ret_texts[0] = gpu->id;
    ret_texts[1] = gpu->name;
    ret_texts[2] = gpu->vendor;
}

const struct catalog_list gpus_list = {
    .name = "gpus",
    .columns = gpu_columns,
    .column_count = COUNT_OF(gpu_columns),
    .rows = gpu_rows,
    .row_size = sizeof(struct gpu),
    .spellings = gpu_spellings,
    .texts = gpu_texts,
};

#define LINK(name, kind, member) COLUMN(name, kind, struct network_link, member)

static const struct catalog_column network_columns[] = {
    LINK("id", COLUMN_TEXT, id),
    LINK("technology", COLUMN_TEXT, technology),
    LINK("name", COLUMN_TEXT, name),
    LINK("scope", COLUMN_TEXT, scope),
    LINK("bits_per_second", COLUMN_REAL, bits_per_second),
    SOURCE_COLUMNS(struct network_link),
};

static const void *
network_rows(const struct catalog *catalog, size_t *ret_count)
{
    *ret_count = catalog->network_count;
    return catalog->networks;
}

static void
network_texts(const void *row, const char *ret_texts[4])
{
    const struct network_link *link = row;

    ret_texts[0] = link->id;
    ret_texts[1] = link->name;
    ret_texts[2] = link->technology;
}

const struct catalog_list networks_list = {
    .name = "networks",
    .columns = network_columns,
    .column_count = COUNT_OF(network_columns),
    .rows = network_rows,
    .row_size = sizeof(struct network_link),
    .texts = network_texts,
};

static struct catalog_value
tier_provider(const struct catalog_view *view, const void *row)
{
    const struct storage_tier *tier = row;

    (void)view;
    return catalog_text(tier->provider ? tier->provider->id : NULL);
}

#define TIER(name, kind, member) COLUMN(name, kind, struct storage_tier, member)

static const struct catalog_column storage_columns[] = {
    TIER("id", COLUMN_TEXT, id),
    COLUMN_BY("provider", tier_provider, COLUMN_IS_TEXT),
    TIER("name", COLUMN_TEXT, name),
    TIER("media", COLUMN_TEXT, media),
    TIER("scope", COLUMN_TEXT, scope),
    TIER("max_read_bytes_per_second", COLUMN_REAL, max_read_bytes_per_second),
    TIER("max_write_bytes_per_second", COLUMN_REAL, max_write_bytes_per_second),
    TIER("max_iops", COLUMN_REAL, max_iops),
    TIER("min_bytes", COLUMN_U64, min_bytes),
    TIER("max_bytes", COLUMN_U64, max_bytes),
    TIER("price_per_gb_month", COLUMN_MONEY, price_per_gb_month),
    SOURCE_COLUMNS(struct storage_tier),
};

static const void *
storage_rows(const struct catalog *catalog, size_t *ret_count)
{
    *ret_count = catalog->storage_count;
    return catalog->storage;
}

static void
storage_texts(const void *row, const char *ret_texts[4])
{
    const struct storage_tier *tier = row;

    ret_texts[0] = tier->id;
    ret_texts[1] = tier->name;
    ret_texts[2] = tier->provider ? tier->provider->name : NULL;
    ret_texts[3] = tier->provider ? tier->provider->name_zh : NULL;
}

const struct catalog_list storage_list = {
    .name = "storage",
    .columns = storage_columns,
    .column_count = COUNT_OF(storage_columns),
    .rows = storage_rows,
    .row_size = sizeof(struct storage_tier),
    .texts = storage_texts,
};

#define PROVIDER(name, member) COLUMN(name, COLUMN_TEXT, struct provider, member)

static const struct catalog_column provider_columns[] = {
    PROVIDER("id", id),
    PROVIDER("name", name),
    PROVIDER("name_zh", name_zh),
    PROVIDER("kind", kind),
    PROVIDER("country", country),
    PROVIDER("source", source),
    PROVIDER("source_date", source_date),
};

static const void *
provider_rows(const struct catalog *catalog, size_t *ret_count)
{
    *ret_count = catalog->provider_count;
    return catalog->providers;
}

static void
provider_texts(const void *row, const char *ret_texts[4])
{
    const struct provider *provider = row;

    ret_texts[0] = provider->id;
    ret_texts[1] = provider->name;
    ret_texts[2] = provider->name_zh;
}

const struct catalog_list providers_list = {
    .name = "providers",
    .columns = provider_columns,
    .column_count = COUNT_OF(provider_columns),
    .rows = provider_rows,
    .row_size = sizeof(struct provider),
    .texts = provider_texts,
};

#define FX(name, kind, member) COLUMN(name, kind, struct exchange_rate, member)

static const struct catalog_column fx_columns[] = {
    FX("id", COLUMN_TEXT, id),
    FX("base", COLUMN_CURRENCY, base),
    FX("quote", COLUMN_CURRENCY, quote),
    FX("rate", COLUMN_RATE, rate),
    FX("rate_date", COLUMN_TEXT, rate_date),
    FX("source", COLUMN_TEXT, source),
    FX("source_date", COLUMN_TEXT, source_date),
};

static const void *
fx_rows(const struct catalog *catalog, size_t *ret_count)
{
    *ret_count = catalog->fx_count;
    return catalog->fx;
}

static void
fx_texts(const void *row, const char *ret_texts[4])
{
    const struct exchange_rate *rate = row;

    ret_texts[0] = rate->id;
}

const struct catalog_list fx_list = {
    .name = "fx",
    .columns = fx_columns,
    .column_count = COUNT_OF(fx_columns),
    .rows = fx_rows,
    .row_size = sizeof(struct exchange_rate),
    .texts = fx_texts,
};
