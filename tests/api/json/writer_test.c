#include "api/json/writer.h"

#include <float.h>
#include <jansson.h>
#include <math.h>
#include <string.h>

#include "tests/support/random.h"
#include "tests/support/suite.h"

static struct buffer *out;
static struct json_writer writer;

static void
start(void)
{
    out = buffer_take();
    writer_init(&writer, out);
}

static void
stop(void)
{
    buffer_give(out);
    buffer_pool_done();
}

static void
expect(const char *text)
{
    ck_assert_msg(out->size == strlen(text) && memcmp(out->bytes, text, out->size) == 0, "%.*s, not %s", (int)out->size,
                  out->bytes, text);
}

static const struct {
    double value;
    const char *text;
} reals[] = {
    { 0, "0" },
    { -0.0, "0" },
    { 1, "1" },
    { -1.5, "-1.5" },
    { 0.1, "0.1" },
    { 1.0 / 3, "0.333333" },
    { 2.0 / 3, "0.666667" },
    { 3.14159265358979, "3.14159" },
    { 123.456789, "123.457" },
    { 0.9999999, "1" },
    { 99999.96, "100000" },
    { 1234567.25, "1234567" },
    { 1e-6, "0.000001" },
    { 9.5e-7, "9.5e-07" },
    { 123456789012345, "123456789012345" },
    { 4503599627370495.5, "4503599627370496" },
    { 1e18, "1000000000000000000" },
    { 1e19, "1e+19" },
    { DBL_MAX, "1.79769e+308" },
    { -INFINITY, "null" },
    { NAN, "null" },
};

START_TEST(reals_keep_six_digits)
{
    writer_real(&writer, NULL, reals[_i].value);
    expect(reals[_i].text);
}
END_TEST

START_TEST(containers_separate_their_values)
{
    writer_object(&writer, NULL);
    writer_array(&writer, "a");
    writer_end_array(&writer);
    writer_array(&writer, "b");
    writer_u64(&writer, NULL, 1);
    writer_null(&writer, NULL);
    writer_object(&writer, NULL);
    writer_end_object(&writer);
    writer_bool(&writer, NULL, true);
    writer_end_array(&writer);
    writer_bool(&writer, "c", false);
    writer_raw(&writer, "d", "{\"x\":1}", 7);
    writer_i64(&writer, "e", INT64_MIN);
    writer_end_object(&writer);
    expect("{\"a\":[],\"b\":[1,null,{},true],\"c\":false,\"d\":{\"x\":1},\"e\":-9223372036854775808}");
}
END_TEST

START_TEST(composites_are_written_whole)
{
    writer_array(&writer, NULL);
    writer_range(&writer, NULL, (struct range){ 1, 2.5, NAN });
    writer_money(&writer, NULL, (struct money){ 12340000, CURRENCY_CNY });
    writer_end_array(&writer);
    expect("[{\"low\":1,\"expected\":2.5,\"high\":null},{\"amount\":\"12.34\",\"currency\":\"CNY\"}]");
}
END_TEST

static const struct {
    double bytes;
    const char *text;
} bytes[] = {
    { 0, "0" },
    { 1.49, "1" },
    { 1.5, "2" },
    { -3, "0" },
    { 85899345920, "85899345920" },
    { 1e30, "9223372036854775807" },
    { NAN, "null" },
};

START_TEST(bytes_are_whole)
{
    writer_bytes(&writer, NULL, bytes[_i].bytes);
    expect(bytes[_i].text);
}
END_TEST

START_TEST(integers_stay_where_readers_take_them)
{
    writer_u64(&writer, NULL, UINT64_MAX);
    expect("9223372036854775807");
}
END_TEST

static const struct {
    const char *text, *json;
} texts[] = {
    { "plain", "\"plain\"" },
    { NULL, "null" },
    { "", "\"\"" },
    { "\"\\/\b\f\n\r\t\x01\x1f\x7f", "\"\\\"\\\\/\\b\\f\\n\\r\\t\\u0001\\u001f\x7f\"" },
    { "\u663e\u5b58 \U0001F600", "\"\u663e\u5b58 \U0001F600\"" },
    /* not UTF-8: a lone byte, a lone continuation, a surrogate, an overlong form, beyond U+10FFFF, cut at the end */
    { "a\xff z", "\"a\uFFFD z\"" },
    { "\x80", "\"\uFFFD\"" },
    { "\xED\xA0\x80", "\"\uFFFD\uFFFD\uFFFD\"" },
    { "\xC0\xAF", "\"\uFFFD\uFFFD\"" },
    { "\xF4\x90\x80\x80", "\"\uFFFD\uFFFD\uFFFD\uFFFD\"" },
    { "\xE6\x98", "\"\uFFFD\uFFFD\"" },
};

START_TEST(text_is_escaped_and_always_utf8)
{
    writer_text(&writer, NULL, texts[_i].text);
    expect(texts[_i].json);
}
END_TEST

START_TEST(too_deep_a_reply_is_marked)
{
    for (int i = 0; i < 2 * WRITER_MAX_DEPTH; i++)
        writer_array(&writer, NULL);
    ck_assert(out->failed);
}
END_TEST

