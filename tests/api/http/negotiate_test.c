/* Weighted lists: RFC 9110, section 12. */
#include "api/http/negotiate.h"

#include "api/http/etag.h"
#include "tests/support/suite.h"

static const struct {
    const char *header;
    enum language language;
} languages[] = {
    { NULL, LANGUAGE_EN },
    { "", LANGUAGE_EN },
    { "zh-CN", LANGUAGE_ZH_CN },
    { "zh", LANGUAGE_ZH_CN },
    { "ZH-hans-cn", LANGUAGE_ZH_CN },
    { "zh-TW", LANGUAGE_ZH_CN },
    { "zhx", LANGUAGE_EN },
    { "en-GB,en;q=0.9,zh;q=0.8", LANGUAGE_EN },
    { "en;q=0.5, zh-CN;q=0.9", LANGUAGE_ZH_CN },
    { "zh;q=0, en", LANGUAGE_EN },
    { "zh;q=0", LANGUAGE_EN },
    { "de, zh;q=0.1", LANGUAGE_ZH_CN },
    { "zh-CN,zh;q=0.9,en-US;q=0.8,en;q=0.7", LANGUAGE_ZH_CN }, /* what Chrome sends in China */
    { "*", LANGUAGE_EN },
    { "*;q=0.1, zh;q=0.2", LANGUAGE_ZH_CN },
    { "zh ; q=0.3 , en ; q=0.4", LANGUAGE_EN },
    { ";;,,q=;", LANGUAGE_EN },
};

START_TEST(language_by_weight)
{
    ck_assert_msg(language_negotiate(languages[_i].header) == languages[_i].language, "row %d", _i);
}
END_TEST

#define TABLES (MEDIA_BIT(MEDIA_JSON) | MEDIA_BIT(MEDIA_CSV) | MEDIA_BIT(MEDIA_NDJSON))
#define JSON MEDIA_BIT(MEDIA_JSON)

static const struct {
    const char *header;
    unsigned offered;
    enum media_type media;
} medias[] = {
    { NULL, JSON, MEDIA_JSON },
    { NULL, TABLES, MEDIA_JSON },
    { "*/*", TABLES, MEDIA_JSON },
    { "application/json", JSON, MEDIA_JSON },
    { "Application/JSON", JSON, MEDIA_JSON },
    { "application/*", TABLES, MEDIA_JSON },
    { "text/*", TABLES, MEDIA_CSV },
    { "text/csv", TABLES, MEDIA_CSV },
    { "text/csv", JSON, MEDIA_NONE },
    { "application/x-ndjson", TABLES, MEDIA_NDJSON },
    { "application/ndjson", TABLES, MEDIA_NDJSON },
    { "text/html", TABLES, MEDIA_NONE },
    { "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8", TABLES, MEDIA_JSON }, /* a browser */
    { "application/json;q=0.5, text/csv", TABLES, MEDIA_CSV },
    { "application/json;q=0", JSON, MEDIA_NONE },
    { "application/json;q=0, */*", TABLES, MEDIA_CSV }, /* the most specific range counts */
    { "*/*;q=0.1, application/json;q=0", JSON, MEDIA_NONE },
    { "application/json;version=1", JSON, MEDIA_JSON },
    { "application/json;a=\"x,y;q=0\"", JSON, MEDIA_JSON }, /* a comma in quotes ends nothing */
    { "application/json; charset=utf-8; q=0.2, text/csv;q=0.3", TABLES, MEDIA_CSV },
    { "application/json;q=2", JSON, MEDIA_NONE }, /* no weight there is */
};

START_TEST(media_by_weight_and_specificity)
{
    ck_assert_msg(media_negotiate(medias[_i].header, medias[_i].offered) == medias[_i].media, "row %d", _i);
}
END_TEST

START_TEST(media_by_name)
{
    char text[96];

    media_list(TABLES, text, sizeof text);
    ck_assert_str_eq(text, "application/json|text/csv|application/x-ndjson");
}
END_TEST

START_TEST(gzip)
{
    ck_assert(!gzip_accepted(NULL));
    ck_assert(!gzip_accepted(""));
    ck_assert(!gzip_accepted("br, deflate"));
    ck_assert(gzip_accepted("gzip, deflate, br"));
    ck_assert(gzip_accepted("*"));
    ck_assert(!gzip_accepted("*;q=0"));
    ck_assert(!gzip_accepted("gzip;q=0, *"));
    ck_assert(!gzip_accepted("*, gzip;q=0"));
}
END_TEST

static const struct {
    const char *type;
    bool json;
} content_types[] = {
    { NULL, true },
    { "application/json", true },
    { "Application/Json; Charset=UTF-8", true },
    { "application/json;charset=\"utf-8\"", true },
    { "application/json; charset=utf-8 ; x=1", true },
    { "application/json; profile=x", true },
    { "application/json; charset=gbk", false },
    { "application/json; charset=utf-8x", false },
    { "application/jsonx", false },
    { "application/x-www-form-urlencoded", false },
    { "text/json", false },
    { "", false },
};

START_TEST(json_bodies)
{
    ck_assert_msg(content_type_is_json(content_types[_i].type) == content_types[_i].json, "row %d", _i);
}
END_TEST

START_TEST(content_encodings)
{
    ck_assert(content_encoding_is_identity(NULL));
    ck_assert(content_encoding_is_identity("Identity"));
    ck_assert(!content_encoding_is_identity("gzip"));
}
END_TEST

/* FNV-1a of "foobar" over 64 bits as draft-eastlake-fnv, appendix C, gives it. */
START_TEST(fingerprints)
{
    char etag[ETAG_SIZE];

    ck_assert_uint_eq(fingerprint(0, "foobar", 6), 0x85944171F73967E8U);
    ck_assert_uint_eq(fingerprint(fingerprint(0, "foo", 3), "bar", 3), 0x85944171F73967E8U);
    etag_write(etag, 0x85944171F73967E8U);
    ck_assert_str_eq(etag, "\"85944171f73967e8\"");
}
END_TEST

static const struct {
    const char *header;
    bool matches;
} etags[] = {
    { NULL, false },          { "", false },        { "*", true },       { "\"a\"", true }, { "W/\"a\"", true },
    { "\"b\", \"a\"", true }, { "\"b,a\"", false }, { "\"ab\"", false }, { "a", false },    { "\"b\",\"a\"", true },
    { "\"a", false },
};

START_TEST(entity_tags)
{
    ck_assert_msg(etag_matches(etags[_i].header, "\"a\"") == etags[_i].matches, "row %d", _i);
}
END_TEST

int
main(void)
{
    TCase *tcase = tcase_create("negotiate");

    tcase_add_loop_test(tcase, language_by_weight, 0, COUNT_OF(languages));
    tcase_add_loop_test(tcase, media_by_weight_and_specificity, 0, COUNT_OF(medias));
    tcase_add_test(tcase, media_by_name);
    tcase_add_test(tcase, gzip);
    tcase_add_loop_test(tcase, json_bodies, 0, COUNT_OF(content_types));
    tcase_add_test(tcase, content_encodings);
    tcase_add_test(tcase, fingerprints);
    tcase_add_loop_test(tcase, entity_tags, 0, COUNT_OF(etags));
    return suite_run("negotiate", tcase);
}
