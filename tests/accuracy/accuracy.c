/* How far estimates are from what people measured: every published case is asked in process, results by slice.
 *
 *   accuracy [--verbose] [--readme] [FILE.jsonl ...]     without files: all of tests/data/accuracy
 *
 * Prints a Markdown table; --verbose: first each case that does not hold. --readme: writes the part of README.md that
 * shows it, too. Ends with 1 when a case was refused by a fault of this program (5xx). */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "api/json/buffer.h"
#include "service/base/quantity.h"
#include "tests/accuracy/cases.h"
#include "tests/accuracy/readme.h"
#include "tests/accuracy/score.h"

static void
tell_refusal(const struct accuracy_case *asked, const struct fault *fault)
{
    printf("%s [%s] refused: %s at %s (%s)\n", asked->id, asked->slice, fault_code_name(fault->code),
           fault->item_count ? fault->items[0].pointer : "", fault->item_count ? fault->items[0].value : "");
}

static void
tell_miss(const struct accuracy_case *asked, const json_t *reply, const json_t *expectation)
{
    const char *at = json_string_value(json_object_get(expectation, "at"));
    char *seen = json_dumps(reply_value(reply, at), JSON_ENCODE_ANY | JSON_COMPACT);
    char *want = json_dumps(expectation, JSON_COMPACT);

    printf("%s [%s] %.120s wanted %.200s\n", asked->id, asked->slice, seen ? seen : "absent", want);
    free(seen);
    free(want);
}

static void
run_case(const struct accuracy_case *asked, struct score *score, bool verbose, bool *broken)
{
    struct tally *tally = score_tally(score, asked->slice);
    struct fault fault;
    bool failed, held, told = true, measured;
    json_t *reply = case_ask(asked, &fault, &failed);
    const json_t *expectation;
    size_t i;

    *broken |= failed;
    tally->cases++;
    tally->refused += !reply;
    if (!reply && verbose)
        tell_refusal(asked, &fault);
    held = reply != NULL;
    json_array_foreach(asked->expect, i, expectation)
    {
        struct reading reading;

        if (!reply)
            break;
        told &= reply_value(reply, json_string_value(json_object_get(expectation, "at"))) != NULL;
        if (!reply_holds(reply, expectation, &measured, &reading)) {
            held = false;
            if (verbose)
                tell_miss(asked, reply, expectation);
        }
        if (measured)
            tally_add(tally, reading);
    }
    tally->held += held;
    tally->untold += reply && !told;
    json_decref(reply);
}

static void
print_table(const struct score *score)
{
    puts("| slice | cases | hold | refused | not told | median error | nine in "
         "ten | bias | in band | band width |");
    puts("|---|---:|---:|---:|---:|---:|---:|---:|---:|---:|");
    for (size_t i = 0; i < score->count; i++) {
        const struct tally *tally = &score->items[i];
        struct figures figures = tally_figures(tally);
        char median[SHARE_SIZE], most[SHARE_SIZE], bias[SHARE_SIZE], covered[SHARE_SIZE], width[SHARE_SIZE];

        printf("| %s | %zu | %zu | %zu | %zu | %s | %s | %s | %s | %s |\n", tally->name, tally->cases, tally->held,
               tally->refused, tally->untold, share_text(figures.median, 1, median), share_text(figures.most, 1, most),
               share_text(figures.bias, 1, bias), share_text(figures.covered, 0, covered),
               share_text(figures.width, 0, width));
    }
}

int
main(int argc, char **argv)
{
    static const char *const all[] = { "models", "cases", "train", "serve" };
    struct cases cases = { 0 };
    struct score score = { 0 };
    bool verbose = false, readme = false, broken = false, files = false;

    for (int i = 1; i < argc; i++) {
        if (strcmp(argv[i], "--verbose") == 0) {
            verbose = true;
        } else if (strcmp(argv[i], "--readme") == 0) {
            readme = true;
        } else {
            cases_read(&cases, argv[i]);
            files = true;
        }
    }
    for (size_t i = 0; !files && i < COUNT_OF(all); i++)
        cases_read_named(&cases, all[i]);
    for (size_t i = 0; i < cases.count; i++)
        run_case(&cases.items[i], &score, verbose, &broken);
    score_sort(&score);
    print_table(&score);
    if (readme)
        readme_write(&score);
    score_done(&score);
    cases_done(&cases);
    buffer_pool_done();
    return broken ? 1 : 0;
}
