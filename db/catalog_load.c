/* The order in which tables are loaded: a table after those that it refers to. */
#include "db/catalog_load.h"

#include <string.h>
#include <talloc.h>

#include "db/load.h"
#include "service/base/text.h"

static bool (*const loads[])(struct loader *) = {
    load_gpus, load_providers, load_offers, load_prices, load_storage, load_networks, load_fx, load_rates, load_models,
};

static bool
settle_as_of(struct loader *loader, const char *as_of)
{
    char newest[sizeof("YYYY-MM-DDT00:00:00Z")];

    if (as_of == NULL) {
        if (loader->newest_date[0] == '\0')
            return loader_refuse(loader, NULL, NULL, "source_date", "no row has a whole date");
        text_format(newest, sizeof(newest), "%sT00:00:00Z", loader->newest_date);
        as_of = newest;
    }
    if (strlen(as_of) < strlen("YYYY-MM-DD"))
        return loader_refuse(loader, "catalog_versions", NULL, "made_at", "not a time");
    loader->catalog->as_of = texts_keep(&loader->texts, as_of);
    return loader->catalog->as_of != NULL || loader_refuse(loader, NULL, NULL, NULL, "out of memory");
}

static bool
load_all(struct loader *loader, const struct load_order *order)
{
    for (size_t i = 0; i < COUNT_OF(loads); i++) {
        if (!loads[i](loader))
            return false;
    }
    return settle_as_of(loader, order->as_of) && load_current_prices(loader);
}

enum load_result
catalog_load(const struct load_order *order, struct loaded_catalog **ret_loaded, struct db_event *ret_refusal)
{
    struct loaded_catalog *loaded = talloc_zero(NULL, struct loaded_catalog);
    struct loader *loader = talloc_zero(NULL, struct loader);
    enum load_result result = LOAD_REFUSED;

    if (loaded == NULL || loader == NULL) {
        text_copy(ret_refusal->why, sizeof(ret_refusal->why), "out of memory");
    } else {
        loaded->catalog.version = order->version;
        loaded->catalog.embedded = order->embedded;
        loader->source = order->source;
        loader->strict = order->embedded;
        loader->tree = loaded;
        loader->catalog = &loaded->catalog;
        loader->refusal = ret_refusal;
        texts_init(&loader->texts, loaded);
        if (load_all(loader, order)) {
            *ret_loaded = loaded;
            loaded = NULL;
            result = LOAD_OK;
        } else if (loader->not_read) {
            result = LOAD_NOT_READ;
        }
    }
    talloc_free(loader);
    talloc_free(loaded);
    return result;
}

void
loaded_catalog_free(void *loaded)
{
    talloc_free(loaded);
}
