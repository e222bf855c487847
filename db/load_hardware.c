/* GPUs with their spellings, network links, and the estimator's constants. */
#include "db/load.h"

#include <stdlib.h>
#include <string.h>

#include "service/base/text.h"

static const char *const family_names[GPU_FAMILY_COUNT] = {
    [GPU_FAMILY_VOLTA] = "volta", [GPU_FAMILY_TURING] = "turing", [GPU_FAMILY_AMPERE] = "ampere",
    [GPU_FAMILY_GDDR] = "gddr",   [GPU_FAMILY_HOPPER] = "hopper", [GPU_FAMILY_BLACKWELL] = "blackwell",
    [GPU_FAMILY_CDNA] = "cdna",   [GPU_FAMILY_ASCEND] = "ascend", [GPU_FAMILY_OTHER] = "other",
};
static const char *const nvlink_names[] = {
    [NVLINK_NONE] = "none", [NVLINK_SWITCH] = "switch", [NVLINK_BRIDGE] = "bridge"
};

#define GPU(column, kind, member, flags) CELL(column, kind, struct gpu, member, flags)
#define GPU_RATE(column, member, flags) NUMBER_CELL(column, CELL_REAL, struct gpu, member, flags, 1, MAX_PER_SECOND)
#define GPU_COUNT(column, member, flags) NUMBER_CELL(column, CELL_U32, struct gpu, member, flags, 1, MAX_COUNT)

static const struct cell gpu_cells[] = {
    GPU("id", CELL_SLUG, id, CELL_REQUIRED),
    GPU("vendor", CELL_TEXT, vendor, CELL_REQUIRED),
    GPU("name", CELL_TEXT, name, CELL_REQUIRED),
    NAME_CELL("family", CELL_ENUM, struct gpu, family, CELL_REQUIRED, family_names),
    NUMBER_CELL("memory_bytes", CELL_U64, struct gpu, memory_bytes, CELL_REQUIRED, 1e8, 1e14),
    NUMBER_CELL("usable_bytes", CELL_U64, struct gpu, usable_bytes, CELL_REQUIRED, 1e8, 1e14),
    GPU("memory_kind", CELL_TEXT, memory_kind, 0),
    GPU_RATE("memory_bandwidth_bytes_per_second", memory_bytes_per_second, CELL_REQUIRED),
    GPU_RATE("fp32_flop_per_second", fp32_flop_per_second, 0),
    GPU_RATE("tf32_flop_per_second", tf32_flop_per_second, 0),
    GPU_RATE("fp16_flop_per_second", fp16_flop_per_second, 0),
    GPU_RATE("bf16_flop_per_second", bf16_flop_per_second, 0),
    GPU_RATE("fp8_flop_per_second", fp8_flop_per_second, 0),
    GPU_RATE("int8_op_per_second", int8_op_per_second, 0),
    GPU_RATE("fp4_flop_per_second", fp4_flop_per_second, 0),
    GPU_RATE("nvlink_bytes_per_second", nvlink_bytes_per_second, 0),
    NAME_CELL("nvlink_kind", CELL_ENUM, struct gpu, nvlink_kind, CELL_REQUIRED, nvlink_names),
    GPU_COUNT("nvlink_domain_gpus", nvlink_domain_gpus, CELL_REQUIRED),
    GPU_RATE("pcie_bytes_per_second", pcie_bytes_per_second, CELL_REQUIRED),
    GPU("peer_to_peer", CELL_BOOL, peer_to_peer, CELL_REQUIRED),
    GPU_RATE("internode_bytes_per_second", internode_bytes_per_second, CELL_REQUIRED),
    GPU_COUNT("gpus_per_node", gpus_per_node, CELL_REQUIRED),
    NUMBER_CELL("tdp_watts", CELL_U32, struct gpu, tdp_watts, 0, 1, MAX_WATTS),
    GPU_COUNT("mig_slices", mig_slices, 0),
    GPU("form_factor", CELL_TEXT, form_factor, 0),
    GPU("compute_capability", CELL_TEXT, compute_capability, 0),
    GPU("launch_date", CELL_PARTIAL_DATE, launch_date, 0),
    GPU("export_restricted", CELL_FLAG, export_restricted, 0),
    GPU("note", CELL_TEXT, note, 0),
    SOURCE_CELLS(struct gpu),
};
static const struct cell_table gpu_table = { "gpus", gpu_cells, COUNT_OF(gpu_cells), sizeof(struct gpu),
                                             MAX_SMALL_ROWS };

