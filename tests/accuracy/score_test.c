/* What `make accuracy` counts: expectations of replies, figures of readings, names of sources, the README's part. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "tests/accuracy/cases.h"
#include "tests/accuracy/readme.h"
#include "tests/support/suite.h"

static const char reply_text[] = "{\"verdict\": \"fits\", \"count\": 3, \"memory\": {\"allocated_bytes\": "
                                 "110, \"allocated_low_bytes\": 100, "
                                 "\"allocated_high_bytes\": 121, \"reserved_bytes\": 200, \"low_bytes\": "
                                 "90, \"high_bytes\": 220}, "
                                 "\"speed\": {\"low\": 8, \"expected\": 10, \"high\": 13}, \"fixes\": "
                                 "[{\"code\": \"lora\"}]}";

static const struct {
    const char *expectation;
    bool holds, measured;
    double error, width;
    bool covered;
} expected[] = {
    { "{\"at\": \"/verdict\", \"is\": [\"fits\", \"tight\"]}", true, false, 0, 0, false },
    { "{\"at\": \"/verdict\", \"is\": [\"tight\"]}", false, false, 0, 0, false },
    { "{\"at\": \"/count\", \"equals\": 3}", true, false, 0, 0, false },
    { "{\"at\": \"/count\", \"equals\": 4}", false, false, 0, 0, false },
    { "{\"at\": \"/count\", \"min\": 3, \"max\": 3}", true, false, 0, 0, false },
    { "{\"at\": \"/count\", \"max\": 2}", false, false, 0, 0, false },
    { "{\"at\": \"/fixes\", \"has\": \"lora\"}", true, false, 0, 0, false },
    { "{\"at\": \"/fixes\", \"has\": \"qlora\"}", false, false, 0, 0, false },
    { "{\"at\": \"/fixes/0/code\", \"equals\": \"lora\"}", true, false, 0, 0, false },
    { "{\"at\": \"/nothing\", \"near\": 1, \"within\": 9}", false, false, 0, 0, false },
    { "{\"at\": \"/count\", \"near\": 4, \"within\": 0.3}", true, true, -0.25, 0, false },
    { "{\"at\": \"/count\", \"near\": 4, \"within\": 0.2}", false, true, -0.25, 0, false },
    { "{\"at\": \"/speed\", \"near\": 12.5, \"within\": 0.2}", true, true, -0.2, 0.5, true },
    { "{\"at\": \"/speed\", \"near\": 16, \"within\": 1}", true, true, -0.375, 0.5, false },
    { "{\"at\": \"/memory/allocated_bytes\", \"near\": 100, \"within\": 0.1}", true, true, 0.1, 21.0 / 110, true },
    { "{\"at\": \"/memory/reserved_bytes\", \"near\": 80, \"within\": 2}", true, true, 1.5, 0.65, false },
};

START_TEST(expectations_hold_or_not)
{
    json_t *reply = json_loads(reply_text, 0, NULL), *wanted = json_loads(expected[_i].expectation, 0, NULL);
    struct reading reading = { 0 };
    bool measured;

    ck_assert_msg(reply && wanted, "%s", expected[_i].expectation);
    ck_assert_msg(reply_holds(reply, wanted, &measured, &reading) == expected[_i].holds, "%s",
                  expected[_i].expectation);
    ck_assert_msg(measured == expected[_i].measured, "%s", expected[_i].expectation);
    ck_assert_double_eq_tol(reading.error, expected[_i].error, 1e-12);
    ck_assert_double_eq_tol(reading.width, expected[_i].width, 1e-12);
    ck_assert_int_eq(reading.covered, expected[_i].covered);
    json_decref(reply);
    json_decref(wanted);
}
END_TEST

START_TEST(figures_are_medians_and_nine_in_ten)
{
    struct score score = { 0 };
    struct tally *tally = score_tally(&score, "x");
    struct figures figures;

    for (int i = 1; i <= 10; i++) /* -1 % 2 % -3 % ... 10 % */
        tally_add(tally,
                  (struct reading){
                      .error = (i % 2 ? -0.01 : 0.01) * i, .banded = i <= 4, .covered = i <= 3, .width = 0.1 * i });
    figures = tally_figures(score_tally(&score, "x"));
    ck_assert_uint_eq(figures.count, 10);
    ck_assert_double_eq_tol(figures.median, 0.055, 1e-12);
    ck_assert_double_eq_tol(figures.most, 0.09, 1e-12);
    ck_assert_double_eq_tol(figures.bias, 0.005, 1e-12);
    ck_assert_double_eq_tol(figures.covered, 0.75, 1e-12);
    ck_assert_double_eq_tol(figures.width, 0.25, 1e-12);
    ck_assert(isnan(tally_figures(score_tally(&score, "y")).median));
    score_done(&score);
}
END_TEST

