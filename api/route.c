/* The routes of sizer. openapi.yaml has the same, by a test. */
#include "api/route.h"

#include "api/handlers/catalog.h"
#include "api/handlers/estimate.h"
#include "api/handlers/health.h"
#include "api/handlers/recommend.h"
#include "api/http/negotiate.h"
#include "service/base/quantity.h"

#define JSON MEDIA_BIT(MEDIA_JSON)
#define TABLE (MEDIA_BIT(MEDIA_JSON) | MEDIA_BIT(MEDIA_CSV) | MEDIA_BIT(MEDIA_NDJSON))

/* A list of the catalog and one row of it. */
#define CATALOG(name, one, many)                                                                           \
    { HTTP_GET, "/catalog/" name, handle_catalog_list, 0, true, "list" many, ROUTE_CACHEABLE, TABLE },     \
    {                                                                                                      \
        HTTP_GET, "/catalog/" name "/{id}", handle_catalog_item, 0, true, "get" one, ROUTE_CACHEABLE, JSON \
    }

const struct route routes[] = {
    { HTTP_POST, "/estimate", handle_estimate, 0, true, "postEstimate", ROUTE_PROSE, JSON },
    { HTTP_POST, "/recommend", handle_recommend, 0, true, "postRecommend", ROUTE_PROSE, JSON },
    { HTTP_GET, "/catalog", handle_catalog, 0, true, "getCatalog", ROUTE_CACHEABLE, JSON },
    CATALOG("gpus", "Gpu", "Gpus"),
    CATALOG("instances", "Instance", "Instances"),
    CATALOG("servers", "Server", "Servers"),
    CATALOG("prices", "Price", "Prices"),
    CATALOG("models", "Model", "Models"),
    CATALOG("storage", "StorageTier", "Storage"),
    CATALOG("networks", "Network", "Networks"),
    CATALOG("providers", "Provider", "Providers"),
    CATALOG("fx", "ExchangeRate", "ExchangeRates"),
    { HTTP_GET, "/openapi.yaml", handle_openapi, 0, false, "getOpenapi", ROUTE_CACHEABLE, 0 },
    { HTTP_GET, "/livez", handle_livez, 0, false, "getLivez", ROUTE_HEALTH, 0 },
    { HTTP_GET, "/readyz", handle_readyz, 0, false, "getReadyz", ROUTE_HEALTH | ROUTE_STATE, 0 },
    { HTTP_GET, "/metrics", handle_metrics, 0, false, "getMetrics", ROUTE_HEALTH | ROUTE_STATE, 0 },
};
const size_t route_count = COUNT_OF(routes);

const struct route *
route_find(enum http_method method, const char *path, char *ret_allow, size_t allow_size, const char **ret_tail)
{
    return route_match(routes, route_count, method, path, ret_allow, allow_size, ret_tail);
}
