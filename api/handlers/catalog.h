/* GET /catalog: what exists and what it costs. */
#ifndef API_HANDLERS_CATALOG_H
#define API_HANDLERS_CATALOG_H

#include "api/route.h"

handler handle_catalog;      /* counts, version, links */
handler handle_catalog_list; /* /catalog/NAME: a page of rows, or all of them as CSV or NDJSON */
handler handle_catalog_item; /* /catalog/NAME/{id}: one row */

#endif
