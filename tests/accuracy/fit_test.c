/* The fitter, on truths that are known because they were planted: what this program estimates under other constants. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "tests/accuracy/leave_out.h"
#include "tests/support/seed_catalog.h"
#include "tests/support/suite.h"

static struct cases cases;
static struct runs runs;
static struct rates shipped;
static struct constants constants;

/* Constants that many published runs depend on, each in its own way. */
static const char *const planted[] = { "training.matmul_share.ampere", "training.matmul_share.hopper",
                                       "training.attention_share.newer" };

static void
keep_planted(void)
{
    struct constants all;

    constants_read(&all, "training.", 0.2);
    constants.count = 0;
    for (size_t i = 0; i < COUNT_OF(planted); i++) {
        size_t at = constants_find(&all, planted[i]);

        ck_assert_msg(at < all.count, "%s is not fitted", planted[i]);
        constants.items[constants.count++] = all.items[at];
    }
}

static void
setup(void)
{
    cases_read_named(&cases, "train");
    runs_read(&runs, &cases, RUN_TRAINING, seed_catalog());
    shipped = seed_catalog()->rates;
    keep_planted();
}

static void
teardown(void)
{
    runs_done(&runs);
    cases_done(&cases);
}

/* Makes the truth of every target, a bound too, what these constants give. */
static void
plant_truths(const struct rates *rates)
{
    for (size_t i = 0; i < runs.target_count; i++) {
        struct range figures[FIGURE_COUNT] = { 0 };

        run_estimate(&runs.items[runs.targets[i].run], rates, figures);
        runs.targets[i].truth = figures[runs.targets[i].figure].expected;
    }
}

/* Constants at places that differ from where a search starts. */
static struct rates
planted_rates(void)
{
    static const double places[COUNT_OF(planted)] = { -0.5, 0.4, 0.3 };
    struct rates rates = shipped;

    for (size_t i = 0; i < COUNT_OF(planted); i++)
        *rates_at(&rates, constants.items[i].index) = constant_value(&constants.items[i], places[i]);
    return rates;
}

static struct refit_ask
usual_ask(void)
{
    return (struct refit_ask){ .runs = &runs, .constants = &constants, .rates = &shipped, .sweeps = 30 };
}

static void
assert_recovered(const struct rates *found, const struct rates *truth, double within)
{
    struct rates a = *found, b = *truth;

    for (size_t i = 0; i < constants.count; i++) {
        double seen = *rates_at(&a, constants.items[i].index), want = *rates_at(&b, constants.items[i].index);

        ck_assert_msg(fabs(seen / want - 1) < within, "%s: %g instead of %g", constants.items[i].name, seen, want);
    }
}

START_TEST(planted_constants_are_recovered)
{
    struct rates truth = planted_rates(), found;
    struct refit_ask ask = usual_ask();
    struct reach reach;

    plant_truths(&truth);
    reach_find(&reach, &ask);
    refit(&ask, &reach, &found);
    assert_recovered(&found, &truth, 0.03);
    reach_done(&reach);
}
END_TEST

START_TEST(odd_rows_do_not_rule)
{
    struct rates truth = planted_rates(), found;
    struct refit_ask ask = usual_ask();
    struct reach reach;

    plant_truths(&truth);
    for (size_t i = 0; i < runs.target_count; i += 10)
        runs.targets[i].truth *= 4;
    reach_find(&reach, &ask);
    refit(&ask, &reach, &found);
    assert_recovered(&found, &truth, 0.08);
    reach_done(&reach);
}
END_TEST

START_TEST(another_start_ends_in_the_same_place)
{
    struct rates truth = planted_rates(), found;
    struct refit_ask ask = usual_ask();
    struct reach reach;

    plant_truths(&truth);
    ask.start = -0.9;
    reach_find(&reach, &ask);
    refit(&ask, &reach, &found);
    assert_recovered(&found, &truth, 0.03);
    reach_done(&reach);
}
END_TEST