static bool
finish_gpu(struct loader *loader, const struct cell_table *table, void *row)
{
    const struct gpu *gpu = row;

    if (gpu->usable_bytes > gpu->memory_bytes)
        return loader_refuse(loader, table->table, gpu->id, "usable_bytes", "more than memory_bytes");
    if ((gpu->nvlink_kind == NVLINK_NONE) != (gpu->nvlink_bytes_per_second == 0))
        return loader_refuse(loader, table->table, gpu->id, "nvlink_bytes_per_second", "does not go with nvlink_kind");
    return true;
}

struct gpu_alias_row {
    const char *alias;
    const struct gpu *gpu;
    bool ambiguous;
    const char *source, *source_date;
};
static const struct cell gpu_alias_cells[] = {
    CELL("alias", CELL_TEXT, struct gpu_alias_row, alias, CELL_REQUIRED),
    CELL("gpu_id", CELL_GPU, struct gpu_alias_row, gpu, CELL_REQUIRED),
    CELL("ambiguous", CELL_BOOL, struct gpu_alias_row, ambiguous, CELL_REQUIRED),
    SOURCE_CELLS(struct gpu_alias_row),
};
static const struct cell_table gpu_alias_table = { "gpu_aliases", gpu_alias_cells, COUNT_OF(gpu_alias_cells),
                                                   sizeof(struct gpu_alias_row), MAX_SMALL_ROWS };

static int
by_alias(const void *a, const void *b)
{
    return strcmp(((const struct alias *)a)->alias, ((const struct alias *)b)->alias);
}

bool
load_alias_list(struct loader *loader, const struct cell_table *table, struct alias *aliases, size_t count,
                size_t *ret_count)
{
    size_t kept = 0;

    for (size_t i = 0; i < count; i++) {
        char spelling[DB_KEY_SIZE];

        if (strlen(aliases[i].alias) >= sizeof(spelling))
            return loader_refuse(loader, table->table, aliases[i].alias, "alias", "too long");
        text_normalise(spelling, sizeof(spelling), aliases[i].alias);
        aliases[i].alias = texts_keep(&loader->texts, spelling);
        if (aliases[i].alias == NULL)
            return loader_refuse(loader, table->table, NULL, NULL, "out of memory");
    }
    qsort(aliases, count, sizeof(*aliases), by_alias);
    for (size_t i = 0; i < count; i++) {
        const struct alias *before = kept > 0 ? &aliases[kept - 1] : NULL;

        if (before == NULL || strcmp(before->alias, aliases[i].alias) != 0)
            aliases[kept++] = aliases[i];
        else if (before->index != aliases[i].index || before->ambiguous != aliases[i].ambiguous)
            return loader_refuse(loader, table->table, aliases[i].alias, "alias", "stands twice with two meanings");
    }
    *ret_count = kept;
    return true;
}

static bool
load_gpu_aliases(struct loader *loader)
{
    const struct gpu_alias_row *rows;
    void *loaded;
    size_t count;
    struct alias *aliases;

    if (!cells_load(loader, &gpu_alias_table, NULL, &loaded, &count))
        return false;
    rows = loaded;
    aliases = loader_array(loader, count, sizeof(*aliases));
    if (aliases == NULL)
        return false;
    for (size_t i = 0; i < count; i++) {
        aliases[i] = (struct alias){ .alias = rows[i].alias,
                                     .index = (size_t)(rows[i].gpu - loader->catalog->gpus),
                                     .ambiguous = rows[i].ambiguous };
    }
    loader->catalog->gpu_aliases = aliases;
    return load_alias_list(loader, &gpu_alias_table, aliases, count, &loader->catalog->gpu_alias_count);
}

