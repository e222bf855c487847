#include "tests/support/model_rows.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_ROWS = 512, MAX_LINE = 1024 };

static struct model_row *rows;
static size_t row_count;

static _Noreturn void
give_up(const char *what, const char *where)
{
    (void)fprintf(stderr, "tests/data/models: %s: %s\n", what, where);
    abort();
}

static char *
keep(const char *text)
{
    char *kept = strdup(text);

    if (kept == NULL)
        give_up("out of memory", text);
    return kept;
}

struct fact
model_row_fact(const char *path, const char *kind, const char *value)
{
    struct fact fact = { .path = path };

    if (strcmp(kind, "integer") == 0) {
        fact.kind = FACT_INTEGER;
        fact.integer = strtoll(value, NULL, 10);
        fact.real = (double)fact.integer;
    } else if (strcmp(kind, "bool") == 0) {
        fact.kind = FACT_BOOL;
        fact.integer = strcmp(value, "true") == 0;
    } else if (strcmp(kind, "text") == 0) {
        fact.kind = FACT_TEXT;
        fact.text = value;
    } else if (strcmp(kind, "real") == 0) {
        fact.kind = FACT_REAL;
        fact.real = strtod(value, NULL);
    } else if (strcmp(kind, "list") == 0 || strcmp(kind, "object") == 0) {
        fact.kind = kind[0] == 'l' ? FACT_LIST : FACT_OBJECT;
        fact.integer = strtoll(value, NULL, 10);
    } else if (strcmp(kind, "null") != 0) {
        give_up("unknown kind", kind);
    }
    return fact;
}

/* Cuts a line at tabs; a cell that is missing is "". */
static void
cut(char *line, char **cells, size_t count)
{
    line[strcspn(line, "\n")] = '\0';
    for (size_t i = 0; i < count; i++) {
        char *tab = line != NULL ? strchr(line, '\t') : NULL;

        cells[i] = line != NULL ? line : "";
        if (tab != NULL)
            *tab++ = '\0';
        line = tab;
    }
}

static void
add_row(char *const *cells)
{
    if (row_count >= MAX_ROWS)
        give_up("too many rows", cells[1]);
    struct model_row *row = &rows[row_count++];
    row->name = keep(cells[1]);
    row->parameters = strtoull(cells[2], NULL, 10);
    row->active = cells[3][0] == '-' ? row->parameters : strtoull(cells[3], NULL, 10); /* "?" is 0 */
    row->cache_bytes_per_token = strtoull(cells[4], NULL, 10);
    row->source = keep(cells[5]);
    if (row->parameters == 0 || row->source[0] == '\0')
        give_up("a row without a total or a source", cells[1]);
}

static void
add_fact(char *const *cells)
{
    struct model_row *row = row_count > 0 ? &rows[row_count - 1] : NULL;

    if (row == NULL || row->fact_count >= MODEL_ROW_FACTS)
        give_up("a fact too many", cells[0]);
    const char *value = strcmp(cells[1], "text") == 0 ? keep(cells[2]) : cells[2]; /* only texts are lent on */
    row->facts[row->fact_count++] = model_row_fact(keep(cells[0]), cells[1], value);
    if (row->fact_count > 1 && strcmp(row->facts[row->fact_count - 2].path, row->facts[row->fact_count - 1].path) >= 0)
        give_up("facts out of order", cells[0]);
}

const struct model_row *
model_rows(size_t *ret_count)
{
    static const char path[] = PROJECT_ROOT "/tests/data/models/published.tsv";
    char line[MAX_LINE];
    char *cells[6];

    *ret_count = row_count;
    if (rows != NULL)
        return rows;
    FILE *file = fopen(path, "re");
    rows = calloc(MAX_ROWS, sizeof(*rows));
    if (file == NULL || rows == NULL)
        give_up("cannot read", path);
    while (fgets(line, sizeof(line), file) != NULL) {
        if (line[0] == '#')
            continue;
        cut(line, cells, sizeof(cells) / sizeof(cells[0]));
        if (strcmp(cells[0], "model") == 0)
            add_row(cells);
        else
            add_fact(cells);
    }
    (void)fclose(file);
    *ret_count = row_count;
    return rows;
}

const struct model_row *
model_row_of(const char *name)
{
    size_t count;
    const struct model_row *all = model_rows(&count);

    for (size_t i = 0; i < count; i++) {
        if (strcmp(all[i].name, name) == 0)
            return &all[i];
    }
    give_up("no such row", name);
}

/* Whether a path is `path` or under it. */
static bool
is_at_or_under(const char *fact_path, const char *path)
{
    size_t length = strlen(path);

    return strncmp(fact_path, path, length) == 0 && (fact_path[length] == '\0' || fact_path[length] == '/');
}

size_t
model_row_with(const struct model_row *row, const char *path, const char *kind, const char *value, struct fact *items)
{
    size_t count = 0;
    bool put = kind == NULL;

    for (size_t i = 0; i < row->fact_count; i++) {
        if (!put && strcmp(row->facts[i].path, path) > 0) {
            items[count++] = model_row_fact(path, kind, value);
            put = true;
        }
        if (!is_at_or_under(row->facts[i].path, path))
            items[count++] = row->facts[i];
    }
    if (!put)
        items[count++] = model_row_fact(path, kind, value);
    return count;
}

struct facts
model_row_facts(const struct fact *items, size_t count, bool *used)
{
    memset(used, 0, count * sizeof(*used));
    return (struct facts){ .items = items, .count = count, .used = used };
}
