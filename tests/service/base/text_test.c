#include "service/base/text.h"

#include <string.h>

#include "tests/support/suite.h"

START_TEST(copy_cuts_between_characters)
{
    char to[8];

    text_copy(to, sizeof to, "1234567");
    ck_assert_str_eq(to, "1234567");
    text_copy(to, sizeof to, "12345678");
    ck_assert_str_eq(to, "1234567");
    text_copy(to, sizeof to, "\u663e\u5b58\u5927"); /* three bytes each: two fit */
    ck_assert_str_eq(to, "\u663e\u5b58");
    text_copy(to, sizeof to, "12345\u663e");
    ck_assert_str_eq(to, "12345");
    text_copy(to, sizeof to, "1234\U0001F600");
    ck_assert_str_eq(to, "1234");
    text_copy(to, sizeof to, NULL);
    ck_assert_str_eq(to, "");
    text_copy(to, 1, "x");
    ck_assert_str_eq(to, "");
    text_copy(to, 0, "x");
}
END_TEST

START_TEST(format_cuts_between_characters)
{
    char to[8];

    text_format(to, sizeof to, "%d-%s", 12, "ab");
    ck_assert_str_eq(to, "12-ab");
    text_format(to, sizeof to, "%s", "1234567890");
    ck_assert_str_eq(to, "1234567");
    text_format(to, sizeof to, "12%s", "\u663e\u5b58");
    ck_assert_str_eq(to, "12\u663e");
}
END_TEST

START_TEST(whole_characters_are_counted)
{
    ck_assert_uint_eq(text_whole("abc", 2), 2);
    ck_assert_uint_eq(text_whole("a\u663e", 4), 4);
    ck_assert_uint_eq(text_whole("a\u663e", 3), 1);
    ck_assert_uint_eq(text_whole("a\u663e", 2), 1);
    ck_assert_uint_eq(text_whole("\U0001F600", 3), 0);
    ck_assert_uint_eq(text_whole("", 0), 0);
}
END_TEST

static const struct {
    const char *a, *b;
    unsigned distance;
    const char *source;
} distances[] = {
    { "kitten", "sitting", 3, "Levenshtein's usual example" },
    { "ca", "abc", 3, "restricted form; the unrestricted one would say 2" },
    { "ac", "ca", 1, "Damerau 1964: a swap is one edit" },
    { "precision", "percision", 1, "a swap" },
    { "", "abc", 3, "insertions" },
    { "same", "SAME", 0, "case does not count" },
};

START_TEST(distance_is_the_published_one)
{
    ck_assert_msg(text_distance(distances[_i].a, distances[_i].b, 10) == distances[_i].distance, "%s",
                  distances[_i].source);
    ck_assert_msg(text_distance(distances[_i].b, distances[_i].a, 10) == distances[_i].distance, "%s",
                  distances[_i].source);
}
END_TEST

START_TEST(distance_stops_above_its_limit)
{
    char long_word[200];

    ck_assert_uint_eq(text_distance("kitten", "sitting", 2), 3);
    ck_assert_uint_eq(text_distance("abcdefgh", "zyxwvuts", 3), 4);
    ck_assert_uint_eq(text_distance("a", "abcdefgh", 3), 4);
    memset(long_word, 'a', sizeof long_word - 1);
    long_word[sizeof long_word - 1] = '\0';
    ck_assert_uint_eq(text_distance(long_word, long_word, 5), 6);
}
END_TEST

static const char *const names[] = {
    NULL,
    "sequence_length",
    "micro_batch_size",
    "global_batch_size",
    "precision",
    "int8",
    "int4_awq",
    "int4_gptq",
    "q4_k_m",
    "q4_0",
    "adamw",
    "adamw_8bit",
    "gpus",
};

static const struct {
    const char *word, *nearest;
} nearest[] = {
    { "sequence_lenght", "sequence_length" },
    { "sequenceLength", "sequence_length" },
    { "seq", "sequence_length" },
    { "percision", "precision" },
    { "int4", "int4_awq" },
    { "INT8", "int8" },
    { "gpu", "gpus" },
    { "adam", "adamw" },
    { "adamw8bit", "adamw_8bit" },
    { "banana", NULL },
    { "x", NULL },
    { "", NULL },
};

START_TEST(nearest_name_is_what_was_meant)
{
    const char *found = text_nearest(nearest[_i].word, names, COUNT_OF(names));

    ck_assert_msg(text_equal(found, nearest[_i].nearest), "%s: %s", nearest[_i].word, found ? found : "none");
}
END_TEST

static const struct {
    const char *from, *to;
} normalised[] = {
    { "A100-SXM4-80GB", "a100 sxm4 80gb" },
    { "NVIDIA  H100\t80GB HBM3", "nvidia h100 80gb hbm3" },
    { "meta-llama/Llama-3_8B", "meta llama llama 3 8b" },
    { " - 4090 / ", "4090" },
    { "", "" },
    { "\u663e\u5361 X", "\u663e\u5361 x" },
};

START_TEST(names_are_written_as_in_alias_tables)
{
    char to[64], twice[64];

    text_normalise(to, sizeof to, normalised[_i].from);
    ck_assert_str_eq(to, normalised[_i].to);
    text_normalise(twice, sizeof twice, to);
    ck_assert_str_eq(twice, to);
}
END_TEST

START_TEST(normalised_names_are_cut)
{
    char to[8];

    text_normalise(to, sizeof to, "ABCDEFGHIJ");
    ck_assert_str_eq(to, "abcdefg");
    text_normalise(to, sizeof to, "ABCDEF GH");
    ck_assert_str_eq(to, "abcdef");
    text_normalise(to, sizeof to, "ABCDE\u663e");
    ck_assert_str_eq(to, "abcde");
}
END_TEST

START_TEST(null_equals_null_alone)
{
    ck_assert(text_equal(NULL, NULL));
    ck_assert(!text_equal(NULL, ""));
    ck_assert(!text_equal("", NULL));
    ck_assert(text_equal("a", "a"));
    ck_assert(!text_equal("a", "A"));
}
END_TEST

int
main(void)
{
    TCase *tcase = tcase_create("text");

    tcase_add_test(tcase, copy_cuts_between_characters);
    tcase_add_test(tcase, format_cuts_between_characters);
    tcase_add_test(tcase, whole_characters_are_counted);
    tcase_add_loop_test(tcase, distance_is_the_published_one, 0, COUNT_OF(distances));
    tcase_add_test(tcase, distance_stops_above_its_limit);
    tcase_add_loop_test(tcase, nearest_name_is_what_was_meant, 0, COUNT_OF(nearest));
    tcase_add_loop_test(tcase, names_are_written_as_in_alias_tables, 0, COUNT_OF(normalised));
    tcase_add_test(tcase, normalised_names_are_cut);
    tcase_add_test(tcase, null_equals_null_alone);
    return suite_run("text", tcase);
}
