#include "tests/support/seed_rates.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_COLUMNS = 64, MAX_GPUS = 512 };

/* A CSV file whose cells are cut out of its own bytes, row by row. */
struct csv {
    const char *path;
    char *next; /* the row to be read */
    size_t column_count;
    char *columns[MAX_COLUMNS], *cells[MAX_COLUMNS];
};

static _Noreturn void __attribute__((format(printf, 1, 2))) give_up(const char *format, ...)
{
    va_list values;

    va_start(values, format);
    (void)vfprintf(stderr, format, values);
    va_end(values);
    (void)fputc('\n', stderr);
    abort();
}

static char *
read_whole(const char *path)
{
    FILE *file = fopen(path, "re");
    if (file == NULL || fseek(file, 0, SEEK_END) != 0)
        give_up("cannot read %s", path);
    long size = ftell(file);
    char *text = size < 0 ? NULL : malloc((size_t)size + 1);
    rewind(file);
    if (text == NULL || fread(text, 1, (size_t)size, file) != (size_t)size)
        give_up("cannot read %s", path);
    text[size] = '\0';
    (void)fclose(file);
    return text;
}

/* Cuts one cell off (RFC 4180) and unquotes it in place; *ret_end is the separator that stood behind it. */
static char *
cut_cell(char **next, char *ret_end)
{
    char *from = *next, *to = from, *cell = from;
    bool quoted = *from == '"';

    from += quoted;
    while (*from != '\0') {
        if (quoted && *from == '"') {
            from++;
            if (*from != '"') {
                quoted = false;
                continue;
            }
        } else if (!quoted && strchr(",\r\n", *from) != NULL) {
            break;
        }
        *to++ = *from++;
    }
    if (from[0] == '\r' && from[1] == '\n')
        from++;
    *ret_end = *from;
    *next = *from == '\0' ? from : from + 1;
    *to = '\0';
    return cell;
}

static size_t
cut_row(struct csv *csv, char **cells)
{
    size_t count = 0;
    char end = ',';

    while (end == ',' && count < MAX_COLUMNS)
        cells[count++] = cut_cell(&csv->next, &end);
    if (end == ',')
        give_up("%s has too many columns", csv->path);
    return count;
}

/* What it reads is never freed: texts of rows are lent for as long as the test runs. */
static void
csv_open(struct csv *csv, const char *path)
{
    csv->path = path;
    csv->next = read_whole(path);
    csv->column_count = cut_row(csv, csv->columns);
}

static bool
csv_next(struct csv *csv)
{
    if (*csv->next == '\0')
        return false;
    size_t count = cut_row(csv, csv->cells);
    if (count != csv->column_count)
        give_up("%s: a row that begins with %s has %zu cells, not %zu", csv->path, csv->cells[0], count,
                csv->column_count);
    return true;
}

/* The cell in a named column, NULL when it is empty. */
static const char *
csv_text(const struct csv *csv, const char *column)
{
    for (size_t i = 0; i < csv->column_count; i++)
        if (strcmp(csv->columns[i], column) == 0)
            return csv->cells[i][0] == '\0' ? NULL : csv->cells[i];
    give_up("%s has no column %s", csv->path, column);
}

/* 0 when the cell is empty. */
static double
csv_real(const struct csv *csv, const char *column)
{
    const char *text = csv_text(csv, column);
    char *end;

    if (text == NULL)
        return 0;
    double value = strtod(text, &end);
    if (*end != '\0')
        give_up("%s: %s of %s is not a number: %s", csv->path, column, csv->cells[0], text);
    return value;
}

static uint64_t
csv_u64(const struct csv *csv, const char *column)
{
    const char *text = csv_text(csv, column);
    char *end;

    if (text == NULL)
        return 0;
    uint64_t value = strtoull(text, &end, 10);
    if (*end != '\0')
        give_up("%s: %s of %s is not a count: %s", csv->path, column, csv->cells[0], text);
    return value;
}

static uint32_t
csv_u32(const struct csv *csv, const char *column)
{
    return (uint32_t)csv_u64(csv, column);
}

static int
csv_flag(const struct csv *csv, const char *column)
{
    const char *text = csv_text(csv, column);

    return text == NULL ? -1 : strcmp(text, "true") == 0;
}

