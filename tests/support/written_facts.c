#include "tests/support/written_facts.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_WRITTEN_FACTS = 512 };

static int
by_path(const void *a, const void *b)
{
    return strcmp(((const struct fact *)a)->path, ((const struct fact *)b)->path);
}

static struct fact items[MAX_WRITTEN_FACTS];
static bool used[MAX_WRITTEN_FACTS];
static size_t count;

static void
add(const struct fact *fact)
{
    if (count == MAX_WRITTEN_FACTS) {
        (void)fprintf(stderr, "more facts than a test may write: %s\n", fact->path);
        abort();
    }
    items[count++] = *fact;
}

static void
add_written(const struct written_fact *written, size_t size)
{
    for (size_t i = 0; i < size && written[i].path != NULL; i++) {
        struct fact fact = model_row_fact(written[i].path, written[i].kind, written[i].value);

        add(&fact);
    }
}

static struct facts
sorted(void)
{
    qsort(items, count, sizeof(items[0]), by_path);
    return model_row_facts(items, count, used);
}

struct facts
written_facts(const struct written_fact *first, size_t first_size, const struct written_fact *second,
              size_t second_size)
{
    count = 0;
    add_written(first, first_size);
    add_written(second, second_size);
    return sorted();
}

static bool
is_written(const char *path, const struct written_fact *written, size_t size)
{
    for (size_t i = 0; i < size && written[i].path != NULL; i++) {
        if (strcmp(written[i].path, path) == 0)
            return true;
    }
    return false;
}

struct facts
written_facts_over(const struct model_row *row, const struct written_fact *written, size_t size)
{
    count = 0;
    for (size_t i = 0; i < row->fact_count; i++) {
        if (!is_written(row->facts[i].path, written, size))
            add(&row->facts[i]);
    }
    add_written(written, size);
    return sorted();
}
