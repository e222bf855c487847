/* Fits the measured constants anew and tells how far they carry: in sample, and to what was left out of the fit.
 *
 *   fit [--quick] [--training|--serving] [--start=PLACE] [--save]
 *
 * Prints Markdown tables. Each fit starts cold, at PLACE -1..1 of every constant's range (0, the middle), never from
 * the shipped values. --quick: fewer sweeps, only sources left out. --save: the left-out figures are written to
 * tests/accuracy/left_out.csv, from where the README's table takes them; complete runs only. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/accuracy/leave_out.h"
#include "tests/accuracy/left_out_file.h"
#include "tests/support/seed_catalog.h"

static const double least_reach = 0.2231; /* ln 1.25 */
enum { SWEEPS = 40, QUICK_SWEEPS = 8 };

struct options {
    bool quick, training, serving, save;
    double start;
};

/* One group of constants and the runs that decide them. */
struct group {
    const struct options *options;
    enum run_kind kind;
    struct runs runs;
    struct constants constants;
    struct reach reach;
    struct rates shipped, fitted;
    struct left_out left[LEAVE_KEY_COUNT];
};

static bool
is_left_out(const struct group *group, enum leave_key key)
{
    if (group->options->quick)
        return key == LEAVE_SOURCE;
    return key != LEAVE_ENGINE || group->kind == RUN_SERVING;
}

static void
print_constant(const struct group *group, size_t index)
{
    const struct constant *constant = &group->constants.items[index];
    struct rates shipped = group->shipped, fitted = group->fitted;
    double now = *rates_at(&shipped, constant->index), value = *rates_at(&fitted, constant->index);
    double place = constant_place(constant, value), lowest = value, highest = value;
    size_t moved = reach_count(&group->reach, index);

    if (!moved) {
        printf("| %s | %.4g | - | - | %.4g to %.4g | 0 | |\n", constant->name, now, constant->low, constant->high);
        return;
    }
    for (int key = 0; key < LEAVE_KEY_COUNT; key++) {
        if (!group->left[key].fits)
            continue;
        lowest = fmin(lowest, group->left[key].lowest[index]);
        highest = fmax(highest, group->left[key].highest[index]);
    }
    printf("| %s | %.4g | %.4g | %.4g to %.4g | %.4g to %.4g | %zu | %s |\n", constant->name, now, value, lowest,
           highest, constant->low, constant->high, moved,
           fabs(place) > 0.99                                ? "at the end of the search"
           : value < constant->low || value > constant->high ? "outside the row's range"
                                                             : "");
}

static void
print_group(const struct group *group)
{
    struct score shipped = { 0 }, fitted = { 0 };
    char title[96];

    score_targets(&group->runs, &group->shipped, NULL, "", &shipped, NULL);
    score_targets(&group->runs, &group->fitted, NULL, "", &fitted, NULL);
    score_sort(&shipped);
    score_sort(&fitted);
    score_print_errors(&shipped, "In sample, constants as shipped", "slice", stdout);
    score_print_errors(&fitted, "In sample, fitted on all", "slice", stdout);
    score_done(&shipped);
    score_done(&fitted);
    for (int key = 0; key < LEAVE_KEY_COUNT; key++) {
        if (!group->left[key].fits)
            continue;
        snprintf(title, sizeof title, "One %s left out: what the fit had not seen (%zu fits)", leave_key_names[key],
                 group->left[key].fits);
        score_print_errors(&group->left[key].by_slice, title, "slice", stdout);
        snprintf(title, sizeof title, "By %s left out", leave_key_names[key]);
        score_print_errors(&group->left[key].by_name, title, leave_key_names[key], stdout);
    }
    puts("\nConstants. \"left-out fits\": from the least to the most that fits "
         "came to.\n\n"
         "| constant | shipped | fitted | left-out fits | range of the row | "
         "runs it moves | |\n"
         "|---|---:|---:|---:|---:|---:|---|");
    for (size_t i = 0; i < group->constants.count; i++)
        print_constant(group, i);
    fflush(stdout);
}

static void
fit_group(struct group *group, const struct cases *cases)
{
    const struct catalog *catalog = seed_catalog();
    struct refit_ask ask = { .runs = &group->runs,
                             .constants = &group->constants,
                             .rates = &group->shipped,
                             .start = group->options->start,
                             .sweeps = group->options->quick ? QUICK_SWEEPS : SWEEPS };
    double loss;

    group->shipped = catalog->rates;
    runs_read(&group->runs, cases, group->kind, catalog);
    constants_read(&group->constants, group->kind == RUN_TRAINING ? "training." : "serving.", least_reach);
    printf("\n## %s: %zu figures of %zu runs, %zu constants with a range\n",
           group->kind == RUN_TRAINING ? "Training" : "Serving", group->runs.target_count, group->runs.count,
           group->constants.count);
    reach_find(&group->reach, &ask);
    loss = refit(&ask, &group->reach, &group->fitted);
    printf("\nLoss after the fit on all: %.4f\n", loss);
    fflush(stdout);
    for (int key = 0; key < LEAVE_KEY_COUNT; key++)
        if (is_left_out(group, (enum leave_key)key))
            leave_out(&ask, &group->reach, (enum leave_key)key, &group->left[key]);
    print_group(group);
}

static void
group_done(struct group *group)
{
    for (int key = 0; key < LEAVE_KEY_COUNT; key++)
        left_out_done(&group->left[key]);
    reach_done(&group->reach);
    runs_done(&group->runs);
}

static bool
read_options(int argc, char **argv, struct options *ret_options)
{
    *ret_options = (struct options){ .training = true, .serving = true };
    for (int i = 1; i < argc; i++) {
        if (strcmp(argv[i], "--quick") == 0)
            ret_options->quick = true;
        else if (strcmp(argv[i], "--training") == 0)
            ret_options->serving = false;
        else if (strcmp(argv[i], "--serving") == 0)
            ret_options->training = false;
        else if (strcmp(argv[i], "--save") == 0)
            ret_options->save = true;
        else if (strncmp(argv[i], "--start=", 8) == 0)
            ret_options->start = fmin(1, fmax(-1, strtod(argv[i] + 8, NULL)));
        else
            return false;
    }
    return !ret_options->save || (ret_options->training && ret_options->serving && !ret_options->quick);
}

int
main(int argc, char **argv)
{
    static struct group groups[2];
    struct options options;
    struct cases cases = { 0 };
    FILE *file;

    if (!read_options(argc, argv, &options)) {
        fputs("usage: fit [--quick] [--training|--serving] [--start=PLACE] "
              "[--save]; --save of a complete run\n",
              stderr);
        return 2;
    }
    cases_read_named(&cases, "train");
    cases_read_named(&cases, "serve");
    groups[0] = (struct group){ .options = &options, .kind = RUN_TRAINING };
    groups[1] = (struct group){ .options = &options, .kind = RUN_SERVING };
    if (options.training)
        fit_group(&groups[0], &cases);
    if (options.serving)
        fit_group(&groups[1], &cases);
    file = options.save ? left_out_file_start() : NULL;
    for (size_t i = 0; file && i < 2; i++)
        for (int key = 0; key < LEAVE_KEY_COUNT; key++)
            left_out_file_add(file, leave_key_names[key], &groups[i].left[key].by_slice);
    if (file && fclose(file) != 0)
        perror("left_out.csv");
    for (size_t i = 0; i < 2; i++)
        group_done(&groups[i]);
    cases_done(&cases);
    return 0;
}
