/* The catalog that is compiled in, loaded once by db/: for tests of api/ and for fuzz targets. */
#ifndef TESTS_SUPPORT_SEED_CATALOG_H
#define TESTS_SUPPORT_SEED_CATALOG_H

#include "service/catalog/snapshot.h"

/* Where it is published; lives as long as the program. Aborts with the fault when the seed is unsound. */
struct catalog_slot *seed_catalog_slot(void);

/* The catalog itself, lent for ever. */
const struct catalog *seed_catalog(void);

#endif
