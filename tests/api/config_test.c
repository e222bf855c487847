/* Settings: defaults, every kind of value, every bad one told at once. */
#include "api/config.h"

#include <string.h>

#include "api/observe/observe.h"
#include "tests/support/suite.h"

static struct config config;
static struct fault fault;

static enum status
read_one(const char *entry)
{
    char *environment[] = { (char *)entry, NULL };

    return config_read(environment, &config, &fault);
}

START_TEST(defaults_are_those_of_the_contract)
{
    char *environment[] = { (char *)"PATH=/bin", (char *)"SIZER_LISTEN=", NULL }; /* empty is unset */

    ck_assert_int_eq(config_read(environment, &config, &fault), STATUS_OK);
    ck_assert_str_eq(config.listen.host, "0.0.0.0");
    ck_assert_uint_eq(config.listen.port, 8080);
    ck_assert_ptr_null(config.database_url);
    ck_assert_uint_eq(config.connection_memory_bytes, 8192);
    ck_assert_uint_eq(config.body_bytes, 1 << 20);
    ck_assert(config.rate_per_second == 0);
    ck_assert(!config.trust_forwarded);
    ck_assert_uint_eq(config.cors_origins.count, 0);
    ck_assert_uint_eq(config.log_level, LEVEL_INFO);
}
END_TEST

static const struct {
    const char *entry, *host;
    unsigned port;
} addresses[] = {
    { "SIZER_LISTEN=127.0.0.1:9", "127.0.0.1", 9 },
    { "SIZER_LISTEN=:8081", "", 8081 },
    { "SIZER_LISTEN=8082", "", 8082 },
    { "SIZER_LISTEN=[::]:80", "::", 80 },
    { "SIZER_LISTEN=localhost:0", "localhost", 0 },
    { "SIZER_LISTEN=[::1]:65535", "::1", 65535 },
};

START_TEST(listen_addresses)
{
    ck_assert_int_eq(read_one(addresses[_i].entry), STATUS_OK);
    ck_assert_str_eq(config.listen.host, addresses[_i].host);
    ck_assert_uint_eq(config.listen.port, addresses[_i].port);
}
END_TEST

static const char *const bad[] = {
    "SIZER_LISTEN=1.2.3.4",      "SIZER_LISTEN=a:65536",
    "SIZER_LISTEN=a:-1",         "SIZER_LISTEN=::1:80",
    "SIZER_LISTEN=a:80x",        "SIZER_LISTEN=a:",
    "SIZER_WORKERS=abc",         "SIZER_WORKERS=-1",
    "SIZER_WORKERS=1.5",         "SIZER_WORKERS=257",
    "SIZER_BODY_BYTES=10",       "SIZER_BODY_BYTES=1e6",
    "SIZER_IDLE_SECONDS=0",      "SIZER_IDLE_SECONDS=nan",
    "SIZER_DRAIN_SECONDS=inf",   "SIZER_DRAIN_SECONDS=1..2",
    "SIZER_TRUST_FORWARDED=may", "SIZER_LOG=debug",
    "SIZER_CORS_ORIGINS=a.b",    "SIZER_CORS_ORIGINS=http://a/path",
};

START_TEST(bad_values_are_named)
{
    size_t name_size = strcspn(bad[_i], "=");

    ck_assert_msg(read_one(bad[_i]) == STATUS_FAULT, "%s", bad[_i]);
    ck_assert_uint_eq(fault.item_count, 1);
    ck_assert(strncmp(fault.items[0].pointer, bad[_i], name_size) == 0 && fault.items[0].is_parameter);
    ck_assert_str_eq(fault.items[0].value, bad[_i] + name_size + 1);
    ck_assert_str_ne(fault.items[0].expected, "");
}
END_TEST

START_TEST(all_bad_values_at_once)
{
    char *environment[] = { (char *)"SIZER_WORKERS=x", (char *)"SIZER_LOG=y", (char *)"SIZER_LISTEN=z", NULL };

    ck_assert_int_eq(config_read(environment, &config, &fault), STATUS_FAULT);
    ck_assert_uint_eq(fault.item_count, 3);
}
END_TEST

START_TEST(every_kind_is_read)
{
    char *environment[] = {
        (char *)"DATABASE_URL=postgres://u:p@h/d",
        (char *)"SIZER_WORKERS=4",
        (char *)"SIZER_BODIES_BYTES=8589934592",
        (char *)"SIZER_DRAIN_SECONDS=2.5",
        (char *)"SIZER_TRUST_FORWARDED=Yes",
        (char *)"SIZER_LOG=ERROR",
        (char *)"SIZER_CORS_ORIGINS=https://a.example, http://b:8080,*",
        NULL,
    };

    ck_assert_int_eq(config_read(environment, &config, &fault), STATUS_OK);
    ck_assert_str_eq(config.database_url, "postgres://u:p@h/d");
    ck_assert_uint_eq(config.workers, 4);
    ck_assert_uint_eq(config.all_bodies_bytes, 8589934592U);
    ck_assert(config.drain_seconds == 2.5);
    ck_assert(config.trust_forwarded);
    ck_assert_uint_eq(config.log_level, LEVEL_ERROR);
    ck_assert_uint_eq(config.cors_origins.count, 3);
    ck_assert_str_eq(config.cors_origins.items[1], "http://b:8080");
}
END_TEST

START_TEST(unknown_settings_are_found)
{
    char *environment[] = { (char *)"SIZERX=1", (char *)"SIZER_WORKER=2", (char *)"SIZER_WORKERS=2",
                            (char *)"SIZER_QQQQQQQQQQ", NULL };
    const char *suggestion;
    char name[32];
    size_t at = 0;

    ck_assert(config_next_unknown(environment, &at, name, sizeof name, &suggestion));
    ck_assert_str_eq(name, "SIZER_WORKER");
    ck_assert_str_eq(suggestion, "SIZER_WORKERS");
    ck_assert(config_next_unknown(environment, &at, name, sizeof name, &suggestion));
    ck_assert_str_eq(name, "SIZER_QQQQQQQQQQ");
    ck_assert_ptr_null(suggestion);
    ck_assert(!config_next_unknown(environment, &at, name, sizeof name, &suggestion));
}
END_TEST

int
main(void)
{
    TCase *tcase = tcase_create("config");

    tcase_add_test(tcase, defaults_are_those_of_the_contract);
    tcase_add_loop_test(tcase, listen_addresses, 0, COUNT_OF(addresses));
    tcase_add_loop_test(tcase, bad_values_are_named, 0, COUNT_OF(bad));
    tcase_add_test(tcase, all_bad_values_at_once);
    tcase_add_test(tcase, every_kind_is_read);
    tcase_add_test(tcase, unknown_settings_are_found);
    return suite_run("config", tcase);
}