/* Random documents, written and at the same time built as what they mean. */
static json_t *write_random(struct random *random, const char *name, unsigned depth);

static json_t *
write_random_text(struct random *random, const char *name)
{
    char text[64];
    size_t size = random_below(random, sizeof text - 4);
    size_t length = 0;

    while (length < size) {
        static const char *const pieces[] = {
            "\u00e9", "\u663e", "\U0001F600", "\"", "\\", "\n", "\x01", "/", "~", "a"
        };
        const char *piece = pieces[random_below(random, COUNT_OF(pieces))];

        memcpy(text + length, piece, strlen(piece));
        length += strlen(piece);
    }
    text[length] = '\0';
    writer_text(&writer, name, text);
    return json_string(text);
}

static json_t *
write_random_real(struct random *random, const char *name)
{
    double value = ldexp(random_unit(random) * 2 - 1, (int)random_below(random, 240) - 120);

    writer_real(&writer, name, value);
    return json_real(value);
}

static json_t *
write_random_container(struct random *random, const char *name, bool object, unsigned depth)
{
    static const char *const names[] = { "a", "b_bytes", "c", "d", "e", "f", "g", "h" };
    json_t *meant = object ? json_object() : json_array();
    size_t count = random_below(random, COUNT_OF(names) + 1);

    if (object)
        writer_object(&writer, name);
    else
        writer_array(&writer, name);
    for (size_t i = 0; i < count; i++) {
        if (object)
            json_object_set_new(meant, names[i], write_random(random, names[i], depth + 1));
        else
            json_array_append_new(meant, write_random(random, NULL, depth + 1));
    }
    if (object)
        writer_end_object(&writer);
    else
        writer_end_array(&writer);
    return meant;
}

static json_t *
write_random(struct random *random, const char *name, unsigned depth)
{
    uint64_t kind = random_below(random, depth == 0 ? 2 : depth > 5 ? 7 : 9) + (depth == 0 ? 7 : 0);
    uint64_t integer = random_u64(random) >> random_below(random, 64);

    switch (kind) {
    case 0:
        writer_null(&writer, name);
        return json_null();
    case 1:
        writer_bool(&writer, name, integer % 2);
        return json_boolean(integer % 2);
    case 2:
        writer_i64(&writer, name, (int64_t)integer);
        return json_integer((int64_t)integer);
    case 3:
        writer_u64(&writer, name, integer / 2);
        return json_integer((int64_t)(integer / 2));
    case 4:
    case 5:
        return write_random_real(random, name);
    case 6:
        return write_random_text(random, name);
    default:
        return write_random_container(random, name, kind == 8, depth);
    }
}

/* Equal, reals to 6 significant digits. */
static bool
means(const json_t *read, const json_t *meant)
{
    const char *name;
    json_t *value;

    if (json_is_real(meant))
        return json_is_number(read) &&
               fabs(json_number_value(read) - json_real_value(meant)) <= 5.0001e-6 * fabs(json_real_value(meant));
    if (json_is_object(meant)) {
        json_object_foreach((json_t *)meant, name, value) if (!means(json_object_get(read, name), value)) return false;
        return json_object_size(read) == json_object_size(meant);
    }
    if (json_is_array(meant)) {
        for (size_t i = 0; i < json_array_size(meant); i++)
            if (!means(json_array_get(read, i), json_array_get(meant, i)))
                return false;
        return json_array_size(read) == json_array_size(meant);
    }
    return json_equal(read, meant);
}

START_TEST(what_is_written_reads_back_as_it_was_meant)
{
    struct random random = random_seeded();

    for (int i = 0; i < 2000; i++) {
        json_error_t error;
        json_t *meant, *read;

        out->size = 0;
        writer_init(&writer, out);
        meant = write_random(&random, NULL, 0);
        read = json_loadb(out->bytes, out->size, JSON_REJECT_DUPLICATES, &error);
        ck_assert_msg(read != NULL, "seed %ju, document %d: %s", random.seed, i, error.text);
        ck_assert_msg(means(read, meant), "seed %ju, document %d: %.*s", random.seed, i, (int)out->size, out->bytes);
        json_decref(read);
        json_decref(meant);
    }
}
END_TEST

int
main(void)
{
    TCase *tcase = tcase_create("writer");

    tcase_add_checked_fixture(tcase, start, stop);
    tcase_add_loop_test(tcase, reals_keep_six_digits, 0, COUNT_OF(reals));
    tcase_add_test(tcase, containers_separate_their_values);
    tcase_add_test(tcase, composites_are_written_whole);
    tcase_add_loop_test(tcase, bytes_are_whole, 0, COUNT_OF(bytes));
    tcase_add_test(tcase, integers_stay_where_readers_take_them);
    tcase_add_loop_test(tcase, text_is_escaped_and_always_utf8, 0, COUNT_OF(texts));
    tcase_add_test(tcase, too_deep_a_reply_is_marked);
    tcase_add_test(tcase, what_is_written_reads_back_as_it_was_meant);
    return suite_run("writer", tcase);
}
