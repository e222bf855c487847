#include "tests/accuracy/constants.h"

#include <csv.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "db/seed_data.h"
#include "service/base/quantity.h"

/* Beginnings of row names that are not fitted: what engines ship as defaults, and conventions of the answer. */
static const char *const settled[] = {
    "serving.block_tokens",    "serving.chunk_tokens",        "serving.fitting_share",    "serving.highest_",
    "serving.low_power_watts", "serving.most_sequences",      "serving.overload_seconds", "serving.pass_tokens",
    "serving.profile_",        "training.memory.loss_chunks",
};

enum { COLUMN_NAME, COLUMN_LOW = 3, COLUMN_HIGH = 4, COLUMNS_KEPT = 5 };

/* A row in the making. */
struct reader {
    struct constants *constants;
    const char *group;
    double least_reach;
    size_t column;
    char cells[COLUMNS_KEPT][CONSTANT_NAME_SIZE];
};

static bool
is_fitted(const struct reader *reader)
{
    const char *name = reader->cells[COLUMN_NAME];

    if (strncmp(name, reader->group, strlen(reader->group)) != 0 || strstr(name, ".band.") ||
        !*reader->cells[COLUMN_LOW] || !*reader->cells[COLUMN_HIGH])
        return false;
    for (size_t i = 0; i < COUNT_OF(settled); i++)
        if (strncmp(name, settled[i], strlen(settled[i])) == 0)
            return false;
    return true;
}

static void
take_cell(void *bytes, size_t size, void *context)
{
    struct reader *reader = context;

    if (reader->column < COLUMNS_KEPT)
        snprintf(reader->cells[reader->column], CONSTANT_NAME_SIZE, "%.*s", (int)size, bytes ? (char *)bytes : "");
    reader->column++;
}

static void
take_row(int end, void *context)
{
    struct reader *reader = context;
    struct constants *constants = reader->constants;
    struct constant *item = &constants->items[constants->count];
    double low = strtod(reader->cells[COLUMN_LOW], NULL), high = strtod(reader->cells[COLUMN_HIGH], NULL);

    (void)end;
    reader->column = 0;
    if (!is_fitted(reader) || !(low > 0) || !(high > low) || constants->count == MAX_CONSTANTS)
        return;
    *item = (struct constant){ .low = low, .high = high, .middle = sqrt(low * high), .most = INFINITY };
    snprintf(item->name, sizeof item->name, "%s", reader->cells[COLUMN_NAME]);
    item->reach = fmax(log(high / low) / 2, reader->least_reach);
    if (high <= 1)
        item->most = 1;
    if (low >= 1)
        item->least = 1;
    for (item->index = 0; item->index < rates_count(); item->index++) {
        if (strcmp(rates_name(item->index), item->name) == 0) {
            constants->count++;
            return;
        }
    }
}

void
constants_read(struct constants *constants, const char *group, double least_reach)
{
    struct reader reader = { .constants = constants, .group = group, .least_reach = least_reach };
    struct csv_parser parser;

    constants->count = 0;
    if (csv_init(&parser, 0) != 0)
        abort();
    for (size_t i = 0; i < seed_file_count; i++) {
        if (strcmp(seed_files[i].table, "rates") != 0)
            continue;
        csv_parse(&parser, seed_files[i].bytes, seed_files[i].size, take_cell, take_row, &reader);
        csv_fini(&parser, take_cell, take_row, &reader);
    }
    csv_free(&parser);
}

double
constant_value(const struct constant *constant, double place)
{
    double value = constant->middle * exp(place * constant->reach);

    return fmin(constant->most, fmax(constant->least, value));
}

double
constant_place(const struct constant *constant, double value)
{
    return fmin(1, fmax(-1, log(value / constant->middle) / constant->reach));
}

size_t
constants_find(const struct constants *constants, const char *name)
{
    size_t i = 0;

    while (i < constants->count && strcmp(constants->items[i].name, name) != 0)
        i++;
    return i;
}
