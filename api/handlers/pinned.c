#include "api/handlers/pinned.h"

#include <errno.h>
#include <stdlib.h>

#include "service/base/text.h"

enum status
pinned_catalog(const char *version, const struct service_state *state, const struct catalog **ret_catalog,
               struct snapshot **ret_snapshot, struct fault *ret_fault)
{
    char *end, current[24];
    unsigned long long number;

    *ret_snapshot = NULL;
    *ret_catalog = state->catalog;
    if (!version)
        return STATUS_OK;
    errno = 0;
    number = strtoull(version, &end, 10);
    if (!errno && *version >= '0' && *version <= '9' && !*end && number) {
        if (number == state->catalog->version)
            return STATUS_OK;
        *ret_snapshot = catalog_acquire(state->slot, number);
        if (*ret_snapshot) {
            *ret_catalog = (*ret_snapshot)->catalog;
            return STATUS_OK;
        }
    }
    text_format(current, sizeof current, "%llu", (unsigned long long)state->catalog->version);
    fault_add(ret_fault, FAULT_CATALOG_VERSION_UNKNOWN, "/catalog_version", version, current, current);
    return STATUS_FAULT;
}
