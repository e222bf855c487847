/* Lookup in a config's flat list of facts. */
#include "service/model/facts.h"

#include <string.h>

const struct fact *
facts_peek(const struct facts *facts, const char *path)
{
    size_t low = 0;
    size_t high = facts->count;

    while (low < high) {
        size_t middle = low + (high - low) / 2;
        int order = strcmp(facts->items[middle].path, path);

        if (order == 0)
            return &facts->items[middle];
        if (order < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return NULL;
}

const struct fact *
facts_find(const struct facts *facts, const char *path)
{
    const struct fact *fact = facts_peek(facts, path);

    if (fact != NULL && facts->used != NULL)
        facts->used[fact - facts->items] = true;
    return fact;
}

const struct fact *
facts_get(const struct facts *facts, const char *path)
{
    const struct fact *fact = facts_find(facts, path);

    return fact != NULL && fact->kind == FACT_NULL ? NULL : fact;
}
