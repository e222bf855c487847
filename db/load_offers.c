/* Who offers what: providers, instances to rent, servers to buy. */
#include "db/load.h"

#include <string.h>
#include <talloc.h>

static const char *const provider_kinds[] = { "cloud", "marketplace", "vendor" };

static const struct cell provider_cells[] = {
    CELL("id", CELL_SLUG, struct provider, id, CELL_REQUIRED),
    CELL("name", CELL_TEXT, struct provider, name, CELL_REQUIRED),
    CELL("name_zh", CELL_TEXT, struct provider, name_zh, 0),
    NAME_CELL("kind", CELL_NAME, struct provider, kind, CELL_REQUIRED, provider_kinds),
    CELL("country", CELL_COUNTRY, struct provider, country, 0),
    SOURCE_CELLS(struct provider),
};
static const struct cell_table provider_table = { "providers", provider_cells, COUNT_OF(provider_cells),
                                                  sizeof(struct provider), MAX_SMALL_ROWS };

bool
load_providers(struct loader *loader)
{
    void *rows;

    if (!cells_load(loader, &provider_table, NULL, &rows, &loader->catalog->provider_count) ||
        !cells_sort(loader, &provider_table, rows, loader->catalog->provider_count))
        return false;
    loader->catalog->providers = rows;
    return true;
}

#define OFFER(column, kind, member, flags) CELL(column, kind, struct offer, member, flags)
#define OFFER_NUMBER(column, kind, member, flags, min, max) \
    NUMBER_CELL(column, kind, struct offer, member, flags, min, max)

static const char *const intranode_names[] = { [INTRANODE_NVLINK] = "nvlink", [INTRANODE_PCIE] = "pcie" };

static const struct cell instance_cells[] = {
    OFFER("id", CELL_TEXT, id, CELL_REQUIRED),
    OFFER("provider_id", CELL_PROVIDER, provider, CELL_REQUIRED),
    OFFER("name", CELL_TEXT, name, CELL_REQUIRED),
    OFFER("gpu_id", CELL_GPU, gpu, 0),
    OFFER("gpu_name", CELL_TEXT, gpu_name, CELL_REQUIRED),
    OFFER_NUMBER("gpu_count", CELL_REAL, gpu_count, CELL_REQUIRED, 0.0001, MAX_COUNT),
    OFFER_NUMBER("vcpu_count", CELL_U32, vcpu_count, 0, 1, MAX_COUNT),
    OFFER_NUMBER("ram_bytes", CELL_U64, ram_bytes, 0, 1, MAX_ROW_BYTES),
    OFFER_NUMBER("local_nvme_bytes", CELL_U64, local_nvme_bytes, 0, 1, MAX_ROW_BYTES),
    OFFER_NUMBER("network_bits_per_second", CELL_REAL, network_bits_per_second, 0, 1, MAX_BITS_PER_SECOND),
    NAME_CELL("intranode", CELL_ENUM, struct offer, intranode, 0, intranode_names),
    OFFER("note", CELL_TEXT, note, 0),
    SOURCE_CELLS(struct offer),
    OFFER("confidence", CELL_LETTER, confidence, CELL_REQUIRED),
};
static const struct cell_table instance_table = { "instances", instance_cells, COUNT_OF(instance_cells),
                                                  sizeof(struct offer), MAX_ROWS };

static const struct cell server_cells[] = {
    OFFER("id", CELL_SLUG, id, CELL_REQUIRED),
    OFFER("vendor_id", CELL_PROVIDER, provider, CELL_REQUIRED),
    OFFER("name", CELL_TEXT, name, CELL_REQUIRED),
    OFFER("gpu_id", CELL_GPU, gpu, 0),
    OFFER("gpu_name", CELL_TEXT, gpu_name, CELL_REQUIRED),
    OFFER_NUMBER("gpu_count", CELL_REAL, gpu_count, CELL_REQUIRED, 1, MAX_COUNT),
    OFFER("cpu", CELL_TEXT, cpu, 0),
    OFFER_NUMBER("cpu_count", CELL_U32, cpu_count, 0, 1, MAX_COUNT),
    OFFER_NUMBER("ram_bytes", CELL_U64, ram_bytes, 0, 1, MAX_ROW_BYTES),
    OFFER_NUMBER("network_bits_per_second", CELL_REAL, network_bits_per_second, 0, 1, MAX_BITS_PER_SECOND),
    OFFER_NUMBER("max_power_watts", CELL_U32, max_power_watts, 0, 1, MAX_WATTS),
    OFFER_NUMBER("rack_units", CELL_U32, rack_units, 0, 1, 1000),
    OFFER("cooling", CELL_TEXT, cooling, 0),
    OFFER("note", CELL_TEXT, note, 0),
    SOURCE_CELLS(struct offer),
    OFFER("confidence", CELL_LETTER, confidence, CELL_REQUIRED),
};
static const struct cell_table server_table = { "servers", server_cells, COUNT_OF(server_cells), sizeof(struct offer),
                                                MAX_ROWS };

/* A share of a GPU is a device of its own: the offer leads to it instead of to the whole one. */
static bool
slice_gpu(struct loader *loader, struct offer *offer)
{
    struct gpu *slice;

    if (offer->gpu == NULL || offer->gpu_count >= 1)
        return true;
    slice = loader_array(loader, 1, sizeof(*slice));
    if (slice == NULL)
        return false;
    *slice = gpu_slice(offer->gpu, offer->gpu_count);
    offer->gpu = slice;
    return true;
}

/* An instance is named provider:its-own-name, so that it never meets a server's slug or another cloud's name. */
static bool
finish_instance(struct loader *loader, const struct cell_table *table, void *row)
{
    struct offer *offer = row;
    size_t prefix = strlen(offer->provider->id);

    if (!slice_gpu(loader, offer))
        return false;

    if (strncmp(offer->id, offer->provider->id, prefix) != 0 || offer->id[prefix] != ':')
        return loader_refuse(loader, table->table, offer->id, "id", "does not begin with its provider and ':'");
    return true;
}

static bool
finish_server(struct loader *loader, const struct cell_table *table, void *row)
{
    struct offer *offer = row;

    offer->is_server = true;
    if (offer->gpu_count != (double)(uint64_t)offer->gpu_count)
        return loader_refuse(loader, table->table, offer->id, "gpu_count", "not a whole number");
    return true;
}

bool
load_offers(struct loader *loader)
{
    void *instances, *servers;
    size_t instance_count, server_count, count;
    struct offer *offers;

    if (!cells_load(loader, &instance_table, finish_instance, &instances, &instance_count) ||
        !cells_load(loader, &server_table, finish_server, &servers, &server_count))
        return false;
    count = instance_count + server_count;
    offers = loader_array(loader, count, sizeof(*offers));
    if (offers == NULL)
        return false;
    memcpy(offers, instances, instance_count * sizeof(*offers));
    memcpy(offers + instance_count, servers, server_count * sizeof(*offers));
    talloc_free(instances);
    talloc_free(servers);
    if (!cells_sort(loader, &instance_table, offers, count))
        return false;
    loader->offers = offers;
    loader->catalog->offers = offers;
    loader->catalog->offer_count = count;
    return true;
}
