/* Facts of a config as tests write them down: in any order, values as text. */
#ifndef TESTS_SUPPORT_WRITTEN_FACTS_H
#define TESTS_SUPPORT_WRITTEN_FACTS_H

#include <stddef.h>

#include "tests/support/model_rows.h"

struct written_fact {
    const char *path, *kind, *value; /* as model_row_fact() takes them; a NULL path ends a list */
};

/* Two lists as one, sorted; each ends at its size or at a NULL path. Valid until the next call. */
struct facts written_facts(const struct written_fact *first, size_t first_size, const struct written_fact *second,
                           size_t second_size);

/* A published row's facts with the written ones put in or, with the same path, in their stead. Likewise. */
struct facts written_facts_over(const struct model_row *row, const struct written_fact *written, size_t size);

#endif