bool
load_gpus(struct loader *loader)
{
    struct catalog *catalog = loader->catalog;
    void *rows;

    if (!cells_load(loader, &gpu_table, finish_gpu, &rows, &catalog->gpu_count) ||
        !cells_sort(loader, &gpu_table, rows, catalog->gpu_count))
        return false;
    catalog->gpus = rows;
    return load_gpu_aliases(loader);
}

static const char *const network_scopes[] = { "gpu", "slot", "port", "node" };

static const struct cell network_cells[] = {
    CELL("id", CELL_SLUG, struct network_link, id, CELL_REQUIRED),
    CELL("technology", CELL_TEXT, struct network_link, technology, CELL_REQUIRED),
    CELL("name", CELL_TEXT, struct network_link, name, CELL_REQUIRED),
    NAME_CELL("scope", CELL_NAME, struct network_link, scope, CELL_REQUIRED, network_scopes),
    NUMBER_CELL("bits_per_second", CELL_REAL, struct network_link, bits_per_second, CELL_REQUIRED, 1,
                MAX_BITS_PER_SECOND),
    CELL("note", CELL_TEXT, struct network_link, note, 0),
    SOURCE_CELLS(struct network_link),
};
static const struct cell_table network_table = { "networks", network_cells, COUNT_OF(network_cells),
                                                 sizeof(struct network_link), MAX_SMALL_ROWS };

bool
load_networks(struct loader *loader)
{
    void *rows;

    if (!cells_load(loader, &network_table, NULL, &rows, &loader->catalog->network_count) ||
        !cells_sort(loader, &network_table, rows, loader->catalog->network_count))
        return false;
    loader->catalog->networks = rows;
    return true;
}

struct rate_row {
    const char *name;
    double value, low, high;
    const char *unit, *note, *source, *source_date;
};
#define RATE_NUMBER(column, member, flags) NUMBER_CELL(column, CELL_REAL, struct rate_row, member, flags, -1e20, 1e20)

static const struct cell rate_cells[] = {
    CELL("name", CELL_TEXT, struct rate_row, name, CELL_REQUIRED),
    RATE_NUMBER("value", value, CELL_REQUIRED),
    CELL("unit", CELL_TEXT, struct rate_row, unit, CELL_REQUIRED),
    RATE_NUMBER("low", low, 0),
    RATE_NUMBER("high", high, 0),
    CELL("note", CELL_TEXT, struct rate_row, note, 0),
    SOURCE_CELLS(struct rate_row),
};
static const struct cell_table rate_table = { "rates", rate_cells, COUNT_OF(rate_cells), sizeof(struct rate_row),
                                              MAX_SMALL_ROWS };

static bool
has_rate(const struct rate_row *rows, size_t count, const char *name)
{
    for (size_t i = 0; i < count; i++) {
        if (strcmp(rows[i].name, name) == 0)
            return true;
    }
    return false;
}

/* An unknown constant is a slip in a seed; in a database it may belong to a newer release beside this one. */
bool
load_rates(struct loader *loader)
{
    struct rate_row *rows;
    void *loaded;
    size_t count;

    if (!cells_load(loader, &rate_table, NULL, &loaded, &count) || !cells_sort(loader, &rate_table, loaded, count))
        return false;
    rows = loaded;
    for (size_t i = 0; i < count; i++) {
        if (!rates_set(&loader->catalog->rates, rows[i].name, rows[i].value) && loader->strict)
            return loader_refuse(loader, "rates", rows[i].name, "name", "the program knows no such constant");
    }
    for (size_t i = 0; i < rates_count(); i++) {
        if (!has_rate(rows, count, rates_name(i)))
            return loader_refuse(loader, "rates", rates_name(i), "name", "the constant is missing");
    }
    return true;
}