static const struct {
    const char *source, *name;
} sources[] = {
    { "github:QwenLM/Qwen README.md @0a1b row 3", "QwenLM/Qwen" },
    { "ai-dynamo/aiconfigurator silicon sample (deepseek_r1)", "ai-dynamo/aiconfigurator" },
    { "github:someone/TensorRT-LLM (fork of NVIDIA) docs/perf-overview.md", "NVIDIA/TensorRT-LLM" },
    { "hiyouga/LlamaFactory#3809", "hiyouga/LlamaFactory#3809" },
    { "config.json on the Hub", "config.json on the Hub" },
};

START_TEST(sources_are_repositories)
{
    char name[CASE_NAME_SIZE];

    case_source(sources[_i].source, name);
    ck_assert_str_eq(name, sources[_i].name);
}
END_TEST

START_TEST(the_readme_keeps_what_is_around_its_part)
{
    char *once = readme_replaced("# A\n<!-- accuracy: written -->\nold\n<!-- /accuracy -->\nB\n", "new\n");
    char *twice = readme_replaced(once, "newer\n");

    ck_assert_str_eq(once, "# A\n<!-- accuracy: written -->\n\nnew\n\n<!-- /accuracy -->\nB\n");
    ck_assert_str_eq(twice, "# A\n<!-- accuracy: written -->\n\nnewer\n\n<!-- /accuracy -->\nB\n");
    ck_assert_ptr_null(readme_replaced("# A\nno part\n", "new\n"));
    ck_assert_ptr_null(readme_replaced("<!-- /accuracy -->\n<!-- accuracy -->\n", "new\n"));
    free(once);
    free(twice);
}
END_TEST

static char *
printed(const struct score *score, const struct left_out_table *left_out)
{
    char *text = NULL;
    size_t size;
    FILE *to = open_memstream(&text, &size);

    readme_print(score, left_out, to);
    fclose(to);
    return text;
}

START_TEST(the_readme_quotes_what_was_left_out_and_tells_what_is_not_answered)
{
    static const struct left_out_table left_out = {
        .rows = { { "source", "serve_ttft", { .count = 9, .median = 0.17, .most = 0.51, .covered = 0.8 } } },
        .count = 1,
    };
    struct score score = { 0 };
    struct tally *tally = score_tally(&score, "accuracy_serve_ttft");
    char *text;

    tally->cases = 1;
    tally_add(tally, (struct reading){ .error = 0.1, .banded = true, .covered = true, .width = 1.2 });
    score_tally(&score, "storage")->cases = 2;
    score_tally(&score, "storage")->untold = 2;
    score_tally(&score, "serve_kv")->cases = 7;
    score_tally(&score, "serve_kv")->held = 6;
    text = printed(&score, &left_out);
    ck_assert_ptr_nonnull(strstr(text, "is met within 17 % (time to first token).\n"));
    ck_assert_ptr_nonnull(strstr(text, "| time to first token | 1 | 17.0 % / 51.0 % | - | - | - | "
                                       "10.0 % / 10.0 % | 100 % (80 %) | 120 % |"));
    ck_assert_ptr_nonnull(strstr(text, "| tokens and users that its cache holds | 6 | 7 |\n"));
    ck_assert_ptr_nonnull(strstr(text, "Not answered by this version: \"disks and checkpoints\" (2).\n"));
    free(text);
    score_done(&score);
}
END_TEST

int
main(void)
{
    TCase *tcase = tcase_create("score");

    tcase_add_loop_test(tcase, expectations_hold_or_not, 0, COUNT_OF(expected));
    tcase_add_test(tcase, figures_are_medians_and_nine_in_ten);
    tcase_add_loop_test(tcase, sources_are_repositories, 0, COUNT_OF(sources));
    tcase_add_test(tcase, the_readme_keeps_what_is_around_its_part);
    tcase_add_test(tcase, the_readme_quotes_what_was_left_out_and_tells_what_is_not_answered);
    return suite_run("score", tcase);
}
