#include "api/json/canonical.h"

#include <math.h>
#include <string.h>

#include "tests/support/random.h"
#include "tests/support/suite.h"

/* The canonical form of a document, NUL-terminated in a buffer of its own. */
static const char *
canonical(const json_t *document)
{
    static char text[4096];
    struct buffer *out = buffer_take();

    canonical_write(document, out);
    ck_assert(!out->failed && out->size < sizeof text);
    memcpy(text, out->bytes, out->size);
    text[out->size] = '\0';
    buffer_give(out);
    return text;
}

static void
expect(const char *from, const char *to)
{
    json_t *document = json_loads(from, 0, NULL);

    ck_assert_msg(document != NULL, "%s", from);
    ck_assert_str_eq(canonical(document), to);
    json_decref(document);
}

START_TEST(documents_match_rfc_8785)
{
    /* section 3.2.2 and 3.2.3 */
    expect(
        "{\"numbers\": [333333333.33333329, 1E30, 4.50, 2e-3, 0.000000000000000000000000001],"
        "\"string\": \"\\u20ac$\\u000F\\u000aA'\\u0042\\u0022\\u005c\\\\\\\"\\/\", \"literals\": [null, true, false]}",
        "{\"literals\":[null,true,false],\"numbers\":[333333333.3333333,1e+30,4.5,0.002,1e-27],"
        "\"string\":\"\u20ac$\\u000f\\nA'B\\\"\\\\\\\\\\\"/\"}");
    /* section 3.2.3: order of UTF-16 code units */
    expect(
        "{\"\\u20ac\": 1, \"\\r\": 2, \"\\ufb33\": 3, \"1\": 4, \"\\ud83d\\ude00\": 5, \"\\u0080\": 6, \"\\u00f6\": 7}",
        "{\"\\r\":2,\"1\":4,\"\xC2\x80\":6,\"\u00f6\":7,\"\u20ac\":1,\"\U0001F600\":5,\"\uFB33\":3}");
}
END_TEST

/* RFC 8785, appendix B */
static const struct {
    uint64_t bits;
    const char *text;
} numbers[] = {
    { 0x0000000000000000, "0" },
    { 0x8000000000000000, "0" },
    { 0x0000000000000001, "5e-324" },
    { 0x8000000000000001, "-5e-324" },
    { 0x7fefffffffffffff, "1.7976931348623157e+308" },
    { 0xffefffffffffffff, "-1.7976931348623157e+308" },
    { 0x4340000000000000, "9007199254740992" },
    { 0xc340000000000000, "-9007199254740992" },
    { 0x4430000000000000, "295147905179352830000" },
    { 0x44b52d02c7e14af5, "9.999999999999997e+22" },
    { 0x44b52d02c7e14af6, "1e+23" },
    { 0x44b52d02c7e14af7, "1.0000000000000001e+23" },
    { 0x444b1ae4d6e2ef4e, "999999999999999700000" },
    { 0x444b1ae4d6e2ef4f, "999999999999999900000" },
    { 0x444b1ae4d6e2ef50, "1e+21" },
    { 0x3eb0c6f7a0b5ed8c, "9.999999999999997e-7" },
    { 0x3eb0c6f7a0b5ed8d, "0.000001" },
    { 0x41b3de4355555553, "333333333.3333332" },
    { 0x41b3de4355555554, "333333333.33333325" },
    { 0x41b3de4355555555, "333333333.3333333" },
    { 0x41b3de4355555556, "333333333.3333334" },
    { 0x41b3de4355555557, "333333333.33333343" },
    { 0xbecbf647612f3696, "-0.0000033333333333333333" },
    { 0x43143ff3c1cb0959, "1424953923781206.2" },
};

START_TEST(numbers_match_rfc_8785)
{
    json_t *number;
    double value;

    memcpy(&value, &numbers[_i].bits, sizeof value);
    number = json_real(value);
    ck_assert_str_eq(canonical(number), numbers[_i].text);
    json_decref(number);
}
END_TEST

START_TEST(integers_are_the_doubles_they_equal)
{
    expect("[0,-7,4096,9007199254740992,9007199254740993,9223372036854775807,1.0,-0]",
           "[0,-7,4096,9007199254740992,9007199254740992,9223372036854776000,1,0]");
}
END_TEST

START_TEST(numbers_read_back_as_the_same_double)
{
    struct random random = random_seeded();

    for (int i = 0; i < 20000; i++) {
        uint64_t bits = random_u64(&random);
        double value;
        json_t *number;

        memcpy(&value, &bits, sizeof value);
        if (!isfinite(value))
            continue;
        number = json_real(value);
        ck_assert_msg(strtod(canonical(number), NULL) == value, "seed %ju: %a", random.seed, value);
        json_decref(number);
    }
}
END_TEST

START_TEST(digest_does_not_depend_on_writing)
{
    static const char *const same[] = { "{\"a\":1,\"b\":[true,\"x\"]}",
                                        " { \"b\" : [ true , \"\\u0078\" ] , \"a\" : 1.0 } ",
                                        "{\"a\":1e0,\"b\":[true,\"x\"]}" };
    static const char *const other[] = { "{\"a\":2,\"b\":[true,\"x\"]}", "{\"b\":[\"x\",true],\"a\":1}", "{\"a\":1}" };
    char first[REQUEST_DIGEST_SIZE], next[REQUEST_DIGEST_SIZE];

    for (size_t i = 0; i < COUNT_OF(same) + COUNT_OF(other); i++) {
        bool is_same = i < COUNT_OF(same);
        json_t *body = json_loads(is_same ? same[i] : other[i - COUNT_OF(same)], 0, NULL);

        request_digest(body, i == 0 ? first : next);
        if (i > 0)
            ck_assert_int_eq(strcmp(first, next) == 0, is_same);
        json_decref(body);
    }
}
END_TEST

START_TEST(digest_is_sha_256)
{
    char hex[REQUEST_DIGEST_SIZE];
    json_t *body = json_object();

    request_digest(body, hex); /* printf '{}' | sha256sum */
    ck_assert_str_eq(hex, "44136fa355b3678a1146ad16f7e8649e94fb4fc21fe77e8310c060f61caaff8a");
    json_decref(body);
}
END_TEST

START_TEST(large_objects_are_sorted_too)
{
    json_t *object = json_object();
    const char *text;
    char name[8];

    for (int i = 99; i >= 10; i--) {
        snprintf(name, sizeof name, "k%d", i);
        json_object_set_new(object, name, json_null());
    }
    text = canonical(object);
    for (int i = 10; i < 99; i++) {
        char here[16], next[16];

        snprintf(here, sizeof here, "\"k%d\"", i);
        snprintf(next, sizeof next, "\"k%d\"", i + 1);
        ck_assert(strstr(text, here) < strstr(text, next));
    }
    json_decref(object);
}
END_TEST

int
main(void)
{
    TCase *tcase = tcase_create("canonical");

    tcase_add_test(tcase, documents_match_rfc_8785);
    tcase_add_loop_test(tcase, numbers_match_rfc_8785, 0, COUNT_OF(numbers));
    tcase_add_test(tcase, integers_are_the_doubles_they_equal);
    tcase_add_test(tcase, numbers_read_back_as_the_same_double);
    tcase_add_test(tcase, digest_does_not_depend_on_writing);
    tcase_add_test(tcase, digest_is_sha_256);
    tcase_add_test(tcase, large_objects_are_sorted_too);
    return suite_run("canonical", tcase);
}