/* Truths of one source are spoiled: fits with it must follow them, fits without it must not even notice. */
START_TEST(what_is_left_out_is_not_seen)
{
    static const char source[] = "mosaicml/llm-foundry";
    struct rates truth = planted_rates(), before, after, with;
    bool *left_out = calloc(runs.target_count, sizeof *left_out);
    struct refit_ask ask = usual_ask();
    struct reach reach;
    size_t spoiled = 0;

    plant_truths(&truth);
    reach_find(&reach, &ask);
    for (size_t i = 0; i < runs.target_count; i++)
        left_out[i] = strcmp(runs.targets[i].from->source, source) == 0;
    ask.left_out = left_out;
    refit(&ask, &reach, &before);
    for (size_t i = 0; i < runs.target_count; i++) {
        if (!left_out[i])
            continue;
        runs.targets[i].truth *= 1.15;
        spoiled++;
    }
    ck_assert_uint_gt(spoiled, 20);
    refit(&ask, &reach, &after);
    ck_assert_mem_eq(&before, &after, sizeof before);
    ask.left_out = NULL;
    refit(&ask, &reach, &with);
    ck_assert_mem_ne(&before, &with, sizeof before);
    free(left_out);
    reach_done(&reach);
}
END_TEST

/* Every target is left out once under each key, and what spoils a source shows whole in its left-out readings. */
START_TEST(each_source_is_read_by_a_fit_that_has_not_seen_it)
{
    static const char spoiled[] = "mosaicml/llm-foundry, train_throughput";
    struct rates truth = planted_rates();
    struct refit_ask ask = usual_ask();
    struct reach reach;
    struct left_out out;
    size_t readings = 0;

    plant_truths(&truth);
    for (size_t i = 0; i < runs.target_count; i++)
        if (strcmp(runs.targets[i].from->source, "mosaicml/llm-foundry") == 0)
            runs.targets[i].truth *= 2;
    reach_find(&reach, &ask);
    leave_out(&ask, &reach, LEAVE_SOURCE, &out);
    for (size_t i = 0; i < out.by_slice.count; i++)
        readings += out.by_slice.items[i].count;
    ck_assert_uint_eq(readings, runs.target_count);
    for (size_t i = 0; i < out.by_name.count; i++) {
        struct figures figures = tally_figures(&out.by_name.items[i]);

        if (strcmp(out.by_name.items[i].name, spoiled) == 0)
            ck_assert_double_eq_tol(figures.bias, -0.5, 0.01);
    }
    left_out_done(&out);
    reach_done(&reach);
}
END_TEST

START_TEST(bounds_count_only_where_they_are_broken)
{
    struct constants none = { .count = 0 };
    struct refit_ask ask = usual_ask();
    struct reach reach;
    struct rates found;

    plant_truths(&shipped);
    ask.constants = &none;
    reach_find(&reach, &ask);
    for (size_t i = 0; i < runs.target_count; i++) {
        struct target *target = &runs.targets[i];

        target->least = target->truth * 0.5;
        target->most = target->truth * 1.5;
        target->truth = 0;
    }
    ck_assert_double_eq(refit(&ask, &reach, &found), 0);
    runs.targets[0].most = runs.targets[0].least;
    ck_assert_double_gt(refit(&ask, &reach, &found), 0);
    reach_done(&reach);
}
END_TEST

START_TEST(only_what_depends_on_a_constant_is_within_its_reach)
{
    struct refit_ask ask = usual_ask();
    struct reach reach;
    size_t hopper = constants_find(&constants, "training.matmul_share.hopper");

    reach_find(&reach, &ask);
    ck_assert_uint_gt(reach_count(&reach, hopper), 20);
    for (size_t i = 0; i < runs.target_count; i++)
        if (strncmp(runs.targets[i].from->gpu, "h100", 4) != 0)
            ck_assert_msg(!reach.moves[hopper * reach.run_count + runs.targets[i].run], "%s", runs.targets[i].from->id);
    reach_done(&reach);
}
END_TEST

