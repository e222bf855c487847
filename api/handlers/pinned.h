/* The catalog a request is answered from: the current one, or the version that its body pins. */
#ifndef API_HANDLERS_PINNED_H
#define API_HANDLERS_PINNED_H

#include "api/route.h"
#include "service/catalog/snapshot.h"

/* *ret_snapshot is NULL when the current catalog is meant (lent by the server), else to be released by the caller.
 * A version that is not held is FAULT_CATALOG_VERSION_UNKNOWN. */
enum status pinned_catalog(const char *version, const struct service_state *state, const struct catalog **ret_catalog,
                           struct snapshot **ret_snapshot, struct fault *ret_fault);

#endif
