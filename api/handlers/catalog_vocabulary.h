/* The words that a column of names can hold, so that a filter by none of them is told from one that no row meets. */
#ifndef API_HANDLERS_CATALOG_VOCABULARY_H
#define API_HANDLERS_CATALOG_VOCABULARY_H

#include <stdbool.h>
#include <stddef.h>

#include "service/catalog/catalog.h"

/* Whether a column can hold a word: ids of GPUs and providers, types of prices and currencies are known, any other
 * column holds what it likes; the case of letters does not matter. false: `ret_expected` (at least FAULT_TEXT_SIZE
 * bytes) tells what is known and *ret_nearest the nearest of it, NULL when nothing is near. Both lent by the catalog or
 * by tables. */
bool vocabulary_has(const struct catalog *catalog, const char *column, const char *word, char *ret_expected,
                    const char **ret_nearest);

#endif
