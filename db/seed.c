/* CSV text as rows of cells (libcsv splits, this keeps the places). */
#include "db/seed.h"

#include <csv.h>
#include <string.h>
#include <talloc.h>

#include "service/base/text.h"

enum { VERSION_BITS = 48 };

/* All cells of a file one after the other, the first `column_count` being the header. */
struct csv_table {
    const char **cells;
    size_t cell_count, cell_capacity, column_count, row_cells;
    const char *refused; /* why reading stopped, NULL while all is well */
};

struct seed_set
seed_compiled_in(void)
{
    return (struct seed_set){ .files = seed_files, .count = seed_file_count };
}

/* Bytes of the UTF-8 character at `text`, 0 when it is none (RFC 3629 section 4, overlong forms and surrogates out). */
static size_t
character_size(const unsigned char *text, size_t size)
{
    unsigned char low = 0x80, high = 0xBF;
    size_t need;

    if (text[0] < 0x80)
        return 1;
    if (text[0] < 0xC2 || text[0] > 0xF4)
        return 0;
    need = text[0] < 0xE0 ? 2 : text[0] < 0xF0 ? 3 : 4;
    if (need > size)
        return 0;
    if (text[0] == 0xE0)
        low = 0xA0;
    else if (text[0] == 0xED)
        high = 0x9F;
    else if (text[0] == 0xF0)
        low = 0x90;
    else if (text[0] == 0xF4)
        high = 0x8F;
    for (size_t i = 1; i < need; i++) {
        if (text[i] < low || text[i] > high)
            return 0;
        low = 0x80;
        high = 0xBF;
    }
    return need;
}

static bool
is_utf8(const unsigned char *text, size_t size)
{
    size_t step;

    for (size_t i = 0; i < size; i += step) {
        step = character_size(text + i, size - i);
        if (step == 0)
            return false;
    }
    return true;
}

static bool
grow(struct csv_table *table)
{
    size_t capacity = table->cell_capacity == 0 ? 256 : table->cell_capacity * 2;
    const char **cells = talloc_realloc(table, table->cells, const char *, (unsigned)capacity);

    if (cells == NULL)
        return false;
    table->cells = cells;
    table->cell_capacity = capacity;
    return true;
}

static void
take_cell(void *bytes, size_t size, void *context)
{
    struct csv_table *table = context;

    if (table->refused != NULL)
        return;
    if (table->cell_count == table->cell_capacity && !grow(table)) {
        table->refused = "out of memory";
        return;
    }
    if (memchr(bytes, '\0', size) != NULL)
        table->refused = "a cell holds a NUL";
    table->cells[table->cell_count++] = size == 0 ? NULL : talloc_strndup(table->cells, bytes, size);
    table->row_cells++;
}

static void
take_row_end(int end_byte, void *context)
{
    struct csv_table *table = context;

    (void)end_byte;
    if (table->column_count == 0)
        table->column_count = table->row_cells;
    else if (table->row_cells != table->column_count && table->refused == NULL)
        table->refused = "a row has more or fewer cells than the header";
    table->row_cells = 0;
}

/* Fills `table`; NULL or why not. */
static const char *
parse(struct csv_table *table, const unsigned char *bytes, size_t size)
{
    struct csv_parser parser;

    if (!is_utf8(bytes, size))
        return "the file is not UTF-8";
    if (csv_init(&parser, CSV_STRICT | CSV_STRICT_FINI) != 0)
        return "out of memory";
    if (csv_parse(&parser, bytes, size, take_cell, take_row_end, table) != size ||
        csv_fini(&parser, take_cell, take_row_end, table) != 0)
        table->refused = csv_strerror(csv_error(&parser));
    csv_free(&parser);
    if (table->refused == NULL && table->column_count == 0)
        table->refused = "the file is empty";
    for (size_t i = 0; i < table->column_count && table->refused == NULL; i++) {
        if (table->cells[i] == NULL)
            table->refused = "a column has no name";
    }
    return table->refused;
}

static const char *
csv_column_name(const void *content, size_t column)
{
    const struct csv_table *table = content;

    return table->cells[column];
}

static const char *
csv_cell(const void *content, size_t row, size_t column)
{
    const struct csv_table *table = content;

    return table->cells[(row + 1) * table->column_count + column];
}

static void
csv_table_free(void *content)
{
    talloc_free(content);
}

static const struct seed_file *
file_of(const struct seed_set *set, const char *name)
{
    for (size_t i = 0; i < set->count; i++) {
        if (strcmp(set->files[i].table, name) == 0)
            return &set->files[i];
    }
    return NULL;
}

static bool
read_table(void *context, const char *name, struct rows *ret_rows, char *why, size_t why_size)
{
    const struct seed_file *file = file_of(context, name);
    struct csv_table *table;
    const char *refused = "out of memory";

    if (file == NULL) {
        text_copy(why, why_size, "there is no seed file of this table");
        return false;
    }
    table = talloc_zero(NULL, struct csv_table);
    if (table != NULL)
        refused = parse(table, file->bytes, file->size);
    if (refused != NULL) {
        text_copy(why, why_size, refused);
        talloc_free(table);
        return false;
    }
    *ret_rows = (struct rows){
        .row_count = table->cell_count / table->column_count - 1,
        .column_count = table->column_count,
        .column_name = csv_column_name,
        .cell = csv_cell,
        .free_content = csv_table_free,
        .content = table,
    };
    return true;
}

struct row_source
seed_source(struct seed_set *set)
{
    return (struct row_source){ .read_table = read_table, .context = set };
}

static uint64_t
fnv1a(uint64_t hash, const void *bytes, size_t size)
{
    const unsigned char *next = bytes;

    for (size_t i = 0; i < size; i++)
        hash = (hash ^ next[i]) * 0x100000001b3U;
    return hash;
}

uint64_t
seed_version(const struct seed_set *set)
{
    uint64_t hash = 0xcbf29ce484222325U, folded;

    for (size_t i = 0; i < set->count; i++) {
        hash = fnv1a(hash, set->files[i].table, strlen(set->files[i].table) + 1);
        hash = fnv1a(hash, set->files[i].bytes, set->files[i].size);
    }
    folded = (hash >> VERSION_BITS ^ hash) & ((UINT64_C(1) << VERSION_BITS) - 1);
    return folded != 0 ? folded : 1;
}
