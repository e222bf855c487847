#include "tests/accuracy/readme.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "service/base/quantity.h"
#include "tests/accuracy/leave_out.h"

enum { PAIR_SIZE = 48 };

static const char path[] = PROJECT_ROOT "/README.md";

/* Slices in words, in the order in which they are shown. */
static const struct {
    const char *slice, *words;
} measured[] =
    {
        {"accuracy_train_memory", "training memory"},
        {"accuracy_train_throughput", "training throughput"},
        {"accuracy_train_vision",
         "training throughput, vision networks and BERT"},
        {"accuracy_serve_memory", "serving memory"},
        {"accuracy_serve_tpot", "time per output token"},
        {"accuracy_serve_ttft", "time to first token"},
        {"accuracy_serve_throughput", "output tokens a second"},
        {"accuracy_serve_saturated", "output tokens a second, saturated"},
},
  asked[] = {
      {"model_exact",
       "parameters and cache bytes of a published model, exactly"},
      {"accuracy_gguf_size", "size of a GGUF file"},
      {"fit_training", "does this training fit?"},
      {"train_memory", "memory that a training took"},
      {"train_time", "time that a training took"},
      {"fit_serving", "does this model run here?"},
      {"serve_memory", "memory that a server took"},
      {"serve_kv", "tokens and users that its cache holds"},
      {"serve_latency", "latency under a load"},
      {"serve_throughput", "tokens a second under a load"},
      {"host", "processors and main memory"},
      {"data_feed", "can the data keep up?"},
      {"storage", "disks and checkpoints"},
      {"network", "links between nodes"},
      {"diagnosis", "why is it slower than it should be?"},
      {"cost", "what does it cost?"},
      {"recommend", "what should I rent or buy?"},
      {"scenario", "mixed questions"},
};

static const struct tally *
tally_of(const struct score *score, const char *slice)
{
    for (size_t i = 0; i < score->count; i++)
        if (strcmp(score->items[i].name, slice) == 0)
            return &score->items[i];
    return NULL;
}

/* "8.2 % / 18.5 %", "-" without figures. */
static const char *
pair_text(const struct figures *figures, char text[PAIR_SIZE])
{
    char median[SHARE_SIZE], most[SHARE_SIZE];

    if (!figures || !figures->count)
        return "-";
    snprintf(text, PAIR_SIZE, "%s / %s", share_text(figures->median, 1, median), share_text(figures->most, 1, most));
    return text;
}

static void
print_summary(const struct left_out_table *left_out, FILE *to)
{
    size_t told = 0;
    char text[SHARE_SIZE];

    for (size_t i = 0; i < COUNT_OF(measured); i++) {
        const struct figures *figures =
            left_out_figures(left_out, leave_key_names[LEAVE_SOURCE], slice_short(measured[i].slice));

        if (!figures)
            continue;
        fputs(told ? ", "
                   : "Of what a source published that the fit had not seen, half "
                     "is met within ",
              to);
        fprintf(to, "%s (%s)", share_text(figures->median, 0, text), measured[i].words);
        told++;
    }
    fputs(told ? ".\n\n" : "", to);
}

static void
print_measured(const struct score *score, const struct left_out_table *left_out, FILE *to)
{
    fputs("| measured | figures |", to);
    for (int key = 0; key < LEAVE_KEY_COUNT; key++)
        fprintf(to, " %s left out |", leave_key_names[key]);
    fputs(" in sample | in band (source left out) | band width |\n|---|---:|", to);
    for (int key = 0; key < LEAVE_KEY_COUNT; key++)
        fputs("---:|", to);
    fputs("---:|---:|---:|\n", to);
    for (size_t i = 0; i < COUNT_OF(measured); i++) {
        const struct tally *tally = tally_of(score, measured[i].slice);
        const struct figures *unseen =
            left_out_figures(left_out, leave_key_names[LEAVE_SOURCE], slice_short(measured[i].slice));
        char pair[PAIR_SIZE], covered[SHARE_SIZE], unseen_covered[SHARE_SIZE], width[SHARE_SIZE];

        if (!tally)
            continue;
        struct figures figures = tally_figures(tally);

        fprintf(to, "| %s | %zu |", measured[i].words, figures.count);
        for (int key = 0; key < LEAVE_KEY_COUNT; key++)
            fprintf(to, " %s |",
                    pair_text(left_out_figures(left_out, leave_key_names[key], slice_short(measured[i].slice)), pair));
        fprintf(to, " %s | %s (%s) | %s |\n", pair_text(&figures, pair), share_text(figures.covered, 0, covered),
                share_text(unseen ? unseen->covered : NAN, 0, unseen_covered), share_text(figures.width, 0, width));
    }
}

static void
print_asked(const struct score *score, FILE *to)
{
    size_t silent = 0;

    fputs("\n| asked | hold | of |\n|---|---:|---:|\n", to);
    for (size_t i = 0; i < COUNT_OF(asked); i++) {
        const struct tally *tally = tally_of(score, asked[i].slice);

        if (tally && tally->untold < tally->cases)
            fprintf(to, "| %s | %zu | %zu |\n", asked[i].words, tally->held, tally->cases);
    }
    for (size_t i = 0; i < COUNT_OF(asked); i++) {
        const struct tally *tally = tally_of(score, asked[i].slice);

        if (!tally || tally->untold < tally->cases)
            continue;
        fprintf(to, "%s\"%s\" (%zu)", silent++ ? ", " : "\nNot answered by this version: ", asked[i].words,
                tally->cases);
    }
    fputs(silent ? ".\n" : "", to);
}

void
readme_print(const struct score *score, const struct left_out_table *left_out, FILE *to)
{
    print_summary(left_out, to);
    print_measured(score, left_out, to);
    print_asked(score, to);
}

char *
readme_replaced(const char *text, const char *part)
{
    static const char begin[] = "<!-- accuracy", end[] = "<!-- /accuracy -->";
    const char *from = strstr(text, begin), *to = from ? strstr(from, end) : NULL,
               *line = from ? strchr(from, '\n') : NULL;
    char *replaced;

    if (!to || !line || line > to)
        return NULL;
    return asprintf(&replaced, "%.*s\n%s\n%s", (int)(line + 1 - text), text, part, to) < 0 ? NULL : replaced;
}

static char *
read_whole(FILE *file)
{
    char *text = NULL;
    size_t capacity = 0;

    return getdelim(&text, &capacity, '\0', file) < 0 ? NULL : text;
}

void
readme_write(const struct score *score)
{
    static struct left_out_table left_out;
    char *part = NULL, *text, *replaced;
    size_t size;
    FILE *file = fopen(path, "re"), *to = open_memstream(&part, &size);

    if (!file || !to || !(text = read_whole(file))) {
        perror(path);
        exit(2);
    }
    fclose(file);
    left_out_file_read(&left_out);
    readme_print(score, &left_out, to);
    fclose(to);
    replaced = readme_replaced(text, part);
    file = replaced ? fopen(path, "we") : NULL;
    if (!file || fputs(replaced, file) < 0 || fclose(file) != 0) {
        fprintf(stderr,
                "%s: not written; it needs a line <!-- accuracy --> and one <!-- "
                "/accuracy -->\n",
                path);
        exit(2);
    }
    free(text);
    free(part);
    free(replaced);
}
