#include "api/i18n/figure.h"

#include <float.h>
#include <math.h>
#include <string.h>

#include "api/i18n/expected.h"
#include "tests/support/suite.h"

static const struct {
    const char *format;
    double number;
    const char *english, *chinese;
} figures[] = {
    { "", 0, "0", "0" },
    { "", 32768, "32768", "32768" },
    { "", 12.5, "12.5", "12.5" },
    { "", 0.0123456, "0.01235", "0.01235" },
    { "", 1234.56, "1235", "1235" },
    { "", 1e16, "1e+16", "1e+16" },
    { "", -3, "-3", "-3" },
    { "int", 0, "0", "0" },
    { "int", 999, "999", "999" },
    { "int", 1000, "1,000", "1,000" },
    { "int", 8030261248, "8,030,261,248", "8,030,261,248" },
    { "int", -1234.4, "-1,234", "-1,234" },
    { "int", -0.2, "0", "0" },
    { "bytes", 85899345920, "80.0 GiB", "80.0 GiB" },
    { "bytes", 0, "0.0 GiB", "0.0 GiB" },
    { "bytes", 536870912, "512 MiB", "512 MiB" },
    { "bits", 400e9, "400 Gb/s", "400 Gb/s" },
    { "bits", 3.2e12, "3.2 Tb/s", "3.2 Tb/s" },
    { "bits", 20e6, "20 Mb/s", "20 Mb/s" },
    { "percent", 0.9, "90%", "90%" },
    { "percent", 0.0333333, "3.33%", "3.33%" },
    { "percent", 12.345, "1234%", "1234%" },
    { "seconds", 0.0125, "12.5 ms", "12.5 毫秒" },
    { "seconds", 90, "90 s", "90 秒" },
    { "seconds", 600, "10 min", "10 分钟" },
    { "seconds", 36000, "10 h", "10 小时" },
    { "seconds", 864000, "10 days", "10 天" },
    { "nonsense", 5, "5", "5" },
    { "int", NAN, "?", "?" },
    { "bytes", DBL_MAX, "?", "?" },
};

START_TEST(figures_read_well)
{
    char text[FIGURE_SIZE];

    figure_write(text, figures[_i].format, strlen(figures[_i].format), figures[_i].number, LANGUAGE_EN);
    ck_assert_str_eq(text, figures[_i].english);
    figure_write(text, figures[_i].format, strlen(figures[_i].format), figures[_i].number, LANGUAGE_ZH_CN);
    ck_assert_str_eq(text, figures[_i].chinese);
}
END_TEST

static const struct {
    const char *english, *chinese;
} expectations[] = {
    { "integer 1..64", "整数 1..64" },
    { "number >= 0", "数值 >= 0" },
    { "one of fits|tight", "以下之一：fits|tight" },
    { "string of at most 31 bytes", "长度不超过 31 字节的字符串" },
    { "divides hidden_size 4096", "能整除 hidden_size 4096" },
    { "below attn_layer_period 8", "小于 attn_layer_period 8" },
    { "array of strings", "字符串数组" },
    { "object", "JSON 对象" },
    { "string", "字符串" },
    { "decimal string such as \"12.34\"", "十进制数字符串，例如 \"12.34\"" },
    { "true|false", "true|false" },
    { "objective", "objective" },
    { "", "" },
};

START_TEST(expectations_are_translated)
{
    char text[128];

    expected_write(text, sizeof text, expectations[_i].english, LANGUAGE_ZH_CN);
    ck_assert_str_eq(text, expectations[_i].chinese);
    expected_write(text, sizeof text, expectations[_i].english, LANGUAGE_EN);
    ck_assert_str_eq(text, expectations[_i].english);
}
END_TEST

int
main(void)
{
    TCase *tcase = tcase_create("figure");

    tcase_add_loop_test(tcase, figures_read_well, 0, COUNT_OF(figures));
    tcase_add_loop_test(tcase, expectations_are_translated, 0, COUNT_OF(expectations));
    return suite_run("figure", tcase);
}
