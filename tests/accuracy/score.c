#include "tests/accuracy/score.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

struct tally *
score_tally(struct score *score, const char *name)
{
    struct tally *tally;

    for (size_t i = 0; i < score->count; i++)
        if (strcmp(score->items[i].name, name) == 0)
            return &score->items[i];
    if (score->count == score->capacity) {
        score->capacity = score->capacity ? 2 * score->capacity : 32;
        score->items = realloc(score->items, score->capacity * sizeof *score->items);
        if (!score->items)
            abort();
    }
    tally = &score->items[score->count++];
    memset(tally, 0, sizeof *tally);
    snprintf(tally->name, sizeof tally->name, "%s", name);
    return tally;
}

void
tally_add(struct tally *tally, struct reading reading)
{
    if (tally->count == tally->capacity) {
        tally->capacity = tally->capacity ? 2 * tally->capacity : 32;
        tally->readings = realloc(tally->readings, tally->capacity * sizeof *tally->readings);
        if (!tally->readings)
            abort();
    }
    tally->readings[tally->count++] = reading;
}

static int
by_name(const void *a, const void *b)
{
    return strcmp(((const struct tally *)a)->name, ((const struct tally *)b)->name);
}

void
score_sort(struct score *score)
{
    if (score->count)
        qsort(score->items, score->count, sizeof *score->items, by_name);
}

void
score_done(struct score *score)
{
    for (size_t i = 0; i < score->count; i++)
        free(score->items[i].readings);
    free(score->items);
    *score = (struct score){ 0 };
}

static int
by_value(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;

    return (x > y) - (x < y);
}

static double
median(double *values, size_t count)
{
    if (!count)
        return NAN;
    qsort(values, count, sizeof *values, by_value);
    return (values[(count - 1) / 2] + values[count / 2]) / 2;
}

struct figures
tally_figures(const struct tally *tally)
{
    struct figures figures = { .count = tally->count, .most = NAN, .covered = NAN };
    double *values = malloc((tally->count + 1) * sizeof *values);
    size_t banded = 0, covered = 0;

    if (!values)
        abort();
    for (size_t i = 0; i < tally->count; i++)
        values[i] = tally->readings[i].error;
    figures.bias = median(values, tally->count);
    for (size_t i = 0; i < tally->count; i++)
        values[i] = fabs(tally->readings[i].error);
    figures.median = median(values, tally->count);
    if (tally->count)
        figures.most = fmax(figures.median, values[(size_t)(0.9 * (double)(tally->count - 1))]);
    for (size_t i = 0; i < tally->count; i++) {
        if (tally->readings[i].banded)
            values[banded++] = tally->readings[i].width;
        covered += tally->readings[i].covered;
    }
    if (banded)
        figures.covered = (double)covered / (double)banded;
    figures.width = median(values, banded);
    free(values);
    return figures;
}

const char *
share_text(double share, int places, char text[SHARE_SIZE])
{
    if (isnan(share))
        return "-";
    snprintf(text, SHARE_SIZE, "%.*f %%", places, 100 * share);
    return text;
}

void
score_print_errors(const struct score *score, const char *title, const char *heading, FILE *to)
{
    fprintf(to,
            "\n%s\n\n| %s | n | median | nine in ten | bias | in band | band width "
            "|\n|---|---:|---:|---:|---:|---:|---:|\n",
            title, heading);
    for (size_t i = 0; i < score->count; i++) {
        struct figures figures = tally_figures(&score->items[i]);
        char middle[SHARE_SIZE], most[SHARE_SIZE], bias[SHARE_SIZE], covered[SHARE_SIZE], width[SHARE_SIZE];

        if (figures.count)
            fprintf(to, "| %s | %zu | %s | %s | %s | %s | %s |\n", score->items[i].name, figures.count,
                    share_text(figures.median, 1, middle), share_text(figures.most, 1, most),
                    share_text(figures.bias, 1, bias), share_text(figures.covered, 0, covered),
                    share_text(figures.width, 0, width));
    }
}