/* What is fitted must be what callers get: the same figure and band as in the reply, which has six digits. */
static void
assert_same_as_reply(const struct target *target)
{
    struct range figures[FIGURE_COUNT];
    struct fault fault;
    bool broken, measured;
    json_t *reply = case_ask(target->from, &fault, &broken), *expectation;
    struct reading seen, own;

    ck_assert_msg(reply != NULL, "%s is refused", target->from->id);
    run_estimate(&runs.items[target->run], &shipped, figures);
    own = reading_of(target->truth, figures[target->figure].low, figures[target->figure].expected,
                     figures[target->figure].high);
    expectation =
        json_pack("{s:s, s:f, s:f}", "at", figure_pointers[target->figure], "near", target->truth, "within", 1.0);
    reply_holds(reply, expectation, &measured, &seen);
    ck_assert_msg(measured, "%s tells no %s", target->from->id, figure_pointers[target->figure]);
    ck_assert_msg(fabs(seen.error - own.error) < 2e-5 * (1 + fabs(own.error)), "%s: %g in the reply, %g fitted",
                  target->from->id, seen.error, own.error);
    ck_assert_msg(seen.banded == own.banded && fabs(seen.width - own.width) < 1e-4, "%s: another band",
                  target->from->id);
    json_decref(expectation);
    json_decref(reply);
}

START_TEST(fitted_figures_are_those_of_replies)
{
    for (size_t i = 0; i < runs.target_count; i += 3)
        if (runs.targets[i].truth > 0)
            assert_same_as_reply(&runs.targets[i]);
    runs_done(&runs);
    cases_done(&cases);
    cases_read_named(&cases, "serve");
    runs_read(&runs, &cases, RUN_SERVING, seed_catalog());
    for (size_t i = 0; i < runs.target_count; i += 5)
        if (runs.targets[i].truth > 0)
            assert_same_as_reply(&runs.targets[i]);
}
END_TEST

START_TEST(constants_are_rows_with_a_range)
{
    struct constants all;

    constants_read(&all, "serving.", 0.2);
    ck_assert_uint_gt(all.count, 20);
    for (size_t i = 0; i < all.count; i++) {
        const struct constant *constant = &all.items[i];

        ck_assert_msg(!strstr(constant->name, ".band.") && strncmp(constant->name, "serving.", 8) == 0, "%s",
                      constant->name);
        ck_assert(constant->low < constant->high && constant->reach >= 0.2);
        ck_assert_msg(constant->high > 1 || constant_value(constant, 1) <= 1, "%s", constant->name);
        ck_assert_double_eq_tol(constant_place(constant, constant_value(constant, 0.1)), 0.1, 0.2);
    }
    ck_assert_uint_eq(constants_find(&all, "serving.most_sequences"), all.count);
}
END_TEST

int
main(void)
{
    TCase *tcase = tcase_create("fit");

    tcase_add_checked_fixture(tcase, setup, teardown);
    tcase_set_timeout(tcase, 60);
    tcase_add_test(tcase, planted_constants_are_recovered);
    tcase_add_test(tcase, odd_rows_do_not_rule);
    tcase_add_test(tcase, another_start_ends_in_the_same_place);
    tcase_add_test(tcase, what_is_left_out_is_not_seen);
    tcase_add_test(tcase, each_source_is_read_by_a_fit_that_has_not_seen_it);
    tcase_add_test(tcase, bounds_count_only_where_they_are_broken);
    tcase_add_test(tcase, only_what_depends_on_a_constant_is_within_its_reach);
    tcase_add_test(tcase, fitted_figures_are_those_of_replies);
    tcase_add_test(tcase, constants_are_rows_with_a_range);
    return suite_run("fit", tcase);
}