static enum nvlink_kind
nvlink_kind_of(const char *name)
{
    if (strcmp(name, "switch") == 0)
        return NVLINK_SWITCH;
    return strcmp(name, "bridge") == 0 ? NVLINK_BRIDGE : NVLINK_NONE;
}

static struct gpu
gpu_of_row(const struct csv *csv)
{
    struct gpu gpu = {
        .id = csv_text(csv, "id"),
        .vendor = csv_text(csv, "vendor"),
        .name = csv_text(csv, "name"),
        .memory_bytes = csv_u64(csv, "memory_bytes"),
        .usable_bytes = csv_u64(csv, "usable_bytes"),
        .memory_kind = csv_text(csv, "memory_kind"),
        .memory_bytes_per_second = csv_real(csv, "memory_bandwidth_bytes_per_second"),
        .fp32_flop_per_second = csv_real(csv, "fp32_flop_per_second"),
        .tf32_flop_per_second = csv_real(csv, "tf32_flop_per_second"),
        .fp16_flop_per_second = csv_real(csv, "fp16_flop_per_second"),
        .bf16_flop_per_second = csv_real(csv, "bf16_flop_per_second"),
        .fp8_flop_per_second = csv_real(csv, "fp8_flop_per_second"),
        .int8_op_per_second = csv_real(csv, "int8_op_per_second"),
        .fp4_flop_per_second = csv_real(csv, "fp4_flop_per_second"),
        .nvlink_bytes_per_second = csv_real(csv, "nvlink_bytes_per_second"),
        .nvlink_kind = nvlink_kind_of(csv_text(csv, "nvlink_kind")),
        .nvlink_domain_gpus = csv_u32(csv, "nvlink_domain_gpus"),
        .pcie_bytes_per_second = csv_real(csv, "pcie_bytes_per_second"),
        .peer_to_peer = csv_flag(csv, "peer_to_peer") == 1,
        .internode_bytes_per_second = csv_real(csv, "internode_bytes_per_second"),
        .gpus_per_node = csv_u32(csv, "gpus_per_node"),
        .tdp_watts = csv_u32(csv, "tdp_watts"),
        .mig_slices = csv_u32(csv, "mig_slices"),
        .form_factor = csv_text(csv, "form_factor"),
        .compute_capability = csv_text(csv, "compute_capability"),
        .launch_date = csv_text(csv, "launch_date"),
        .export_restricted = csv_flag(csv, "export_restricted"),
        .note = csv_text(csv, "note"),
        .source = csv_text(csv, "source"),
        .source_date = csv_text(csv, "source_date"),
    };

    if (!gpu_family_parse(csv_text(csv, "family"), &gpu.family))
        give_up("%s: family of %s is unknown", csv->path, gpu.id);
    return gpu;
}

struct rates
seed_rates(void)
{
    static struct csv csv; /* static: what it read stays reachable, for leak checkers */
    static struct rates rates;

    if (csv.path != NULL)
        return rates;
    for (size_t i = 0; i < rates_count(); i++)
        *rates_at(&rates, i) = __builtin_nan("");
    csv_open(&csv, PROJECT_ROOT "/migrations/seed/rates.csv");
    while (csv_next(&csv))
        (void)rates_set(&rates, csv_text(&csv, "name"), csv_real(&csv, "value"));
    for (size_t i = 0; i < rates_count(); i++)
        if (__builtin_isnan(*rates_at(&rates, i)))
            give_up("%s lacks the row %s", csv.path, rates_name(i));
    return rates;
}

struct gpu
seed_gpu(const char *id)
{
    static struct csv csv;
    static struct gpu gpus[MAX_GPUS];
    static size_t count;

    if (csv.path == NULL) {
        csv_open(&csv, PROJECT_ROOT "/migrations/seed/gpus.csv");
        while (csv_next(&csv)) {
            if (count == MAX_GPUS)
                give_up("%s has more than %d rows", csv.path, MAX_GPUS);
            gpus[count++] = gpu_of_row(&csv);
        }
    }
    for (size_t i = 0; i < count; i++)
        if (strcmp(gpus[i].id, id) == 0)
            return gpus[i];
    give_up("%s lacks the row %s", csv.path, id);
}
